import type { DriftState } from '../../model/drift.ts';
import type { TextStyleOptions } from '../report.ts';
import {
  type DriftedView,
  type DriftGroup,
  type DriftView,
  NEXT_APPLY_PREFIX,
  UNMANAGED_WORDING,
} from '../view/drift-view.ts';
import { clipToColumns, countColumns } from '../view/escape.ts';
import { formatOwnerNote } from '../view/plan-wording.ts';
import { formatSeverityCounts } from '../view/wording.ts';
import { renderCompactLine, renderFields } from './change.ts';
import { renderDiagnosticLines } from './diagnostics.ts';
import { createPainter, isTooWide, padToWidth, type TextRole, wrapWithPrefix } from './layout.ts';

/** Drift for a terminal: dangers, differences by state, unmanaged resources, and totals. Ends with a line break. */
export function renderDriftText(view: DriftView, options: TextStyleOptions): string {
  const sections = [
    [
      ...wrap(view.title, options).map((line) => createPainter(options.color)('strong', line)),
      ...[view.compared, ...view.notes].filter(Boolean).flatMap((note) => wrap(note, options)),
    ],
    ...renderDangers(view, options),
    ...view.groups.map((group) => renderGroup(group, options)),
    ...renderUnmanaged(view.unmanaged, options),
    ...view.diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options)),
    renderTotals(view, options),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderDangers({ dangers, dangerCount }: DriftView, options: TextStyleOptions): readonly (readonly string[])[] {
  if (dangers.length === 0) return [];
  const lines = dangers.flatMap(({ group, address, said, owner }) =>
    wrapWithPrefix('  ! ', `${group}: ${address}${owner === undefined ? '' : ` (${formatOwnerNote(owner)})`} ${said}`, {
      width: options.width,
      rest: 6,
    }),
  );
  return [[`${dangerCount}:`, ...lines].map((line) => createPainter(options.color)('error', line))];
}

function renderUnmanaged(unmanaged: DriftView['unmanaged'], options: TextStyleOptions): readonly (readonly string[])[] {
  if (unmanaged.length === 0) return [];
  const shown = options.verbose ? unmanaged : unmanaged.slice(0, MAX_UNMANAGED);
  const column = Math.max(...shown.map(({ kind, id }) => countColumns(`${kind} ${id}`))) + 4;
  const left = unmanaged.length - shown.length;
  const lines = shown.map((one) => {
    const line = padToWidth(`  ${one.kind} ${one.id}  `, column) + one.description;
    return clipToColumns(line.trimEnd(), options.width);
  });
  return [
    [
      createPainter(options.color)('strong', `${UNMANAGED_WORDING.heading}:`),
      ...lines,
      ...(left > 0 ? [`  and ${left} more: --verbose lists all`] : []),
      ...wrapWithPrefix('  ', UNMANAGED_WORDING.hint, { width: options.width, rest: 2 }),
    ],
  ];
}

/** The maximum number of unmanaged resources shown without --verbose. An account may have thousands. */
const MAX_UNMANAGED = 20;

const STYLES: Readonly<Record<Exclude<DriftState, 'in-sync'>, TextRole>> = {
  drifted: 'changed',
  'drifted-and-pending': 'changed',
  differs: 'changed',
  missing: 'removed',
  unowned: 'changed',
  'file-differs': 'changed',
  pending: 'muted',
  'to-prune': 'muted',
};

function renderGroup({ state, heading, resources }: DriftGroup, options: TextStyleOptions): readonly string[] {
  const paint = createPainter(options.color);
  const lines =
    options.compact === true
      ? renderCompact(resources, options)
      : resources.flatMap((resource) => renderResource(resource, options));
  return [paint(STYLES[state], `${heading}:`), ...lines];
}

function renderCompact(resources: readonly DriftedView[], options: TextStyleOptions): readonly string[] {
  const column = Math.max(...resources.map((one) => countColumns(formatHeading(one)))) + 4;
  return resources.map((one) =>
    renderCompactLine(
      {
        heading: `  ${formatHeading(one)}`,
        column,
        said: '',
        why: listCompactReasons(one),
        fields: listCompactFields(one),
        paint: (text) => text,
      },
      options,
    ),
  );
}

/** The danger groups of a resource, then its reason. The dangers are shown in full above. */
function listCompactReasons({ dangers, reason }: DriftedView): Parameters<typeof renderCompactLine>[0]['why'] {
  const groups = [...new Set(dangers.map(({ group }) => group))];
  return [
    ...groups.map((group) => ({ text: `! ${group}`, style: 'error' }) as const),
    ...(reason === undefined ? [] : [{ text: reason }]),
  ];
}

/** The paths of fields, each with a word on its change, because the line has no room for values. */
function listCompactFields({ fields, pending }: DriftedView): readonly string[] {
  const drifted = new Set(fields.map(({ path }) => path));
  return [
    ...fields.map(({ path, notes }) => `${path} ${notes.join(', ')}`),
    ...pending.map(({ path }) => path).filter((path) => !drifted.has(path)),
  ];
}

function formatHeading({ address, id }: DriftedView): string {
  return `${address}${id === undefined ? '' : `  (${id})`}`;
}

function renderResource(resource: DriftedView, options: TextStyleOptions): readonly string[] {
  const { owner, reason, expected, fields, next, pending } = resource;
  const heading = wrapHeading(formatHeading(resource), options);
  const whose = owner === undefined ? undefined : formatOwnerNote(owner);
  const why = [whose, reason, expected].flatMap((text) =>
    text === undefined ? [] : wrapWithPrefix('    ', text, { width: options.width, rest: 6 }),
  );
  const inner = { ...options, width: options.width === 0 ? 0 : options.width - INDENT.length };
  const planned = renderFields(pending, inner).map((line) => INDENT + line);
  const then = next === undefined ? [] : [`${NEXT_APPLY_PREFIX}: ${next}`];
  return [
    ...heading,
    ...why,
    ...renderFields(fields, options),
    ...then.flatMap((clause) => wrapWithPrefix('    ', clause, { width: options.width, rest: 6 })),
    ...planned,
  ];
}

/** The extra indent of the fields that the next apply changes. It shows that they belong to the clause above them. */
const INDENT = '  ';

function renderTotals(view: DriftView, options: TextStyleOptions): readonly string[] {
  const paint = createPainter(options.color);
  const found = formatSeverityCounts(view.diagnostics);
  const lines: readonly (readonly [TextRole, string])[] = [
    ['strong', view.summary],
    ...view.hints.map((hint): readonly [TextRole, string] => ['warning', hint]),
    ['muted', view.coverage],
    ['muted', view.requests],
    ['warning', found === '' ? '' : `${found}: see above.`],
  ];
  return lines
    .filter(([, line]) => line !== '')
    .flatMap(([style, line]) => wrap(line, options).map((one) => paint(style, one)));
}

/** Wraps a heading that is too wide, so that the id is below the address. */
function wrapHeading(heading: string, { width }: TextStyleOptions): readonly string[] {
  return isTooWide(`  ${heading}`, width) ? wrapWithPrefix('  ', heading, { width, rest: 4 }) : [`  ${heading}`];
}

function wrap(sentence: string, { width }: TextStyleOptions): readonly string[] {
  return wrapWithPrefix('', sentence, { width, rest: 2 });
}
