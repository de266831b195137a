/**
 * The default variable of the API key; a Stack may name another. With the suffix `_FILE`: the path of a file with the
 * key.
 */
export const KEY_VARIABLE = 'EDGEWISE_API_KEY';

/** Matches key variables that a Stack may name. */
export const NAMED_KEY_VARIABLE = /^EDGEWISE_API_KEY_[A-Z0-9_]*[A-Z0-9]$/;

/**
 * Whether a Stack may name this variable as its key variable. Only variables of this form can be named, so a Stack can
 * choose between keys but cannot send any other variable to a server.
 */
export function isNamedKeyVariable(name: string): boolean {
  // A variable with the suffix `_FILE` contains a path, not a key.
  return NAMED_KEY_VARIABLE.test(name) && !name.endsWith('_FILE');
}

/** Returns the name of the variable with the path of a file that contains the same key. */
export function toKeyFileVariable(variable: string): string {
  return `${variable}_FILE`;
}

/** Whether a variable contains an API key or the path of a file with one. */
export function isKeyVariable(name: string): boolean {
  return name.toUpperCase().startsWith(KEY_VARIABLE);
}

/** Variables of the GitHub tokens with which `post` writes comments and issues. The first that is set is used. */
export const GITHUB_TOKENS = ['GITHUB_TOKEN', 'GH_TOKEN'] as const;

/** Variables of the GitLab tokens with which `post` writes comments and issues. The first that is set is used. */
export const GITLAB_TOKENS = ['EDGEWISE_GITLAB_TOKEN', 'GITLAB_TOKEN'] as const;

const FORGE_TOKENS: ReadonlySet<string> = new Set([...GITHUB_TOKENS, ...GITLAB_TOKENS]);

/** Whether a variable contains a token with which `post` writes. */
export function isForgeToken(name: string): boolean {
  return FORGE_TOKENS.has(name.toUpperCase());
}

/**
 * Variables with which GitHub and GitLab runners pass a job's own tokens. Programs may need these variables; manifests
 * never do.
 */
const JOB_TOKENS: ReadonlySet<string> = new Set([
  ...[
    'ACTIONS_RUNTIME_TOKEN',
    'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
    'CI_JOB_TOKEN',
    'CI_JOB_JWT',
    'CI_JOB_JWT_V1',
    'CI_JOB_JWT_V2',
  ],
  ...['CI_REGISTRY_PASSWORD', 'CI_DEPLOY_PASSWORD', 'CI_DEPENDENCY_PROXY_PASSWORD', 'CI_REPOSITORY_URL'],
]);

/**
 * Whether manifests may never read this variable, even if the user offers it. A prefix such as `CI_*` can offer more
 * than the user meant.
 */
export function isWithheldVariable(name: string): boolean {
  return isSecretVariable(name) || JOB_TOKENS.has(name.toUpperCase());
}

/** Whether only edgewise may read this variable, and neither manifests nor programs that it starts. */
function isSecretVariable(name: string): boolean {
  return isKeyVariable(name) || isForgeToken(name);
}

/** Returns the environment without API keys and tokens, for programs that edgewise starts. */
export function withoutKeys<T>(env: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretVariable(name)));
}
