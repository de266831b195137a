import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { diff } from '../kinds/diff.ts';
import { listIgnoredInMark, mapReferencesInIgnoredPath, parseIgnoredPart } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import { sortByPrecedence } from '../kinds/precedence.ts';
import { findOwnedKindOfId, listReferences, mapReferences } from '../kinds/references.ts';
import { alignLiveWithSecrets } from '../kinds/same-fields.ts';
import { ATTACHED_KINDS, getKind, MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { NO_ENVIRONMENT } from '../manifest/environment.ts';
import { renderManifestDocument } from '../manifest/render-document.ts';
import { validateManifests } from '../manifest/validate.ts';
import { type Address, getAddressName, isAddress, toAddress } from '../model/address.ts';
import { ConcealedValue, isConcealed } from '../model/concealed-value.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, omitUndefined } from '../model/json.ts';
import { isRefusalRecord, type Mark } from '../model/mark.ts';
import { isOwnedBy, listOwned } from '../model/ownership.ts';
import { isSecretValue, listConcealed, listSecretNames } from '../model/secret-value.ts';
import { compareByAge, type DesiredState, type LiveResource, type LiveState, type Spec } from '../model/state.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { type Described, findDescribed, findResourcesOfOtherStacks, NOTHING_DESCRIBED } from './described.ts';
import { minimizeFields } from './minimize.ts';
import { assignNamesToIds, choosePreferredName, createNameFromId } from './name-resources.ts';
import { listSensitiveFields, type SensitiveField, type WrittenDocument } from './sensitive-fields.ts';
import { createStateNotes, type ExportNote } from './state-notes.ts';
import {
  classifyInstance,
  createNameFromInstance,
  findStateResources,
  type StateResources,
} from './state-resources.ts';
import type { TerraformState } from './terraform-state.ts';

/**
 * Exports live resources as manifests that adopt them. Pure: the same resources in any order give the same bytes. A
 * plan from these manifests adopts the resources and changes nothing. Leaves out and lists each resource that a
 * manifest cannot describe exactly.
 */

/** Options of `exportLive`. */
export interface ExportOptions {
  /**
   * The stack that will own the exported resources. Resources that this stack owns already are exported too. Absent:
   * only unmanaged resources are exported, without a `Stack` document.
   */
  readonly stack?: string | undefined;
  /**
   * What the manifests of the stack describe so far. It is not exported again, references use its names, and no `Stack`
   * document is written. Absent: nothing.
   */
  readonly described?: DesiredState | undefined;
  /** Addresses, ids, and names of kinds to export. Absent or empty: everything. */
  readonly only?: readonly string[];
  /** `spec.api` of the `Stack` document. Absent: the document has no `spec.api`. */
  readonly api?: JsonObject;
  /** `spec.kinds` of the `Stack` document: the kinds that the stack may use. Absent: every kind. */
  readonly kinds?: readonly string[];
  /**
   * Exports only what this state has too, besides what `stack` owns already, with the names from there. Absent: exports
   * everything.
   */
  readonly names?: TerraformState | undefined;
}

/** A manifest that describes one live resource. */
export interface ExportedDocument {
  readonly kind: string;
  readonly name: string;
  /** YAML, including the comment above the document. */
  readonly text: string;
}

/**
 * The result of an export. `documents` starts with the `Stack`, followed by `External` documents, then resources sorted
 * by kind and name.
 */
export interface ExportResult {
  readonly documents: readonly ExportedDocument[];
  /** Number of documents other than `Stack` and `External`. */
  readonly resources: number;
  readonly leftOut: readonly SkippedResource[];
  /** Number of live resources that `ExportOptions.described` has already. */
  readonly described: number;
  /** Addresses and ids of `ExportOptions.only` that no live resource has. */
  readonly unknown: readonly string[];
  /** Fields of `documents` whose values the state of `ExportOptions.names` calls sensitive. */
  readonly sensitive: readonly SensitiveField[];
  /** How the state of `ExportOptions.names`, the account and the documents differ. */
  readonly notes: readonly ExportNote[];
  /** Lines of the comment above the first document. */
  readonly preface: readonly string[];
}

/** A live resource that is not exported, and why. */
export interface SkippedResource {
  readonly kind: string;
  readonly id: string;
  /** A clause without a full stop, such as `it belongs to the stack web, as Domain/shop`. */
  readonly reason: string;
  /** The other stack that owns the resource. Absent: none does. */
  readonly stack?: string | undefined;
  /** The address in its mark, or in the manifests. Absent: it has none. */
  readonly address?: Address | undefined;
}

/**
 * Exports unmanaged resources, resources of `options.stack`, and attached modules. `leftOut` lists the resources that
 * cannot be exported.
 * @example
 * const { resources, leftOut } = exportLive(live, { stack: 'production' });
 */
export function exportLive(live: LiveState, options: ExportOptions = {}): ExportResult {
  const state = options.names && findStateResources(options.names);
  const described = options.described === undefined ? NOTHING_DESCRIBED : findDescribed(live, options.described);
  const isAsked = createSelection(options.only);
  const { chosen, leftOut, others } = chooseResources(live, options.stack, state);
  const isNew = ({ id }: LiveResource) => !described.resources.has(id);
  const named = nameResources(chosen.filter(isNew), options, state).filter((one) =>
    isAsked({ kind: one.kind.name, id: one.live.id, address: toAddress(one.kind.name, one.name) }),
  );
  const stack = renderStackDocument(options.stack ?? 'stack', options);
  const checked = named.map((resource) => {
    const text = renderManifestDocument(createManifest(resource, resource.minimal, (id) => id));
    return { resource, reason: findReadBackReason(resource, { text, stack }) };
  });
  const kept = checked.filter(({ reason }) => reason === undefined).map(({ resource }) => resource);
  const inexact = checked.flatMap(({ resource: { kind, live }, reason }): SkippedResource[] =>
    reason === undefined ? [] : [{ kind: kind.name, id: live.id, reason }],
  );
  const describedByName = listDescribedByName(chosen, described, options.only);
  const allLeftOut = sortLeftOut([...leftOut.filter(isAsked), ...inexact, ...describedByName]);
  const loose = listLooseReferences(kept, live);
  const ofOtherStacks = findResourcesOfOtherStacks(live, options.stack);
  const externals = nameExternals(kept, { state, described, loose, ofOtherStacks, stack: options.described });
  const sensitive = listSensitiveFields(
    [...kept.map(toWrittenDocument), ...listWrittenExternals(externals)],
    options.names?.instances ?? [],
  );
  const asked = others.filter(({ kind, id }) => isAsked({ kind, id }));
  const notes = [
    ...listNotes(kept, loose, options),
    ...(state === undefined ? [] : createStateNotes(state, live, { ...externals, others: asked, sensitive })),
  ];
  const isAlone = options.stack === undefined || options.described !== undefined;
  return {
    documents: [
      ...(isAlone ? [] : [{ kind: 'Stack', name: options.stack ?? '', text: stack }]),
      ...createDocuments(kept, { externals, described, loose, ofOtherStacks }),
    ],
    resources: kept.length,
    leftOut: allLeftOut,
    described: chosen.filter((one) => !isNew(one) && isAsked({ ...one, address: described.resources.get(one.id) }))
      .length,
    unknown: listUnknown(options.only, [...named.map(toIdentity), ...allLeftOut]),
    sensitive,
    notes,
    preface: createPreface(allLeftOut, kept, { notes, isAddition: options.described !== undefined }),
  };
}

/** What a word of `ExportOptions.only` may mean: a kind, or a resource by its id or address. */
type Identity = Pick<SkippedResource, 'kind' | 'id' | 'address'>;

function toIdentity({ kind, live: { id }, name }: NamedResource): Identity {
  return { kind: kind.name, id, address: toAddress(kind.name, name) };
}

/** Whether a resource was asked for: by its kind, id or address. Modules always were, or they would not be read. */
function createSelection(only: readonly string[] = []): (resource: Identity) => boolean {
  const words = new Set(only);
  return ({ kind, id, address = '' }) =>
    words.size === 0 || getKind(kind).role === 'attached' || [kind, id, address].some((word) => words.has(word));
}

/** Lists the ids and addresses that were asked for and are in no result. A kind may have no resource. */
function listUnknown(only: readonly string[] = [], found: readonly Identity[]): readonly string[] {
  const foundWords = new Set(found.flatMap(({ id, address }) => [id, address ?? '']));
  return only.filter((word) => (findOwnedKindOfId(word) !== undefined || isAddress(word)) && !foundWords.has(word));
}

/** What is asked for by its id or address, although a manifest describes it. */
function listDescribedByName(
  chosen: readonly LiveResource[],
  { resources }: Described,
  only: readonly string[] = [],
): readonly SkippedResource[] {
  return chosen.flatMap(({ kind, id }) => {
    const address = resources.get(id);
    if (address === undefined || !(only.includes(id) || only.includes(address))) return [];
    return [{ kind, id, address, reason: `the manifests describe it already, as ${address}` }];
  });
}

/** A reference to a resource that does not exist, although the whole list of its kind was read. */
interface LooseReference {
  readonly address: Address;
  readonly path: string;
  readonly id: string;
}

function listLooseReferences(resources: readonly NamedResource[], live: LiveState): readonly LooseReference[] {
  const ids = new Set([...live.resources.values()].flat().map(({ id }) => id));
  return resources.flatMap(({ kind, name, minimal }) =>
    listReferences(kind, minimal).flatMap(({ path, value: id }) => {
      const isRead = live.resources.has(findOwnedKindOfId(id)?.name ?? '');
      return isRead && !ids.has(id) ? [{ address: toAddress(kind.name, name), path: formatPath(path), id }] : [];
    }),
  );
}

/** What a user has to know of the new manifests. Leaves out empty notes. */
function listNotes(
  kept: readonly NamedResource[],
  loose: readonly LooseReference[],
  { described }: ExportOptions,
): readonly ExportNote[] {
  const allowed = described?.stack.kinds;
  const kinds = [...new Set(kept.map(({ kind }) => kind.name))].filter((kind) => allowed?.includes(kind) === false);
  const notes: readonly ExportNote[] = [
    {
      title: 'Warning: refers to what does not exist, so the manifest has its id. Correct it before it is applied anew',
      lines: loose.map(({ address, path, id }) => `${address}: ${path}: ${id}`),
      isInComment: true,
    },
    { title: 'Not in spec.kinds of the Stack. Add there', lines: kinds, isInComment: false },
  ];
  return notes.filter(({ lines }) => lines.length > 0);
}

/** A resource to export, with the name that its document gets. */
interface NamedResource {
  readonly kind: Kind;
  readonly name: string;
  readonly live: LiveResource;
  /** The spec without fields that have their default. References are still ids of live resources, not addresses. */
  readonly minimal: Spec;
  readonly isProtected: boolean;
}

function nameResources(
  chosen: readonly LiveResource[],
  { stack, described }: ExportOptions,
  state: StateResources | undefined,
): readonly NamedResource[] {
  const taken = Map.groupBy(described?.resources.values() ?? [], ({ kind }) => kind);
  const byKind = Map.groupBy(chosen, ({ kind }) => kind);
  const ownMarks = new Map(
    chosen.flatMap((live) => (stack !== undefined && isOwnedBy(live, stack) ? [[live.id, live.mark] as const] : [])),
  );
  return MANIFEST_KINDS.flatMap((kind) => {
    const resources = byKind.get(kind.name) ?? [];
    const names = assignNamesToIds([
      ...(taken.get(kind.name) ?? []).map(({ address, name }) => ({ id: address, base: name, isFixed: true })),
      ...resources.map((live) => {
        const own = ownMarks.get(live.id)?.name;
        const base = own ?? findNameInState(live.id, state) ?? choosePreferredName(kind, live);
        return { id: live.id, base, isFixed: own !== undefined };
      }),
    ]);
    return resources
      .map((live): NamedResource => {
        const name = names.get(live.id) ?? live.id;
        const own = ownMarks.get(live.id);
        return {
          kind,
          live,
          name,
          isProtected: own?.protect === true,
          minimal: nameHiddenValues(name, minimizeFields(kind.specFields, live.spec)),
        };
      })
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  });
}

function findNameInState(id: string, state: StateResources | undefined): string | undefined {
  const instance = state?.byId.get(id);
  return instance && createNameFromInstance(instance);
}

/**
 * Replaces each hidden value by a variable, named after the resource and the key: `${secret:CHECKOUT_AUTHORIZATION}`.
 * Equal values of a resource have one variable.
 */
function nameHiddenValues(resource: string, spec: Spec): Spec {
  const variables = new Map<number, string>();
  const name = (key: string, number: number): string => {
    const base = `${resource}_${key}`
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=[0-9])/, '_');
    const taken = new Set(variables.values());
    for (let count = 1; ; count += 1) {
      const variable = count === 1 ? base : `${base}_${count}`;
      if (taken.has(variable)) continue;
      variables.set(number, variable);
      return variable;
    }
  };
  const replace = (value: Json, key: string): Json => {
    if (isConcealed(value)) {
      const { template, number = 0, isNumeric } = value;
      return template === undefined && !isNumeric
        ? ConcealedValue.secret(`\${secret:${variables.get(number) ?? name(key, number)}}`)
        : value;
    }
    if (isJsonArray(value)) return value.map((member) => replace(member, key));
    return isJsonObject(value) ? replaceMembers(value) : value;
  };
  const replaceMembers = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, member]) => [key, replace(member, key)]));
  return replaceMembers(spec);
}

/** Names of the ids that the documents do not describe. */
interface ExternalNames {
  /** By id. Also of ids in the state to which no document refers. */
  readonly externals: ReadonlyMap<string, string>;
  /** The ids to which a document refers. */
  readonly exported: ReadonlySet<string>;
}

/** What has a name already, or must not get one. */
interface KnownNames {
  readonly state: StateResources | undefined;
  readonly described: Described;
  readonly loose: readonly LooseReference[];
  readonly ofOtherStacks: ReturnType<typeof findResourcesOfOtherStacks>;
  /** The stack with the `External` documents that there are. */
  readonly stack: DesiredState | undefined;
}

/** Names the `External` documents for the ids that nothing else describes, and the ids that only the state has. */
function nameExternals(
  resources: readonly NamedResource[],
  { state, described, loose, ofOtherStacks, stack }: KnownNames,
): ExternalNames {
  const knownIds = new Set([
    ...resources.map(({ live }) => live.id),
    ...described.references.keys(),
    ...loose.map(({ id }) => id),
  ]);
  const exported = new Set(resources.flatMap(listReferredIds).filter((id) => !knownIds.has(id)));
  const inState = (state?.otherKinds ?? [])
    .map(classifyInstance)
    .flatMap((one) => (one.use === 'external' ? [one.id] : []));
  const taken = [...(stack?.externals.keys() ?? []), ...(stack?.crossStackReferences?.keys() ?? [])];
  const names = assignNamesToIds([
    ...taken.map((address) => ({ id: address, base: getAddressName(address), isFixed: true })),
    ...Array.from(new Set([...exported, ...inState]), (id) => ({
      id,
      base: findNameInState(id, state) ?? ofOtherStacks.get(id)?.name ?? createNameFromId(id),
      isFixed: false,
    })),
  ]);
  const externals = new Map([...names].filter(([id]) => !isAddress(id)));
  return { externals, exported };
}

/** What the document of a resource has of it, by the names that a Terraform state uses. */
function toWrittenDocument({ kind, name, live: { id }, minimal }: NamedResource): WrittenDocument {
  const names = kind.role === 'owned' ? { id: 'lifecycle.adopt' } : {};
  return { address: toAddress(kind.name, name), id, values: { id, ...minimal }, names };
}

function listWrittenExternals({ externals, exported }: ExternalNames): readonly WrittenDocument[] {
  return [...externals].flatMap(([id, name]) =>
    exported.has(id) ? [{ address: toAddress('External', name), id, values: { id }, names: {} }] : [],
  );
}

function createDocuments(
  resources: readonly NamedResource[],
  {
    externals: { externals, exported },
    described,
    loose,
    ofOtherStacks,
  }: { readonly externals: ExternalNames } & Pick<KnownNames, 'described' | 'loose' | 'ofOtherStacks'>,
): readonly ExportedDocument[] {
  const addresses = new Map([
    ...described.references,
    ...resources.map(({ kind, name, live }) => [live.id, toAddress(kind.name, name)] as const),
  ]);
  const named = [...externals].filter(([id]) => exported.has(id));
  for (const [id, name] of named) addresses.set(id, toAddress('External', name));
  const documents = resources.map((resource) => {
    const { kind, name, minimal } = resource;
    const toName = (id: string) => addresses.get(id) ?? id;
    const spec = mapReferredIds(kind, minimal, toName);
    return {
      kind: kind.name,
      name,
      text: renderManifestDocument(createManifest(resource, spec, toName), createComment(resource, loose)),
    };
  });
  return [...createExternals(named, ofOtherStacks), ...documents];
}

/** An id of another stack is written as the name there, which stays if the resource is created anew. */
function createExternals(
  externals: readonly (readonly [id: string, name: string])[],
  ofOtherStacks: KnownNames['ofOtherStacks'],
): readonly ExportedDocument[] {
  return externals
    .toSorted(([, left], [, right]) => (left < right ? -1 : 1))
    .map(([id, name]) => ({
      kind: 'External',
      name,
      text: renderManifestDocument({
        apiVersion: MANIFEST_API_VERSION,
        kind: 'External',
        metadata: { name },
        spec: ofOtherStacks.get(id)?.reference ?? { id },
      }),
    }));
}

function listReferredIds({ kind, minimal }: NamedResource): readonly string[] {
  const ids: string[] = [];
  mapReferredIds(kind, minimal, (id) => {
    ids.push(id);
    return id;
  });
  return ids;
}

/**
 * Replaces each id that a document refers to. Keeps the `id` of an attached kind, because that id names the resource to
 * which the modules are attached.
 */
function mapReferredIds(kind: Kind, spec: Spec, replace: (id: string) => string): Spec {
  return mapReferences(kind, spec, ({ path, value }) =>
    kind.role === 'attached' && path[0] === 'id' ? value : replace(value),
  );
}

function renderStackDocument(name: string, { api, kinds }: Pick<ExportOptions, 'api' | 'kinds'>): string {
  const spec = omitUndefined({ api, kinds });
  return renderManifestDocument({
    apiVersion: MANIFEST_API_VERSION,
    kind: 'Stack',
    metadata: { name },
    ...(Object.keys(spec).length > 0 && { spec }),
  });
}

function createManifest(
  { kind, name, live, isProtected }: NamedResource,
  spec: Spec,
  toName: (id: string) => string,
): JsonObject {
  const lifecycle = {
    ...(isProtected && { protect: true }),
    ...readIgnored(kind, live.mark, toName),
    adopt: live.id,
  };
  return {
    apiVersion: MANIFEST_API_VERSION,
    kind: kind.name,
    metadata: { name },
    ...(Object.keys(spec).length > 0 && { spec }),
    ...(kind.role === 'owned' && { lifecycle }),
  };
}

/** Returns `lifecycle.ignore` as the mark records it. */
function readIgnored(kind: Kind, mark: Mark | undefined, toName: (id: string) => string): JsonObject {
  const ignored = listIgnoredInMark(mark).map((path) =>
    mapReferencesInIgnoredPath(kind, path, ({ value }) => toName(value)),
  );
  const ignore = kind.specFields.flatMap(([name]) => ignored.filter((path) => parseIgnoredPart(path).field === name));
  return ignore.length > 0 ? { ignore } : {};
}

/** Returns the lines of the comment above a document: facts that the document itself cannot express. */
function createComment({ kind, name, minimal }: NamedResource, loose: readonly LooseReference[]): readonly string[] {
  const secrets = kind.oneTimeFields.map(
    (name) =>
      `Its ${name} was shown once, when it was created, and cannot be exported. Adopting it does not change it.`,
  );
  const times = kind.validity === undefined ? [] : [RENEWAL];
  const isBare =
    kind.role === 'attached' && kind.specFields.every(([name, { required }]) => required || !(name in minimal));
  const variables = listVariablesToSet([minimal]);
  const unset = variables.length === 0 ? [] : [`Secret values are not exported. Set ${variables.join(', ')}.`];
  const missing = loose
    .filter(({ address }) => address === toAddress(kind.name, name))
    .map(({ path, id }) => `${path} refers to ${id}, which does not exist.`);
  return [...secrets, ...unset, ...times, ...missing, ...(isBare ? [NO_MODULES] : [])];
}

/** The names of the variables that stand for hidden values. */
function listVariablesToSet(specs: readonly Spec[]): readonly string[] {
  const templates = specs.flatMap((spec) => listConcealed(spec)).filter(isSecretValue);
  return [...new Set(templates.flatMap(({ template }) => listSecretNames(template)))];
}

const RENEWAL =
  'It is not renewed. To have it renewed, write lifecycle.valid_for instead of spec.valid_after and spec.valid_until.';

const NO_MODULES = 'None of its modules is set, or it does not exist: the API does not tell which.';

function createPreface(
  leftOut: readonly SkippedResource[],
  kept: readonly NamedResource[],
  { notes, isAddition }: { readonly notes: readonly ExportNote[]; readonly isAddition: boolean },
): readonly string[] {
  // The notes of the run name each of them. The file, which is read later, has one line for each stack.
  const others = Map.groupBy(
    leftOut.flatMap(({ stack }) => stack ?? []),
    (stack) => stack,
  );
  const lines = [
    ...leftOut
      .filter(({ stack }) => stack === undefined)
      .map(({ kind, id, reason }) => `Left out: ${kind} ${id}: ${reason}.`),
    ...[...others].map(([stack, all]) => `Left out: what belongs to the stack ${stack} (${all.length}).`),
  ];
  const hasAttached = kept.some(({ kind }) => kind.role === 'attached');
  const variables = listVariablesToSet(kept.map(({ minimal }) => minimal));
  const offered = variables.map((name) => `--secret ${name}`).join(' ');
  const unset = variables.length === 0 ? [] : [`Set these variables, and offer them: ${offered}.`];
  const noted = notes.flatMap((note) =>
    note.isInComment ? [`${note.title}:`, ...note.lines.map((line) => `  ${line}`)] : [],
  );
  if (isAddition) return ['Made by edgewise export.', ...noted, ...unset];
  return ['Made by edgewise export.', ...lines, ...noted, ...unset, ...(hasAttached ? [] : [NO_LIST])];
}

const NO_LIST = `Modules of ${ATTACHED_KINDS.map(({ title }) => `${title}s`).join(' and ')} are not here, because the API does not list them. Name them with --modules-of.`;

function sortLeftOut(leftOut: readonly SkippedResource[]): readonly SkippedResource[] {
  const formatSortKey = ({ kind, id }: SkippedResource) => `${MANIFEST_KINDS.indexOf(getKind(kind))} ${id}`;
  return leftOut.toSorted((left, right) => (formatSortKey(left) < formatSortKey(right) ? -1 : 1));
}

/** What is exported of all that is live, and what is not. */
interface ExportSelection {
  readonly chosen: readonly LiveResource[];
  readonly leftOut: readonly SkippedResource[];
  /** Unmanaged resources that the state does not contain. Without a state, there are none. */
  readonly others: readonly LiveResource[];
}

/**
 * Chooses unmanaged resources and resources of `stack`. With a state, chooses only unmanaged resources that it contains,
 * but every resource of `stack`, because the stack would delete those without a manifest. Leaves out resources of other
 * stacks, because a manifest cannot adopt them, but only take them over.
 */
function chooseResources(
  live: LiveState,
  stack: string | undefined,
  state: StateResources | undefined,
): ExportSelection {
  const all = [...live.resources.values()].flat().sort(compareByAge);
  const owned = Map.groupBy(stack === undefined ? [] : listOwned(live, stack), ({ address }) => address);
  const keptByAddress = new Map(
    Array.from(owned, ([address, same]) => [address, findKept(same.map((one) => one.live))]),
  );
  const reasons = all.map((resource) => ({ resource, reason: findOwnershipReason(resource, stack, keptByAddress) }));
  const exportable = reasons.filter(({ reason }) => reason === undefined).map(({ resource }) => resource);
  const isWanted = ({ mark, id }: LiveResource) => state === undefined || mark !== undefined || state.managed.has(id);
  return {
    chosen: [...exportable.filter(isWanted), ...live.attachments.values()],
    leftOut: reasons.flatMap(({ resource, reason }) => {
      const { kind, id, mark } = resource;
      const isOurs = stack !== undefined && isOwnedBy(resource, stack);
      const address = mark && toAddress(kind, mark.name);
      return reason === undefined ? [] : [{ kind, id, reason, address, ...(!isOurs && { stack: mark?.stack }) }];
    }),
    others: exportable.filter((resource) => !isWanted(resource)),
  };
}

/** Of the resources with one mark, the one that a plan keeps. */
function findKept(marked: readonly LiveResource[]): LiveResource | undefined {
  const [first] = marked;
  return first && sortByPrecedence(getKind(first.kind), marked)[0];
}

/**
 * Returns why no manifest of `stack` can have a resource, by its mark. `keptByAddress`: by address, the resource of the stack
 * that a plan keeps.
 */
function findOwnershipReason(
  resource: LiveResource,
  stack: string | undefined,
  keptByAddress: ReadonlyMap<Address, LiveResource | undefined>,
): string | undefined {
  const { kind, mark, markError } = resource;
  if (markError !== undefined) return `its mark cannot be read: ${markError}`;
  if (mark === undefined) return undefined;
  const address = toAddress(kind, mark.name);
  if (stack === undefined || !isOwnedBy(resource, stack)) return `it belongs to the stack ${mark.stack}, as ${address}`;
  if (isRefusalRecord(resource)) return `it only records that the service refused to create ${address} as requested`;
  const first = keptByAddress.get(address);
  return first === resource ? undefined : `it has the same mark as ${first?.id}, ${address}`;
}

/** The text of an exported document, and of the `Stack` document that it is validated with. */
interface ExportTexts {
  readonly text: string;
  readonly stack: string;
}

/**
 * Reads an exported document back. Returns why it is not a valid manifest or differs from the live resource;
 * `undefined` if it is exact.
 */
function findReadBackReason(
  { kind, live }: { readonly kind: Kind; readonly live: LiveResource },
  { text, stack }: ExportTexts,
): string | undefined {
  if (listConcealed(live.spec).some(({ isNumeric }) => isNumeric)) return HIDDEN_NUMBER;
  const sources = [stack, text].map((each, index) => ({ file: `${index}.yaml`, bytes: Buffer.from(each) }));
  const { state, diagnostics } = validateManifests(sources, { env: NO_ENVIRONMENT });
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error !== undefined) return `no manifest can describe it: ${withoutAddress(error)}`;
  const [read] = state?.resources.values() ?? [];
  if (read === undefined) return NOT_EXACT;
  const normal = canonical(kind, read.spec, AS_WRITTEN);
  const differences = diff(kind, alignLiveWithSecrets(kind, live.spec, normal), normal);
  return differences.length === 0 ? undefined : NOT_EXACT;
}

const HIDDEN_NUMBER = 'it has a number below a name of a secret, and no variable can stand for a number';

const NOT_EXACT = 'no manifest can describe it exactly';

/** Removes the address from a message, because the skipped resource has no document with that address. */
function withoutAddress({ message, address }: Diagnostic): string {
  const start = `${address}: `;
  return message.startsWith(start) ? message.slice(start.length) : message;
}
