import { closestMatch } from 'leven';

/** The word that was most likely meant, if any is near: case, `-` and `_` hardly count. */
export function suggest(given: string, known: readonly string[]): string | undefined {
  const byForm = new Map(known.map((word) => [toForm(word), word]));
  const form = toForm(given);
  const swapped = listSwaps(form).find((other) => byForm.has(other));
  const nearest = swapped ?? closestMatch(form, [...byForm.keys()], { maxDistance: toReach(form) });
  return nearest === undefined ? undefined : byForm.get(nearest);
}

/** Shorter names are too unspecific for a suggestion. */
const LEAST_NAME_LENGTH = 3;

/** The address that was most likely meant: of a kind that is near, with a name that is. */
export function suggestAddress(given: string, known: readonly string[]): string | undefined {
  const [kind, name] = toParts(given);
  const parts = known.map(toParts);
  const nearKind = parts.some(([one]) => one === kind) ? kind : suggest(kind, [...new Set(parts.map(([one]) => one))]);
  const names = parts.filter(([one]) => one === nearKind).map(([, one]) => one);
  const isShort = name.length < LEAST_NAME_LENGTH;
  const nearName = names.includes(name) ? name : isShort ? undefined : suggest(name, names);
  return nearKind === undefined || nearName === undefined ? undefined : `${nearKind}/${nearName}`;
}

function toParts(address: string): readonly [kind: string, name: string] {
  const at = address.indexOf('/');
  return [address.slice(0, Math.max(at, 0)), address.slice(at + 1)];
}

/** What to do about a word that is not known, where some are: take the one that was meant, or one of the list. */
export function suggestRemedy(given: string, known: readonly string[], listsKnown = true): string | undefined {
  const nearest = suggest(given, known);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  return listsKnown && known.length > 0 ? `Known here: ${known.join(', ')}.` : undefined;
}

/** Beyond this many characters a word is not worth comparing. */
const MAX_LENGTH = 100;

function toForm(word: string): string {
  return word.slice(0, MAX_LENGTH).toLowerCase().replace(/[-_]/g, '');
}

/** The word with each two neighbours swapped, which is one slip and not two. */
function listSwaps(form: string): readonly string[] {
  return Array.from(
    form,
    (_, index) => form.slice(0, index) + form.charAt(index + 1) + form.charAt(index) + form.slice(index + 2),
  );
}

/** A third of a word may be wrong, three letters at most. */
function toReach(form: string): number {
  return Math.max(1, Math.min(3, Math.floor(form.length / 3)));
}
