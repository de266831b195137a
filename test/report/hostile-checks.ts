import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { SUBMITTED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { assertDefined } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ApplyResult, Outcome } from '../../src/model/outcome.ts';
import type { Plan } from '../../src/model/plan.ts';
import { listEntries } from '../../src/report/document.ts';
import { createDocument } from '../../src/report/documents/create-document.ts';
import {
  renderApplyJson,
  renderJsonReport,
  renderPlanJson,
  renderSubmissionJson,
} from '../../src/report/machine/json.ts';
import type { FormatOptions, TextStyleOptions } from '../../src/report/report.ts';
import { createEventLog, createLiveProgress } from '../../src/report/text/progress.ts';
import { createSubmissionView, renderSubmissionText } from '../../src/report/text/submission.ts';
import { expectPrintable } from './format-checks.ts';
import { renderApplyResultText, renderDiagnosticsText, renderPlanText } from './render.ts';

/** Texts that try to be taken for more than text, and checks that a report shows them as text only. */

export const TRICKS = [
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
  '#123 GH-1 www.example.com https://example.com a@example.com',
  '[x](javascript:alert(1)) ![x](//x) <!-- -->',
  '`` ` ```` \\| \\`',
  ':shipit: $x$ ~label !1 %1 &1',
  '%%{init}%% end; w1 --> w2',
  'WeightedBackend/pool (known after apply)',
] as const;

/** Members of reports that may have any text: of the service, a manifest, a plan file or a command. */
const FREE_TEXTS: ReadonlySet<string> = new Set([
  ...[
    'stack',
    'owner',
    'team',
    'targets',
    'address',
    'addresses',
    'reason',
    'notes',
    'message',
    'remedy',
    'policy',
    'name',
  ],
  ...['description', 'from', 'to', 'consequence', 'file', 'directory', 'deliveredTo', 'command', 'before'],
]);

/** Returns the value with this text in each member that may have any. */
export function withText<T>(value: T, text: string): T {
  return JSON.parse(JSON.stringify(value), (key, member) => {
    if (!FREE_TEXTS.has(key)) return member;
    if (Array.isArray(member)) return member.map((one) => (typeof one === 'string' ? text : one));
    return typeof member === 'string' ? text : member;
  });
}

/** The kind of submissions. */
export const ABUSE_REPORT = assertDefined(
  SUBMITTED_KINDS.find(({ name }) => name === 'AbuseReport'),
  'AbuseReport',
);

export function expectPrintableProgress(
  { outcomes, diagnostics }: Pick<ApplyResult, 'outcomes' | 'diagnostics'>,
  look: TextStyleOptions,
): void {
  const progress = createLiveProgress({ total: outcomes.length, rateLimit: 'none' }, look);
  const log = createEventLog(look);
  const events = [
    ...outcomes.map(({ write }) => ({ event: 'write-started', write }) as const),
    ...outcomes.map((one: Outcome) => ({ event: 'write-ended', result: one, done: 1, total: 2 }) as const),
    ...diagnostics.map((one) => ({ event: 'diagnostic', diagnostic: one }) as const),
  ];
  for (const event of events) {
    expectPrintable(log.take(event).join('\n'), look);
    expectPrintable([...progress.apply(event), progress.render(0)].join('\n'), look);
    expect(progress.render(0)).not.toContain('\n');
  }
  expectPrintable([...log.end(), ...progress.end()].join('\n'), look);
}

export function expectPrintableSubmission(report: JsonObject, look: TextStyleOptions): void {
  expectPrintable(renderSubmissionText(createSubmissionView(ABUSE_REPORT, report), look), look);
  expectPrintable(renderSubmissionJson({ kind: ABUSE_REPORT, command: 'abuse-report get', shown: report }));
}

/** JSON escapes the text, and keeps its value. */
export function expectPrintableJson(plan: Plan, result: ApplyResult, message: string): void {
  const { diagnostics } = result;
  const documents = [
    renderPlanJson(plan),
    renderApplyJson(plan, result, { diagnostics, error: new Error(message) }),
    renderJsonReport({ about: 'failure', failure: { diagnostics, error: { message } } }),
    renderJsonReport({ about: 'validation', command: 'validate', validation: { files: 1, resources: 1, diagnostics } }),
  ];
  for (const document of documents) expectPrintable(document);
  expect(JSON.parse(documents[2] ?? '').failure.error).toEqual({ message });
}

/** Lists the lines without indentation, which only edgewise writes. */
function listOwnLines(rendered: string): readonly string[] {
  return stripVTControlCharacters(rendered)
    .split('\n')
    .filter((line) => /^[^ ]/.test(line));
}

const WIDE: TextStyleOptions = { color: true, width: 0, verbose: true };

const OF_PLAN =
  /^(- |± |~ |» |\+ |refused\[|error\[|warning\[|Plan |Limited to |Deletes and replacements:|This change:|To create: |Drift to revert:|The tokens |Requests, |Left as they are:|\d+ to delete, |Nothing to do: |This plan cannot be applied\.|Reading took |\d+ (safety|error|warning)|! \d+ dangers? )/;

export function expectOwnLinesOfPlan(plan: Plan): void {
  const lines = listOwnLines(renderPlanText(plan, WIDE));
  for (const line of lines) expect(line).toMatch(OF_PLAN);
  const shown = listEntries(createDocument({ about: 'plan', plan, blocking: [] }, WIDE));
  expect(lines.filter((line) => /^[-±~»+] /.test(line))).toHaveLength(shown.length);
  expect(lines.filter((line) => line.startsWith('refused['))).toHaveLength(plan.violations.length);
}

export function expectOwnLinesOfSubmission(report: JsonObject, hostnames: number): void {
  const rendered = renderSubmissionText(createSubmissionView(ABUSE_REPORT, report), { ...WIDE, color: false });
  expect(listOwnLines(rendered)).toHaveLength(1);
  const [, table = ''] = rendered.split('STATUS\n');
  expect(table.split('\n').filter((row) => row !== '')).toHaveLength(hostnames);
}

export function expectOwnLinesOfDiagnostics(diagnostics: readonly Diagnostic[]): void {
  expect(listOwnLines(renderDiagnosticsText(diagnostics, WIDE))).toHaveLength(diagnostics.length + 1);
}

const OF_RESULT = /^(Applied:|Failed:|Skipped:|Tokens:|Files:|Next:|(error|warning)\[[a-z-]+\]: |\d+ writes? applied)/;

export function expectOwnLinesOfResult(plan: Plan, result: ApplyResult): void {
  for (const line of listOwnLines(renderApplyResultText(plan, result, WIDE))) expect(line).toMatch(OF_RESULT);
}

/** Options of a report whose command to apply it has a text. */
export function toFormatOptions(line: string, verbose: boolean): FormatOptions {
  return { color: false, width: 0, verbose, applyCommand: { line, lineElsewhere: line, readsInput: verbose } };
}
