import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds } from '../laws/properties.ts';
import { BOMBS, FAILURES, UNREADABLE } from '../policy/expensive-rules.ts';
import { AFTER, BEFORE, evaluateRule, LABELS, NOW } from '../policy/sample-policies.ts';
import { LONG } from '../tries.ts';
import { mutatedText } from './mutations.ts';
import { withWatchdog } from './watchdog.ts';

const RULES = [...BOMBS, ...FAILURES, ...UNREADABLE].map(([, expression]) => expression);

/** Parts of rules, of each type and of none. */
const leaf = fc.constantFrom(
  ...['true', 'false', 'null', '0', '1', '-1', '9223372036854775807', '1.5', '2u', '""', '"a"', '"🦊\\u0000"', 'b"a"'],
  ...[
    '[]',
    '{}',
    '[1, "a", null]',
    '{"a": 1}',
    'now',
    'change',
    'change.kind',
    'change.dangers',
    'labels',
    'stack.name',
  ],
  ...['after', 'after.hostports', 'after.description', 'after.backend', 'after.ip_restriction', 'before.backend'],
  ...[
    'plan.totals.delete',
    'labels.owner',
    'labels.nobody',
    'x',
    'duration("1h")',
    'timestamp("2026-01-01T00:00:00Z")',
  ],
);

/** Rules with every syntax of the language, most of them wrong. */
const { rule } = fc.letrec<{ rule: string }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc
      .tuple(tie('rule'), fc.constantFrom(...'== != < <= > >= + - * / % && || in'.split(' ')), tie('rule'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('rule'), fc.constantFrom('all', 'exists', 'exists_one', 'map', 'filter'), tie('rule'))
      .map(([list, macro, inner]) => `${list}.${macro}(x, ${inner})`),
    fc.tuple(tie('rule'), tie('rule'), tie('rule')).map(([is, yes, no]) => `(${is} ? ${yes} : ${no})`),
    fc
      .tuple(
        tie('rule'),
        fc.constantFrom('size', 'startsWith', 'contains', 'split', 'join', 'indexOf', 'getHours', 'orValue'),
        fc.array(tie('rule'), { maxLength: 2 }),
      )
      .map(([receiver, method, operands]) => `${receiver}.${method}(${operands.join(', ')})`),
    fc
      .tuple(fc.constantFrom('size', 'int', 'string', 'double', 'bool', 'type', 'dyn', 'has', 'timestamp'), tie('rule'))
      .map(([name, operand]) => `${name}(${operand})`),
    tie('rule').map((inner) => `!${inner}`),
    tie('rule').map((inner) => `cel.bind(x, ${inner}, [x, x])`),
    fc.tuple(tie('rule'), tie('rule')).map(([list, at]) => `${list}[${at}]`),
    tie('rule').map((inner) => `${inner}.?a`),
  ),
}));

/** Evaluates a small rule with the CEL library alone, without types and limits. */
function evaluateWithLibrary(expression: string): unknown {
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
  });
  const change = {
    kind: 'TCPEdge',
    dangers: [{ danger: 'restriction-removed', group: 'access', path: 'ip_restriction' }],
  };
  const values = { change, before: BEFORE, after: AFTER, labels: LABELS, now: NOW, stack: { name: 'shop' } };
  try {
    return environment.evaluate(expression, { ...values, plan: { totals: { delete: 3n } } });
  } catch (error) {
    return error;
  }
}

/** Expects that any text is an error at its position, or is evaluated, and refuses if it cannot be evaluated. */
function expectVerdict(expression: string): void {
  const { policies, diagnostics, findings } = evaluateRule(expression, { message: `\${${expression}}` });
  if (policies.length === 0) {
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const { code, severity, place } of diagnostics)
      expect({ code, severity, place }).toMatchObject({ code: 'policy-invalid', severity: 'error', place: {} });
  } else expect(diagnostics).toEqual([]);
  for (const { isFailure, finding } of findings) {
    const { severity, message } = finding;
    expect(severity).toBe(isFailure ? 'error' : 'warning');
    expect(message.length).toBeLessThan(1_100);
  }
}

describe('a policy expression', () => {
  it('ends in any form, and never passes by accident', LONG, async () => {
    const property = fc.asyncProperty(rule, async (expression) => {
      await withWatchdog(expression, async () => expectVerdict(expression));
      const { policies, findings } = evaluateRule(expression);
      if (policies.length > 0 && findings.length === 0) expect(evaluateWithLibrary(expression), expression).toBe(true);
    });
    await holds(property, 4_000);
  });

  it('ends if it is hostile, with a few edits', LONG, async () => {
    const edited = fc
      .constantFrom(...RULES)
      .chain((text) => mutatedText(text))
      .map((bytes) => Buffer.from(bytes).toString('utf8'));
    const property = fc.asyncProperty(edited, (expression) =>
      withWatchdog(expression, async () => expectVerdict(expression)),
    );
    await holds(property, 400);
  });

  it('ends with any characters', LONG, async () => {
    const property = fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), (expression) =>
      withWatchdog(expression, async () => expectVerdict(expression)),
    );
    await holds(property, 400);
  });
});
