import type { TextOptions } from '../report.ts';
import type { ComparisonPart, ComparisonView } from '../view/comparison-view.ts';
import { LIST_HEADINGS } from '../view/plan-wording.ts';
import { toActionColumn } from './change.ts';
import { toPaint, wrapBehind } from './layout.ts';
import { renderBlocks, renderList } from './plan.ts';

/** What two plans do differently, as a plan is shown. Ends with a line break. */
export function renderComparisonText(view: ComparisonView, options: TextOptions): string {
  const { color, width } = options;
  const paint = toPaint(color);
  const toLines = (style: 'strong' | 'error', text: string) =>
    wrapBehind('', text, { width, rest: 0 }).map((line) => paint(style, line));
  const sections = [
    toLines('strong', view.title),
    ...view.parts.flatMap((part) => renderPart(part, options)),
    [
      ...toLines(view.isRefused ? 'error' : 'strong', view.summary),
      ...(view.remedy === undefined ? [] : wrapBehind('', view.remedy, { width, rest: 0 })),
    ],
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderPart({ heading, changes, files }: ComparisonPart, options: TextOptions): readonly (readonly string[])[] {
  const layout = { ...options, actionColumn: toActionColumn(changes) };
  const list = renderList(LIST_HEADINGS.files, files, options);
  return [
    [toPaint(options.color)('strong', `${heading}:`)],
    ...renderBlocks(changes, layout),
    ...(list.length === 0 ? [] : [list]),
  ];
}
