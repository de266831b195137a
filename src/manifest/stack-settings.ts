import { isAbsolute, normalize } from 'node:path';
import { parseDurationMs } from '../kinds/duration.ts';
import { LINT_RULE_IDS } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import type { Place } from '../model/place.ts';
import {
  fillStackNameInPath,
  type LintSettings,
  type SettingsLayer,
  type SinkSettings,
  type StackSettings,
  type TokenSettings,
} from '../model/stack.ts';
import type { FieldPath } from '../model/state.ts';
import { SINK_SCHEMA } from '../schemas/stack.ts';
import {
  type FoundSetting,
  findInLayers,
  findSetting,
  getDocumentSetting,
  listMembersInLayers,
} from '../settings/resolve.ts';
import type { SettingName } from '../settings/table.ts';
import { getDocumentLabelsAndAnnotations } from './document-header.ts';
import { joinToManifestFolder } from './environment.ts';
import { getDocumentFolder, locate, type ManifestDocument } from './finding.ts';

/** Reads the settings of a valid `Stack` and its `Defaults`, with defaults filled in. Without a document, the name is empty. */
export function readStackSettings(document?: ManifestDocument): StackSettings {
  const { name = '', value = {} } = document ?? {};
  const layers = document === undefined ? [] : listSettingsLayers(document);
  const find = <Name extends SettingName>(setting: Name) => getDocumentSetting(setting, layers);
  const get = <Name extends SettingName>(setting: Name) => assertDefined(find(setting), `a default of ${setting}`);
  return {
    name,
    formerNames: readFormerNames(value),
    layers,
    kinds: find('kinds'),
    handedOver: find('handedOver'),
    guard: { maxDeletes: get('maxDeletes'), maxDeleteShare: get('maxDeleteShare') },
    tokens: readTokenSettings(layers, name),
    lint: readLintSettings(layers),
    teamLabel: find('teamLabel'),
    ...getDocumentLabelsAndAnnotations(value),
    policies: get('policies'),
    inputs: find('inputs'),
  };
}

/** The former names in a `Stack` document, which may be invalid, without its present name. `undefined`: there are none. */
export function readFormerNames({ metadata = null }: JsonObject): readonly string[] | undefined {
  const { name, renamed_from: given = [] } = isJsonObject(metadata) ? metadata : {};
  const names = (isJsonArray(given) ? given : [given]).filter((one) => typeof one === 'string' && one !== name);
  return names.length === 0 ? undefined : [...new Set(names.map(String))];
}

function readLintSettings(layers: readonly SettingsLayer[]): LintSettings {
  const levels = LINT_RULE_IDS.map((id) => [id, getDocumentSetting(id, layers)] as const);
  return {
    severities: Object.fromEntries(levels.filter(([, severity]) => severity !== undefined)),
    maxValidityMs: getDocumentSetting('maxValidity', layers) ?? 0,
    celVariables: getDocumentSetting('celVariables', layers) ?? [],
  };
}

const NAMED_SINKS = ['tokens', 'credentials'];

function readTokenSettings(layers: readonly SettingsLayer[], stack: string): TokenSettings {
  const findSink = (...path: readonly string[]) => findInLayers(path, layers);
  const common = findSink('tokens', 'default');
  const names = listMembersInLayers(NAMED_SINKS, layers);
  const sinks = names.map((name) => [name, parseSinkSettings(findSink(...NAMED_SINKS, name), stack)] as const);
  return {
    default: common === undefined ? undefined : parseSinkSettings(common, stack),
    credentials: Object.fromEntries(sinks),
  };
}

/** Paths of a sink are relative to the folder of the document that sets it. */
function parseSinkSettings(found: FoundSetting<SettingsLayer> | undefined, stack: string): SinkSettings {
  const { value, layer } = assertDefined(found, 'a token sink that was listed');
  const toPath = layer?.toPath ?? ((path: string) => path);
  const sink = SINK_SCHEMA.parse(value);
  if ('directory' in sink) return { directory: toPath(fillStackNameInPath(sink.directory, stack)), file: sink.file };
  const { command, test, timeout } = sink;
  const folder = toPath('.');
  return {
    command,
    timeoutMs: assertDefined(parseDurationMs(timeout), 'a checked duration'),
    test,
    ...(folder !== '.' && { folder }),
  };
}

/** Adds its `Defaults` to the first `Stack`, and returns all documents. */
export function addDefaultsToStack(documents: readonly ManifestDocument[]): readonly ManifestDocument[] {
  const stack = documents.find(({ kind }) => kind === 'Stack');
  const defaults = documents.filter(({ kind }) => kind === 'Defaults');
  if (stack === undefined || defaults.length === 0) return documents;
  const layers = [stack, ...listDefaultsNearestFirst(getDocumentFolder(stack), defaults, getDocumentFolder)];
  return documents.map((document) => (document === stack ? { ...stack, layers } : document));
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
  const [from, to] = [toFolderSteps(inner), toFolderSteps(outer)];
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

function toFolderSteps(folder: string): Steps {
  const steps = normalize(folder).split('/');
  const down = steps.filter((step) => !['', '.', '..'].includes(step));
  return { isAbsolute: isAbsolute(folder), up: steps.filter((step) => step === '..').length, down };
}

/** A layer, and its document. */
interface DocumentLayer extends SettingsLayer {
  readonly document: ManifestDocument;
}

/** Lists the documents that set settings of a `Stack`: itself, then its `Defaults`, nearest first. */
export function listSettingsLayers(stack: ManifestDocument): readonly DocumentLayer[] {
  return (stack.layers ?? [stack]).map((document): DocumentLayer => {
    const { source, value } = document;
    return {
      document,
      by: document.kind === 'Stack' ? 'Stack' : 'Defaults',
      spec: isJsonObject(value['spec']) ? value['spec'] : {},
      locate: (path = [], part = undefined) => locate(source, path, 'value', part),
      toPath: (path) => joinToManifestFolder(source.text.file, path),
    };
  });
}

/** Finds a setting in a `Stack` or its `Defaults`, which may be invalid. `undefined`: none sets it. */
export function findSettingInStack(
  name: SettingName,
  stack: ManifestDocument | undefined,
): FoundSetting<DocumentLayer> | undefined {
  return stack && findSetting(name, { layers: listSettingsLayers(stack) });
}

/** Returns the position of a path in the document that sets it: a `Stack` or one of its `Defaults`. */
export function locateSetting(stack: ManifestDocument, path: FieldPath): Place {
  const [first, ...rest] = path;
  const layers = listSettingsLayers(stack);
  const layer = first === 'spec' ? findInLayers(rest, layers)?.layer : undefined;
  return locate(layer?.document.source ?? stack.source, path);
}
