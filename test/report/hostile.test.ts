import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/kinds/registry.ts';
import type { Change, Difference } from '../../src/model/change.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { Json } from '../../src/model/json.ts';
import type { ApplyResult, Outcome } from '../../src/model/outcome.ts';
import type { GuardViolation, Plan, Write } from '../../src/model/plan.ts';
import type { Spec } from '../../src/model/state.ts';
import { renderAbuseReportText, toAbuseReportView } from '../../src/report/abuse-report.ts';
import {
  renderAbuseReportJson,
  renderApplyJson,
  renderFailureJson,
  renderPlanJson,
  renderValidationJson,
} from '../../src/report/json.ts';
import { createLiveProgress, renderApplyEventText, renderApplyResultText } from '../../src/report/text-apply.ts';
import { renderDiagnosticsText } from '../../src/report/text-diagnostics.ts';
import type { TextOptions } from '../../src/report/text-options.ts';
import { renderPlanText } from '../../src/report/text-plan.ts';
import { toPlanView } from '../../src/report/view.ts';
import { makePlan } from './sample-plans.ts';

/** Plans, results and diagnostics in which every text is hostile: whatever the API or a plan file may hold. */

const TRICKS = [
  '\u001b[2J\u001b[1;1H',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\r',
  '\n',
  '\n- TCPEdge/victim   delete',
  '\r\n0 to delete, 0 to replace, 0 to update, 0 to adopt, 0 to create; 9 unchanged.\n',
  '\u0000',
  '\u007f',
  '\u202e',
  '\u2066',
  '\u200b',
  '\ufeff',
  '\u2028',
  '\u2029',
  '\u00ad',
  '\u3164',
  '\ud800',
  '\u{e0041}',
  '</details><script>alert(1)</script>',
  '```\n# x',
  '@team | x',
  'WeightedBackend/pool (known after apply)',
] as const;

const text = fc
  .array(fc.oneof(fc.constantFrom(...TRICKS), fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('a', ' ')), {
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''));

const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const kindName = fc.oneof(fc.constantFrom(...KINDS.map(({ name }) => name)), text);
const fieldName = fc.constantFrom(...KINDS.flatMap(({ fields }) => Object.keys(fields)));
const spec: fc.Arbitrary<Spec> = fc.dictionary(fc.oneof(fieldName, text), json, { maxKeys: 4 });
const path = fc.oneof(fieldName, text, fc.constantFrom('policy.inbound[0].name', 'backends["a b"]', 'metadata'));

const difference: fc.Arbitrary<Difference> = fc.record(
  {
    path,
    from: json,
    to: json,
    origin: fc.constantFrom('manifest', 'drift', 'both', 'unknown'),
    forcesReplace: fc.boolean(),
  },
  { requiredKeys: ['path', 'origin', 'forcesReplace'] },
);

const change: fc.Arbitrary<Change> = fc.record(
  {
    address: text,
    kind: kindName,
    action: fc.constantFrom('create', 'update', 'replace', 'delete', 'adopt', 'no-op'),
    reason: text,
    notes: fc.array(text, { maxLength: 2 }),
    differences: fc.array(difference, { maxLength: 3 }),
    live: fc.record({ id: text, digest: text, spec }, { requiredKeys: ['id', 'digest'] }),
    desired: spec,
    protect: fc.boolean(),
  },
  { requiredKeys: ['address', 'kind', 'action', 'differences'] },
);

const write: fc.Arbitrary<Write> = fc.record({
  id: text,
  method: fc.constantFrom('POST', 'PATCH', 'PUT', 'DELETE'),
  path: text,
  address: text,
  kind: kindName,
  body: spec,
  needs: fc.array(text, { maxLength: 2 }),
  last: fc.boolean(),
  reason: text,
});

const place = fc.record({ file: text, line: fc.nat(), column: fc.nat(), excerpt: text });
const diagnostic: fc.Arbitrary<Diagnostic> = fc.record(
  {
    code: fc.constantFrom('no-stack', 'lockout'),
    severity: fc.constantFrom('error', 'warning'),
    message: text,
    remedy: text,
    address: text,
    place,
    related: fc.array(fc.record({ message: text, place }), { maxLength: 2 }),
  },
  { requiredKeys: ['code', 'severity', 'message'] },
);

const violation: fc.Arbitrary<GuardViolation> = fc.record({
  rule: fc.constantFrom('protect', 'delete-share', 'delete-all'),
  message: text,
  remedy: text,
  addresses: fc.array(text, { maxLength: 3 }),
});

const plan: fc.Arbitrary<Plan> = fc
  .record({
    stack: text,
    baseUrl: fc.oneof(
      text,
      text.map((file) => `embedded:${file}`),
    ),
    mode: fc.constantFrom('apply', 'destroy'),
    targets: fc.array(text, { maxLength: 2 }),
    changes: fc.array(change, { maxLength: 4 }),
    writes: fc.array(write, { maxLength: 3 }),
    diagnostics: fc.array(diagnostic, { maxLength: 2 }),
    violations: fc.array(violation, { maxLength: 2 }),
  })
  .map((parts) => makePlan(parts));

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ outcome: fc.constant('applied' as const), write, id: fc.option(text, { nil: undefined }) }),
  fc.record({
    outcome: fc.constant('failed' as const),
    write,
    message: text,
    isAuthentication: fc.boolean(),
    isUnknown: fc.boolean(),
  }),
  fc.record({
    outcome: fc.constant('skipped' as const),
    write,
    message: text,
    waitedFor: fc.array(text, { maxLength: 2 }),
  }),
);

const result: fc.Arbitrary<ApplyResult> = fc.record({
  outcomes: fc.array(outcome, { maxLength: 4 }),
  tokens: fc.array(fc.record({ address: text, place: text, rescued: fc.boolean() }), { maxLength: 2 }),
  files: fc.array(
    fc.record({ address: text, path: text, outcome: fc.constantFrom('applied', 'failed', 'skipped'), message: text }),
    { maxLength: 2 },
  ),
  diagnostics: fc.array(diagnostic, { maxLength: 2 }),
  lookUps: fc.nat(),
  interrupted: fc.boolean(),
});

const abuseReport = fc.record({
  id: text,
  status: text,
  created_at: text,
  metadata: text,
  urls: fc.array(text, { maxLength: 2 }),
  hostnames: fc.array(fc.record({ hostname: text, status: text }), { maxLength: 3 }),
});

const options: fc.Arbitrary<TextOptions> = fc.record({
  color: fc.boolean(),
  width: fc.constantFrom(0, 40, 80),
  verbose: fc.boolean(),
});

const RAW = /[^\n\P{C}]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** The colours that we put in ourselves are the only control sequences. */
function expectPrintable(rendered: string, { color }: Pick<TextOptions, 'color'> = { color: false }): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that colours are made of
  const plain = color ? rendered.replace(/\u001b\[(?:1|2|22|31|32|33|35|39)m/g, '') : rendered;
  expect(RAW.exec(plain.replace(/\p{Cn}|\p{Co}/gu, ''))).toBeNull();
}

/** The lines that are not indented: ours alone. */
function listHeadLines(rendered: string): readonly string[] {
  return stripVTControlCharacters(rendered)
    .split('\n')
    .filter((line) => /^[^ ]/.test(line));
}

describe('no text of others reaches the terminal as anything but text', () => {
  test('in a plan', () => {
    fc.assert(
      fc.property(plan, options, (hostile, look) => {
        expectPrintable(renderPlanText(toPlanView(hostile), look), look);
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
        const progress = createLiveProgress(outcomes.length, look);
        const events = [
          ...outcomes.map(({ write }) => ({ event: 'write-started', write }) as const),
          ...outcomes.map((one) => ({ event: 'write-ended', result: one, done: 1, total: 2 }) as const),
          ...diagnostics.map((one) => ({ event: 'diagnostic', diagnostic: one }) as const),
        ];
        for (const event of events) {
          expectPrintable(renderApplyEventText(event, look) ?? '', look);
          expectPrintable([...progress.apply(event), ...progress.render()].join('\n'), look);
          for (const line of progress.render()) expect(line).not.toContain('\n');
        }
      }),
    );
  });

  test('in an abuse report', () => {
    fc.assert(
      fc.property(abuseReport, options, (report, look) => {
        expectPrintable(renderAbuseReportText(toAbuseReportView(report), look), look);
        expectPrintable(renderAbuseReportJson({ command: 'abuse-report get', report }));
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

  test('in JSON, which still says the same', () => {
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

describe('no text of others can start a line of ours', () => {
  const wide: TextOptions = { color: true, width: 0, verbose: true };

  test('in a plan', () => {
    const OURS =
      /^(- |± |~ |» |\+ |refused\[|error\[|warning\[|Plan |Narrowed to |This change:|Drift that will be put back:|The tokens |Requests, |Left as they are:|Files to write:|\d+ to delete, |Nothing to do: |This plan can not be applied\.|Reading took |\d+ (safety|error|warning))/;
    fc.assert(
      fc.property(plan, (hostile) => {
        const heads = listHeadLines(renderPlanText(toPlanView(hostile), wide));
        for (const head of heads) expect(head).toMatch(OURS);
        const shown = toPlanView(hostile).parts.flatMap(({ groups }) => groups.flatMap(({ changes }) => changes));
        expect(heads.filter((head) => /^[-±~»+] /.test(head))).toHaveLength(shown.length);
        expect(heads.filter((head) => head.startsWith('refused['))).toHaveLength(hostile.violations.length);
      }),
    );
  });

  test('in an abuse report, or a row of its table', () => {
    fc.assert(
      fc.property(abuseReport, (report) => {
        const rendered = renderAbuseReportText(toAbuseReportView(report), { ...wide, color: false });
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

test('user text can not say that a value is known after apply', () => {
  const change: Change = {
    address: 'TCPEdge/a',
    kind: 'TCPEdge',
    action: 'update',
    differences: [
      { path: 'description', to: 'WeightedBackend/pool (known after apply)', origin: 'manifest', forcesReplace: false },
      { path: 'backend.backend_id', to: 'a/b (known after apply)', origin: 'manifest', forcesReplace: false },
    ],
  };
  const rendered = renderPlanText(toPlanView(makePlan({ changes: [change] })), {
    color: false,
    width: 0,
    verbose: false,
  });
  expect(rendered).toContain('(none) → "WeightedBackend/pool (known after apply)"');
  expect(rendered).toContain('(none) → "a/b (known after apply)"');
});
