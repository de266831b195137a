import { isUtf8 } from 'node:buffer';
import { isWellFormedId, listPathIdNamesOfKind } from '../kinds/paths.ts';
import { ATTACHED_KINDS } from '../kinds/tables/registry.ts';
import { checkJsonLimits, isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';

/**
 * Reads which resources a Terraform state contains: their addresses and ids, and which attributes it calls sensitive.
 * Every other value of a state is ignored, and no message quotes the state, because a state contains secrets in clear
 * text.
 */

/** A Terraform state: a state file, or the output of `terraform show -json`. */
export interface TerraformState {
  readonly instances: readonly StateInstance[];
}

/** A managed resource of a state, or one of its instances if the resource has `count` or `for_each`. */
export interface StateInstance {
  /** As Terraform writes it: `module.edge["eu"].example_tcp_edge.web[0]`. */
  readonly address: string;
  readonly type: string;
  /** The names of the modules, the name of the resource, and the keys, from left to right. */
  readonly words: readonly string[];
  /** `id`, and the ids of parents that a kind needs, by attribute. Values that have not the form of an id are absent. */
  readonly ids: Readonly<Record<string, string>>;
  /** Paths of the attributes that the state calls sensitive. An empty path stands for all attributes. */
  readonly sensitive: readonly FieldPath[];
  /** Whether Terraform would replace it: it is marked as tainted. */
  readonly isTainted: boolean;
  /** Whether Terraform has replaced it, and has not deleted it yet. */
  readonly isDeposed: boolean;
}

/**
 * An input is not a state that can be read.
 *
 * @example
 * const finding = error instanceof TerraformStateError ? error.finding : undefined;
 */
export class TerraformStateError extends Error {
  override readonly name = 'TerraformStateError';
  /** What is wrong. In a message, it follows the name of the file. Never quotes the file. */
  readonly finding: string;
  readonly remedy: string;

  constructor(finding: string, remedy: string) {
    super(`the state ${finding}`);
    this.finding = finding;
    this.remedy = remedy;
  }
}

/**
 * Parses a state. Throws `TerraformStateError`.
 * @example
 * const names = parseTerraformState(await readFile('terraform.tfstate'));
 * const exported = exportLive(live, { names });
 */
export function parseTerraformState(bytes: Uint8Array): TerraformState {
  const document = parseDocument(bytes);
  if ('encrypted_data' in document)
    throw new TerraformStateError(
      'is encrypted',
      'Let its program decrypt it: tofu show -json | edgewise export --names -',
    );
  if ('planned_values' in document || 'resource_changes' in document) throw createTerraformPlanError();
  const instances =
    'format_version' in document
      ? listShownInstances(document)
      : 'version' in document
        ? listFileInstances(document)
        : undefined;
  if (instances === undefined) throw new TerraformStateError('is not a Terraform state', SUPPORTED);
  if (instances.length === 0)
    throw new TerraformStateError(
      'contains no resources',
      'Select the workspace that has them: terraform workspace list',
    );
  return { instances };
}

const SUPPORTED = 'Name a file of terraform state pull, or pipe the output of terraform show -json to --names -';

function createTerraformPlanError(): TerraformStateError {
  return new TerraformStateError('is a plan, not a state', 'Use terraform show -json without the name of a plan file.');
}

function parseDocument(bytes: Uint8Array): JsonObject {
  if (ZIP.every((byte, index) => bytes[index] === byte)) throw createTerraformPlanError();
  if (!isUtf8(bytes))
    throw new TerraformStateError('is not UTF-8 text', 'In PowerShell, write it with Out-File -Encoding utf8.');
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  if (text.trim() === '') throw new TerraformStateError('is empty', 'Check the command that wrote it.');
  const limit = checkJsonLimits(text);
  if (limit !== undefined) throw new TerraformStateError(limit, 'Split the state, and export each part.');
  const document = parseJson(text);
  if (isJsonObject(document)) return document;
  throw new TerraformStateError('is not a JSON object: it is damaged, or not a state', SUPPORTED);
}

/** The first bytes of a zip archive, which plan files are. */
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** The version of state files since Terraform 0.12. */
const STATE_VERSION = 4;

function listFileInstances(document: JsonObject): readonly StateInstance[] {
  const { version } = document;
  if (typeof version !== 'number') throw createDamageError('version', 'a number');
  if (version < STATE_VERSION && isJsonObject(document['backend']))
    throw new TerraformStateError('says only where the state is stored', SUPPORTED);
  if (version < STATE_VERSION)
    throw new TerraformStateError(
      `has the format ${version}, which is older than Terraform 0.12`,
      'Run terraform apply -refresh-only with Terraform 0.12 or later, which writes the current format.',
    );
  if (version > STATE_VERSION)
    throw new TerraformStateError(
      `has the format ${version}, which is newer than this version of edgewise knows`,
      'Use the output of terraform show -json, or a newer version of edgewise.',
    );
  return listObjects(document, 'resources', '').flatMap(({ value: resource, at }) => {
    if (resource['mode'] !== 'managed') return [];
    const common = readCommon(resource, at, resource['module']);
    return listObjects(resource, 'instances', at).map(({ value: instance, at: place }) =>
      createInstance({
        ...common,
        key: readInstanceKey(instance['index_key'], `${place}.index_key`),
        // Instances that Terraform 0.11 wrote have flat attributes until their next change.
        attributes: readStateObject(instance['attributes'] ?? instance['attributes_flat'], `${place}.attributes`),
        sensitive: readPaths(instance['sensitive_attributes'], `${place}.sensitive_attributes`),
        isTainted: instance['status'] === 'tainted',
        isDeposed: 'deposed' in instance,
      }),
    );
  });
}

/** Lists the instances in the output of `terraform show -json`, which has no `values` if there is no state. */
function listShownInstances(document: JsonObject): readonly StateInstance[] {
  const version = document['format_version'];
  if (typeof version !== 'string') throw createDamageError('format_version', 'a text');
  if (!/^[01]\.\d+$/.test(version))
    throw new TerraformStateError('has a format that is newer than this version of edgewise knows', SUPPORTED);
  if (document['values'] === undefined) return [];
  const values = readStateObject(document['values'], 'values');
  return listModuleInstances(readStateObject(values['root_module'] ?? {}, 'values.root_module'), 'values.root_module');
}

function listModuleInstances(module: JsonObject, at: string): readonly StateInstance[] {
  const own = listObjects(module, 'resources', at).flatMap(({ value: resource, at: place }) => {
    if (resource['mode'] !== 'managed') return [];
    return createInstance({
      ...readCommon(resource, place, module['address']),
      key: readInstanceKey(resource['index'], `${place}.index`),
      attributes: readStateObject(resource['values'], `${place}.values`),
      sensitive: listMarkedPaths(resource['sensitive_values']),
      isTainted: resource['tainted'] === true,
      isDeposed: 'deposed_key' in resource,
    });
  });
  const inner = listObjects(module, 'child_modules', at);
  return [...own, ...inner.flatMap(({ value, at: place }) => listModuleInstances(value, place))];
}

interface InstanceParts extends Pick<StateInstance, 'type' | 'sensitive' | 'isTainted' | 'isDeposed'> {
  /** The address of the module, such as `module.edge["eu"]`. Empty: the root module. */
  readonly module: string;
  readonly name: string;
  readonly key: string | number | undefined;
  readonly attributes: JsonObject;
}

function createInstance({ module, name, key, attributes, ...rest }: InstanceParts): StateInstance {
  const modules = Array.from(module.matchAll(MODULE), ([, call = '', index]) => ({ call, index: parseIndex(index) }));
  const index = key === undefined ? '' : `[${JSON.stringify(key)}]`;
  const local = `${rest.type}.${name}`;
  return {
    ...rest,
    address: `${module === '' ? '' : `${module}.`}${local}${index}`,
    words: [
      ...modules.flatMap(({ call, index: inner }) => [call, ...inner]),
      name,
      ...(key === undefined ? [] : [`${key}`]),
    ],
    ids: Object.fromEntries(
      ID_ATTRIBUTES.flatMap((attribute) => {
        const id = attributes[attribute];
        return typeof id === 'string' && isWellFormedId(id) ? [[attribute, id]] : [];
      }),
    ),
  };
}

/** One call in the address of a module: `module.edge`, `module.edge["eu"]` or `module.edge[0]`. */
const MODULE = /module\.([^.[\]"]+)(\[(?:\d+|"(?:[^"\\]|\\.)*")\])?/g;

function parseIndex(index: string | undefined): readonly string[] {
  const parsed = index === undefined ? undefined : parseJson(index);
  return isJsonArray(parsed) ? parsed.map(String) : [];
}

/** The attributes of a state that are read: the ids in the paths of resources. */
const ID_ATTRIBUTES = [...new Set(['id', ...ATTACHED_KINDS.flatMap(listPathIdNamesOfKind)])];

function readCommon(
  resource: JsonObject,
  at: string,
  module: Json | undefined,
): Pick<InstanceParts, 'module' | 'name' | 'type'> {
  const { type, name } = resource;
  if (typeof type !== 'string') throw createDamageError(`${at}.type`, 'a text');
  if (typeof name !== 'string') throw createDamageError(`${at}.name`, 'a text');
  if (module !== undefined && typeof module !== 'string') throw createDamageError(`${at}.module`, 'a text');
  return { type, name, module: module ?? '' };
}

function readInstanceKey(key: Json | undefined, at: string): string | number | undefined {
  if (key === undefined || key === null) return undefined;
  if (typeof key === 'string' || typeof key === 'number') return key;
  throw createDamageError(at, 'a text or a number');
}

/** Reads paths of a state file, such as `[[{"type": "get_attr", "value": "token"}]]`. */
function readPaths(paths: Json | undefined, at: string): readonly FieldPath[] {
  if (paths === undefined || paths === null) return [];
  if (!isJsonArray(paths)) throw createDamageError(at, 'a list');
  return paths.map((path, index) => {
    if (!isJsonArray(path)) throw createDamageError(`${at}[${index}]`, 'a list');
    const steps = path.map(readStep);
    const unknown = steps.indexOf(undefined);
    // A path is cut at a step that is not known, so that it stands for more, not for less.
    return (unknown === -1 ? steps : steps.slice(0, unknown)).filter((step) => step !== undefined);
  });
}

/** A step is the name of an attribute, or `{"type": "index", "value": {"value": 0, "type": "number"}}`. */
function readStep(step: Json): string | number | undefined {
  const value = isJsonObject(step) ? step['value'] : undefined;
  const key = isJsonObject(value) ? value['value'] : value;
  return typeof key === 'string' || typeof key === 'number' ? key : undefined;
}

/** Lists the paths of `true` in `sensitive_values` of `terraform show -json`, which has the shape of the values. */
function listMarkedPaths(marked: Json | undefined): readonly FieldPath[] {
  if (marked === true) return [[]];
  if (isJsonArray(marked)) return marked.flatMap((one, index) => listMarkedPaths(one).map((path) => [index, ...path]));
  if (marked === undefined || !isJsonObject(marked)) return [];
  return Object.entries(marked).flatMap(([name, one]) => listMarkedPaths(one).map((path) => [name, ...path]));
}

function readStateObject(value: Json | undefined, at: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw createDamageError(at, 'an object');
}

/** Lists the members of a list of objects, with their places. An absent list has none. */
function listObjects(
  parent: JsonObject,
  name: string,
  at: string,
): readonly { readonly value: JsonObject; readonly at: string }[] {
  const place = at === '' ? name : `${at}.${name}`;
  const list = parent[name] ?? [];
  if (!isJsonArray(list)) throw createDamageError(place, 'a list');
  return list.map((value, index) => ({
    value: readStateObject(value, `${place}[${index}]`),
    at: `${place}[${index}]`,
  }));
}

function createDamageError(at: string, expected: string): TerraformStateError {
  return new TerraformStateError(`is damaged: ${at} is not ${expected}`, SUPPORTED);
}
