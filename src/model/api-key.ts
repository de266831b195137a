/** The variable that holds the API key, unless the Stack names another one. With `_FILE` behind it: the path of a file that does. */
export const KEY_VARIABLE = 'EDGEWISE_API_KEY';

/** What the variables that a Stack may name look like. */
export const NAMED_KEY_VARIABLE = /^EDGEWISE_API_KEY_[A-Z0-9_]*[A-Z0-9]$/;

/** Whether a Stack may name a variable: it can choose one of several keys, and nothing else of an environment can be sent anywhere. */
export function isNamedKeyVariable(name: string): boolean {
  // That one holds a path.
  return NAMED_KEY_VARIABLE.test(name) && !name.endsWith('_FILE');
}

/** The variable with the path of a file that holds the same key. */
export function toKeyFileVariable(variable: string): string {
  return `${variable}_FILE`;
}

/** Whether a variable holds an API key, or says where one is. */
export function isKeyVariable(name: string): boolean {
  return name.toUpperCase().startsWith(KEY_VARIABLE);
}

/** The variables that hold tokens with which `post` writes to GitHub, in the order in which they count. */
export const GITHUB_TOKENS = ['GITHUB_TOKEN', 'GH_TOKEN'] as const;

/** The same for GitLab. */
export const GITLAB_TOKENS = ['EDGEWISE_GITLAB_TOKEN', 'GITLAB_TOKEN'] as const;

const FORGE_TOKENS: ReadonlySet<string> = new Set([...GITHUB_TOKENS, ...GITLAB_TOKENS]);

/** Whether a variable holds a token with which `post` writes. */
export function isForgeToken(name: string): boolean {
  return FORGE_TOKENS.has(name.toUpperCase());
}

/** Variables that a runner of GitHub or GitLab adds to every job, and that hold the job's tokens. Programs may need them; manifests never do. */
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

/** Whether no manifest may read a variable, whatever was offered: a prefix such as `CI_*` offers more than one thinks of. */
export function isWithheldVariable(name: string): boolean {
  return isSecretVariable(name) || JOB_TOKENS.has(name.toUpperCase());
}

/** Whether a variable is for edgewise alone: no manifest may read it, and no program that edgewise starts gets it. */
function isSecretVariable(name: string): boolean {
  return isKeyVariable(name) || isForgeToken(name);
}

/** An environment without keys and without tokens: for programs that edgewise starts. */
export function withoutKeys<T>(env: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretVariable(name)));
}
