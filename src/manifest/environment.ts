import { dirname, isAbsolute, join } from 'node:path';
import { isWithheldVariable } from '../model/api-key.ts';
import { parseRenderSource } from '../model/field-path.ts';
import { YAML_LIMITS } from './bounded-yaml.ts';

/** The environment that manifests may read a part of. */
export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What the caller offers to manifests: names of variables, and prefixes of names, each with a `*` at its end. */
  readonly offered: readonly string[];
}

/** An environment without variables. */
export const NO_ENVIRONMENT: Environment = { variables: {}, offered: [] };

/** The variables of a process, and what of them manifests may read; nothing by default. */
export function toEnvironment({
  env,
  offered = [],
}: {
  readonly env: Environment['variables'];
  readonly offered?: Environment['offered'];
}): Environment {
  return { variables: env, offered };
}

/** A text with its variables filled in. What could not be filled in is left as it was. */
interface FilledText {
  readonly text: string;
  /** Names of the variables that have neither a value nor a default. */
  readonly unset: readonly string[];
  /** Names of the variables that manifests may not read, and that have no default. */
  readonly withheld: readonly string[];
  /** Texts that start like a variable but are not valid. */
  readonly malformed: readonly string[];
  /** The filled-in text would be longer than any field may be; it was left unchanged. */
  readonly isTooLong?: true;
}

/**
 * Replaces `${env:NAME}` and `${env:NAME:-default}`; the default is used when the variable is unset, empty or not offered, and contains no braces. `$${`
 * becomes `${`. Any other `$` that does not start `${env:` stays as it is.
 */
export function fillEnvironment(text: string, env: Environment): FilledText {
  if (!text.includes('${')) return { text, unset: [], withheld: [], malformed: [] };
  const [unset, withheld, malformed]: [string[], string[], string[]] = [[], [], []];
  let [length, isTooLong] = [text.length, false];
  const filled = text.replace(VARIABLE, (whole: string, name: string | undefined, fallback: string | undefined) => {
    if (whole === '$${') return '${';
    if (name === undefined) {
      malformed.push(whole);
      return whole;
    }
    const found = readVariable(name, env);
    const isDefaulted = fallback !== undefined && !isWithheldVariable(name);
    if ('finding' in found && !isDefaulted) (found.finding === 'withheld' ? withheld : unset).push(name);
    const value = 'finding' in found ? undefined : found.value;
    const filled = isDefaulted ? value || fallback : (value ?? whole);
    length += filled.length - whole.length;
    isTooLong ||= length > MAX_LENGTH;
    return isTooLong ? '' : filled;
  });
  return isTooLong ? { text, unset, withheld, malformed, isTooLong } : { text: filled, unset, withheld, malformed };
}

/** What holds a key or a token is never readable, whatever was offered. */
function readVariable(
  name: string,
  { variables, offered }: Environment,
): { readonly value: string } | { readonly finding: 'unset' | 'withheld' } {
  const isOffered = offered.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  if (!isOffered || isWithheldVariable(name)) return { finding: 'withheld' };
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === undefined ? { finding: 'unset' } : { value };
}

/** Characters of a text with its variables filled in: as many as one may have without. */
const MAX_LENGTH = YAML_LIMITS.text;

/** An escape, a variable, or what was meant to be one, up to where it seems to end. */
const VARIABLE = /\$\$\{|\$\{env:(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|[^}\n]*\}?)/g;

/** The name of standard input in messages. */
export const STDIN = '<stdin>';

/** The text of a file that a manifest names, or why there is none, to be read behind its path: `does not exist`. Refused: no manifest may name it. */
export type FieldFile = { readonly text: string } | { readonly finding: string; readonly isRefused?: true };

/** Reads a file that a manifest names: `path` is relative to the folder of `manifest`. */
export type ReadFieldFile = (manifest: string, path: string) => FieldFile;

/** A reader that refuses every file: for manifests without a folder. */
export const NO_FIELD_FILES: ReadFieldFile = () => ({
  finding: 'cannot be read: nothing but the manifests is read here',
});

/** A path that a manifest names, relative to what the manifest's own path is relative to. */
export function resolveManifestPath(manifest: string, path: string): string {
  const file = parseRenderSource(manifest)?.file ?? manifest;
  return isAbsolute(path) ? path : join(file === STDIN ? '.' : dirname(file), path);
}
