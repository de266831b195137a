import type { DriftState } from '../../model/drift.ts';
import type { TextOptions } from '../report.ts';
import { toColumns } from '../view/columns.ts';
import type { DriftedView, DriftGroup, DriftView } from '../view/drift-view.ts';
import { MOVED } from '../view/drift-wording.ts';
import { countSeverities } from '../view/wording.ts';
import { renderFields } from './change.ts';
import { renderCompactLine } from './compact.ts';
import { renderDiagnosticLines } from './diagnostics.ts';
import { isTooWide, type Style, toPaint, wrapBehind } from './layout.ts';

/** Drift for a person: the differences by their origin, then unmanaged resources, and the totals. Ends with a line break. */
export function renderDriftText(view: DriftView, options: TextOptions): string {
  const sections = [
    [
      ...wrap(view.title, options).map((line) => toPaint(options.color)('strong', line)),
      ...view.notes.flatMap((note) => wrap(note, options)),
    ],
    ...view.groups.map((group) => renderGroup(group, options)),
    ...view.diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options)),
    renderTotals(view, options),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const STYLES: Readonly<Record<Exclude<DriftState, 'in-sync'>, Style>> = {
  drifted: 'changed',
  'drifted-and-pending': 'changed',
  differs: 'changed',
  missing: 'added',
  unowned: 'changed',
  'file-differs': 'changed',
  pending: 'muted',
  'left-over': 'removed',
};

function renderGroup({ state, heading, resources }: DriftGroup, options: TextOptions): readonly string[] {
  const paint = toPaint(options.color);
  const lines =
    options.compact === true
      ? renderCompact(resources, options)
      : resources.flatMap((resource) => renderResource(resource, options));
  return [paint(STYLES[state], `${heading}:`), ...lines];
}

function renderCompact(resources: readonly DriftedView[], options: TextOptions): readonly string[] {
  const column = Math.max(...resources.map((one) => toColumns(toHeading(one)))) + 4;
  return resources.map((one) =>
    renderCompactLine(
      {
        heading: `  ${toHeading(one)}`,
        column,
        said: '',
        why: one.reason,
        fields: [...one.moved, ...one.fields.map(({ path }) => path)],
        paint: (text) => text,
      },
      options,
    ),
  );
}

function toHeading({ address, id }: DriftedView): string {
  return `${address}${id === undefined ? '' : `  (${id})`}`;
}

function renderResource(resource: DriftedView, options: TextOptions): readonly string[] {
  const { reason, moved, fields } = resource;
  const heading = wrapHeading(toHeading(resource), options);
  const why = reason === undefined ? [] : wrapBehind('    ', reason, { width: options.width, rest: 6 });
  const lost = moved.map((name) => `    ${name}: ${MOVED}`);
  return [...heading, ...why, ...lost, ...renderFields(fields, options)];
}

function renderTotals(view: DriftView, options: TextOptions): readonly string[] {
  const paint = toPaint(options.color);
  const found = countSeverities(view.diagnostics);
  const lines: readonly (readonly [Style, string])[] = [
    ['strong', view.summary],
    ['muted', view.coverage],
    ['muted', view.requests],
    ['warning', found === '' ? '' : `${found}: see above.`],
  ];
  return lines
    .filter(([, line]) => line !== '')
    .flatMap(([style, line]) => wrap(line, options).map((one) => paint(style, one)));
}

/** The id stands behind the address or, where there is no room, below it. */
function wrapHeading(heading: string, { width }: TextOptions): readonly string[] {
  return isTooWide(`  ${heading}`, width) ? wrapBehind('  ', heading, { width, rest: 4 }) : [`  ${heading}`];
}

function wrap(sentence: string, { width }: TextOptions): readonly string[] {
  return wrapBehind('', sentence, { width, rest: 2 });
}
