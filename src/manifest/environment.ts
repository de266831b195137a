import { isKeyVariable } from '../model/api-key.ts';
import { YAML_LIMITS } from './lex.ts';

/** The environment that manifests may name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables filled in. What could not be filled in is left as it was. */
export interface FilledText {
  readonly text: string;
  /** Names of the variables that have neither a value nor a default. */
  readonly unset: readonly string[];
  /** Texts that start like a variable but are not valid. */
  readonly malformed: readonly string[];
  /** The filled-in text would be longer than any field may be; it was left unchanged. */
  readonly isTooLong?: true;
}

/**
 * Fills in `${env:NAME}` and `${env:NAME:-default}`, which is taken when the variable is unset or empty and has no braces in it.
 * `$${` stands for `${`. Any other `$` that does not start `${env:` stands for itself.
 */
export function fillEnvironment(text: string, env: Environment): FilledText {
  if (!text.includes('${')) return { text, unset: [], malformed: [] };
  const unset: string[] = [];
  const malformed: string[] = [];
  let [length, isTooLong] = [text.length, false];
  const filled = text.replace(VARIABLE, (whole: string, name: string | undefined, fallback: string | undefined) => {
    if (whole === '$${') return '${';
    if (name === undefined) {
      malformed.push(whole);
      return whole;
    }
    const value = Object.hasOwn(env, name) && !isKeyVariable(name) ? env[name] : undefined;
    if (value === undefined && (fallback === undefined || isKeyVariable(name))) unset.push(name);
    const filled = fallback === undefined ? (value ?? whole) : value || fallback;
    length += filled.length - whole.length;
    isTooLong ||= length > MAX_LENGTH;
    return isTooLong ? '' : filled;
  });
  return isTooLong ? { text, unset, malformed, isTooLong } : { text: filled, unset, malformed };
}

/** Characters of a text with its variables filled in: as many as one may have without. */
const MAX_LENGTH = YAML_LIMITS.text;

/** An escape, a variable, or what was meant to be one, up to where it seems to end. */
const VARIABLE = /\$\$\{|\$\{env:(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|[^}\n]*\}?)/g;
