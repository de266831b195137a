/** Elements of the page. Text goes in as text, never as markup. */

export const get = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  content: string | readonly (string | Node)[],
  className = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.append(...[content].flat());
  if (className !== '') element.className = className;
  return element;
}

/** A text in which what stands between backticks is code. */
export function toProse(text: string): readonly (string | Node)[] {
  return text.split(/`([^`\n]+)`/).map((part, at) => (at % 2 === 0 ? part : make('code', part)));
}
