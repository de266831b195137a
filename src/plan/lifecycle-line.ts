import type { SourcePlace } from '../model/diagnostic.ts';
import type { DesiredResource } from '../model/state.ts';

/** A member of lifecycle that is to be added to a manifest, such as `adopt` with an id. */
export interface LifecycleMember {
  readonly name: string;
  readonly value: string;
}

/** A line of lifecycle to add, and where: to the lifecycle that the manifest has, or as one. Follows a comma in a remedy. */
export function toPlacedLifecycleLine(resource: DesiredResource, member: LifecycleMember): string {
  const { start, block } = locateLifecycle(resource);
  const at = ({ file, line }: SourcePlace) => `${file}:${line}`;
  if (block !== undefined) return addTo(`its lifecycle at ${at(block)}`, block, toMember(member, block));
  return addTo(`the document that starts at ${at(start)}`, start, toWhole(member, start));
}

/** The same for a hint, however the manifest is written: the diagnostic shows the document anyway. */
export function toLifecycleLine(resource: DesiredResource, { name, value }: LifecycleMember): string {
  const { block } = locateLifecycle(resource);
  const line = `${name}: ${value}`;
  return block === undefined ? `add to this document:\nlifecycle: { ${line} }` : `add to its lifecycle:\n${line}`;
}

/** In braces, the line goes after the opening one. */
function addTo(what: string, place: SourcePlace, line: string): string {
  return isInBraces(place) ? `add after the { of ${what}:\n${line},` : `add to ${what}:\n${line}`;
}

function toMember({ name, value }: LifecycleMember, place: SourcePlace): string {
  return isInBraces(place) ? `"${name}": "${value}"` : `${name}: ${value}`;
}

/** With quotes it is right in JSON as well. */
function toWhole({ name, value }: LifecycleMember, place: SourcePlace): string {
  return isInBraces(place) ? `"lifecycle": { "${name}": "${value}" }` : `lifecycle: { ${name}: ${value} }`;
}

/** Where a document starts, and its lifecycle, when it has one. */
function locateLifecycle({ locate }: DesiredResource): {
  readonly start: SourcePlace;
  readonly block: SourcePlace | undefined;
} {
  const [start, block] = [locate(), locate(['lifecycle'])];
  const isThere = start.line !== block.line || start.column !== block.column;
  return { start, block: isThere ? block : undefined };
}

/** Whether what stands at a place is written as `{ … }`: the caret of its excerpt shows how it begins. */
function isInBraces({ excerpt }: SourcePlace): boolean {
  const lines = excerpt.split('\n');
  const at = lines.findIndex((line) => /^ *\| *\^+/.test(line));
  return lines[at - 1]?.charAt(lines[at]?.indexOf('^') ?? 0) === '{';
}
