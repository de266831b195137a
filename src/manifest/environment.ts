/** The environment that manifests may name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables filled in. `unset`: those that have neither a value nor a default; they are left as they were. */
export interface FilledText {
  readonly text: string;
  readonly unset: readonly string[];
}

/**
 * Fills in `${env:NAME}` and `${env:NAME:-default}`, which is taken when the variable is unset or empty and has no braces in it.
 * `$${` stands for `${`. Every other `$` stands for itself.
 */
export function fillEnvironment(text: string, env: Environment): FilledText {
  if (!text.includes('${')) return { text, unset: [] };
  const unset: string[] = [];
  const filled = text.replace(VARIABLE, (whole: string, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return '${';
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (fallback !== undefined) return value || fallback;
    if (value === undefined) unset.push(name);
    return value ?? whole;
  });
  return { text: filled, unset };
}

const VARIABLE = /\$\$\{|\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;
