import { expect, test } from 'vitest';
import { findKind, KINDS } from '../../src/kinds/tables/registry.ts';
import { ConcealedValue } from '../../src/model/concealed-value.ts';
import type { Plan } from '../../src/model/plan.ts';
import { listEntries } from '../../src/report/document.ts';
import { createDocument } from '../../src/report/documents/create-document.ts';
import { listFindings } from '../../src/report/findings/list-findings.ts';
import { renderApplyJson, renderPlanJson } from '../../src/report/machine/json.ts';
import { numberPlan, redactPlan } from '../../src/report/view/redact.ts';
import { renderApplyResultText, renderPlanText } from './render.ts';
import { createChange, createDifference, createLiveChange, createPlan, createWrite } from './sample-plans.ts';
import { createApplyResult } from './sample-results.ts';

const SECRET = 'SECRET';

const { hidden } = ConcealedValue;

/** A plan that contains the value of a field in every possible place. */
function createLeakyPlan(kind: string, field: string): Plan {
  const spec = { [field]: SECRET, description: 'seen' };
  const differences = [field, `${field}.inner`, `["${field}"]`].flatMap((path) => [
    createDifference(path, { field, from: SECRET, to: SECRET }),
    createDifference(path, { field, to: { inner: SECRET } }),
  ]);
  const mark = { stack: 's', name: 'a', protect: false, delivered: false, user: '', fields: {}, pending: spec };
  return createPlan({
    changes: [
      createChange(`${kind}/a`, 'create', { desired: spec }),
      createChange(`${kind}/b`, 'delete', { live: { id: 'cr_2', spec } }),
      createLiveChange(`${kind}/c`, 'update', { id: 'cr_3', differences }),
    ],
    // A plan of an unknown kind has no writes: it is refused before it is shown.
    writes:
      findKind(kind) === undefined
        ? []
        : [createWrite('create', `${kind}/a`, { body: spec, mark }), createWrite('delete', `${kind}/b`)],
  });
}

const ONE_TIME = KINDS.flatMap(({ name, fields }) =>
  Object.entries(fields).flatMap(([field, { lifecycle }]) =>
    lifecycle === 'one-time' ? [[name, field] as const] : [],
  ),
);

test('finds secrets in the sample', () => {
  expect(ONE_TIME).toContainEqual(['Credential', 'token']);
});

test.each([...ONE_TIME, ['UnknownKind', 'token'] as const])('%s.%s is in no format of a plan', (kind, field) => {
  const plan = createLeakyPlan(kind, field);
  const look = { color: false, width: 0, verbose: true };
  const document = createDocument({ about: 'plan', plan, blocking: [] }, look);
  const result = createApplyResult(plan.writes.map((write) => ({ outcome: 'applied', write, id: 'cr_2' })));
  const forms = [
    renderPlanText(plan, look),
    JSON.stringify(listEntries(document).map(({ describe }) => describe())),
    JSON.stringify(listFindings(document)),
    renderApplyResultText(plan, result, look),
    renderPlanJson(plan),
    renderApplyJson(plan, result),
  ];
  for (const form of forms) expect(form).not.toContain(SECRET);
  expect(renderPlanJson(plan)).toContain('seen');
});

test('keeps values that are no secret', () => {
  const plan = createLeakyPlan('TCPEdge', 'token');
  expect(redactPlan(plan)).toEqual(plan);
});

test('numbers hidden values wherever a plan can have them, equal ones alike', () => {
  const difference = createDifference('description', { from: hidden(11), to: { password: hidden(22) } });
  const sides = { path: 'description', from: hidden(33), to: [hidden(44)] };
  const mark = { stack: 's', name: 'a', protect: false, delivered: false, fields: {} };
  const plan = createPlan({
    changes: [
      createLiveChange('TCPEdge/a', 'update', {
        id: 'edgtcp_1',
        differences: [difference],
        dangers: [{ group: 'access', danger: 'access-widened', ...sides }],
        leftToOthers: [{ ignored: 'description', path: 'description', from: hidden(55), to: hidden(11) }],
        otherSpellings: [{ path: 'description', from: hidden(66), to: hidden(77) }],
        spec: { description: hidden(88) },
        desired: { description: hidden(99) },
        sent: { description: hidden(110) },
      }),
    ],
    writes: [
      createWrite('update', 'TCPEdge/a', {
        body: { description: hidden(121) },
        mark: { ...mark, user: { password: hidden(132) }, pending: { description: hidden(143) } },
      }),
    ],
  });
  const numbers = JSON.stringify(numberPlan(plan)).matchAll(/\{"\$hidden":(\d+)\}/g);
  expect(Array.from(numbers, ([, number]) => Number(number)).sort((left, right) => left - right)).toEqual([
    1,
    1,
    ...Array.from({ length: 12 }, (_, index) => index + 2),
  ]);
});
