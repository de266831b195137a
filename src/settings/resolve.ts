import { KEY_VARIABLE, toKeyFileVariable } from '../model/api-key.ts';
import { assertNever, InvariantError } from '../model/errors.ts';
import type { UncodedFinding } from '../model/finding.ts';
import { assertJsonObject, isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { Environment } from '../model/pipeline.ts';
import type { SettingsLayer } from '../model/stack.ts';
import type { FieldPath } from '../model/state.ts';
import { type Setting, type SettingType, SINK_TYPE } from './setting.ts';
import { SETTINGS, type SettingName, type SettingValue } from './table.ts';

/**
 * Where the value of a setting comes from. Nothing else in the program decides this: flags come before environment
 * variables, variables before the `Stack`, the `Stack` before its `Defaults` (nearest first), and the default is last.
 * An empty flag or variable sets nothing.
 */

/** The places that may set a setting. An absent place sets nothing. */
export interface SettingSources<Layer extends Pick<SettingsLayer, 'spec'> = SettingsLayer> {
  /** Values of flags, by the name of the setting. */
  readonly flags?: object | undefined;
  /** Values that a program sets, by the name of the setting. They have the rank of flags. */
  readonly options?: object | undefined;
  readonly env?: Environment | undefined;
  /** The `Stack`, then its `Defaults`, nearest first. */
  readonly layers?: readonly Layer[] | undefined;
  /** Whether the documents are untrusted. They then do not decide settings that need trust. */
  readonly isUntrusted?: boolean | undefined;
}

/** A value that something sets. `by`: the flag, variable, or path in `spec` that sets it. */
export interface FoundSetting<Layer> {
  readonly value: unknown;
  readonly by: string;
  /** The document that sets the value. Absent: a flag or variable sets it. */
  readonly layer?: Layer | undefined;
}

/** Finds the value of a setting. `undefined`: nothing sets it, so it has its default. */
export function findSetting<Layer extends Pick<SettingsLayer, 'spec'>>(
  name: SettingName,
  { flags = {}, options = {}, env = {}, layers = [], isUntrusted = false }: SettingSources<Layer>,
): FoundSetting<Layer> | undefined {
  const setting: Setting = SETTINGS[name];
  const [flag, option]: readonly unknown[] = [Reflect.get(flags, name), Reflect.get(options, name)];
  if (!isEmpty(flag)) return { value: flag, by: getFlagWord(setting) ?? name };
  if (!isEmpty(option)) return { value: option, by: name };
  const variable = setting.variables?.find((one) => !isEmpty(env[one]));
  if (variable !== undefined) return { value: env[variable], by: variable };
  if (setting.stack === undefined || (isUntrusted && setting.needsTrust)) return undefined;
  return findInLayers(setting.stack.split('.'), layers);
}

/** Finds what sets the API key: the variable of the settings, or its `_FILE` variable. `from` is absent if neither is set. */
export function findKeySource(sources: SettingSources): {
  readonly variable: string;
  readonly from?: string | undefined;
} {
  const { env = {} } = sources;
  const variable = String(findSetting('keyEnv', sources)?.value ?? KEY_VARIABLE);
  return { variable, from: [variable, toKeyFileVariable(variable)].find((name) => !isEmpty(env[name])) };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Finds the first document that has a path below `spec`, and the value there. */
export function findInLayers<Layer extends Pick<SettingsLayer, 'spec'>>(
  path: FieldPath,
  layers: readonly Layer[],
): FoundSetting<Layer> | undefined {
  for (const layer of layers) {
    const value = getAt(layer.spec, path);
    if (value !== undefined) return { value, by: `spec.${path.join('.')}`, layer };
  }
  return undefined;
}

function getAt(value: Json, [step, ...rest]: FieldPath): Json | undefined {
  if (step === undefined) return value;
  if (typeof step === 'number')
    return isJsonArray(value) && step in value ? getAt(value[step] ?? null, rest) : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? getAt(value[step] ?? null, rest) : undefined;
}

/** Lists the names of the members of a mapping to which every document adds, such as `tokens.credentials`. */
export function listMembersInLayers(
  path: FieldPath,
  layers: readonly Pick<SettingsLayer, 'spec'>[],
): readonly string[] {
  return [...new Set(layers.flatMap(({ spec }) => Object.keys(assertJsonObject(getAt(spec, path) ?? {}))))];
}

/** Returns the default of a setting, as in a document. `baseUrl`: the service of the run, if it is known. */
export function getDefault(name: SettingName, baseUrl = ''): Json | undefined {
  const { default: fallback }: Setting = SETTINGS[name];
  return typeof fallback === 'function' ? fallback(baseUrl) : fallback;
}

/** Resolves a setting: finds its value, or its default, and parses it. The paths of a document become relative to the working folder. */
export function resolveSetting<Name extends SettingName>(
  name: Name,
  sources: SettingSources,
  baseUrl?: string,
): { readonly value: SettingValue<Name> | undefined } | UncodedFinding {
  const { type }: Setting = SETTINGS[name];
  const found = findSetting(name, sources);
  const given = found === undefined ? getDefault(name, baseUrl) : found.value;
  if (given === undefined) return { value: undefined };
  const by = found?.by ?? name;
  const value = parseValue(type, given, { by, layer: found?.layer });
  // The parser belongs to the type of this setting.
  if (value !== undefined) return { value: value as SettingValue<Name> };
  return { message: describeMistake(by, type, given), path: [] };
}

/** Returns the value of a setting in valid documents, or its default. */
export function getDocumentSetting<Name extends SettingName>(
  name: Name,
  layers: readonly SettingsLayer[],
): SettingValue<Name> | undefined {
  const resolved = resolveSetting(name, { layers });
  if ('message' in resolved) throw new InvariantError(resolved.message);
  return resolved.value;
}

type Origin = Pick<FoundSetting<SettingsLayer>, 'by' | 'layer'>;

function parseValue(type: SettingType, given: unknown, origin: Origin): unknown {
  switch (type.type) {
    case 'text': {
      const value = typeof given === 'string' ? type.parse(given, origin.by) : given;
      return type.isPath && origin.layer !== undefined && typeof value === 'string'
        ? origin.layer.toPath(value)
        : value;
    }
    case 'number':
      return isNumberOf(type, given) ? given : undefined;
    case 'boolean':
      return typeof given === 'string' ? isYes(given) : given;
    case 'enum':
      return type.values.find((one) => one === given);
    case 'list':
      return parseList(type, given, origin);
    case 'sink':
    case 'sinks':
      return given;
    default:
      return assertNever(type);
  }
}

function isNumberOf(
  { isWhole, min, max = Number.POSITIVE_INFINITY }: Extract<SettingType, { type: 'number' }>,
  given: unknown,
): boolean {
  return typeof given === 'number' && given >= min && given <= max && (!isWhole || Number.isInteger(given));
}

/** Any value except a known "no" means yes, so that a typing mistake does not make manifests trusted. */
function isYes(text: string): boolean {
  return !['0', 'false'].includes(text.toLowerCase());
}

/** Lists the members of a list as given. A variable has them in one text, separated by commas or white space. */
export function listMembers(given: unknown): readonly unknown[] {
  if (typeof given === 'string') return given.split(/[\s,]+/).filter((one) => one !== '');
  return Array.isArray(given) ? given : [];
}

function parseList(
  { of }: Extract<SettingType, { type: 'list' }>,
  given: unknown,
  origin: Origin,
): readonly unknown[] | undefined {
  const values = listMembers(given).map((member) => parseValue(of, member, origin));
  return values.includes(undefined) ? undefined : values;
}

function describeMistake(by: string, type: SettingType, given: unknown): string {
  const isQuotable = type.type !== 'text' || type.isQuotable !== false;
  return `${by} ${isQuotable ? `is ${JSON.stringify(given)}, and ` : ''}must be ${describeExpected(type)}.`;
}

/** What a value must be: completes "must be". */
export function describeExpected(type: SettingType): string {
  switch (type.type) {
    case 'text':
      return type.expected;
    case 'number': {
      const what = type.isWhole ? 'a whole number' : 'a number';
      return type.max === undefined ? `${what} from ${type.min}` : `${what} from ${type.min} to ${type.max}`;
    }
    case 'enum':
      return `one of ${type.values.join(', ')}`;
    case 'list':
      return `a list, each member ${describeExpected(type.of)}`;
    case 'boolean':
      return 'true or false';
    case 'sink':
    case 'sinks':
      return 'a token sink';
    default:
      return assertNever(type);
  }
}

/** The flag without its placeholder, such as `--base-url`. `undefined`: the setting has no flag. */
export function getFlagWord({ flag, consent }: Setting): string | undefined {
  return (flag ?? consent)?.split(' ')[0];
}

/** A setting of a document that has a value: its path below `spec`, and its value as written. */
export interface EffectiveSetting {
  readonly path: string;
  readonly type: SettingType;
  readonly value: unknown;
  /** The flag or variable, or the kind of the document. `default`: nothing sets it. */
  readonly from: string;
  readonly layer?: SettingsLayer | undefined;
}

/**
 * Lists the settings of documents that have a value, with its origin. Those of the connection are listed even if they
 * have none.
 */
export function listEffectiveSettings(sources: SettingSources): readonly EffectiveSetting[] {
  const baseUrl = String(findSetting('baseUrl', sources)?.value ?? '');
  const names = Object.keys(SETTINGS) as SettingName[]; // `Object.keys` loses the key type
  return names.flatMap((name): readonly EffectiveSetting[] => {
    const { stack, type, help, defaultText }: Setting = SETTINGS[name];
    if (stack === undefined) return [];
    if (type.type === 'sinks') return listMemberSettings(stack, sources);
    const found = findSetting(name, sources);
    if (found !== undefined)
      return [{ path: stack, type, value: found.value, from: found.layer?.by ?? found.by, layer: found.layer }];
    const value = getDefault(name, baseUrl) ?? (help === 'connection' ? (defaultText ?? 'not set') : undefined);
    return value === undefined ? [] : [{ path: stack, type, value, from: 'default' }];
  });
}

function listMemberSettings(path: string, { layers = [] }: SettingSources): readonly EffectiveSetting[] {
  const steps = path.split('.');
  return listMembersInLayers(steps, layers).flatMap((member) => {
    const found = findInLayers([...steps, member], layers);
    if (found?.layer === undefined) return [];
    return [
      { path: `${path}.${member}`, type: SINK_TYPE, value: found.value, from: found.layer.by, layer: found.layer },
    ];
  });
}
