import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { assertDefined } from '../../src/model/errors.ts';
import type { Json } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Spec } from '../../src/model/state.ts';
import { renderPlanJson } from '../../src/report/machine/json.ts';
import { parsePlan } from '../../src/stack/parse-plan.ts';
import { validate } from '../manifest/explain.ts';
import { renderPlanText } from './render.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  EVERYTHING,
  PLAIN,
  toNormal,
} from './sample-plans.ts';

const FIXTURE = readFileSync(new URL('../manifest/fixtures/everything.yaml', import.meta.url), 'utf8');

function render(plan: Plan): string {
  return renderPlanText(plan, { ...PLAIN, verbose: true });
}

function save(plan: Plan): Plan {
  return parsePlan(renderPlanJson(plan));
}

/** Every kind with every field: created, deleted, and each field added, removed and changed. */
function listChanges(): Plan['changes'] {
  const { resources } = assertDefined(validate(FIXTURE).state, 'desired state');
  return [...resources.values()].flatMap(({ address, kind, spec }) => {
    const names = getKind(kind).specFields.map(([name]) => name);
    const differences = names.flatMap((name) => listDifferences(name, toNormal(address, spec)));
    return [
      createChange(address, 'create', { desired: toNormal(address, spec) }),
      createLiveChange(address, 'delete', { id: 'id_1', spec }),
      createLiveChange(address, 'update', { id: 'id_2', differences }),
    ];
  });
}

function listDifferences(name: string, spec: Spec) {
  const value = spec[name] ?? null;
  return [{ from: value }, { to: value }, { from: value, to: changeScalars(value) }].map((sides) =>
    createDifference(name, sides),
  );
}

/** Changes each scalar in a value. */
function changeScalars(value: Json): Json {
  if (typeof value !== 'object' || value === null) return `${value} changed`;
  if (Array.isArray(value)) return value.map(changeScalars);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, changeScalars(member)]));
}

test('shows a saved plan as the plan was', () => {
  const plan = createPlan({ changes: listChanges() });
  expect(plan.changes.length).toBeGreaterThan(20);
  expect(render(save(plan))).toBe(render(plan));
  expect(render(save(EVERYTHING))).toBe(render(EVERYTHING));
});

test('shows the name of an id that the plan showed', () => {
  const differences = [createDifference('ip_restriction.ip_policy_ids', { to: ['ipp_1'] })];
  const plan = createPlan({
    externals: { 'External/z': 'ipp_1', 'External/a': 'ipp_1' },
    changes: [createLiveChange('TCPEdge/edge', 'update', { id: 'edgtcp_1', differences })],
  });
  expect(render(plan)).toContain('ipp_1 (External/z)');
  expect(render(save(plan))).toBe(render(plan));
});

test('shows members of rules in the order of their kind', () => {
  const rule = { actions: [{ config: { b: 1, a: 2 }, type: 'log' }], expressions: ['x'], name: 'one' };
  const differences = [{ to: rule }, { from: rule, to: { ...rule, actions: [] } }].map((sides) =>
    createDifference('policy.inbound[0]', sides),
  );
  const plan = createPlan({ changes: [createLiveChange('TCPEdge/edge', 'update', { id: 'edgtcp_1', differences })] });
  const fields = render(plan)
    .split('\n')
    .filter((line) => line.startsWith('    '));
  expect(fields.join('\n')).toMatchInlineSnapshot(`
    "    policy.inbound[0]: added
          + name: "one"
          + expressions:
          +   • "x"
          + actions:
          +   • type: "log"
          +     config:
          +       a: 2
          +       b: 1
        policy.inbound[0]:
            name: "one"
            expressions:
              • "x"
          - actions:
          -   • type: "log"
          -     config:
          -       a: 2
          -       b: 1
          + actions: (none)"
  `);
});
