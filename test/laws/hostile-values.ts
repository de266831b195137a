import fc from 'fast-check';
import { KINDS, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Address } from '../../src/model/address.ts';
import type { Change, Difference } from '../../src/model/change.ts';
import { DANGER_GROUP_NAMES, DANGER_NAMES } from '../../src/model/danger.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { DRIFT_STATES, type Drift, type DriftedChange } from '../../src/model/drift.ts';
import type { Json } from '../../src/model/json.ts';
import type { ApplyResult, Outcome } from '../../src/model/outcome.ts';
import type { ExtraChange, Plan, PlanComparison, SafetyViolation } from '../../src/model/plan.ts';
import type { Spec } from '../../src/model/state.ts';
import type { PlannedTokenSink } from '../../src/model/token-sink.ts';
import { toWriteId, type Write, type WriteId } from '../../src/model/write.ts';
import type { Report } from '../../src/report/report.ts';
import { TRICKS } from '../report/hostile-checks.ts';
import { createPlan, createWrite } from '../report/sample-plans.ts';

/** Plans, results and diagnostics in which every text is hostile, with any content that the API or a plan file can have. */

export const text = fc
  .array(fc.oneof(fc.constantFrom(...TRICKS), fc.string({ unit: 'binary', maxLength: 6 }), fc.constantFrom('a', ' ')), {
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''));

const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
})).value;

const kindName = fc.oneof(fc.constantFrom(...KINDS.map(({ name }) => name)), text);
const fieldName = fc.constantFrom(...KINDS.flatMap(({ fields }) => Object.keys(fields)));
const spec: fc.Arbitrary<Spec> = fc.dictionary(fc.oneof(fieldName, text), json, { maxKeys: 4 });
const path = fc.oneof(fieldName, text, fc.constantFrom('policy.inbound[0].name', 'backends["a b"]', 'metadata'));

const address: fc.Arbitrary<Address> = fc.tuple(text, text).map(([kind, name]) => `${kind}/${name}` as const);

const difference: fc.Arbitrary<Difference> = fc.record(
  {
    field: fieldName,
    path,
    from: json,
    to: json,
    origin: fc.constantFrom('manifest', 'drift', 'both', 'unknown'),
    forcesReplace: fc.boolean(),
  },
  { requiredKeys: ['path', 'origin', 'forcesReplace'] },
);

/** With a command that fits on a line, or is too long. */
const token: fc.Arbitrary<PlannedTokenSink> = fc.oneof(
  fc.record({ directory: text }),
  fc.record(
    { command: fc.array(text, { maxLength: 40 }), test: fc.array(text, { maxLength: 3 }), timeoutMs: fc.nat() },
    { requiredKeys: ['command', 'timeoutMs'] },
  ),
);

const change: fc.Arbitrary<Change> = fc.record(
  {
    address,
    duplicateOf: text,
    kind: kindName,
    action: fc.constantFrom('create', 'update', 'replace', 'delete', 'take-over', 'adopt', 'no-op'),
    reason: text,
    token,
    notes: fc.array(text, { maxLength: 2 }),
    differences: fc.array(difference, { maxLength: 3 }),
    live: fc.record({ id: text, spec }, { requiredKeys: ['id'] }),
    desired: spec,
    protect: fc.boolean(),
  },
  { requiredKeys: ['address', 'kind', 'action', 'differences'] },
);

const writeIds: fc.Arbitrary<readonly WriteId[]> = fc.array(
  address.map((name) => toWriteId({ purpose: 'create', address: name })),
  { maxLength: 2 },
);

/** Of existing kinds and with possible ids: a request to others cannot be shown. */
const write: fc.Arbitrary<Write> = fc
  .record({
    act: fc.constantFrom('create', 'update', 'adopt', 'delete'),
    kind: fc.constantFrom(...OWNED_KINDS.map(({ name }) => name)),
    name: text,
    resourceId: fc.stringMatching(/^x[A-Za-z0-9_-]{0,40}$/),
    body: spec,
    dependsOn: writeIds,
    last: fc.boolean(),
    reason: text,
  })
  .map(({ act, kind, name, ...parts }) => createWrite(act, `${kind}/${name}`, parts));

const place = fc.record({ file: text, line: fc.nat(), column: fc.nat() });
export const diagnostic: fc.Arbitrary<Diagnostic> = fc.record(
  {
    code: fc.constantFrom('no-stack', 'lockout'),
    severity: fc.constantFrom('error', 'warning'),
    message: text,
    remedy: text,
    address: text,
    place,
    related: fc.array(fc.record({ message: text, place }), { maxLength: 2 }),
  },
  { requiredKeys: ['code', 'severity', 'message'] },
);

export const violation: fc.Arbitrary<SafetyViolation> = fc.record(
  {
    rule: fc.constantFrom('protect', 'delete-share', 'nothing-described', 'policy'),
    message: text,
    remedy: text,
    addresses: fc.array(text, { maxLength: 3 }),
    policy: text,
    places: fc.array(fc.record({ message: text, place }), { maxLength: 2 }),
  },
  { requiredKeys: ['rule', 'message', 'remedy', 'addresses'] },
);

export const plan: fc.Arbitrary<Plan> = fc
  .record({
    stack: text,
    baseUrl: fc.oneof(
      text,
      text.map((file) => `embedded:${file}`),
    ),
    mode: fc.constantFrom('apply', 'destroy'),
    targets: fc.array(text, { maxLength: 2 }),
    changes: fc.array(change, { maxLength: 4 }),
    writes: fc.array(write, { maxLength: 3 }),
    diagnostics: fc.array(diagnostic, { maxLength: 2 }),
    violations: fc.array(violation, { maxLength: 2 }),
  })
  .map((parts) => createPlan(parts));

export const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ outcome: fc.constant('applied' as const), write, id: fc.option(text, { nil: undefined }) }),
  fc.record({
    outcome: fc.constant('failed' as const),
    write,
    message: text,
    isAuthentication: fc.boolean(),
    isUnknown: fc.boolean(),
  }),
  fc.record({
    outcome: fc.constant('skipped' as const),
    write,
    message: text,
    waitedFor: writeIds,
  }),
);

export const result: fc.Arbitrary<ApplyResult> = fc.record({
  outcomes: fc.array(outcome, { maxLength: 4 }),
  tokens: fc.array(fc.record({ address: text, deliveredTo: text, rescued: fc.boolean() }), { maxLength: 2 }),
  diagnostics: fc.array(diagnostic, { maxLength: 2 }),
  lookUps: fc.nat(),
  interrupted: fc.boolean(),
});

const danger = fc.record({
  group: fc.constantFrom(...DANGER_GROUP_NAMES),
  danger: fc.constantFrom(...DANGER_NAMES),
  path: text,
  from: text,
  to: text,
  consequence: text,
});

const driftedChange: fc.Arbitrary<DriftedChange> = fc
  .tuple(
    change,
    fc.record(
      {
        state: fc.constantFrom(...DRIFT_STATES),
        besideId: text,
        driftDangers: fc.array(danger, { maxLength: 2 }),
        dangers: fc.array(danger, { maxLength: 2 }),
      },
      { requiredKeys: ['state'] },
    ),
  )
  .map(([planned, happened]) => ({ ...planned, ...happened }));

const drift: fc.Arbitrary<Drift> = fc
  .tuple(
    plan,
    fc.record({
      made: fc.constant({ at: '2026-03-01T12:00:00Z' }),
      changes: fc.array(driftedChange, { maxLength: 4 }),
      kinds: fc.array(kindName, { maxLength: 2 }),
      unowned: fc.array(
        fc.record(
          { kind: kindName, id: text, description: text, stack: text },
          { requiredKeys: ['kind', 'id', 'description'] },
        ),
        { maxLength: 2 },
      ),
    }),
  )
  .map(([{ stack, baseUrl, targets, externals, diagnostics, violations, requests }, happened]) => {
    return { stack, baseUrl, targets, externals, diagnostics, violations, requests, ...happened };
  });

/** Two plans that differ in everything: half of the changes as a whole, the others in each of their fields. */
const comparison: fc.Arbitrary<PlanComparison> = fc
  .record({ before: plan, after: plan, said: text })
  .map(({ said, ...plans }): PlanComparison => {
    const toExcess = ({ changes }: Plan): readonly ExtraChange[] =>
      changes
        .filter(({ action }) => action !== 'no-op')
        .map((one, index) => ({
          change: one,
          ...(index % 2 === 1 && { other: one }),
          isWhole: index % 2 === 0,
          fields: one.differences.map((difference) => ({
            difference,
            other: { from: said, to: said },
            changed: 'both',
          })),
          dangers: [],
        }));
    const members = [{ name: said, before: said, after: [said] }];
    const done = [{ address: said, action: 'update' as const, paths: [said] }];
    const after = { ...plans.after, done };
    return { before: plans.before, after, members, more: toExcess(after), less: toExcess(plans.before), done };
  });

export const report: fc.Arbitrary<Report> = fc.oneof(
  fc.record({
    about: fc.constant('comparison' as const),
    command: fc.constantFrom('diff' as const, 'apply' as const, 'question' as const),
    comparison,
    names: fc.record({ before: text, after: text }),
  }),
  fc.record({ about: fc.constant('plan' as const), plan, blocking: fc.array(violation, { maxLength: 2 }) }),
  fc.record({ about: fc.constant('apply' as const), plan, result }),
  fc.record({ about: fc.constant('drift' as const), drift }),
  fc.record({
    about: fc.constant('validation' as const),
    command: text,
    validation: fc.record({
      files: fc.nat(),
      resources: fc.nat(),
      diagnostics: fc.array(diagnostic, { maxLength: 3 }),
      addresses: fc.array(text, { maxLength: 3 }),
    }),
  }),
  fc.record({
    about: fc.constant('failure' as const),
    failure: fc.record({
      diagnostics: fc.array(diagnostic, { maxLength: 2 }),
      error: fc.record({ message: text, remedy: text }),
    }),
  }),
);

export const abuseReport = fc.record({
  id: text,
  status: text,
  created_at: text,
  metadata: text,
  urls: fc.array(text, { maxLength: 2 }),
  hostnames: fc.array(fc.record({ hostname: text, status: text }), { maxLength: 3 }),
});
