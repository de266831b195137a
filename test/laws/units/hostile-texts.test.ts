import fc from 'fast-check';
import { describe, test } from 'vitest';
import { type FormatName, loadReportRenderer } from '../../../src/report/formats.ts';
import type { TextStyleOptions } from '../../../src/report/report.ts';
import { expectPrintable, FORMAT_CHECKS } from '../../report/format-checks.ts';
import {
  expectOwnLinesOfDiagnostics,
  expectOwnLinesOfPlan,
  expectOwnLinesOfResult,
  expectOwnLinesOfSubmission,
  expectPrintableJson,
  expectPrintableProgress,
  expectPrintableSubmission,
  toFormatOptions,
} from '../../report/hostile-checks.ts';
import { renderApplyResultText, renderDiagnosticsText, renderPlanText } from '../../report/render.ts';
import { abuseReport, diagnostic, plan, report, result, text } from '../hostile-values.ts';

const looks: fc.Arbitrary<TextStyleOptions> = fc.record({
  color: fc.boolean(),
  width: fc.constantFrom(0, 40, 80),
  verbose: fc.boolean(),
});
const diagnostics = fc.array(diagnostic, { minLength: 1 });

describe('user text reaches the terminal only as text', () => {
  test('in a plan', () => {
    fc.assert(fc.property(plan, looks, (hostile, look) => expectPrintable(renderPlanText(hostile, look), look)));
  });

  test('in the result of an apply', () => {
    fc.assert(
      fc.property(plan, result, looks, (hostile, outcomes, look) => {
        expectPrintable(renderApplyResultText(hostile, outcomes, look), look);
      }),
    );
  });

  test('in the progress of an apply', () => {
    fc.assert(fc.property(result, looks, expectPrintableProgress));
  });

  test('in an abuse report', () => {
    fc.assert(fc.property(abuseReport, looks, expectPrintableSubmission));
  });

  test('in diagnostics', () => {
    fc.assert(fc.property(diagnostics, looks, (all, look) => expectPrintable(renderDiagnosticsText(all, look), look)));
  });

  test('in JSON, which keeps its value', () => {
    fc.assert(fc.property(plan, result, text, expectPrintableJson));
  });
});

describe('user text starts no line of edgewise', () => {
  test('in a plan', () => {
    fc.assert(fc.property(plan, expectOwnLinesOfPlan));
  });

  test('in an abuse report, or a row of its table', () => {
    fc.assert(fc.property(abuseReport, (shown) => expectOwnLinesOfSubmission(shown, shown.hostnames.length)));
  });

  test('in diagnostics', () => {
    fc.assert(fc.property(diagnostics, expectOwnLinesOfDiagnostics));
  });

  test('in the result of an apply', () => {
    fc.assert(fc.property(plan, result, expectOwnLinesOfResult));
  });
});

describe('user text breaks out of no format', () => {
  test.each(Object.entries(FORMAT_CHECKS))('of %s', async (name, check) => {
    const render = await loadReportRenderer(name as FormatName); // Object.entries forgets the keys' type
    fc.assert(
      fc.property(report, fc.boolean(), text, (hostile, verbose, line) => {
        check(render(hostile, toFormatOptions(line, verbose)));
      }),
    );
  });
});
