import { describe, expect, it } from 'vitest';
import { readLive } from '../../src/client/read-live.ts';
import { exportLive } from '../../src/export/export-live.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import type { Plan } from '../../src/model/plan.ts';
import { computeDrift } from '../../src/plan/compute-drift.ts';
import { createReadRequest } from '../../src/plan/select-targets.ts';
import { toPlainText } from '../../src/report/document.ts';
import { createDocument } from '../../src/report/documents/create-document.ts';
import { PLAIN } from '../report/sample-plans.ts';
import { changeField } from './other-user.ts';
import { STACK_NAME, type TestResource } from './stack.ts';
import { listTouched, loadStack, World } from './world.ts';

const BLUE = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
const GREEN = 'bkdhr_2k9XLQdTnSXvQJzqDPzZxhCBmHm';
const [FIRST, SECOND, THIRD] = [
  'ipp_2k9XLPDYGXNLtxcTVgVsKTFzfRt',
  'ipp_2k9XLQdTnSXvQJzqDPzZxhCBmHm',
  'ipp_2k9XLPDYGXNLtxcTVgVsKTFzfR1',
];
const IDS = { edge_id: 'edghts_2k9XLPDYGXNLtxcTVgVsKTFzfRt', id: 'edghtsrt_2k9XLQdTnSXvQJzqDPzZxhCBmHm' };

/** A field with one member that others manage. Each value is a member: [theirs, ours]. */
interface Shared {
  readonly kind: string;
  readonly field: string;
  /** The rest of the spec. */
  readonly base?: JsonObject;
  readonly theirs: readonly [member: string, first: Json, second: Json, third: Json];
  readonly ours: readonly [member: string, first: Json, second: Json];
}

const rule = (name: string) => [{ name, expressions: [], actions: [{ type: 'deny', config: null }] }];

const CASES: readonly Shared[] = [
  { kind: 'WeightedBackend', field: 'backends', theirs: [GREEN, 0, 40, 60], ours: [BLUE, 100, 90] },
  {
    kind: 'WeightedBackend',
    field: 'metadata',
    base: { backends: { [BLUE]: 1 } },
    theirs: ['canary', 'no', 'half', 'promoted'],
    ours: ['team', 'data', 'web'],
  },
  {
    kind: 'TCPEdge',
    field: 'policy',
    theirs: ['inbound', rule('first'), rule('theirs'), rule('latest')],
    ours: ['outbound', rule('out'), rule('out-2')],
  },
  {
    kind: 'TCPEdge',
    field: 'ip_restriction',
    theirs: ['ip_policy_ids', [FIRST], [SECOND], [THIRD]],
    ours: ['enabled', true, false],
  },
  {
    kind: 'HTTPSEdgeRoute',
    field: 'circuit_breaker',
    base: IDS,
    theirs: ['num_buckets', 10, 20, 30],
    ours: ['error_threshold_percentage', 0.5, 0.25],
  },
];

function createResource(
  { kind, field, base, theirs, ours }: Shared,
  [theirs1, ours1]: readonly [Json, Json],
): TestResource {
  return {
    kind,
    name: 'shared',
    spec: { ...base, [field]: { [theirs[0]]: theirs1, [ours[0]]: ours1 } },
    lifecycle: { protect: false, ignore: [`${field}.${theirs[0]}`] },
  };
}

/** Reads both members as the service stores them. */
async function readMembers(world: World, { kind, field, theirs, ours }: Shared): Promise<readonly Json[]> {
  const [only] = world.resources()[kind] ?? [];
  const live =
    getKind(kind).role === 'owned'
      ? assertDefined(only, 'the only resource')
      : { [field]: await world.call('GET', `/edges/https/${IDS.edge_id}/routes/${IDS.id}/${field}`) };
  const shown = field === 'metadata' ? splitMetadata(String(live[field])).user : (live[field] ?? null);
  const value = canonical(getKind(kind), { [field]: shown }, AS_WRITTEN)[field];
  return isJsonObject(value) ? [value[theirs[0]] ?? null, value[ours[0]] ?? null] : [];
}

function listDifferences({ changes }: Plan): readonly (readonly string[])[] {
  return changes.flatMap(({ differences }) =>
    differences.map(({ path, origin }) => [path.replace(/\[.*/, ''), origin]),
  );
}

describe.each(CASES)('an ignored member: $kind $field', (shared) => {
  const { field, theirs, ours } = shared;
  const [member, ...values] = theirs;
  const [own, before, after] = ours;
  const isOwned = getKind(shared.kind).role === 'owned';
  const first = createResource(shared, [values[0], before]);

  const setTheirs = (world: World, value: Json, mine = before) =>
    changeField(world, { resource: createResource(shared, [value, mine]), stack: [] }, field);

  it('is set at creation, and is named but no difference after that', async () => {
    const world = new World();
    await world.migrate([first]);
    expect((await readMembers(world, shared))[1]).toEqual(before);
    expect((await world.plan([first])).changes.flatMap(({ leftToOthers = [] }) => leftToOthers)).toEqual([]);
    await setTheirs(world, values[1]);
    const plan = await world.plan([first]);
    expect(listTouched(plan)).toEqual([]);
    const named = plan.changes.flatMap(({ leftToOthers = [] }) => leftToOthers);
    expect(new Set(named.map(({ ignored }) => ignored))).toEqual(new Set([`${field}.${member}`]));
    const live = await readLive(world.connect(), createReadRequest(loadStack([first]), []));
    const drift = computeDrift(plan, { live, now: world.now() });
    const exception = `except what is left to others: ${field}.${member}.`;
    const [ofPlan, ofDrift] = [
      createDocument({ about: 'plan', plan, blocking: [] }, PLAIN),
      createDocument({ about: 'drift', drift }, PLAIN),
    ];
    expect(ofPlan.conclusion[0]?.text).toBe(`Nothing to do: 1 resource matches the manifests, ${exception}`);
    expect(ofDrift.conclusion[0]?.text).toBe(`No drift: 1 resource is as it should be, ${exception}`);
    const items = ofDrift.blocks.flatMap((block) => (block.block === 'list' ? block.items : [])).map(toPlainText);
    const left = items.filter((note) => note.includes('left to others'));
    expect(left).toEqual([expect.stringContaining(`left to others: ${field}.${member}`)]);
  });

  it('keeps its live value, however late it was set, while the rest of the field is written', async () => {
    const clock = { now: 0 };
    const world = new World({ clientNow: () => clock.now });
    const client = world.connect();
    await world.migrate([first]);
    await setTheirs(world, values[1]);
    const second = createResource(shared, [values[0], after]);
    const plan = await world.plan([second], { client });
    expect(listDifferences(plan)).toEqual([[`${field}.${own}`, isOwned ? 'manifest' : 'unknown']]);
    expect(plan.requests.readAgain).toBe(1);
    await setTheirs(world, values[2]);
    clock.now += 6_000;
    const { outcomes } = await world.apply(plan, client);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['applied']);
    const [live, mine] = await readMembers(world, shared);
    expect(mine).toEqual(after);
    await setTheirs(world, values[2], after);
    expect((await readMembers(world, shared))[0]).toEqual(live);
    expect(listTouched(await world.plan([second]))).toEqual([]);
  });

  it('does not hide drift of the rest of the field', async () => {
    const world = new World();
    await world.migrate([first]);
    await setTheirs(world, values[1], after);
    const plan = await world.plan([first]);
    expect(listDifferences(plan)).toEqual([[`${field}.${own}`, isOwned ? 'drift' : 'unknown']]);
    await world.apply(plan);
    const [live, mine] = await readMembers(world, shared);
    expect(mine).toEqual(before);
    await setTheirs(world, values[1]);
    expect((await readMembers(world, shared))[0]).toEqual(live);
  });

  // Only an owned resource has a mark, and is exported and deleted by itself.
  if (!isOwned) return;

  it('is exported as ignored, and the export changes nothing', async () => {
    const world = new World();
    await world.migrate([first]);
    await setTheirs(world, values[1]);
    const live = await readLive(world.connect(), createReadRequest(loadStack([first]), []));
    const { documents } = exportLive(live, { stack: STACK_NAME });
    const texts = documents.map(({ text }, index) => ({ file: `${index}.yaml`, text }));
    const { state, diagnostics } = validateManifests(texts, { env: NO_ENVIRONMENT });
    expect(diagnostics).toEqual([]);
    const exported = assertDefined(state, 'the exported stack');
    expect([...exported.resources.values()].map(({ lifecycle }) => lifecycle.ignore)).toEqual([[`${field}.${member}`]]);
    expect(listTouched(await world.plan(exported))).toEqual([]);
  });

  it('does not stop a delete', async () => {
    const clock = { now: 0 };
    const world = new World({ clientNow: () => clock.now });
    const client = world.connect();
    await world.migrate([first]);
    const plan = await world.plan([], { client });
    await setTheirs(world, values[1]);
    clock.now += 6_000;
    expect((await world.apply(plan, client)).outcomes.map(({ outcome }) => outcome)).toEqual(['applied']);
  });

  it('is unmanaged until the mark says otherwise, so the origin of a difference in it is unknown', async () => {
    const world = new World();
    await world.migrate([first]);
    await setTheirs(world, values[1]);
    const managed = { ...first, lifecycle: { ...first.lifecycle, ignore: [] } };
    const plan = await world.plan([managed]);
    expect(new Set(listDifferences(plan).map(([, origin]) => origin))).toEqual(new Set(['unknown']));
    await world.apply(plan);
    await setTheirs(world, values[1]);
    expect(new Set(listDifferences(await world.plan([managed])).map(([, origin]) => origin))).toEqual(
      new Set(['drift']),
    );
  });
});
