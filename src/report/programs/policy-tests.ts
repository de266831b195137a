import type { PolicyTestResult } from '../../model/policy.ts';
import { toPrintable } from '../../model/printable.ts';
import { toPrintablePlace } from '../view/diagnostic-view.ts';
import { renderDocument } from './json.ts';
import { type JunitCase, renderSuites } from './junit.ts';

/** What became of the cases of policies, as a JSON document. `ok`: all of them pass. */
export function renderPolicyTestsJson({ cases, untested }: PolicyTestResult): string {
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  return renderDocument({
    format: 1,
    command: 'test-policy',
    ok: failed === 0,
    totals: { passed: cases.length - failed, failed },
    cases: cases.map(({ failure, ...one }) => ({
      ...one,
      ok: failure === undefined,
      ...(failure !== undefined && { failure }),
    })),
    untested,
  });
}

/** The same as test results: a suite for each policy. */
export function renderPolicyTestsJunit({ cases }: PolicyTestResult): string {
  return renderSuites(
    cases.map(({ policy, name, place, failure }): JunitCase => {
      const one = { suite: toPrintable(policy), name: toPrintable(name) };
      if (failure === undefined) return one;
      const message = toPrintable(failure);
      const remark = {
        rule: 'policy',
        level: 'error',
        nature: 'finding',
        message,
        place: toPrintablePlace(place),
      } as const;
      return { ...one, remark };
    }),
  );
}
