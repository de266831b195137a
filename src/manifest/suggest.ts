import { closestMatch } from 'leven';

/**
 * Returns the known word that is closest to a misspelled word, if any is near: at most a third of the longer word
 * differs, or two adjacent characters are swapped. Ignores case, `-` and `_`.
 */
export function suggest(given: string, known: readonly string[]): string | undefined {
  const byForm = new Map(known.map((word) => [normalizeWord(word), word]));
  const form = normalizeWord(given);
  const swapped = listSwaps(form).find((other) => byForm.has(other));
  const comparable = [...byForm.keys()].filter((other) => Math.max(form.length, other.length) >= LEAST_LENGTH);
  const nearest = byForm.has(form)
    ? form
    : (swapped ?? closestMatch(form, comparable, { maxDistance: computeMaxDistance(form) }));
  return nearest === undefined ? undefined : byForm.get(nearest);
}

/** In shorter words, one character is more than a third. */
const LEAST_LENGTH = 3;

/** The minimum length of a name that gets a suggestion. Shorter names are too unspecific. */
const LEAST_NAME_LENGTH = 3;

/** Returns the known address whose kind and name are closest to a misspelled address, if both are close. */
export function suggestAddress(given: string, known: readonly string[]): string | undefined {
  const [kind, name] = splitAddress(given);
  const parts = known.map(splitAddress);
  const nearKind = parts.some(([one]) => one === kind) ? kind : suggest(kind, [...new Set(parts.map(([one]) => one))]);
  const names = parts.filter(([one]) => one === nearKind).map(([, one]) => one);
  const isShort = name.length < LEAST_NAME_LENGTH;
  const nearName = names.includes(name) ? name : isShort ? undefined : suggest(name, names);
  return nearKind === undefined || nearName === undefined ? undefined : `${nearKind}/${nearName}`;
}

function splitAddress(address: string): readonly [kind: string, name: string] {
  const at = address.indexOf('/');
  return [address.slice(0, Math.max(at, 0)), address.slice(at + 1)];
}

/** Suggests the closest known word. If none is close, lists the known words. `undefined` if no word is known. */
export function suggestRemedy(given: string, known: readonly string[], listsKnown = true): string | undefined {
  const nearest = suggest(given, known);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  return listsKnown && known.length > 0 ? `Known here: ${known.join(', ')}.` : undefined;
}

/** The number of characters of a word that are compared. Names are shorter: they have at most 63. */
const MAX_LENGTH = 100;

function normalizeWord(word: string): string {
  return word.slice(0, MAX_LENGTH).toLowerCase().replace(/[-_]/g, '');
}

/**
 * Lists the results of swapping two adjacent characters. A swap is one typing mistake, but has an edit distance of 2.
 */
function listSwaps(form: string): readonly string[] {
  return Array.from(
    form,
    (_, index) => form.slice(0, index) + form.charAt(index + 1) + form.charAt(index) + form.slice(index + 2),
  );
}

/** Returns the maximum edit distance of a suggestion: a third of the word, at least 1 and at most 3. */
function computeMaxDistance(form: string): number {
  return Math.max(1, Math.min(3, Math.floor(form.length / 3)));
}
