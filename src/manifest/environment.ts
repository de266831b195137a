/** The environment that manifests may name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables filled in. What could not be filled in is left as it was. */
export interface FilledText {
  readonly text: string;
  /** Names of the variables that have neither a value nor a default. */
  readonly unset: readonly string[];
  /** What starts like a variable and is none. */
  readonly malformed: readonly string[];
}

/**
 * Fills in `${env:NAME}` and `${env:NAME:-default}`, which is taken when the variable is unset or empty and has no braces in it.
 * `$${` stands for `${`. Every other `$` stands for itself, but for what starts with `${env:`.
 */
export function fillEnvironment(text: string, env: Environment): FilledText {
  if (!text.includes('${')) return { text, unset: [], malformed: [] };
  const unset: string[] = [];
  const malformed: string[] = [];
  const filled = text.replace(VARIABLE, (whole: string, name: string | undefined, fallback: string | undefined) => {
    if (whole === '$${') return '${';
    if (name === undefined) {
      malformed.push(whole);
      return whole;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (fallback !== undefined) return value || fallback;
    if (value === undefined) unset.push(name);
    return value ?? whole;
  });
  return { text: filled, unset, malformed };
}

/** An escape, a variable, or what was meant to be one, up to where it seems to end. */
const VARIABLE = /\$\$\{|\$\{env:(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|[^}\n]*\}?)/g;
