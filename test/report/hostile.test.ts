import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { type FormatName, loadReportRenderer } from '../../src/report/formats.ts';
import {
  renderApplyJson,
  renderFailureJson,
  renderPlanJson,
  renderSubmissionJson,
  renderValidationJson,
} from '../../src/report/machine/json.ts';
import type { TextStyleOptions } from '../../src/report/report.ts';
import { createEventLog, createLiveProgress } from '../../src/report/text/progress.ts';
import { createSubmissionView, renderSubmissionText } from '../../src/report/text/submission.ts';
import { createPlanView } from '../../src/report/view/plan-view.ts';
import { expectPrintable, FORM_JUDGES } from './form-judges.ts';
import { ABUSE_REPORT, abuseReport, diagnostic, outcome, plan, report, result, text } from './hostile-values.ts';
import { renderApplyResultText, renderDiagnosticsText, renderPlanText } from './render.ts';
import { makePlan } from './sample-plans.ts';

const options: fc.Arbitrary<TextStyleOptions> = fc.record({
  color: fc.boolean(),
  width: fc.constantFrom(0, 40, 80),
  verbose: fc.boolean(),
});

/** Lists the lines without indentation, which only edgewise writes. */
function listHeadLines(rendered: string): readonly string[] {
  return stripVTControlCharacters(rendered)
    .split('\n')
    .filter((line) => /^[^ ]/.test(line));
}

describe('user text reaches the terminal only as text', () => {
  test('in a plan', () => {
    fc.assert(
      fc.property(plan, options, (hostile, look) => {
        expectPrintable(renderPlanText(hostile, look), look);
      }),
    );
  });

  test('in the result of an apply', () => {
    fc.assert(
      fc.property(plan, result, options, (hostile, outcomes, look) => {
        expectPrintable(renderApplyResultText(hostile, outcomes, look), look);
      }),
    );
  });

  test('in the progress of an apply', () => {
    fc.assert(
      fc.property(fc.array(outcome), fc.array(diagnostic), options, (outcomes, diagnostics, look) => {
        const progress = createLiveProgress({ total: outcomes.length, rateLimit: 'none' }, look);
        const log = createEventLog(look);
        const events = [
          ...outcomes.map(({ write }) => ({ event: 'write-started', write }) as const),
          ...outcomes.map((one) => ({ event: 'write-ended', result: one, done: 1, total: 2 }) as const),
          ...diagnostics.map((one) => ({ event: 'diagnostic', diagnostic: one }) as const),
        ];
        for (const event of events) {
          expectPrintable(log.take(event).join('\n'), look);
          expectPrintable([...progress.apply(event), progress.render(0)].join('\n'), look);
          expect(progress.render(0)).not.toContain('\n');
        }
        expectPrintable([...log.end(), ...progress.end()].join('\n'), look);
      }),
    );
  });

  test('in an abuse report', () => {
    fc.assert(
      fc.property(abuseReport, options, (report, look) => {
        expectPrintable(renderSubmissionText(createSubmissionView(ABUSE_REPORT, report), look), look);
        expectPrintable(renderSubmissionJson({ kind: ABUSE_REPORT, command: 'abuse-report get', shown: report }));
      }),
    );
  });

  test('in diagnostics', () => {
    fc.assert(
      fc.property(fc.array(diagnostic), options, (diagnostics, look) => {
        expectPrintable(renderDiagnosticsText(diagnostics, look), look);
      }),
    );
  });

  test('in JSON, which keeps its value', () => {
    fc.assert(
      fc.property(plan, result, fc.array(diagnostic), text, (hostile, outcomes, diagnostics, message) => {
        const documents = [
          renderPlanJson(hostile),
          renderApplyJson(hostile, outcomes, { diagnostics, error: new Error(message) }),
          renderFailureJson({ plan: hostile, diagnostics, error: { message } }),
          renderValidationJson({ files: 1, resources: 1, diagnostics }),
        ];
        for (const document of documents) expectPrintable(document);
        expect(JSON.parse(documents[2] ?? '').error).toEqual({ message });
      }),
    );
  });
});

describe('user text starts no line of edgewise', () => {
  const wide: TextStyleOptions = { color: true, width: 0, verbose: true };

  test('in a plan', () => {
    const OURS =
      /^(- |± |~ |» |\+ |refused\[|error\[|warning\[|Plan |Limited to |Deletes and replacements:|This change:|To create: |Drift to revert:|The tokens |Requests, |Left as they are:|Files to write:|\d+ to delete, |Nothing to do: |This plan cannot be applied\.|Reading took |\d+ (safety|error|warning)|! \d+ dangers? )/;
    fc.assert(
      fc.property(plan, (hostile) => {
        const heads = listHeadLines(renderPlanText(hostile, wide));
        for (const head of heads) expect(head).toMatch(OURS);
        const shown = createPlanView(hostile).parts.flatMap(({ changes }) => changes);
        expect(heads.filter((head) => /^[-±~»+] /.test(head))).toHaveLength(shown.length);
        expect(heads.filter((head) => head.startsWith('refused['))).toHaveLength(hostile.violations.length);
      }),
    );
  });

  test('in an abuse report, or a row of its table', () => {
    fc.assert(
      fc.property(abuseReport, (report) => {
        const rendered = renderSubmissionText(createSubmissionView(ABUSE_REPORT, report), { ...wide, color: false });
        expect(listHeadLines(rendered)).toHaveLength(1);
        const [, table = ''] = rendered.split('STATUS\n');
        expect(table.split('\n').filter((row) => row !== '')).toHaveLength(report.hostnames.length);
      }),
    );
  });

  test('in diagnostics', () => {
    fc.assert(
      fc.property(fc.array(diagnostic, { minLength: 1 }), (diagnostics) => {
        expect(listHeadLines(renderDiagnosticsText(diagnostics, wide))).toHaveLength(diagnostics.length + 1);
      }),
    );
  });

  test('in the result of an apply', () => {
    const OURS = /^(Applied:|Failed:|Skipped:|Tokens:|Files:|Next:|(error|warning)\[[a-z-]+\]: |\d+ writes? applied)/;
    fc.assert(
      fc.property(plan, result, (hostile, outcomes) => {
        for (const head of listHeadLines(renderApplyResultText(hostile, outcomes, wide))) expect(head).toMatch(OURS);
      }),
    );
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
  const rendered = renderPlanText(makePlan({ changes: [change] }), {
    color: false,
    width: 0,
    verbose: false,
  });
  expect(rendered).toContain('(none) → "WeightedBackend/pool (known after apply)"');
  expect(rendered).toContain('(none) → "a/b (known after apply)"');
});

describe('user text breaks out of no format', () => {
  test.each(Object.entries(FORM_JUDGES))('of %s', async (name, judge) => {
    const render = await loadReportRenderer(name as FormatName); // Object.entries forgets the keys' type
    fc.assert(
      fc.property(report, fc.boolean(), text, (hostile, verbose, line) => {
        judge(
          render(hostile, {
            color: false,
            width: 0,
            verbose,
            applyCommand: { line, lineElsewhere: line, readsInput: verbose },
          }),
        );
      }),
    );
  });
});
