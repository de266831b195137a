import { listFieldsWithDigest } from '../kinds/canonical.ts';
import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { isSameBesideMetadata } from '../kinds/same-fields.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { suggest } from '../manifest/suggest.ts';
import { type Address, getAddressName, toAddress } from '../model/address.ts';
import { toCanonicalJson } from '../model/json.ts';
import { findCutMark, isCutBeforeStack, isRefusalRecord, type Mark } from '../model/mark.ts';
import { isOwnedBy, listMarked, type MarkedResource } from '../model/ownership.ts';
import type { Place } from '../model/place.ts';
import type { DesiredResource, LiveResource, LiveState, Spec } from '../model/state.ts';
import { type CreateWrite, isCreate, type Write } from '../model/write.ts';
import type { ChangeDecision } from './decide.ts';
import { computeMarkDigests } from './differences.ts';

/**
 * Lists the unmarked live resources that match a spec: they have the same unique values or, if the spec has none, the
 * same fields. Their mark was probably removed, or a user created them by hand. Metadata is not compared, and a spec with
 * only defaults matches nothing.
 */
type ListAdoptionCandidates = (kind: Kind, normal: Spec) => readonly LiveResource[];

/**
 * Creates a search among the unmarked live resources outside the plan. `taken`: ids of the live resources in the plan.
 */
export function createAdoptionCandidateSearch(
  { resources }: LiveState,
  taken: ReadonlySet<string | undefined>,
): ListAdoptionCandidates {
  const isFree = ({ id, mark }: LiveResource): boolean => mark === undefined && !taken.has(id);
  const free = new Map([...resources].map(([kind, members]) => [kind, members.filter(isFree)]));
  return (kind, normal) => (free.get(kind.name) ?? []).filter(({ spec }) => hasSameValues(kind, normal, spec));
}

/** Finds the live resource that has the most unique values in common with a spec. `undefined` if none has any. */
type FindHolder = (kind: Kind, normal: Spec) => LiveResource | undefined;

/**
 * Creates a search for holders of unique values. It covers the live resources that are not in the plan and do not have
 * the mark of `stack`. `taken`: ids of the live resources in the plan.
 */
export function createUnownedHolderSearch(
  { resources }: LiveState,
  { taken, stack }: { readonly taken: ReadonlySet<string | undefined>; readonly stack: string },
): FindHolder {
  const unowned = [...resources.values()].flat().filter((one) => !isOwnedBy(one, stack) && !taken.has(one.id));
  const holders = new Map(
    unowned.flatMap((one) => listClaims(getKind(one.kind), one.spec).map(({ key }) => [key, one] as const)),
  );
  return (kind, normal) => {
    const found = listClaims(kind, normal).flatMap(({ key }) => holders.get(key) ?? []);
    const counts = Map.groupBy(found, (holder) => holder);
    return [...counts].toSorted(([, left], [, right]) => right.length - left.length)[0]?.[0];
  };
}

/** Whether a resource has no metadata, or only its beginning, as after a write whose metadata the service did not keep. */
export function isUnmarked({ spec, mark, markError }: LiveResource): boolean {
  if (mark !== undefined || markError !== undefined) return false;
  return (spec['metadata'] ?? '') === '' || isCutBeforeStack(spec);
}

function hasSameValues(kind: Kind, normal: Spec, live: Spec): boolean {
  const claims = joinClaimKeys(kind, normal);
  if (claims !== '') return joinClaimKeys(kind, live) === claims;
  return hasOwnValues(kind, normal) && isSameBesideMetadata(kind, live, normal);
}

/** Whether a spec sets anything but metadata and defaults. */
export function hasOwnValues(kind: Kind, normal: Spec): boolean {
  return listFieldsWithDigest(kind, normal).some((name) => name !== METADATA);
}

/** The field that contains the mark. */
const METADATA = 'metadata';

/** Joins the unique values of a spec, for comparison with another spec of the kind. Empty if there are none. */
function joinClaimKeys(kind: Kind, spec: Spec): string {
  return listClaims(kind, spec)
    .map(({ key }) => key)
    .sort()
    .join('\n');
}

/** A resource to create whose predecessor may be there. */
interface Successor {
  readonly address: Address;
  readonly desired: DesiredResource;
  readonly place: Place;
}

/**
 * Finds creates for which a matching unmarked resource exists: `id`. Skips three cases that have their own diagnostics: a
 * spec with unique values, a resource with an unreadable or a cut mark, and one that may have lost its mark.
 */
export function findAdoptable(
  decisions: readonly ChangeDecision[],
  live: LiveState,
): readonly (Successor & Pick<LiveResource, 'id'>)[] {
  const listCandidates = createAdoptionCandidateSearch(live, new Set(decisions.map(({ pair }) => pair.live?.id)));
  return decisions.flatMap(({ action, pair, form }) => {
    const { address, kind, desired } = pair;
    if (action !== 'create' || form === undefined || desired === undefined) return [];
    if (desired.lifecycle.adopt !== undefined || joinClaimKeys(kind, form.normal) !== '') return [];
    const [candidate, ...others] = listCandidates(kind, form.normal);
    if (candidate === undefined || others.length > 0 || candidate.markError !== undefined) return [];
    if (isUnmarked(candidate) || findCutMark(candidate) !== undefined) return [];
    return [{ address, desired, place: desired.locate(['metadata', 'name']), id: candidate.id }];
  });
}

interface Renamed extends Successor {
  readonly kind: Kind;
  readonly before: FreedResource;
  /** Whether the unique values are the same. Otherwise there are none, and the fields are. */
  readonly hasClaims: boolean;
}

/**
 * Finds deletes and creates that look like a rename: the new resource claims the same unique values as a deleted
 * resource of the same kind. Without unique values, it has the same fields, and it is the only one of each.
 */
export function findRenames(decisions: readonly ChangeDecision[]): readonly Renamed[] {
  const freed = Map.groupBy(
    decisions.flatMap(({ action, pair }) => (action === 'delete' ? listFreed(pair) : [])),
    ([key]) => key,
  );
  const created = decisions.flatMap(({ action, pair: { address, kind, desired }, form }) => {
    if (action !== 'create' || form === undefined || desired === undefined) return [];
    const claims = joinClaimKeys(kind, form.normal);
    const { fields } = computeMarkDigests(kind, form.normal, desired.lifecycle.ignore);
    return [{ key: claims || toFieldsKey(kind, fields), claims, address, desired, kind }];
  });
  const counts = Map.groupBy(created, ({ key }) => key);
  return created.flatMap(({ key, claims, address, desired, kind }) => {
    const [before, ...more] = freed.get(key) ?? [];
    const isUnclear = claims === '' && (more.length > 0 || counts.get(key)?.length !== 1);
    if (before === undefined || isUnclear) return [];
    const place = desired.locate(['metadata', 'name']);
    return [{ address, desired, place, kind, before: before[1], hasClaims: claims !== '' }];
  });
}

/** What is the same for two resources without unique values that have the same fields. Only defaults say nothing: `''`. */
function toFieldsKey(kind: Kind, { metadata: _, ...fields }: Mark['fields']): string {
  return Object.keys(fields).length === 0 ? '' : `${kind.name} ${toCanonicalJson(fields)}`;
}

interface WithoutFormer extends Successor {
  /** The address that `renamed_from` names. */
  readonly former: Address;
  /** The stack that has no such resource, such as `this stack`. */
  readonly owner: string;
  /** A question that suggests another name. */
  readonly meant: string | undefined;
}

/**
 * Finds creates whose `lifecycle.renamed_from` names a resource that does not exist. If the name is misspelled, the plan
 * would delete the resource that the user meant.
 */
export function findMissingFormerNames(
  decisions: readonly ChangeDecision[],
  { live, stack: own }: { readonly live: LiveState; readonly stack: string },
): readonly WithoutFormer[] {
  const kept = new Set(decisions.flatMap(({ pair }) => (pair.desired === undefined ? [] : (pair.live?.id ?? []))));
  return decisions.flatMap(({ action, pair: { address, kind, desired } }) => {
    const { takenFrom, renamedFrom: name = takenFrom?.name } = desired?.lifecycle ?? {};
    if (action !== 'create' || desired === undefined || name === undefined) return [];
    const stack = takenFrom?.stack ?? own;
    const ofKind = new Map([[kind.name, live.resources.get(kind.name) ?? []]]);
    const marked = listMarked({ resources: ofKind }).filter(
      ({ live: one }) => !kept.has(one.id) && !isRefusalRecord(one),
    );
    return [
      {
        address,
        desired,
        place: desired.locate(['lifecycle', 'renamed_from']),
        former: toAddress(kind.name, name),
        owner: stack === own ? 'this stack' : `the stack ${stack}`,
        meant: suggestFormer({ kind, name, stack }, marked),
      },
    ];
  });
}

/** A name shorter than this resembles too many others for a useful suggestion. */
const LEAST_LENGTH = 3;

/** A question that suggests the name or the stack that the user probably meant. `undefined` if nothing is similar. */
function suggestFormer(
  { kind, name, stack }: { readonly kind: Kind; readonly name: string; readonly stack: string },
  marked: readonly MarkedResource[],
): string | undefined {
  const names = marked.flatMap(({ address, live }) => (isOwnedBy(live, stack) ? [getAddressName(address)] : []));
  const near = name.length < LEAST_LENGTH ? undefined : suggest(name, names);
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  const stacks = marked.flatMap((one) => (one.address === toAddress(kind.name, name) ? [one.stack] : []));
  const nearStack = suggest(stack, [...new Set(stacks)]);
  return nearStack && `Did you mean the stack \`${nearStack}\`?`;
}

interface FreedResource {
  readonly name: string;
  readonly id: string;
}

/**
 * The unique values that a deleted resource frees, or the fields that it was applied with. Empty for a duplicate: the resource that is kept still has the name,
 * so it was not renamed.
 */
function listFreed(pair: ChangeDecision['pair']): readonly (readonly [string, FreedResource])[] {
  const { live, by } = pair;
  if (live?.mark === undefined || by !== 'mark') return [];
  const key = joinClaimKeys(pair.kind, live.spec) || toFieldsKey(pair.kind, live.mark.fields);
  return key === '' ? [] : [[key, { name: live.mark.name, id: live.id }]];
}

/** A member to add to `lifecycle` in a manifest, such as `adopt` with an id. */
interface LifecycleMember {
  readonly name: 'adopt' | 'renamed_from';
  readonly value: string | Readonly<Record<string, string>>;
}

/**
 * Returns the part of a remedy that says which line to add, and at which position: in the `lifecycle` of the manifest
 * or, if it has none, as a new `lifecycle`. It continues a sentence after a comma.
 */
export function describeLifecycleLineToAdd(resource: DesiredResource, member: LifecycleMember): string {
  const { start, block } = locateLifecycle(resource);
  const at = ({ file, line }: Place) => `${file}:${line}`;
  const isInBraces = resource.readSource(block === undefined ? [] : ['lifecycle']).startsWith('{');
  if (block !== undefined)
    return formatAddition(`its lifecycle at ${at(block)}`, formatLifecycleMember(member, isInBraces), isInBraces);
  const lifecycle = formatLifecycle(member, isInBraces);
  return formatAddition(`the document that starts at ${at(start)}`, lifecycle, isInBraces);
}

/**
 * Like `describeLifecycleLineToAdd`, but without a position, because the diagnostic already shows the document. The line is
 * in YAML even if the manifest is in JSON.
 */
export function formatLifecycleHint(resource: DesiredResource, { name, value }: LifecycleMember): string {
  const { block } = locateLifecycle(resource);
  const line = `${name}: ${formatYaml(value)}`;
  if (block === undefined) return `add to this document:\nlifecycle: { ${line} }`;
  const isWrong = name === 'renamed_from' && resource.lifecycle.renamedFrom !== undefined;
  return `${isWrong ? 'correct' : 'add to'} its lifecycle:\n${line}`;
}

/** Says where to add the line: if the place is a mapping in braces, after its opening brace. */
function formatAddition(what: string, line: string, isInBraces: boolean): string {
  return isInBraces ? `add after the { of ${what}:\n${line},` : `add to ${what}:\n${line}`;
}

function formatLifecycleMember({ name, value }: LifecycleMember, isInBraces: boolean): string {
  return isInBraces ? `"${name}": ${formatJson(value)}` : `${name}: ${formatYaml(value)}`;
}

/** Inside braces the key is quoted, which is valid in YAML and in JSON. */
function formatLifecycle(member: LifecycleMember, isInBraces: boolean): string {
  const inner = formatLifecycleMember(member, isInBraces);
  return isInBraces ? `"lifecycle": { ${inner} }` : `lifecycle: { ${inner} }`;
}

function formatYaml(value: LifecycleMember['value']): string {
  if (typeof value === 'string') return value;
  const members = Object.entries(value).map(([name, text]) => `${name}: ${text}`);
  return `{ ${members.join(', ')} }`;
}

function formatJson(value: LifecycleMember['value']): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, text]) => `"${name}": ${JSON.stringify(text)}`);
  return `{ ${members.join(', ')} }`;
}

/** The positions of the document and of its `lifecycle`. `block` is `undefined` if the document has no `lifecycle`. */
function locateLifecycle({ locate }: DesiredResource): {
  readonly start: Place;
  readonly block: Place | undefined;
} {
  const [start, block] = [locate(), locate(['lifecycle'])];
  const isThere = start.line !== block.line || start.column !== block.column;
  return { start, block: isThere ? block : undefined };
}

/**
 * Whether a concurrent apply could create the same resource again: the resource has no unique value, so the service
 * does not reject the second creation.
 */
export function isCreateWithoutClaims(write: Write): write is CreateWrite {
  return isCreate(write) && listClaims(getKind(write.kind), write.body).length === 0;
}
