import { isAbsolute, normalize } from 'node:path';
import { type Claim, listClaims } from '../kinds/claims.ts';
import { parseDurationMs } from '../kinds/duration.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isAddress, isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic, SourcePlace } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import {
  fillStackNameInPath,
  type LintSettings,
  NO_TOKEN_SETTINGS,
  parseRateLimit,
  parseRenderSource,
  type SinkSettings,
  type StackSettings,
  type TokenSettings,
  type TrustRequiringSetting,
} from '../model/stack.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { WITHOUT_CODE_GENERATION } from '../schemas/findings.ts';
import { createStackSpecSchema, type StackSpec } from '../schemas/stack.ts';
import { joinToManifestFolder } from './environment.ts';
import {
  createReparsingLocator,
  type DocumentFinding,
  type DocumentsByAddress,
  type FindingPlace,
  type Locator,
  locateSource,
  type ManifestDocument,
} from './finding.ts';

/** Reads the settings of a valid `Stack` and fills in defaults. Without a document, the name is empty. */
export function readStackSettings(
  document?: ManifestDocument,
  locator: Locator = createReparsingLocator(),
): StackSettings {
  const { name = '', value } = document ?? {};
  const resolvePath = (path: string, ...stated: FieldPath): string =>
    document === undefined
      ? path
      : joinToManifestFolder(chooseSettingDocument(document, stated).position.source.file, path);
  const spec = value?.['spec'];
  const stated = createStackSpecSchema().parse(spec ?? {}, WITHOUT_CODE_GENERATION);
  const {
    api,
    kinds,
    guard,
    tokens,
    lint,
    owner_label: ownerLabel,
    handed_over: handedOver,
    policies,
    inputs,
  } = stated;
  return {
    name,
    api: {
      baseUrl: api.base_url,
      ...(api.key_env !== undefined && { keyEnv: api.key_env }),
      versionHeader: api.version_header,
      pageSize: api.page_size,
      concurrency: api.concurrency,
      rateLimit: parseCheckedRateLimit(api.rate_limit),
      timeouts: {
        connectMs: parseCheckedMs(api.timeouts.connect),
        headersMs: parseCheckedMs(api.timeouts.headers),
        bodyMs: parseCheckedMs(api.timeouts.body),
        requestMs: parseCheckedMs(api.timeouts.request),
      },
      caFile: api.ca_file === undefined ? undefined : resolvePath(api.ca_file, 'spec', 'api', 'ca_file'),
      ...(document !== undefined && listGivenSettings(document, locator)),
    },
    ...(kinds !== undefined && { kinds }),
    ...(handedOver !== undefined && { handedOver }),
    guard: { maxDeletes: guard.max_deletes, maxDeleteShare: guard.max_delete_share },
    tokens: tokens === undefined ? NO_TOKEN_SETTINGS : parseTokenSettings(tokens, name),
    ...(tokens !== undefined &&
      document !== undefined && {
        locate: (path) => locateSetting(document, path, locator),
      }),
    lint: parseLintSettings(lint),
    ...(ownerLabel !== undefined && { ownerLabel }),
    ...getLabelsAndAnnotations(value ?? {}),
    policies: policies.map((path) => resolvePath(path, 'spec', 'policies')),
    ...(inputs !== undefined && { inputs: inputs.map((pattern) => resolvePath(pattern, 'spec', 'inputs')) }),
  };
}

const TRUST_SETTINGS = ['base_url', 'ca_file', 'version_header', 'key_env', 'rate_limit'] as const;

function listGivenSettings(
  document: ManifestDocument,
  locator: Locator,
): { readonly given?: readonly TrustRequiringSetting[] } {
  const spec = document.value['spec'];
  const api = isJsonObject(spec) ? spec['api'] : undefined;
  const names = isJsonObject(api) ? TRUST_SETTINGS.filter((name) => Object.hasOwn(api, name)) : [];
  if (names.length === 0) return {};
  const locate = (name: string) => locateSetting(document, ['spec', 'api', name], locator);
  return { given: names.map((name) => ({ name, locate: () => locate(name) })) };
}

function parseLintSettings({ max_validity, cel_variables, ...rules }: StackSpec['lint']): LintSettings {
  const stated = Object.entries(rules).filter(([, severity]) => severity !== undefined);
  return {
    severities: Object.fromEntries(stated),
    maxValidityMs: assertDefined(parseDurationMs(max_validity), 'a checked duration'),
    celVariables: cel_variables,
  };
}

function parseCheckedRateLimit(text: string | undefined): StackSettings['api']['rateLimit'] {
  return text === undefined || text === 'none' ? text : assertDefined(parseRateLimit(text), 'a checked rate limit');
}

function parseCheckedMs(duration: string): number {
  return assertDefined(parseDurationMs(duration), 'a checked duration');
}

type SinkSpec = NonNullable<NonNullable<StackSpec['tokens']>['default']>;

function parseTokenSettings(tokens: NonNullable<StackSpec['tokens']>, stack: string): TokenSettings {
  const toSink = (sink: SinkSpec): SinkSettings => parseSinkSettings(sink, stack);
  const credentials = Object.entries(tokens.credentials).map(([name, sink]) => [name, toSink(sink)] as const);
  return { default: tokens.default && toSink(tokens.default), credentials: Object.fromEntries(credentials) };
}

function parseSinkSettings(sink: SinkSpec, stack: string): SinkSettings {
  if ('directory' in sink) return { directory: fillStackNameInPath(sink.directory, stack) };
  const { command, test, timeout } = sink;
  return { command, timeoutMs: parseCheckedMs(timeout), ...(test !== undefined && { test }) };
}

/** Settings that are merged field by field. Any other setting, such as a list, comes whole from one document. */
const DIVISIBLE: ReadonlySet<string> = new Set([
  'api',
  'api.timeouts',
  'guard',
  'lint',
  'tokens',
  'tokens.credentials',
]);

/** Merges settings of several documents, field by field. If several set a field, the first one wins. */
export function mergeSettingsLayers(layers: readonly JsonObject[], path: readonly string[] = []): JsonObject {
  const names = new Set(layers.flatMap((layer) => Object.keys(layer)));
  const merged = [...names].map((name): [string, Json] => {
    const values = layers.flatMap((layer) => (Object.hasOwn(layer, name) ? [layer[name] ?? null] : []));
    const at = [...path, name];
    const [first = null] = values;
    const isWhole = !isJsonObject(first) || !DIVISIBLE.has(at.join('.'));
    return [name, isWhole ? first : mergeSettingsLayers(values.filter(isJsonObject), at)];
  });
  return Object.fromEntries(merged);
}

/** Fills the settings of the Defaults into the first Stack, and returns all documents. The Stack's own settings win. */
export function mergeDefaultsIntoStack(documents: readonly ManifestDocument[]): readonly ManifestDocument[] {
  const stack = documents.find(({ kind }) => kind === 'Stack');
  const defaults = documents.filter(({ kind }) => kind === 'Defaults');
  if (stack === undefined || defaults.length === 0) return documents;
  const layers = [stack, ...listDefaultsForFolder(toFolder(stack), defaults, toFolder)];
  const specs = layers.map(({ value }) => value['spec']).filter((spec) => spec !== undefined && isJsonObject(spec));
  const filled = { ...stack, value: { ...stack.value, spec: mergeSettingsLayers(specs) }, layers };
  return documents.map((document) => (document === stack ? filled : document));
}

/** Lists the Defaults that are in a folder or above it, the nearest first. */
export function listDefaultsForFolder<One>(
  folder: string,
  defaults: readonly One[],
  toFolder: (one: One) => string,
): readonly One[] {
  return defaults
    .flatMap((one) => {
      const distance = findDistance(folder, toFolder(one));
      return distance === undefined ? [] : [{ one, distance }];
    })
    .sort((left, right) => left.distance - right.distance)
    .map(({ one }) => one);
}

/**
 * Returns how many folders `outer` is above `inner`. `undefined` if `outer` does not contain `inner`. Both paths are
 * relative to the same folder, or absolute.
 */
function findDistance(inner: string, outer: string): number | undefined {
  const [from, to] = [toSteps(inner), toSteps(outer)];
  const isAround =
    from.isAbsolute === to.isAbsolute &&
    (to.up === from.up ? to.down.every((step, index) => step === from.down[index]) : to.down.length === 0);
  const distance = to.up - from.up + from.down.length - to.down.length;
  return isAround && to.up >= from.up && distance >= 0 ? distance : undefined;
}

interface Steps {
  readonly isAbsolute: boolean;
  readonly up: number;
  readonly down: readonly string[];
}

function toSteps(folder: string): Steps {
  const steps = normalize(folder).split('/');
  const down = steps.filter((step) => !['', '.', '..'].includes(step));
  return { isAbsolute: isAbsolute(folder), up: steps.filter((step) => step === '..').length, down };
}

/** Returns the document that sets a setting of a Stack: the Stack itself, or one of its Defaults. */
function chooseSettingDocument(stack: ManifestDocument, path: FieldPath): ManifestDocument {
  return stack.layers?.find(({ value }) => holdsPath(value, path)) ?? stack;
}

function holdsPath(value: Json, [step, ...rest]: FieldPath): boolean {
  if (step === undefined) return true;
  const held = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
  return held && holdsPath((value as JsonObject)[step] ?? null, rest); // a list has numeric keys
}

export function locateSetting(stack: ManifestDocument, path: FieldPath, locator: Locator): SourcePlace {
  return locateSource({ position: chooseSettingDocument(stack, path).position, path, target: 'value' }, locator);
}

export interface EffectiveStackSetting {
  /** The path below `spec`, such as `api.rate_limit`. */
  readonly name: string;
  readonly value: Json;
  /** The kind of the document that sets the value, and the position. Absent if the value is the default of edgewise. */
  readonly source?: { readonly by: string; readonly place: SourcePlace };
}

/** Lists every setting of a valid Stack, including the settings from its Defaults and the defaults of edgewise. */
export function listEffectiveStackSettings(
  stack: ManifestDocument,
  locator: Locator,
): readonly EffectiveStackSetting[] {
  const spec = createStackSpecSchema().parse(stack.value['spec'] ?? {}, WITHOUT_CODE_GENERATION) as JsonObject; // values in a document are JSON
  return listLeaves(spec, []).map(({ path, value }) => {
    const whole = ['spec', ...path];
    const by = (stack.layers ?? [stack]).find((layer) => holdsPath(layer.value, whole));
    const setting = { name: path.join('.'), value };
    if (by === undefined) return setting;
    const place = locateSource({ position: by.position, path: whole, target: 'value' }, locator);
    return { ...setting, source: { by: by.kind, place } };
  });
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: Json;
}

function listLeaves(settings: JsonObject, before: readonly string[]): readonly Leaf[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const path = [...before, name];
    return isJsonObject(value) && DIVISIBLE.has(path.join('.')) ? listLeaves(value, path) : [{ path, value }];
  });
}

/** Reports a second Defaults in one folder, because it is unclear which of the two is the nearest. */
export function listDuplicateDefaultsInFolders(documents: readonly ManifestDocument[]): readonly DocumentFinding[] {
  const defaults = documents.filter(({ kind }) => kind === 'Defaults');
  return [...Map.groupBy(defaults, toFolder).values()].flatMap(([first, ...others]) =>
    others.map((document) => ({
      document,
      finding: {
        code: 'multiple-defaults',
        message: 'the folder has a second Defaults document',
        remedy: 'Put the settings into one of them, and remove the other.',
        path: ['kind'],
        target: 'value',
        related: first === undefined ? [] : [{ message: 'the first is here', place: toKindPlace(first) }],
      },
    })),
  );
}

function toKindPlace({ position }: ManifestDocument): FindingPlace {
  return { position, path: ['kind'], target: 'value' };
}

/** Reports every `Stack` except the first. Allows an unchanged copy of the first in the output of `spec.render`. */
export function listExtraStackFindings([first, ...others]: readonly ManifestDocument[]): readonly DocumentFinding[] {
  if (first === undefined) return [];
  return others
    .filter((document) => !isHandedThrough(document, first))
    .map((document) => ({
      document,
      finding: {
        code: 'multiple-stacks',
        ...(isPrinted(document) ? PRINTED_STACK : SECOND_STACK),
        path: ['metadata', 'name'],
        target: 'value',
        related: [{ message: 'the first Stack is here', place: toNamePlace(first) }],
      },
    }));
}

/** The maximum number of stacks that a message names, so that it stays one sentence. */
const MAX_NAMED = 5;

/**
 * Returns the error for Stacks in several folders, which are separate stacks. All other findings are then meaningless.
 * `undefined` if there is at most one Stack, or if all are in one folder.
 */
export function findStacksInSeveralFolders(stacks: readonly ManifestDocument[]): Diagnostic | undefined {
  const own = stacks.filter((document) => !isPrinted(document));
  const folders = [...new Set(own.map(toFolder))].sort();
  const [first = ''] = folders;
  if (folders.length < 2) return undefined;
  const names = own.map((stack) => (isResourceName(stack.name) ? stack.name : toFolder(stack))).sort();
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return {
    code: 'multiple-stacks',
    severity: 'error',
    message: `these are ${names.length} stacks: ${names.slice(0, MAX_NAMED).join(', ')}${more}`,
    remedy: `Add -R (--recursive) for all of them, or give the path of one, such as ${first}.`,
  };
}

function toFolder({ position }: Pick<ManifestDocument, 'position'>): string {
  const file = parseRenderSource(position.source.file)?.file ?? position.source.file;
  return file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '.';
}

const SECOND_STACK = {
  message: 'a run has one Stack, but this is the second',
  remedy: 'Remove one of them, give the path of one stack only, or run every stack with -R (--recursive).',
};

const PRINTED_STACK = {
  message: 'the command of spec.render prints a Stack that differs from the Stack that names the command',
  remedy: 'Print no Stack, or print it unchanged: the settings come from the file.',
};

/** Whether a document comes from the output of `spec.render`. */
function isPrinted({ position }: ManifestDocument): boolean {
  return parseRenderSource(position.source.file) !== undefined;
}

function isHandedThrough(document: ManifestDocument, first: ManifestDocument): boolean {
  const isSame =
    document.name === first.name && isSameJson(document.value['spec'] ?? null, first.value['spec'] ?? null);
  return isPrinted(document) && isSame;
}

/** Reports documents whose kind is not in the Stack's `spec.kinds`. */
export function listDisabledKindFindings(
  documents: readonly ManifestDocument[],
  stack: ManifestDocument | undefined,
): readonly DocumentFinding[] {
  const spec = stack?.value['spec'];
  const kinds = isJsonObject(spec) ? spec['kinds'] : undefined;
  if (stack === undefined || !isJsonArray(kinds)) return [];
  const { position } = chooseSettingDocument(stack, ['spec', 'kinds']);
  const place = { position, path: ['spec', 'kinds'], target: 'value' } as const;
  return documents
    .filter(({ kind }) => findKind(kind) !== undefined && !kinds.includes(kind))
    .map((document) => ({
      document,
      finding: {
        code: 'kind-not-enabled',
        message: `spec.kinds of the Stack does not list the kind ${document.kind}`,
        remedy: `Add ${document.kind} to spec.kinds of the Stack, or remove this document.`,
        path: ['kind'],
        target: 'value',
        related: [{ message: 'the kinds that it uses are here', place }],
      },
    }));
}

/** Reports addresses that a Stack hands over although a document still describes them. */
export function listHandOversWithManifest(
  index: DocumentsByAddress,
  stack: ManifestDocument | undefined,
): readonly DocumentFinding[] {
  const spec = stack?.value['spec'];
  const handedOver = isJsonObject(spec) ? spec['handed_over'] : undefined;
  if (stack === undefined || handedOver === undefined || !isJsonArray(handedOver)) return [];
  return handedOver.flatMap((address, at): DocumentFinding[] => {
    const described = typeof address === 'string' && isAddress(address) ? index.get(address) : undefined;
    if (described === undefined) return [];
    const finding = {
      code: 'bad-value',
      message: `spec.handed_over names ${described.address}, which a document still describes`,
      remedy: 'Remove the line; or remove the document, once another stack takes the resource over.',
      path: ['spec', 'handed_over', at],
      target: 'value',
      related: [{ message: 'described here', place: toNamePlace(described) }],
    } as const;
    return [{ document: chooseSettingDocument(stack, ['spec', 'handed_over']), finding }];
  });
}

/** The error for manifests without a Stack. Its remedy contains the lines to add. */
export const NO_STACK_DIAGNOSTIC: Diagnostic = {
  code: 'no-stack',
  severity: 'error',
  message: 'the manifests have no Stack document',
  remedy: [
    'Add these lines to one of the files, with a unique name:',
    '---',
    `apiVersion: ${MANIFEST_API_VERSION}`,
    'kind: Stack',
    'metadata:',
    '  name: production',
  ].join('\n'),
};

/** Reports documents that have the same address as an earlier document. */
export function checkDuplicateAddresses(
  documents: readonly ManifestDocument[],
  index: DocumentsByAddress,
): readonly DocumentFinding[] {
  return documents.flatMap((document): DocumentFinding[] => {
    const first = document.address === undefined ? undefined : index.get(document.address);
    if (first === undefined || first === document || document.kind === 'Stack') return [];
    const finding = {
      code: 'duplicate-address',
      message: 'two documents have this address',
      remedy: 'Rename or remove one of them.',
      path: ['metadata', 'name'],
      target: 'value',
      related: [{ message: 'first defined here', place: toNamePlace(first) }],
    } as const;
    return [{ document, finding }];
  });
}

function toNamePlace({ position }: ManifestDocument): FindingPlace {
  return { position, path: ['metadata', 'name'], target: 'value' };
}

/** Reports unique values that a second document claims. References in the specs must be resolved. */
export function listDuplicateClaims(specs: ReadonlyMap<ManifestDocument, Spec>): readonly DocumentFinding[] {
  const holders = new Map<string, DocumentClaim>();
  return [...specs].flatMap(([document, spec]) =>
    listDocumentClaims(document, spec).flatMap((claim): DocumentFinding[] => {
      const first = holders.get(claim.key);
      if (first === undefined) holders.set(claim.key, claim);
      return first === undefined || first.document === document ? [] : [createClaimFinding(claim, first)];
    }),
  );
}

/** A claim in a document's spec or lifecycle. `path` starts at the document. */
interface DocumentClaim extends Claim {
  readonly document: ManifestDocument;
}

function listDocumentClaims(document: ManifestDocument, spec: Spec): readonly DocumentClaim[] {
  const kind = findKind(document.kind);
  if (kind === undefined) return [];
  const inSpec = listClaims(kind, spec).map((claim) => ({ ...claim, document, path: ['spec', ...claim.path] }));
  if (document.value['lifecycle'] === undefined) return inSpec;
  return [
    ...inSpec,
    ...listAdoptions(document, kind),
    ...listRenames(document, kind),
    ...listWrittenFiles(document, kind),
  ];
}

/** Lists the id in `lifecycle.adopt`, because only one document can adopt a resource. */
function listAdoptions(document: ManifestDocument, kind: Kind): readonly DocumentClaim[] {
  return listLifecycleClaims(document, 'adopt', (id) => ({ value: id, key: `${kind.name} lifecycle.adopt ${id}` }));
}

/** Lists the name in `lifecycle.renamed_from`, because no two documents can have the same former name. */
function listRenames(document: ManifestDocument, kind: Kind): readonly DocumentClaim[] {
  const toClaim = (name: string): Pick<Claim, 'value' | 'key'> => ({
    value: name,
    key: `${kind.name} lifecycle.renamed_from ${name}`,
  });
  return listLifecycleClaims(document, 'renamed_from', toClaim, ({ stack, name }) => {
    return typeof stack === 'string' && typeof name === 'string' ? `${name} of the stack ${stack}` : undefined;
  });
}

/** Reports a `renamed_from` that is still the name of a document. */
export function listRenamedFromInUse(
  documents: readonly ManifestDocument[],
  index: DocumentsByAddress,
): readonly DocumentFinding[] {
  return documents.flatMap((document): DocumentFinding[] => {
    const before = findFormerAddress(document);
    const holder = before === undefined ? undefined : index.get(before);
    if (before === undefined || holder === undefined) return [];
    if (holder !== document && findFormerAddress(holder) !== undefined) return [];
    const message =
      holder === document
        ? 'lifecycle.renamed_from is its current name'
        : `lifecycle.renamed_from names ${before}, which another document still describes`;
    const finding = {
      code: 'renamed-from-in-use',
      message,
      remedy: 'Remove the line or the other document. If that one was renamed too, add lifecycle.renamed_from to it.',
      path: ['lifecycle', 'renamed_from'],
      target: 'value',
      related: holder === document ? [] : [{ message: 'described here', place: toNamePlace(holder) }],
    } as const;
    return [{ document, finding }];
  });
}

function findFormerAddress({ value, kind }: ManifestDocument): Address | undefined {
  const name = isJsonObject(value['lifecycle']) ? value['lifecycle']['renamed_from'] : undefined;
  return typeof name === 'string' ? toAddress(kind, name) : undefined;
}

/** Lists the paths in `lifecycle`, because no two documents can write the same file. */
function listWrittenFiles(document: ManifestDocument, kind: Kind): readonly DocumentClaim[] {
  const paths = Object.entries(kind.lifecycle).filter(([, { type }]) => type.type === 'text' && type.isPath);
  return paths.flatMap(([name]) =>
    listLifecycleClaims(document, name, (path) => {
      const file = joinToManifestFolder(document.position.source.file, path);
      return { value: file, key: `file ${file}` };
    }),
  );
}

function listLifecycleClaims(
  document: ManifestDocument,
  name: string,
  toClaim: (value: string) => Pick<Claim, 'value' | 'key'>,
  toText: (value: JsonObject) => string | undefined = () => undefined,
): readonly DocumentClaim[] {
  const { lifecycle } = document.value;
  const given = isJsonObject(lifecycle) ? lifecycle[name] : undefined;
  const stated = given !== undefined && isJsonObject(given) ? toText(given) : given;
  if (typeof stated !== 'string') return [];
  const { value, key } = toClaim(stated);
  return [{ document, field: name, path: ['lifecycle', name], given: value, value, key }];
}

function createClaimFinding({ document, path, given }: DocumentClaim, first: DocumentClaim): DocumentFinding {
  const isAttachment = path[0] === 'spec' && findKind(document.kind)?.role === 'attached';
  const message = isAttachment
    ? `${formatPath(path)} is ${given}, to which ${first.document.address} already attaches modules`
    : `${formatPath(path)} claims ${given}, which ${first.document.address} already claims`;
  return {
    document,
    finding: {
      code: 'duplicate-claim',
      message,
      remedy: isAttachment ? 'Put the modules into one document.' : 'Remove it from one of them.',
      path,
      target: 'value',
      related: [
        {
          message: 'first claimed here',
          place: { position: first.document.position, path: first.path, target: 'value' },
        },
      ],
    },
  };
}

interface LabelsAndAnnotations {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function getLabelsAndAnnotations({ metadata }: JsonObject): LabelsAndAnnotations {
  const { labels, annotations } = isJsonObject(metadata) ? metadata : {};
  if (labels === undefined && annotations === undefined) return NO_TEXTS;
  return { labels: toTexts(labels), annotations: toTexts(annotations) };
}

const NO_TEXTS: LabelsAndAnnotations = { labels: {}, annotations: {} };

function toTexts(texts: Json | undefined): Readonly<Record<string, string>> {
  const entries = isJsonObject(texts) ? Object.entries(texts) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
