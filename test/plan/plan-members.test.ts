import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { isSamePlan, type Plan } from '../../src/model/plan.ts';
import { type Members, PLAN_MEMBERS } from '../../src/model/plan-members.ts';
import { comparePlans } from '../../src/plan/compare/compare-plans.ts';
import { createChange, createDifference, createLiveChange, createPlan, toNormal } from '../report/sample-plans.ts';

/** For each member of a plan: whether a difference ends an approval. */

const EDGE = 'TCPEdge/a';
const UPDATED: Change = createLiveChange(EDGE, 'update', {
  id: 'edgtcp_1',
  spec: { description: 'old' },
  desired: toNormal(EDGE, { description: 'new' }),
  differences: [createDifference('description', { from: 'old', to: 'new' })],
  dangers: [
    { group: 'access', danger: 'access-widened', path: 'ip_restriction', from: ['a'], to: ['b'] },
    { group: 'traffic', danger: 'gap', writes: 2, limitMs: 5, consequence: 'none' },
  ],
});
const CREATED: Change = createChange('Credential/c', 'create', {
  desired: toNormal('Credential/c', { acl: ['bind:a.example.com'] }),
  token: { directory: 'tokens' },
});
const DELETED: Change = createLiveChange('TCPEdge/gone', 'delete', { id: 'edgtcp_2', spec: { description: 'x' } });

const PLAN: Plan = createPlan({
  changes: [DELETED, UPDATED, CREATED],
  takeOver: ['other'],
  crossStackReferences: { 'External/x': { stack: 'other', resource: 'WeightedBackend/pool' } },
  violations: [{ rule: 'protect', message: 'm', remedy: 'r', addresses: [EDGE] }],
});

const change =
  (index: number, parts: object) =>
  (plan: Plan): Plan => ({
    ...plan,
    changes: plan.changes.map((one, at) => (at === index ? ({ ...one, ...parts } as Change) : one)), // parts of a change
  });
const [DELETE, UPDATE, CREATE] = [0, 1, 2];
const setting = (parts: object) => (plan: Plan) => ({ ...plan, settings: { ...plan.settings, ...parts } });
const option = (parts: object) => (plan: Plan) => ({ ...plan, options: { ...plan.options, ...parts } });
const set = (parts: Partial<Plan>) => (plan: Plan) => ({ ...plan, ...parts });
const difference = (parts: object) => change(UPDATE, { differences: [{ ...UPDATED.differences[0], ...parts }] });
const danger = (at: number, parts: object) =>
  change(UPDATE, { dangers: (UPDATED.dangers ?? []).map((one, index) => (index === at ? { ...one, ...parts } : one)) });
const violation = (parts: object) => set({ violations: PLAN.violations.map((one) => ({ ...one, ...parts })) });

/** A plan in which only this member differs. Absent: the member cannot differ alone. */
const DIFFERING: Readonly<Record<string, (plan: Plan) => Plan>> = {
  stack: set({ stack: 'other' }),
  baseUrl: set({ baseUrl: 'https://other.example.com' }),
  mode: set({ mode: 'destroy' }),
  targets: set({ targets: [EDGE] }),
  exclusions: set({ exclusions: [EDGE] }),
  takeOver: set({ takeOver: ['other', 'third'] }),
  crossStackReferences: set({ crossStackReferences: { 'External/x': { stack: 'other', resource: 'TCPEdge/b' } } }),
  'settings.versionHeader': setting({ versionHeader: 'X-Version' }),
  'settings.keyEnv': setting({ keyEnv: 'EDGEWISE_API_KEY_STAGING' }),
  'settings.kinds': setting({ kinds: ['TCPEdge'] }),
  'settings.guard.maxDeletes': setting({ guard: { ...PLAN.settings.guard, maxDeletes: 6 } }),
  'settings.guard.maxDeleteShare': setting({ guard: { ...PLAN.settings.guard, maxDeleteShare: 0.4 } }),
  'settings.pageSize': setting({ pageSize: 7 }),
  'settings.concurrency': setting({ concurrency: 7 }),
  'settings.rateLimit': setting({ rateLimit: '7/1s' }),
  'options.rotate': option({ rotate: ['Credential/c'] }),
  'options.retire': option({ retire: ['Credential/c'] }),
  'changes.address': change(UPDATE, { address: 'TCPEdge/b' }),
  'changes.action': change(UPDATE, { action: 'replace' }),
  'changes.duplicateOf': change(DELETE, { duplicateOf: 'edgtcp_9' }),
  'changes.retiresAt': change(UPDATE, { retiresAt: '2026-01-01T00:00:00Z' }),
  'changes.keepOldForMs': change(CREATE, { keepOldForMs: 1 }),
  'changes.token': change(CREATE, { token: { directory: 'elsewhere' } }),
  'changes.desired': change(CREATE, { desired: toNormal('Credential/c', { acl: [] }) }),
  'changes.hiddenDigest': change(CREATE, { hiddenDigest: 'digest' }),
  'changes.ignored': change(UPDATE, { ignored: ['metadata'] }),
  'changes.validForMs': change(CREATE, { validForMs: 1 }),
  'changes.protect': change(UPDATE, { protect: true }),
  'changes.team': change(UPDATE, { team: 'shop' }),
  'changes.sent': change(UPDATE, { sent: { description: 'new ' } }),
  'changes.leftToOthers': change(UPDATE, {
    leftToOthers: [{ ignored: 'metadata', path: 'metadata', from: '1', to: '2' }],
  }),
  'changes.otherSpellings': change(UPDATE, { otherSpellings: [{ path: 'description', from: 'x', to: 'X' }] }),
  'changes.due': change(UPDATE, { due: { at: '2026-01-01T00:00:00Z', event: 'renews' } }),
  'changes.reason': change(UPDATE, { reason: 'x' }),
  'changes.notes': change(UPDATE, { notes: ['x'] }),
  'changes.labels': change(UPDATE, { labels: { a: 'b' } }),
  'changes.annotations': change(UPDATE, { annotations: { a: 'b' } }),
  'changes.place': change(UPDATE, { place: { file: 'other.yaml', line: 9 } }),
  'changes.differences.path': difference({ path: 'metadata', field: 'metadata' }),
  'changes.differences.from': difference({ from: 'older' }),
  'changes.differences.to': difference({ to: 'newer' }),
  'changes.differences.origin': difference({ origin: 'drift' }),
  'changes.dangers.danger': danger(0, { danger: 'restriction-changed' }),
  'changes.dangers.path': danger(0, { path: 'policy' }),
  'changes.dangers.writes': danger(1, { writes: 9 }),
  'changes.dangers.limitMs': danger(1, { limitMs: 9 }),
  'changes.dangers.consequence': danger(1, { consequence: 'other' }),
  'changes.live.id': change(UPDATE, { live: { ...UPDATED.live, id: 'edgtcp_9' } }),
  'changes.live.switches': change(UPDATE, { live: { ...UPDATED.live, switches: ['backend'] } }),
  'changes.live.spec': change(DELETE, { live: { ...DELETED.live, spec: { description: 'y' } } }),
  'violations.rule': violation({ rule: 'rejected-write' }),
  'violations.addresses': violation({ addresses: ['TCPEdge/b'] }),
  'violations.message': violation({ message: 'other' }),
  'violations.remedy': violation({ remedy: 'other' }),
  'violations.stack': violation({ stack: 'other' }),
  'violations.policy': set({
    violations: [
      ...PLAN.violations,
      { rule: 'policy', policy: 'p', message: 'm', remedy: 'r', addresses: ['TCPEdge/b'] },
    ],
  }),
  'violations.places': violation({ places: [{ message: 'm', place: { file: 'f', line: 1, column: 1 } }] }),
  diagnostics: set({ diagnostics: [{ code: 'used-elsewhere', severity: 'warning', message: 'm' }] }),
  hiddenSalt: set({ hiddenSalt: 'salt' }),
  made: set({ made: { at: '2026-01-01T00:00:00Z', commit: 'c' } }),
  inputs: set({ inputs: [{ file: 'a.yaml', digest: 'x' }] }),
  skipped: set({ skipped: { documents: 1, files: 2 } }),
  externals: set({ externals: { 'External/green': 'bkdhr_2aaa' } }),
  goneIds: set({ goneIds: [{ id: 'edgtcp_9', address: 'TCPEdge/a', places: [] }] }),
  done: set({ done: [{ action: 'create', address: 'TCPEdge/a' }] }),
  rehearsal: set({ rehearsal: { writes: 9, rejected: 0, remaining: 0, tokens: 0 } }),
  requests: set({ requests: { read: 99, apply: 99, leastMs: 99 } }),
};

/** A file of another format or version is refused before it is compared. */
const REFUSED_BEFORE = ['format', 'tool'];

/** A file that no longer exists need not be replaced. */
const MAY_BE_GONE = ['files.replaces'];

/** Members of the file for readers, counted from the changes. They are not read back. */
const COUNTED = ['dangers', 'totals'];

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const RESULT: Schema = JSON.parse(readFileSync('schemas/result.schema.json', 'utf8'));
const OF_PLAN: Schema = RESULT.properties?.['stacks']?.items?.properties?.['plan'] ?? {};

/** The document of a plan has its format. */
const SCHEMA: Schema = { properties: { ...OF_PLAN.properties, format: {} } };

/** Lists all members, down to those without members in the rules. */
function listRules(rules: Members, schema: Schema, prefix = ''): readonly (readonly [string, string])[] {
  const { properties = {} } = schema.items ?? schema;
  const members = Object.keys(properties).filter((name) => !COUNTED.includes(`${prefix}${name}`));
  expect(Object.keys(rules).sort(), `members of ${prefix}`).toEqual(members.sort());
  return Object.entries(rules).flatMap(([name, rule]) =>
    rule.rule === 'members'
      ? listRules(rule.of, properties[name] ?? {}, `${prefix}${name}.`)
      : [[`${prefix}${name}`, rule.rule] as const],
  );
}

const RULES = listRules(PLAN_MEMBERS, SCHEMA);

describe('each member of a plan', () => {
  it('has a decision, and is tested', () => {
    const tried = [...Object.keys(DIFFERING), ...REFUSED_BEFORE];
    expect(tried.sort()).toEqual(RULES.flatMap(([name, rule]) => (rule === 'derived' ? [] : [name])).sort());
  });

  it('is equal to itself', () => {
    expect(isSamePlan(comparePlans(PLAN, structuredClone(PLAN)))).toBe(true);
  });

  it.each(RULES.filter(([name, rule]) => rule !== 'derived' && !REFUSED_BEFORE.includes(name)))(
    'is compared: %s, if it differs, is %s',
    (name, rule) => {
      const other = DIFFERING[name]?.(PLAN);
      if (other === undefined) throw new Error(`no case for ${name}`);
      expect(other).not.toEqual(PLAN);
      expect(isSamePlan(comparePlans(PLAN, other))).toBe(rule === 'free');
      expect(isSamePlan(comparePlans(other, PLAN))).toBe(rule === 'free' || MAY_BE_GONE.includes(name));
    },
  );
});
