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

/** What else only edgewise itself has use for. */
const FORGE_TOKEN = 'EDGEWISE_GITLAB_TOKEN';

/** An environment without any API key, and without what else is for edgewise alone: for programs that it starts. */
export function withoutKeys<T>(env: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isKeyVariable(name) && name !== FORGE_TOKEN));
}
