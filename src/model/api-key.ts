/** The variable that holds the API key, unless the Stack names another one. With `_FILE` behind it: the path of a file that does. */
export const KEY_VARIABLE = 'EDGEWISE_API_KEY';

/** Variables that a Stack may name: it can choose one of several keys, and nothing else of an environment can be sent anywhere. */
export const NAMED_KEY_VARIABLE = /^EDGEWISE_API_KEY_(?!(?:[A-Z0-9_]*_)?FILE$)[A-Z0-9_]*[A-Z0-9]$/;

/** The variable with the path of a file that holds the same key. */
export function toKeyFileVariable(variable: string): string {
  return `${variable}_FILE`;
}

/** Whether a variable holds an API key, or says where one is. */
export function isKeyVariable(name: string): boolean {
  return name.toUpperCase().startsWith(KEY_VARIABLE);
}

/** An environment without any API key, for programs that edgewise starts and for what manifests may name. */
export function withoutKeys<T>(env: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isKeyVariable(name)));
}
