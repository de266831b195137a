import type { Kind } from '../kinds/kind.ts';
import { hashSha256, isJsonArray } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';

/** A resource or an id that needs a name. */
interface NameRequest {
  readonly id: string;
  /** The preferred name. Gets a suffix if another request prefers the same name. */
  readonly base: string;
  /** If true, `base` is used even if it is not unique, because the resource's mark has this name. */
  readonly isFixed: boolean;
}

/** A name has at most 63 characters. The base leaves enough of them for the longest suffix. */
const MAX_BASE_LENGTH = 50;
const SUFFIX_LEVELS = 3;

/**
 * Assigns a name to each id. If several requests prefer the same name, each gets a suffix, unless its name is fixed.
 * The suffix depends only on the id, so the order of the requests does not matter.
 */
export function assignNamesToIds(members: readonly NameRequest[]): ReadonlyMap<string, string> {
  const levels = new Map(members.map(({ id }) => [id, 0]));
  for (;;) {
    const names = new Map(members.map((member) => [member.id, createName(member, levels.get(member.id) ?? 0)]));
    const groups = Map.groupBy(members, ({ id }) => names.get(id) ?? '');
    const clashing = [...groups.values()].filter((group) => group.length > 1).flat();
    const raised = clashing.filter(({ id, isFixed }) => !isFixed && (levels.get(id) ?? 0) < SUFFIX_LEVELS);
    if (raised.length === 0) return names;
    for (const { id } of raised) levels.set(id, (levels.get(id) ?? 0) + 1);
  }
}

/**
 * Chooses the preferred name of a live resource: its required unique value (such as a type or a domain), else its
 * description, else its first optional unique value, else a name from its id.
 */
export function choosePreferredName(kind: Kind, live: LiveResource): string {
  const { description = '' } = live.spec;
  const found = [...listNameKeys(kind, live, true), String(description), ...listNameKeys(kind, live, false)]
    .map(createSlug)
    .find((slug) => slug !== '');
  return found ?? createNameFromId(live.id);
}

/** Creates a name from the prefix and the last characters of an id. */
export function createNameFromId(id: string): string {
  return createSlug(`${id.split('_')[0]}-${getIdTail(id)}`);
}

function listNameKeys(kind: Kind, { spec }: LiveResource, isRequired: boolean): readonly string[] {
  return kind.specFields.flatMap(([name, { unique, required, type }]) => {
    if (!unique || required !== isRequired || type.type === 'reference') return [];
    const value = spec[name];
    const first = isJsonArray(value) ? value[0] : value;
    return typeof first === 'string' ? [first] : [];
  });
}

/** Latin letters that NFKD does not decompose into a plain letter and a diacritic. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
};

/** Converts a text to a resource name: removes diacritics, and replaces other characters with dashes. May be empty. */
export function createSlug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþ]/g, (letter) => LETTERS[letter] ?? '');
  const slug = trimPunctuation(plain.replace(/[^a-z0-9._]+/g, '-'));
  return slug.length <= MAX_BASE_LENGTH ? slug : trimPunctuation(cutAtWord(slug));
}

function trimPunctuation(slug: string): string {
  return slug.replace(/^[._-]+|[._-]+$/g, '');
}

function cutAtWord(slug: string): string {
  const end = slug.lastIndexOf('-', MAX_BASE_LENGTH);
  return slug.slice(0, end > MAX_BASE_LENGTH / 2 ? end : MAX_BASE_LENGTH);
}

function createName({ id, base, isFixed }: NameRequest, level: number): string {
  if (isFixed || level === 0) return base;
  const suffix = level === 1 ? getIdTail(id) : hashSha256(id, 'hex').slice(0, level === 2 ? 12 : 48);
  return `${trimPunctuation(base.slice(0, 62 - suffix.length))}-${suffix}`;
}

/** Returns the random part at the end of an id. Never empty: what the service sends as a reference may be any text. */
function getIdTail(id: string): string {
  const tail = id
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(-6);
  return tail === '' ? 'x' : tail;
}
