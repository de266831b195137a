import type { PolicyTestResults } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Document, ShownFinding } from '../document.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { toPrintablePlace } from '../view/finding-wording.ts';
import { listOwnFindings, listRelatedPlaceTexts } from './list-findings.ts';

/**
 * A document as JUnit test results, with a suite for each stack of a run or, of one stack, for each kind of resource. A
 * suite has a passing case for each resource without a finding, and a failing or skipped case for each finding that is
 * not a danger. Planned changes do not fail. Source: the schema of the Jenkins JUnit plugin.
 */
export function* writeJunit(document: Document): Iterable<string> {
  const ofStacks = document.blocks.flatMap((block) => {
    if (block.block !== 'part' || !block.isStack || block.document === undefined) return [];
    const { title: suite, document: one } = block;
    const cases = listCases(one);
    // CI systems do not show a suite without cases.
    return (cases.length === 0 ? [{ suite, name: 'stack' }] : cases).map((listed) => ({ ...listed, suite }));
  });
  yield renderJunitDocument([...ofStacks, ...listCases(document)]);
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
    const name = isAlone || one.finding === undefined ? one.name : `${one.name}: ${one.finding.message}`;
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
  readonly finding?: ShownFinding;
}

/** The cases of a document, without those of its stacks. */
function listCases(document: Document): readonly JunitCase[] {
  const shown = listOwnFindings(document).filter(({ nature }) => nature !== 'danger');
  const failing = new Set(shown.map(({ address }) => address));
  const passed = [...new Set(document.addresses)].filter((address) => !failing.has(address));
  return [
    ...shown.map((finding) => {
      const { rule, address = finding.place?.file ?? 'run' } = finding;
      return { suite: chooseSuite(finding.address), name: `${address}: ${rule}`, finding };
    }),
    ...passed.map((address) => ({ suite: chooseSuite(address), name: quoteIfNeeded(address) })),
  ];
}

/** The kind in an address. Cases without an address belong to the suite `edgewise`. */
function chooseSuite(address = ''): string {
  return address.includes('/') ? address.slice(0, address.indexOf('/')) : 'edgewise';
}

function renderCountAttributes(cases: readonly JunitCase[]): string {
  const counted = Map.groupBy(cases, ({ finding }) => (finding === undefined ? 'passed' : chooseElement(finding)));
  const count = (element: Element): number => counted.get(element)?.length ?? 0;
  return ` tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
}

type Element = 'failure' | 'error' | 'skipped';

function chooseElement({ rule, nature }: ShownFinding): Element {
  if (rule === 'write-skipped' || rule === 'unmanaged' || rule === 'removed-stack') return 'skipped';
  return nature === 'failure' ? 'error' : 'failure';
}

function renderTestCase({ suite, name, finding }: JunitCase): readonly string[] {
  const start = `    <testcase classname="edgewise.${escapeXml(suite)}" name="${escapeXml(name)}" time="0"`;
  if (finding === undefined) return [`${start}/>`];
  const element = chooseElement(finding);
  const type = element === 'skipped' ? '' : ` type="${escapeXml(finding.level)}"`;
  const body = element === 'skipped' ? '/>' : `>${escapeXml(renderFailureDetails(finding))}</${element}>`;
  return [`${start}>`, `      <${element} message="${escapeXml(finding.message)}"${type}${body}`, '    </testcase>'];
}

function renderFailureDetails(finding: ShownFinding): string {
  const { message, remedy, place } = finding;
  const where = place === undefined ? [] : [`${place.file}:${place.line}:${place.column}`];
  return [message, ...where, ...listRelatedPlaceTexts(finding), ...(remedy === undefined ? [] : [remedy])].join('\n');
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
      const finding = {
        rule: 'policy',
        level: 'error',
        message,
        place: toPrintablePlace(place),
      } as const;
      return { ...one, finding };
    }),
  );
}
