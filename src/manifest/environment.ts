import { dirname, isAbsolute, join } from 'node:path';
import { isVariableForbiddenInManifests } from '../model/api-key.ts';
import { YAML_LIMITS } from './bounded-yaml.ts';

/** Environment variables, and the names of those that manifests may read. No name is on both lists. */
export interface ManifestEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The variables for `${env:NAME}`. */
  readonly offered: readonly string[];
  /** The variables for `${secret:NAME}`. Absent: none. */
  readonly offeredSecrets?: readonly string[] | undefined;
}

export const NO_ENVIRONMENT: ManifestEnvironment = { variables: {}, offered: [] };

/** Creates an environment. Manifests may read only the variables that are offered. */
export function createManifestEnvironment({
  env,
  offered = [],
  offeredSecrets = [],
}: {
  readonly env: ManifestEnvironment['variables'];
  readonly offered?: ManifestEnvironment['offered'];
  readonly offeredSecrets?: ManifestEnvironment['offeredSecrets'];
}): ManifestEnvironment {
  return { variables: env, offered, offeredSecrets };
}

/** A text with its variables filled in. Variables that could not be filled in are unchanged. */
interface FilledText {
  readonly text: string;
  /** Names of variables that have neither a value nor a default. */
  readonly unset: readonly string[];
  /** Names of variables that manifests may not read in this way. A default does not change that. */
  readonly withheld: readonly string[];
  /** Parts that start like a variable but are not valid. */
  readonly malformed: readonly string[];
  /** Set if the filled-in text would exceed the length limit of a field. `text` is then the original text. */
  readonly isTooLong?: true;
}

/**
 * Replaces `${env:NAME}` and `${env:NAME:-default}`, and unescapes `$${` to `${`. The default is used if the variable
 * is unset or empty, but not if it is not offered: a run that forgets to offer it would use another value than it says.
 * A default cannot contain braces. Any other `$` stays unchanged. Leaves `${secret:NAME}`
 * and its escape for `concealDocument`, which knows the fields, and escapes what a variable contains of it.
 */
export function replaceEnvironmentVariables(text: string, env: ManifestEnvironment): FilledText {
  if (!text.includes('${')) return { text, unset: [], withheld: [], malformed: [] };
  const [unset, withheld, malformed]: [string[], string[], string[]] = [[], [], []];
  let [length, isTooLong] = [text.length, false];
  const fill = (whole: string, name: string | undefined, fallback: string | undefined): string => {
    if (whole === '$${secret:' || SECRET.test(whole)) return whole;
    if (whole === '$${') return '${';
    if (name === undefined) {
      malformed.push(whole);
      return whole;
    }
    const found = readVariable(name, env.offered, env.variables);
    if (found === 'withheld') withheld.push(name);
    else if (found.value) return `${EDGE}${found.value}${EDGE}`;
    else if (fallback !== undefined) return fallback;
    else if (found.value === undefined) unset.push(name);
    else return '';
    return whole;
  };
  const filled = text.replace(VARIABLE, (...match: [string, string | undefined, string | undefined]) => {
    const part = fill(...match);
    length += part.length - match[0].length;
    isTooLong ||= length > MAX_LENGTH;
    return isTooLong ? '' : part;
  });
  if (isTooLong) return { text, unset, withheld, malformed, isTooLong };
  return { text: escapeSecretsOfValues(filled), unset, withheld, malformed };
}

/** Stands around the value of each variable until all are filled in. No variable and no YAML can contain it. */
const EDGE = '\0';

/** The start of a secret's placeholder, also where parts of it come from variables. */
const SECRET_START = new RegExp([...'${secret:'].map((one) => one.replace(/[${]/, '\\$&')).join(`${EDGE}*`), 'g');

/** Escapes what variables contain of a secret's placeholder, alone or together with the text around them. */
function escapeSecretsOfValues(filled: string): string {
  if (!filled.includes(EDGE)) return filled;
  const inValue = (at: number): boolean => (filled.slice(0, at).split(EDGE).length - 1) % 2 === 1;
  return filled
    .replace(SECRET_START, (start, at: number) => (start.includes(EDGE) || inValue(at) ? `$${start}` : start))
    .replaceAll(EDGE, '');
}

/** Returns the value of a variable for a `${secret:NAME}`. `undefined` if it is unset, empty, or not offered. */
export function findSecretVariable(
  name: string,
  { offeredSecrets = [], variables }: ManifestEnvironment,
): string | undefined {
  const found = readVariable(name, offeredSecrets, variables);
  return found === 'withheld' ? undefined : found.value || undefined;
}

/** Variables for API keys and tokens are never readable, even if they are offered. */
function readVariable(
  name: string,
  offered: readonly string[],
  variables: ManifestEnvironment['variables'],
): { readonly value: string | undefined } | 'withheld' {
  if (!offered.includes(name) || isVariableForbiddenInManifests(name)) return 'withheld';
  return { value: Object.hasOwn(variables, name) ? variables[name] : undefined };
}

/** The maximum length of a filled-in text. Any other text has the same limit. */
const MAX_LENGTH = YAML_LIMITS.text;

/** Matches an escape, a variable, or a malformed variable up to its apparent end. */
const VARIABLE =
  /\$\$\{(?:secret:)?|\$\{env:(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|[^}\n]*\}?)|\$\{secret:[^}\n]*\}?/g;

const SECRET = /^\$\{secret:[A-Za-z_][A-Za-z0-9_]*\}$/;

export const STDIN_FILE_NAME = '<stdin>';

/**
 * The text of a file that a manifest names, or the reason why it cannot be read. `finding`: a clause such as `does not
 * exist`, which follows the path in a message. `isRefused`: no manifest may name this file. `meant`: the path of a file
 * with a similar name.
 */
export type FieldFileResult =
  | { readonly text: string }
  | { readonly finding: string; readonly isRefused?: true; readonly meant?: string | undefined };

/** Reads a file that a manifest names. `path` is relative to the folder of `manifest`. */
export type ReadFieldFile = (manifest: string, path: string) => FieldFileResult;

/** Refuses every file, for manifests that have no folder. */
export const REFUSE_FIELD_FILES: ReadFieldFile = () => ({
  finding: 'cannot be read: nothing but the manifests is read here',
});

/**
 * Resolves a path in a manifest against the manifest's folder. The result is relative to the same folder as `manifest`.
 */
export function joinToManifestFolder(manifest: string, path: string): string {
  return isAbsolute(path) ? path : join(manifest === STDIN_FILE_NAME ? '.' : dirname(manifest), path);
}
