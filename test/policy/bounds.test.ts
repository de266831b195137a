import { describe, expect, it } from 'vitest';
import { createBudget } from '../../src/expressions/cost.ts';
import { evaluatePolicies } from '../../src/policy/evaluate.ts';
import { BOMBS, FAILURES, nestMacros, UNREADABLE } from './expensive-rules.ts';
import { AFTER, evaluateRule, SCENE, SUBJECT, toPolicy } from './sample-policies.ts';

/** A policy with severity warning, so that only the failure refuses the plan. */
const REFUSES = { finding: { severity: 'error' }, isFailure: true } as const;

/** Processor time, which does not depend on the load of the machine. */
function toMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}

describe('a policy that costs too much', () => {
  it.each(BOMBS)('refuses the plan: %s', (_, expression) => {
    const { diagnostics, findings } = evaluateRule(expression);
    expect(diagnostics).toEqual([]);
    expect(findings).toMatchObject([REFUSES]);
    expect(findings[0]?.finding.message).toMatch(/takes more than 200,000 steps/);
  });

  it('refuses the plan in its message too', () => {
    const { findings } = evaluateRule('false', { message: `so: \${${nestMacros(9)}}` });
    expect(findings).toMatchObject([REFUSES]);
    expect(findings[0]?.finding.message).toContain('spec.message: takes more than 200,000 steps');
  });

  it('counts the steps of all others, so that many of them cannot take long together', () => {
    const policies = Array.from({ length: 10 }, () => toPolicy(nestMacros(4)));
    const findings = evaluatePolicies(policies, [SUBJECT, SUBJECT], SCENE, 300_000);
    expect(findings.length).toBeGreaterThan(10);
    expect(findings.every(({ isFailure }) => isFailure)).toBe(true);
    expect(findings.at(-1)?.finding.message).toContain('takes more than 300,000 steps');
  });

  it.each(BOMBS)('is refused before it runs: %s', (_, expression) => {
    const { require } = toPolicy(expression);
    const before = process.cpuUsage();
    expect(require.run(SUBJECT.values, createBudget(200_000))).toHaveProperty('finding');
    expect(toMs(process.cpuUsage(before))).toBeLessThan(500);
  });
});

describe('a policy that cannot be evaluated', () => {
  it.each(FAILURES)('refuses the plan: %s', (_, expression) => {
    const { diagnostics, findings } = evaluateRule(expression);
    expect(diagnostics).toEqual([]);
    expect(findings).toMatchObject([REFUSES]);
    expect(findings[0]?.finding.message).toMatch(/^the policy cannot be evaluated, so it refuses: spec\.require: \S/);
  });
});

describe('a policy about a large value', () => {
  const hostports = Array.from({ length: 50_000 }, (_, at) => `host${at}.example.com:1`);
  const values = { ...SUBJECT.values, after: { ...AFTER, hostports } };

  it.each([
    `after.hostports.all(x, ${Array(150).fill('(true ? x : x) == "a"').join(' || ')})`,
    'after.hostports.all(x, after.hostports.all(y, after.hostports.all(z, x == z)))',
  ])('refuses the plan at once: %s', (expression) => {
    const { require } = toPolicy(expression);
    const start = process.cpuUsage();
    expect(require.run(values, createBudget(200_000))).toEqual({ finding: 'takes more than 200,000 steps' });
    expect(toMs(process.cpuUsage(start))).toBeLessThan(2_000);
  });
});

it('a policy that compares a long list once for each of its members refuses the plan', () => {
  const hostports = Array.from({ length: 1_000 }, (_, at) => `host${at}.example.com:1`);
  const { require } = toPolicy('after.hostports.all(x, after.hostports == ["a"])');
  const values = { ...SUBJECT.values, after: { ...AFTER, hostports } };
  expect(require.run(values, createBudget(200_000))).toEqual({ finding: 'takes more than 200,000 steps' });
});

describe('a pattern', () => {
  it.each([
    ['after.description.matches("a.e")', []],
    ['after.description.matches("^a.e")', ['It is not so.']],
  ])('is found anywhere in the text, or nowhere: %s', (expression, messages) => {
    expect(evaluateRule(expression).findings.map(({ finding }) => finding.message)).toEqual(messages);
  });

  it.each([
    '(after.description).matches("(?=a)")',
    'after.description // matches\n.matches("(?=a)")',
    'after.hostports[0]\n  . matches ( "(?=a)" )',
    '["a"].all(x, x.matches("(?=a)"))',
    'cel.bind(p, "(?=a)", "a".matches(p))',
    '"a.matches(".matches("(?=a)") || "b".matches("(?=b)")',
    '("a" + "b").matches(("(?=a)"))',
    'dyn(after.description).matches("(?=a)")',
    '(true ? "a" : "b").matches("(?=a)")',
  ])('is one of RE2, without lookahead, however it is written: %s', (expression) => {
    const { diagnostics, findings } = evaluateRule(expression);
    expect(diagnostics).toEqual([]);
    expect(findings[0]?.finding.message).toContain('error parsing regexp');
  });
});

describe('an unreadable policy', () => {
  it.each(UNREADABLE)('is an error at its place: %s', (_, expression) => {
    const { policies, diagnostics } = evaluateRule(expression);
    expect(policies).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: 'policy-invalid', severity: 'error' }]);
    expect(diagnostics[0]?.place).toBeDefined();
  });
});

describe('a usual policy', () => {
  it.each([
    'labels.?public.orValue("") == "true" || (after.ip_restriction != null && after.ip_restriction.enabled)',
    'after.hostports.all(one, one.matches("^[0-9]\\\\.tcp\\\\.example\\\\.net:[0-9]{1,5}$"))',
    'change.dangers.all(one, one.danger != "delete") && now.getDayOfWeek("Europe/Berlin") != 9',
    'plan.totals.delete <= 3 && stack.name.startsWith("sh") && labels.owner in ["data", "shop"]',
  ])('costs a hundredth of the limit: %s', (expression) => {
    const budget = createBudget(2_000);
    expect(toPolicy(expression).require.run(SUBJECT.values, budget)).toEqual({ value: true });
  });
});
