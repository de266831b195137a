import type { Kind } from '../kinds/kind.ts';
import { hashSha256, isJsonArray } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';

/** Something that needs a name. */
interface Unnamed {
  readonly id: string;
  /** Its name, if no other resource has the same. */
  readonly base: string;
  /** It has that name already, and keeps it. */
  readonly isFixed: boolean;
}

/** Leaves room for the longest suffix in the 63 characters of a name. */
const MAX_BASE_LENGTH = 50;
const SUFFIX_LEVELS = 3;

/**
 * A unique name for each, by id. All that would have the same name get a suffix. It depends on the id only, so that the order of the
 * resources does not matter.
 */
export function assignNames(members: readonly Unnamed[]): ReadonlyMap<string, string> {
  const levels = new Map(members.map(({ id }) => [id, 0]));
  for (;;) {
    const names = new Map(members.map((member) => [member.id, toName(member, levels.get(member.id) ?? 0)]));
    const groups = Map.groupBy(members, ({ id }) => names.get(id) ?? '');
    const clashing = [...groups.values()].filter((group) => group.length > 1).flat();
    const raised = clashing.filter(({ id, isFixed }) => !isFixed && (levels.get(id) ?? 0) < SUFFIX_LEVELS);
    if (raised.length === 0) return names;
    for (const { id } of raised) levels.set(id, (levels.get(id) ?? 0) + 1);
  }
}

/**
 * The name of a live resource: its unique value (a type, a domain), else its description, else the first of its unique values, else its id.
 */
export function chooseBaseName(kind: Kind, live: LiveResource): string {
  const { description = '' } = live.spec;
  const found = [...listKeys(kind, live, true), String(description), ...listKeys(kind, live, false)]
    .map(toSlug)
    .find((slug) => slug !== '');
  return found ?? chooseIdName(live.id);
}

/** A name for an id: its prefix and its last letters. */
export function chooseIdName(id: string): string {
  return toSlug(`${id.split('_')[0]}-${toTail(id)}`) || 'x';
}

function listKeys(kind: Kind, { spec }: LiveResource, isRequired: boolean): readonly string[] {
  return kind.specFields.flatMap(([name, { unique, required, type }]) => {
    if (!unique || required !== isRequired || type.type === 'reference') return [];
    const value = spec[name];
    const first = isJsonArray(value) ? value[0] : value;
    return typeof first === 'string' ? [first] : [];
  });
}

/** Letters that do not decompose into a plain letter and a mark. */
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

/** A text as a name: letters lose their marks, and other characters become dashes. Empty when nothing is left. */
function toSlug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþ]/g, (letter) => LETTERS[letter] ?? '');
  const slug = trim(plain.replace(/[^a-z0-9._]+/g, '-'));
  return slug.length <= MAX_BASE_LENGTH ? slug : trim(cutAtWord(slug));
}

function trim(slug: string): string {
  return slug.replace(/^[._-]+|[._-]+$/g, '');
}

function cutAtWord(slug: string): string {
  const end = slug.lastIndexOf('-', MAX_BASE_LENGTH);
  return slug.slice(0, end > MAX_BASE_LENGTH / 2 ? end : MAX_BASE_LENGTH);
}

function toName({ id, base, isFixed }: Unnamed, level: number): string {
  if (isFixed || level === 0) return base;
  const suffix = level === 1 ? toTail(id) : hashSha256(id, 'hex').slice(0, level === 2 ? 12 : 48);
  return `${trim(base.slice(0, 62 - suffix.length))}-${suffix}`;
}

/** The end of an id is its random part. */
function toTail(id: string): string {
  const tail = id
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(-6);
  return tail === '' ? hashSha256(id, 'hex').slice(0, 6) : tail;
}
