import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { listMarkedFields } from '../kinds/normalize.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { suggest } from '../manifest/suggest.ts';
import { toAddress } from '../model/address.ts';
import type { Diagnostic, SourcePlace } from '../model/diagnostic.ts';
import type { DesiredResource, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { CreateWrite, Write } from '../model/write.ts';
import type { Decision } from './decide.ts';
import { diffSpecs } from './diff.ts';

/**
 * Finds the unmarked live resource that matches a spec: it has the same unique values or, for kinds without any, the same fields. Probably its mark was
 * removed, or a user created it by hand. Metadata is not compared, and a spec with only defaults matches nothing. `undefined`: there are none, or several.
 */
type FindAdoptionCandidate = (kind: Kind, normal: Spec) => LiveResource | undefined;

/** Finds twins among what has no manifest, which is listed once. `taken`: ids of resources that have one. */
export function createFindAdoptionCandidate(
  { resources }: LiveState,
  taken: ReadonlySet<string | undefined>,
): FindAdoptionCandidate {
  const isFree = ({ id, mark }: LiveResource): boolean => mark === undefined && !taken.has(id);
  const free = new Map([...resources].map(([kind, members]) => [kind, members.filter(isFree)]));
  return (kind, normal) => {
    const twins = (free.get(kind.name) ?? []).filter(({ spec }) => isTwin(kind, normal, spec));
    return twins.length === 1 ? twins[0] : undefined;
  };
}

/** Finds a live resource of others that has one of the values that a spec claims; of several, the one that has most of them. */
type FindHolder = (kind: Kind, normal: Spec) => LiveResource | undefined;

/** Finds holders among what has no manifest and is not the stack's. */
export function createFindHolder(
  { resources }: LiveState,
  { taken, stack }: { readonly taken: ReadonlySet<string | undefined>; readonly stack: string },
): FindHolder {
  const holders = new Map<string, LiveResource>();
  const listed = new Set<string>();
  const list = (kind: Kind): void => {
    for (const resource of resources.get(kind.name) ?? [])
      if (resource.mark?.stack !== stack && !taken.has(resource.id))
        for (const { key } of listClaims(kind, resource.spec)) holders.set(key, resource);
    listed.add(kind.name);
  };
  return (kind, normal) => {
    if (!listed.has(kind.name)) list(kind);
    const found = listClaims(kind, normal).flatMap(({ key }) => holders.get(key) ?? []);
    const counts = Map.groupBy(found, (holder) => holder);
    return [...counts].toSorted(([, left], [, right]) => right.length - left.length)[0]?.[0];
  };
}

function isTwin(kind: Kind, normal: Spec, live: Spec): boolean {
  const claims = listKeys(kind, normal);
  if (claims !== '') return listKeys(kind, live) === claims;
  const isTelling = listMarkedFields(kind, normal).some((name) => name !== METADATA);
  return isTelling && diffSpecs(kind, live, normal).every(({ field }) => field === METADATA);
}

/** The field that contains the mark. */
const METADATA = 'metadata';

function listKeys(kind: Kind, spec: Spec): string {
  return listClaims(kind, spec)
    .map(({ key }) => key)
    .sort()
    .join('\n');
}

/** Warnings on creates for which a matching unmarked resource exists. Conflicts of unique values and unreadable marks have their own diagnostics. */
export function listAdoptionHints(decisions: readonly Decision[], live: LiveState): readonly Diagnostic[] {
  const findCandidate = createFindAdoptionCandidate(live, new Set(decisions.map(({ pair }) => pair.live?.id)));
  return decisions.flatMap(({ action, pair, form }): readonly Diagnostic[] => {
    const { address, kind, desired } = pair;
    if (action !== 'create' || form === undefined || desired === undefined) return [];
    if (desired.lifecycle.adopt !== undefined || listKeys(kind, form.normal) !== '') return [];
    const candidate = findCandidate(kind, form.normal);
    if (candidate === undefined || candidate.markError !== undefined) return [];
    return [
      {
        code: 'adopt-suggested',
        severity: 'warning',
        message: `${address} would be created beside ${candidate.id}, which has the same fields and no mark`,
        remedy: `If it is the same resource, adopt it: ${toLifecycleLine(desired, { name: 'adopt', value: candidate.id })}`,
        address,
        place: desired.locate(['metadata', 'name']),
      },
    ];
  });
}

/**
 * Warnings on a delete and a create that look like a rename: the new resource claims the same unique values as
 * a deleted one of its kind.
 */
export function listRenameHints(decisions: readonly Decision[]): readonly Diagnostic[] {
  const leaving = new Map(decisions.flatMap(({ action, pair }) => (action === 'delete' ? listLeaving(pair) : [])));
  return decisions.flatMap(({ action, pair, form }): readonly Diagnostic[] => {
    const { address, kind, desired } = pair;
    if (action !== 'create' || form === undefined || desired === undefined) return [];
    const before = leaving.get(toKey(pair, form.normal));
    if (before === undefined) return [];
    const line = toLifecycleLine(desired, { name: 'renamed_from', value: before.name });
    return [
      {
        code: 'rename-suggested',
        severity: 'warning',
        message: `${address} claims all unique values of ${kind.name}/${before.name} (${before.id}), which is deleted`,
        remedy: `If it was only renamed, keep the resource: ${line}`,
        address,
        place: desired.locate(['metadata', 'name']),
      },
    ];
  });
}

/** Warnings on creates whose manifest says that they were something else before, which is not there: a slip in the line would delete what it means. */
export function listFormerMissing(
  decisions: readonly Decision[],
  { live, stack: own }: { readonly live: LiveState; readonly stack: string },
): readonly Diagnostic[] {
  const kept = new Set(decisions.flatMap(({ pair }) => (pair.desired === undefined ? [] : (pair.live?.id ?? []))));
  return decisions.flatMap(({ action, pair: { address, kind, desired } }): readonly Diagnostic[] => {
    const { takenFrom, renamedFrom: name = takenFrom?.name } = desired?.lifecycle ?? {};
    if (action !== 'create' || desired === undefined || name === undefined) return [];
    const stack = takenFrom?.stack ?? own;
    const marked = (live.resources.get(kind.name) ?? []).filter(({ id, mark }) => mark !== undefined && !kept.has(id));
    const names = marked.flatMap(({ mark }) => (mark?.stack === stack ? [mark.name] : []));
    const owner = stack === own ? 'this stack' : `the stack ${stack}`;
    const meant = toMeantFormer(name, { stack, names, marked });
    return [
      {
        code: 'renamed-from-missing',
        severity: 'warning',
        message: `${address}: ${owner} has no ${toAddress(kind.name, name)} to rename, so an apply creates a new resource`,
        remedy: meant ?? 'If the name is wrong, correct it before you apply. If the resource is gone, remove the line.',
        address,
        place: desired.locate(['lifecycle', 'renamed_from']),
      },
    ];
  });
}

/** A shorter name is near to too many. */
const LEAST_LENGTH = 3;

/** The name or the stack that was probably meant, as a question. */
function toMeantFormer(
  name: string,
  {
    stack,
    names,
    marked,
  }: { readonly stack: string; readonly names: readonly string[]; readonly marked: readonly LiveResource[] },
): string | undefined {
  const near = name.length < LEAST_LENGTH ? undefined : suggest(name, names);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const stacks = marked.flatMap(({ mark }) => (mark?.name === name ? [mark.stack] : []));
  const nearStack = suggest(stack, [...new Set(stacks)]);
  return nearStack && `Did you mean the stack \`${nearStack}\`?`;
}

interface Leaving {
  readonly name: string;
  readonly id: string;
}

/** A duplicate does not leave: its name is still in use. */
function listLeaving(pair: Decision['pair']): readonly (readonly [string, Leaving])[] {
  const { live, by } = pair;
  if (live?.mark === undefined || by !== 'mark') return [];
  const key = toKey(pair, live.spec);
  return key === '' ? [] : [[key, { name: live.mark.name, id: live.id }]];
}

/** The same for the same claims of one kind; `''` where there are none. */
function toKey({ kind }: Decision['pair'], spec: Spec): string {
  return listClaims(kind, spec)
    .map(({ key }) => key)
    .sort()
    .join('\n');
}

/** A member of lifecycle that is to be added to a manifest, such as `adopt` with an id. */
interface LifecycleMember {
  readonly name: 'adopt' | 'renamed_from';
  readonly value: string | Readonly<Record<string, string>>;
}

/** A line of lifecycle to add, and where: to the lifecycle that the manifest has, or as one. Follows a comma in a remedy. */
export function describeLifecycleLine(resource: DesiredResource, member: LifecycleMember): string {
  const { start, block } = locateLifecycle(resource);
  const at = ({ file, line }: SourcePlace) => `${file}:${line}`;
  if (block !== undefined) return addTo(`its lifecycle at ${at(block)}`, block, toMember(member, block));
  return addTo(`the document that starts at ${at(start)}`, start, toWhole(member, start));
}

/** The same for a hint, however the manifest is written: the diagnostic shows the document anyway. */
function toLifecycleLine(resource: DesiredResource, { name, value }: LifecycleMember): string {
  const { block } = locateLifecycle(resource);
  const line = `${name}: ${toYaml(value)}`;
  if (block === undefined) return `add to this document:\nlifecycle: { ${line} }`;
  const isWrong = name === 'renamed_from' && resource.lifecycle.renamedFrom !== undefined;
  return `${isWrong ? 'correct' : 'add to'} its lifecycle:\n${line}`;
}

/** In braces, the line is added after the opening one. */
function addTo(what: string, place: SourcePlace, line: string): string {
  return isInBraces(place) ? `add after the { of ${what}:\n${line},` : `add to ${what}:\n${line}`;
}

function toMember({ name, value }: LifecycleMember, place: SourcePlace): string {
  return isInBraces(place) ? `"${name}": ${toJson(value)}` : `${name}: ${toYaml(value)}`;
}

/** With quotes it is right in JSON as well. */
function toWhole(member: LifecycleMember, place: SourcePlace): string {
  const inner = toMember(member, place);
  return isInBraces(place) ? `"lifecycle": { ${inner} }` : `lifecycle: { ${inner} }`;
}

function toYaml(value: LifecycleMember['value']): string {
  if (typeof value === 'string') return value;
  const members = Object.entries(value).map(([name, text]) => `${name}: ${text}`);
  return `{ ${members.join(', ')} }`;
}

function toJson(value: LifecycleMember['value']): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, text]) => `"${name}": ${JSON.stringify(text)}`);
  return `{ ${members.join(', ')} }`;
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

/** Whether the value at a place is written as `{ … }`: the caret of its excerpt points at its first character. */
function isInBraces({ excerpt }: SourcePlace): boolean {
  const lines = excerpt.split('\n');
  const at = lines.findIndex((line) => /^ *\| *\^+/.test(line));
  return lines[at - 1]?.charAt(lines[at]?.indexOf('^') ?? 0) === '{';
}

/** Whether a concurrent apply could create the same resource too, because the service requires nothing unique of it. */
export function allowsDuplicates(write: Write): write is CreateWrite {
  return write.type === 'create' && listClaims(getKind(write.kind), write.body).length === 0;
}

/** What the service holds, and how it is listed. */
export interface AccountSize {
  readonly live: LiveState;
  readonly pageSize: number;
}

/** How many requests something takes, at least. */
interface RequestCount {
  readonly least: number;
  /** It may take more: how many is only known when it is done. */
  readonly isOpen: boolean;
}

/** Counts the pages of lists that an apply requests to find duplicates of a concurrent apply: lists of each kind that can have some. */
export function countDuplicateChecks(writes: readonly Write[], held: AccountSize): RequestCount {
  const byKind = Map.groupBy(writes.filter(allowsDuplicates), ({ kind }) => kind);
  const counts = [...byKind].map(([kind, made]) => countPages(getKind(kind), { writes, held, looked: made.length }));
  return {
    least: counts.reduce((sum, { least }) => sum + least, 0),
    isOpen: counts.some(({ isOpen }) => isOpen),
  };
}

/**
 * A kind is listed once, after all writes. A kind with a token is listed before each delivery, while other writes are under way; concurrent callers share a
 * list.
 */
function countPages(
  kind: Kind,
  { writes, held, looked }: { readonly writes: readonly Write[]; readonly held: AccountSize; readonly looked: number },
): RequestCount {
  const count = (type: Write['type']): number =>
    writes.filter((write) => write.type === type && write.kind === kind.name).length;
  const toPages = (resources: number): number => Math.max(1, Math.ceil(resources / held.pageSize));
  const before = held.live.resources.get(kind.name)?.length ?? 0;
  const [created, deleted] = [count('create'), count('delete')];
  if (kind.oneTimeFields.length === 0) return { least: toPages(before + created - deleted), isOpen: false };
  const least = toPages(before + 1 - deleted);
  return { least, isOpen: looked > 1 || least !== toPages(before + created) };
}
