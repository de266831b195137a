import { findTokenSystem } from './system-tokens.ts';

/**
 * The environment variable with the API key, unless the Stack names another. A variable with the suffix `_FILE`
 * contains the path of a file with the key instead.
 */
export const KEY_VARIABLE = 'EDGEWISE_API_KEY';

/** The form of a key variable. `isAllowedKeyVariable` also rejects the suffix `_FILE`. */
export const KEY_VARIABLE_PATTERN = /^EDGEWISE_API_KEY(_[A-Z0-9_]*[A-Z0-9])?$/;

/**
 * Whether a Stack may name this environment variable as the source of the API key. Only names of this form are allowed,
 * because the value is sent to a server that the Stack may name too.
 */
export function isAllowedKeyVariable(name: string): boolean {
  // A variable with the suffix `_FILE` contains a path, not a key.
  return KEY_VARIABLE_PATTERN.test(name) && !name.endsWith('_FILE');
}

/**
 * Returns the name of the variable to set instead of `variable` if the key is in a file. It contains the file's path.
 */
export function toKeyFileVariable(variable: string): string {
  return `${variable}_FILE`;
}

export function isKeyOrKeyFileVariable(name: string): boolean {
  return name.toUpperCase().startsWith(KEY_VARIABLE);
}

/** Environment variables with the GitHub token of `edgewise post`. The first variable that is set is used. */
export const GITHUB_TOKEN_VARIABLES = ['GITHUB_TOKEN', 'GH_TOKEN'] as const;

/** Environment variables with the GitLab token of `edgewise post`. The first variable that is set is used. */
export const GITLAB_TOKEN_VARIABLES = ['EDGEWISE_GITLAB_TOKEN', 'GITLAB_TOKEN'] as const;

const FORGE_TOKENS: ReadonlySet<string> = new Set([...GITHUB_TOKEN_VARIABLES, ...GITLAB_TOKEN_VARIABLES]);

/** Whether an environment variable contains the GitHub or GitLab token of `edgewise post`. */
export function isForgeTokenVariable(name: string): boolean {
  return FORGE_TOKENS.has(name.toUpperCase());
}

/** Whether manifests may never read this environment variable, so that no run can offer it. */
export function isVariableForbiddenInManifests(name: string): boolean {
  return isSecretVariable(name) || findTokenSystem(name) !== undefined;
}

/** Whether edgewise hides this environment variable from manifests and from programs that it starts. */
function isSecretVariable(name: string): boolean {
  return isKeyOrKeyFileVariable(name) || isForgeTokenVariable(name);
}

/** Returns the environment variables without API keys and tokens of the build system, for programs that edgewise starts. */
export function withoutKeyAndTokenVariables<T>(env: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isVariableForbiddenInManifests(name)));
}
