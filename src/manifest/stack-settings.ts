import { isAbsolute, normalize } from 'node:path';
import { parseDurationMs } from '../kinds/duration.ts';
import type { SourcePlace } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import {
  fillStackNameInPath,
  type LintSettings,
  NO_TOKEN_SETTINGS,
  parseRateLimit,
  type SinkSettings,
  type StackSettings,
  type TokenSettings,
  type TrustRequiringApiSetting,
} from '../model/stack.ts';
import type { FieldPath } from '../model/state.ts';
import { STACK_SPEC_SCHEMA, type StackSpec } from '../schemas/stack.ts';
import { getDocumentLabelsAndAnnotations } from './documents.ts';
import { joinToManifestFolder } from './environment.ts';
import { getDocumentFolder, locateSource, type ManifestDocument } from './finding.ts';

/** Reads the settings of a valid `Stack` and fills in defaults. Without a document, the name is empty. */
export function readStackSettings(document?: ManifestDocument): StackSettings {
  const { name = '', value } = document ?? {};
  const resolvePath = (path: string, ...stated: FieldPath): string =>
    document === undefined
      ? path
      : joinToManifestFolder(getDocumentThatSetsPath(document, stated).position.source.file, path);
  const spec = value?.['spec'];
  const stated = STACK_SPEC_SCHEMA.parse(spec ?? {});
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
        conflictMs: parseCheckedMs(api.timeouts.conflict),
      },
      caFile: api.ca_file === undefined ? undefined : resolvePath(api.ca_file, 'spec', 'api', 'ca_file'),
      ...(document !== undefined && listGivenSettings(document)),
    },
    ...(kinds !== undefined && { kinds }),
    ...(handedOver !== undefined && { handedOver }),
    guard: { maxDeletes: guard.max_deletes, maxDeleteShare: guard.max_delete_share },
    tokens: tokens === undefined ? NO_TOKEN_SETTINGS : parseTokenSettings(tokens, name),
    ...(tokens !== undefined &&
      document !== undefined && {
        locate: (path) => locateSetting(document, path),
      }),
    lint: parseLintSettings(lint),
    ...(ownerLabel !== undefined && { ownerLabel }),
    ...getDocumentLabelsAndAnnotations(value ?? {}),
    policies: policies.map((path) => resolvePath(path, 'spec', 'policies')),
    ...(inputs !== undefined && { inputs: inputs.map((pattern) => resolvePath(pattern, 'spec', 'inputs')) }),
  };
}

const TRUST_SETTINGS = ['base_url', 'ca_file', 'version_header', 'key_env', 'rate_limit'] as const;

function listGivenSettings(document: ManifestDocument): { readonly given?: readonly TrustRequiringApiSetting[] } {
  const spec = document.value['spec'];
  const api = isJsonObject(spec) ? spec['api'] : undefined;
  const names = isJsonObject(api) ? TRUST_SETTINGS.filter((name) => Object.hasOwn(api, name)) : [];
  if (names.length === 0) return {};
  const locate = (name: string) => locateSetting(document, ['spec', 'api', name]);
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
  const layers = [stack, ...listDefaultsNearestFirst(getDocumentFolder(stack), defaults, getDocumentFolder)];
  const specs = layers.map(({ value }) => value['spec']).filter((spec) => spec !== undefined && isJsonObject(spec));
  const filled = { ...stack, value: { ...stack.value, spec: mergeSettingsLayers(specs) }, layers };
  return documents.map((document) => (document === stack ? filled : document));
}

/** Lists the Defaults that are in a folder or above it, the nearest first. */
export function listDefaultsNearestFirst<One>(
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
export function getDocumentThatSetsPath(stack: ManifestDocument, path: FieldPath): ManifestDocument {
  return stack.layers?.find(({ value }) => holdsPath(value, path)) ?? stack;
}

function holdsPath(value: Json, [step, ...rest]: FieldPath): boolean {
  if (step === undefined) return true;
  const held = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
  return held && holdsPath((value as JsonObject)[step] ?? null, rest); // a list has numeric keys
}

export function locateSetting(stack: ManifestDocument, path: FieldPath): SourcePlace {
  return locateSource({ position: getDocumentThatSetsPath(stack, path).position, path, target: 'value' });
}

export interface EffectiveStackSetting {
  /** The path below `spec`, such as `api.rate_limit`. */
  readonly name: string;
  readonly value: Json;
  /** The kind of the document that sets the value, and the position. Absent if the value is the default of edgewise. */
  readonly source?: { readonly by: string; readonly place: SourcePlace };
}

/** Lists every setting of a valid Stack, including the settings from its Defaults and the defaults of edgewise. */
export function listEffectiveStackSettings(stack: ManifestDocument): readonly EffectiveStackSetting[] {
  const spec = STACK_SPEC_SCHEMA.parse(stack.value['spec'] ?? {}) as JsonObject; // values in a document are JSON
  return listLeaves(spec, []).map(({ path, value }) => {
    const whole = ['spec', ...path];
    const by = (stack.layers ?? [stack]).find((layer) => holdsPath(layer.value, whole));
    const setting = { name: path.join('.'), value };
    if (by === undefined) return setting;
    const place = locateSource({ position: by.position, path: whole, target: 'value' });
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
