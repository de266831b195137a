import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { type FormatName, loadReportRenderer } from '../../src/report/formats.ts';
import type { TextStyleOptions } from '../../src/report/report.ts';
import { selectTypical } from '../cases.ts';
import { expectPrintable, FORMAT_CHECKS } from './format-checks.ts';
import {
  expectOwnLinesOfDiagnostics,
  expectOwnLinesOfPlan,
  expectOwnLinesOfResult,
  expectOwnLinesOfSubmission,
  expectPrintableJson,
  expectPrintableProgress,
  expectPrintableSubmission,
  TRICKS,
  toFormatOptions,
  withText,
} from './hostile-checks.ts';
import { renderApplyResultText, renderDiagnosticsText, renderPlanText } from './render.ts';
import { createPlan, EVERYTHING } from './sample-plans.ts';
import { MISTAKE, REPORTS } from './sample-reports.ts';
import { MIXED } from './sample-results.ts';

const LOOKS: readonly TextStyleOptions[] = [
  { color: true, width: 0, verbose: true },
  { color: false, width: 40, verbose: false },
  { color: true, width: 80, verbose: false },
];

/** Each trick alone, and all of them in one text. */
describe.each([...TRICKS, TRICKS.join(' ')])('user text such as %j', (trick) => {
  const plan = withText(EVERYTHING, trick);
  const result = withText({ ...MIXED, diagnostics: [MISTAKE] }, trick);
  const hostnames = [{ hostname: trick, status: trick }, { hostname: trick }];
  const submission = { id: trick, status: trick, created_at: trick, metadata: trick, urls: [trick, 'a'], hostnames };

  test.each(LOOKS)('reaches the terminal only as text: $color, $width columns, verbose $verbose', (look) => {
    expectPrintable(renderPlanText(plan, look), look);
    expectPrintable(renderApplyResultText(plan, result, look), look);
    expectPrintable(renderDiagnosticsText(result.diagnostics, look), look);
    expectPrintableProgress(result, look);
    expectPrintableSubmission(submission, look);
  });

  test('is escaped in JSON, which keeps its value', () => {
    expectPrintableJson(plan, result, trick);
  });

  test('starts no line of edgewise', () => {
    expectOwnLinesOfPlan(plan);
    expectOwnLinesOfResult(plan, result);
    expectOwnLinesOfDiagnostics(result.diagnostics);
    expectOwnLinesOfSubmission(submission, hostnames.length);
  });
});

const REPORTS_WITH_TEXTS = Object.keys(REPORTS).flatMap((sort) =>
  Object.keys(FORMAT_CHECKS).flatMap((format) =>
    [...TRICKS, TRICKS.join(' ')].map((text, index) => ({
      ...{ sort, format, text, index },
      ...{ written: `${sort} ${format}`, told: `${sort} ${index}`, escaped: `${format} ${index}` },
    })),
  ),
);

/** Each sort of report in each format and with each text, and each text in each format. */
const TYPICAL = selectTypical(REPORTS_WITH_TEXTS, 'written', 'told', 'escaped');

describe.each(Object.entries(REPORTS))('a report of the sort %s', (sort, report) => {
  test.each(Object.entries(FORMAT_CHECKS))('stays a valid document of %s with any user text', async (format, check) => {
    const render = await loadReportRenderer(format as FormatName); // Object.entries forgets the keys' type
    const rows = TYPICAL.filter((row) => row.sort === sort && row.format === format);
    expect(rows).not.toEqual([]);
    for (const { text, index } of rows) check(render(withText(report, text), toFormatOptions(text, index % 2 === 0)));
  });
});

test('keeps user text from saying that a value is known after apply', () => {
  const change: Change = {
    address: 'TCPEdge/a',
    kind: 'TCPEdge',
    action: 'update',
    differences: [
      { path: 'description', to: 'WeightedBackend/pool (known after apply)', origin: 'manifest', forcesReplace: false },
      { path: 'backend.backend_id', to: 'a/b (known after apply)', origin: 'manifest', forcesReplace: false },
    ],
  };
  const rendered = renderPlanText(createPlan({ changes: [change] }), {
    color: false,
    width: 0,
    verbose: false,
  });
  expect(rendered).toContain('(none) → "WeightedBackend/pool (known after apply)"');
  expect(rendered).toContain('(none) → "a/b (known after apply)"');
});
