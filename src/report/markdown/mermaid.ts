import type { WriteView } from '../view/plan-view.ts';

/** Most writes that are drawn; more would not be looked at. */
const MAX_NODES = 30;
const MAX_LABEL = 100;

/** The lines of a Mermaid flowchart of what waits for what. Nothing where nothing waits, or too much would be drawn. */
export function renderMermaidLines(writes: readonly WriteView[]): readonly string[] {
  const edges = writes.flatMap(({ number, waitsFor }) => waitsFor.map((before) => `  w${before} --> w${number}`));
  if (edges.length === 0 || writes.length > MAX_NODES) return [];
  return ['flowchart LR', ...writes.map(({ number, id }) => `  w${number}["${toLabel(id)}"]`), ...edges];
}

/** Everything that is no plain character of a name is written as its number. */
function toLabel(text: string): string {
  const shown = text.length <= MAX_LABEL ? text : `${text.slice(0, MAX_LABEL)}…`;
  return shown.replace(/[^\w /.*-]/gu, (character) => `#${character.codePointAt(0)};`);
}
