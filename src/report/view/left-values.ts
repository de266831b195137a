import { parseIgnoredPart } from '../../kinds/ignored-parts.ts';
import type { Change, LeftValue } from '../../model/change.ts';
import { parsePath } from '../../model/field-path.ts';
import { showUnicodeForms, toPrintable } from '../../model/printable.ts';
import { formatJson } from '../../model/secret-value.ts';
import type { ResourceNames } from './value-text.ts';

/**
 * What differs and is not counted: what `lifecycle.ignore` leaves to others, and other spellings. The API does not show
 * who set a value, so no sentence names an actor.
 */

/** The values of one resource that differ, in one clause. Empty if there are none. */
export function listLeftNotes(
  { leftToOthers = [] }: Pick<Change, 'leftToOthers'>,
  names: ResourceNames,
  ignored: readonly string[] = [],
): readonly string[] {
  const equal = ignored.filter((path) => !leftToOthers.some((one) => one.ignored === path));
  const said = [
    ...equal.map((path) => formatIgnoredPath(path, names)),
    ...leftToOthers.map(({ path, from, to }) => {
      return `${formatPathOfValue(path, names)} (${formatSides({ from, to })})`;
    }),
  ];
  return said.length === 0 ? [] : [`left to others: ${said.join(', ')}`];
}

/** The texts that the service spells otherwise, in one clause. Empty if there are none. */
export function listSpellingNotes({ otherSpellings = [] }: Pick<Change, 'otherSpellings'>): readonly string[] {
  const said = otherSpellings.map(({ path, from, to }) => `${toPrintable(path)} (${formatSides({ from, to })})`);
  return said.length === 0 ? [] : [`spelled differently at the service: ${said.join(', ')}`];
}

/** Such as `, except what is left to others: backends, metadata.canary`. Empty if nothing that is ignored differs. */
export function formatLeftException(subjects: readonly Pick<Change, 'leftToOthers'>[], names: ResourceNames): string {
  const paths = subjects.flatMap(({ leftToOthers = [] }) =>
    leftToOthers.map(({ ignored }) => formatIgnoredPath(ignored, names)),
  );
  const unique = [...new Set(paths)];
  if (unique.length === 0) return '';
  const more = unique.length > MAX_PATHS ? ` and ${unique.length - MAX_PATHS} more` : '';
  return `, except what is left to others: ${unique.slice(0, MAX_PATHS).join(', ')}${more}`;
}

/** As many paths as a summary names. */
const MAX_PATHS = 5;

/** Formats a path of `lifecycle.ignore`, with the name of a resource in place of its id. */
function formatIgnoredPath(path: string, names: ResourceNames): string {
  const { field, member } = parseIgnoredPart(path);
  return toPrintable(member === undefined ? field : `${field}.${names.get(member) ?? member}`);
}

/** Formats the path of a value as a path of `lifecycle.ignore`, if it is the path of a member. */
function formatPathOfValue(path: string, names: ResourceNames): string {
  const [field, member, ...more] = parsePath(path) ?? [];
  const isMember = typeof field === 'string' && typeof member === 'string' && more.length === 0;
  return isMember ? formatIgnoredPath(`${field}.${member}`, names) : toPrintable(path);
}

function formatSides({ from, to }: Pick<LeftValue, 'from' | 'to'>): string {
  const [live, desired] = showUnicodeForms(formatLeftValue(from), formatLeftValue(to)).map((text) =>
    text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text,
  );
  return `live: ${live}, in the manifest: ${desired}`;
}

function formatLeftValue(value: LeftValue['from']): string {
  return value === undefined ? 'not set' : formatJson(value);
}

/** As much of a value as a note shows. */
const MAX_SHOWN = 80;
