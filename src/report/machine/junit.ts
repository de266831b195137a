import { assertNever } from '../../model/errors.ts';
import type { PolicyTestResults } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormatOptions, Report, StacksRunReport } from '../report.ts';
import { toPrintablePlace } from '../view/diagnostic-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { type Annotation, listAnnotations, listRelatedPlaceTexts, listRemovedStackAnnotations } from './annotations.ts';

/**
 * A report as JUnit test results, with a suite for each kind of resource. A suite has a passing case for each resource
 * without an annotation, and a failing or skipped case for each annotation that is not a danger. Planned changes do not fail.
 * Source: the schema of the Jenkins JUnit plugin.
 */
export function renderJunitReport(report: Report, options: FormatOptions): string {
  return renderJunitDocument(listCases(report, options));
}

/** A run over many stacks as JUnit test results, with a suite for each stack. The case of a removed stack is skipped. */
export function renderStacksJunit(run: StacksRunReport, options: FormatOptions): string {
  const cases = run.parts.flatMap(({ name, folder, report, options: own }) => {
    const suite = toPrintable(name === '' ? folder : name);
    const listed = listCases(report, { ...options, ...own });
    // CI systems do not show a suite without cases.
    return (listed.length === 0 ? [{ suite, name: 'stack' }] : listed).map((one) => ({ ...one, suite }));
  });
  const removed = listRemovedStackAnnotations(run).map((annotation): JunitCase => {
    return { suite: 'edgewise', name: 'stack: removed', annotation };
  });
  return renderJunitDocument([...cases, ...removed]);
}

export function renderJunitDocument(cases: readonly JunitCase[]): string {
  const suites = [...Map.groupBy(cases, ({ suite }) => suite)].sort(([left], [right]) => (left < right ? -1 : 1));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="edgewise"${renderCountAttributes(cases)}>`,
    ...suites.flatMap(([suite, members]) => [
      `  <testsuite name="${escapeXml(suite)}"${renderCountAttributes(members)}>`,
      ...listDistinctNames(members).flatMap(renderTestCase),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

/**
 * Gives each case of a suite a name of its own, because CI systems show one of several cases with one name. Cases of one
 * name get their messages, and then numbers.
 */
function listDistinctNames(cases: readonly JunitCase[]): readonly JunitCase[] {
  const equal = Map.groupBy(cases, ({ name }) => name);
  const seen = new Map<string, number>();
  return cases.map((one) => {
    const isAlone = equal.get(one.name)?.length === 1;
    const name = isAlone || one.annotation === undefined ? one.name : `${one.name}: ${one.annotation.message}`;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return { ...one, name: number === 1 ? name : `${name} (${number})` };
  });
}

/** Texts are printable. */
export interface JunitCase {
  readonly suite: string;
  readonly name: string;
  /** Absent if the case passes. */
  readonly annotation?: Annotation;
}

function listCases(report: Report, options: FormatOptions): readonly JunitCase[] {
  const annotations = listAnnotations(report, options).filter(({ nature }) => nature !== 'danger');
  const failing = new Set(annotations.flatMap(({ address }) => (address === undefined ? [] : [address])));
  const passed = [...new Set(listAddresses(report))].filter((address) => !failing.has(address));
  const failed = annotations.map((annotation): JunitCase => {
    const { rule, address = annotation.place?.file ?? 'run' } = annotation;
    return { suite: chooseSuite(annotation.address), name: `${address}: ${rule}`, annotation };
  });
  return [...failed, ...passed.map((address) => ({ suite: chooseSuite(address), name: quoteIfNeeded(address) }))];
}

/** The kind in an address. Cases without an address belong to the suite `edgewise`. */
function chooseSuite(address: string | undefined): string {
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
      return report.drift.changes.map(({ address }) => toPrintable(address));
    case 'validation':
      return (report.validation.addresses ?? []).map(toPrintable);
    case 'failure':
      return [];
    default:
      return assertNever(report);
  }
}

function renderCountAttributes(cases: readonly JunitCase[]): string {
  const counted = Map.groupBy(cases, ({ annotation }) =>
    annotation === undefined ? 'passed' : chooseElement(annotation),
  );
  const count = (element: Element): number => counted.get(element)?.length ?? 0;
  return ` tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
}

type Element = 'failure' | 'error' | 'skipped';

function chooseElement({ rule, nature }: Annotation): Element {
  if (rule === 'write-skipped' || rule === 'unmanaged' || rule === 'removed-stack') return 'skipped';
  return nature === 'failure' ? 'error' : 'failure';
}

function renderTestCase({ suite, name, annotation }: JunitCase): readonly string[] {
  const start = `    <testcase classname="edgewise.${escapeXml(suite)}" name="${escapeXml(name)}" time="0"`;
  if (annotation === undefined) return [`${start}/>`];
  const element = chooseElement(annotation);
  const type = element === 'skipped' ? '' : ` type="${escapeXml(annotation.level)}"`;
  const body = element === 'skipped' ? '/>' : `>${escapeXml(renderFailureDetails(annotation))}</${element}>`;
  return [`${start}>`, `      <${element} message="${escapeXml(annotation.message)}"${type}${body}`, '    </testcase>'];
}

function renderFailureDetails(annotation: Annotation): string {
  const { message, remedy, place } = annotation;
  const where = place === undefined ? [] : [`${place.file}:${place.line}:${place.column}`];
  return [message, ...where, ...listRelatedPlaceTexts(annotation), ...(remedy === undefined ? [] : [remedy])].join(
    '\n',
  );
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

/** The results of policy tests as JUnit test results: a suite for each policy. */
export function renderPolicyTestsJunit({ cases }: PolicyTestResults): string {
  return renderJunitDocument(
    cases.map(({ policy, name, place, failure }): JunitCase => {
      const one = { suite: toPrintable(policy), name: toPrintable(name) };
      if (failure === undefined) return one;
      const message = toPrintable(failure);
      const annotation = {
        rule: 'policy',
        level: 'error',
        nature: 'finding',
        message,
        place: toPrintablePlace(place),
      } as const;
      return { ...one, annotation };
    }),
  );
}
