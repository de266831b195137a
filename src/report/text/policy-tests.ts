import type { PolicyCaseResult, PolicyTestResult } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import type { TextOptions } from '../report.ts';
import { toPrintablePlace } from '../view/diagnostic-view.ts';
import { toCount } from '../view/wording.ts';
import { toPaint, wrapBehind } from './layout.ts';

/** What became of the cases of policies: a line for each, below the policy, and why it fails. */
export function renderPolicyTestsText({ cases, untested }: PolicyTestResult, options: TextOptions): string {
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  const groups = [...Map.groupBy(cases, ({ policy }) => policy)];
  const paint = toPaint(options.color);
  const names = untested.map(toPrintable).join(', ');
  const blocks = [
    ...groups.map(([policy, members]) => [
      paint('strong', toPrintable(policy)),
      ...members.flatMap((one) => renderCase(one, options)),
    ]),
    ...(untested.length === 0
      ? []
      : [wrapBehind('', `No case is about ${names}.`, { ...options, rest: 2 }).map((line) => paint('warning', line))]),
    [`${toCount(cases.length, 'case')}: ${cases.length - failed} passed, ${failed} failed.`],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function renderCase({ name, place, failure }: PolicyCaseResult, { color, width }: TextOptions): readonly string[] {
  const paint = toPaint(color);
  if (failure === undefined) return [`  ${paint('added', 'pass')} ${toPrintable(name)}`];
  const { file, line, column } = toPrintablePlace(place);
  return [
    `  ${paint('error', 'FAIL')} ${toPrintable(name)}`,
    ...wrapBehind('       ', toPrintable(failure), { width, rest: 7 }),
    `       --> ${file}:${line}:${column}`,
  ];
}
