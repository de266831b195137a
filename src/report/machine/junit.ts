import { assertNever } from '../../model/errors.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormatOptions, Report, StacksReport } from '../report.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { type Annotation, listAnnotations, listRelatedTexts } from './annotations.ts';

/**
 * A report as test results: a suite for each kind, in it a case that passes for each resource that nothing is wrong with, and one
 * that fails for each thing that is wrong. What an apply will do is nothing wrong; files to write are a suite of their own. Structure: the schema of the Jenkins JUnit plugin.
 */
export function renderJunitReport(report: Report, options: FormatOptions): string {
  return renderSuites(listCases(report, options));
}

/** A run over many stacks as test results: a suite for each stack. */
export function renderStacksJunit({ parts }: StacksReport, options: FormatOptions): string {
  return renderSuites(
    parts.flatMap(({ name, folder, report, options: own }) => {
      const suite = toPrintable(name === '' ? folder : name);
      const cases = listCases(report, { ...options, ...own });
      // A suite without cases would not be seen.
      return (cases.length === 0 ? [{ suite, name: 'stack' }] : cases).map((one) => ({ ...one, suite }));
    }),
  );
}

/** Cases as a document, in their suites. */
export function renderSuites(cases: readonly JunitCase[]): string {
  const suites = [...Map.groupBy(cases, ({ suite }) => suite)].sort(([left], [right]) => (left < right ? -1 : 1));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="edgewise"${toCounts(cases)}>`,
    ...suites.flatMap(([suite, members]) => [
      `  <testsuite name="${escapeXml(suite)}"${toCounts(members)}>`,
      ...members.flatMap(renderCase),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

/** A case, which passes without a remark. Texts are printable. */
export interface JunitCase {
  readonly suite: string;
  readonly name: string;
  /** Absent: it passes. */
  readonly remark?: Annotation;
}

function listCases(report: Report, options: FormatOptions): readonly JunitCase[] {
  const remarks = listAnnotations(report, options).filter(({ nature }) => nature !== 'danger');
  const told = new Set(remarks.flatMap(({ address }) => (address === undefined ? [] : [address])));
  const passed = [...new Set(listAddresses(report))].filter((address) => !told.has(address));
  const failed = remarks.map((remark): JunitCase => {
    const { rule, address = remark.place?.file ?? 'run' } = remark;
    return { suite: toSuite(remark.address), name: `${address}: ${rule}`, remark };
  });
  return [
    ...failed,
    ...passed.map((address) => ({ suite: toSuite(address), name: quoteIfNeeded(address) })),
    ...listFileCases(report),
  ];
}

/** A case for each file that a plan writes, or that an apply has written: its resource may be one that nothing is done to. */
function listFileCases(report: Report): readonly JunitCase[] {
  const files = report.about === 'plan' ? report.plan.files : [];
  const written = report.about === 'apply' ? report.result.files.filter(({ outcome }) => outcome === 'applied') : [];
  const done = report.about === 'plan' ? 'to write' : 'written';
  return [...files, ...written].map(({ address, path }) => ({
    suite: 'files',
    name: toPrintable(`${path} for ${address}: ${done}`),
  }));
}

/** A case without a single resource belongs to the run. */
function toSuite(address: string | undefined): string {
  const end = address?.indexOf('/') ?? -1;
  return address === undefined || end < 0 ? 'edgewise' : toPrintable(address.slice(0, end));
}

function listAddresses(report: Report): readonly string[] {
  switch (report.about) {
    case 'plan':
    case 'apply':
      return report.plan.changes.map(({ address }) => toPrintable(address));
    case 'comparison':
      return report.comparison.after.changes.map(({ address }) => toPrintable(address));
    case 'drift':
      return report.drift.resources.map(({ address }) => toPrintable(address));
    case 'validation':
      return (report.validation.addresses ?? []).map(toPrintable);
    case 'failure':
      return [];
    default:
      return assertNever(report);
  }
}

function toCounts(cases: readonly JunitCase[]): string {
  const counted = Map.groupBy(cases, ({ remark }) => (remark === undefined ? 'passed' : toElement(remark)));
  const count = (element: Element): number => counted.get(element)?.length ?? 0;
  return ` tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
}

type Element = 'failure' | 'error' | 'skipped';

function toElement({ rule, nature }: Annotation): Element {
  if (rule === 'write-skipped' || rule === 'unmanaged') return 'skipped';
  return nature === 'failure' ? 'error' : 'failure';
}

function renderCase({ suite, name, remark }: JunitCase): readonly string[] {
  const start = `    <testcase classname="edgewise.${escapeXml(suite)}" name="${escapeXml(name)}" time="0"`;
  if (remark === undefined) return [`${start}/>`];
  const element = toElement(remark);
  const type = element === 'skipped' ? '' : ` type="${escapeXml(remark.level)}"`;
  const body = element === 'skipped' ? '/>' : `>${escapeXml(renderDetails(remark))}</${element}>`;
  return [`${start}>`, `      <${element} message="${escapeXml(remark.message)}"${type}${body}`, '    </testcase>'];
}

function renderDetails(remark: Annotation): string {
  const { message, remedy, place } = remark;
  const where = place === undefined ? [] : [`${place.file}:${place.line}:${place.column}`, place.excerpt];
  return [message, ...where, ...listRelatedTexts(remark), ...(remedy === undefined ? [] : [remedy])].join('\n');
}

/** Source: XML 1.0, 2.2 Characters, 2.4 Character Data, 3.3.3 Attribute-Value Normalization. */
function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"'\n\r\t]/g, (character) => {
    return ESCAPES[character] ?? character;
  });
}

const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};
