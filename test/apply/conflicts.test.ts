import { describe, expect, it } from 'vitest';
import { ConflictWaits } from '../../src/apply/conflicts.ts';
import { runWrites } from '../../src/apply/run-writes.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { ApplyResult, Outcome } from '../../src/model/outcome.ts';
import type { WriteId } from '../../src/model/write.ts';
import { withFaults } from '../../src/server/index.ts';
import type { TestResource } from '../laws/stack.ts';
import { listTouched, World } from '../laws/world.ts';
import { createWrite } from '../report/sample-plans.ts';

const LIFECYCLE = { protect: false, ignore: [], settings: {} } as const;
const HOSTPORT = '1.tcp.example.net:20001';

function createEdge(name: string, spec: TestResource['spec'] = { hostports: [HOSTPORT] }): TestResource {
  return { kind: 'TCPEdge', name, spec, lifecycle: LIFECYCLE };
}

const POOL: TestResource = { kind: 'WeightedBackend', name: 'pool', spec: {}, lifecycle: LIFECYCLE };

interface Late {
  /** How long the service still counts a value or use after it was removed. */
  readonly ms: number;
  /** Called after each pause of an apply. */
  readonly onPause?: (ms: number) => void;
  readonly signal?: AbortSignal;
}

/** A service that frees values and uses late, on a clock that each pause advances. */
function createDelayingWorld({ ms, onPause = () => undefined, signal }: Late) {
  const clock = { now: 0 };
  const pauses: number[] = [];
  const world = new World({
    ...(signal !== undefined && { signal }),
    sleep: async (pauseMs) => {
      clock.now += pauseMs;
      pauses.push(pauseMs);
      onPause(pauseMs);
    },
  });
  const faulty = withFaults(
    world.server,
    { rules: [{ on: '*', fault: 'late_release', ms }] },
    { now: () => clock.now },
  );
  const makeLate = () => world.interpose(() => faulty.handle);
  return { world, pauses, makeLate };
}

function formatOutcomes({ outcomes }: ApplyResult): readonly string[] {
  return outcomes.map((one) => `${one.write.id}: ${one.outcome}${'message' in one ? `: ${one.message}` : ''}`);
}

describe('a conflict with a resource that the run has just removed', () => {
  it('ends: a new edge gets the hostport of a deleted edge once the service frees it', async () => {
    const { world, pauses, makeLate } = createDelayingWorld({ ms: 5_000 });
    await world.migrate([createEdge('old')]);
    const plan = await world.plan([createEdge('new')]);
    makeLate();
    expect(formatOutcomes(await world.apply(plan))).toEqual([
      'delete TCPEdge/old: applied',
      'create TCPEdge/new: applied',
    ]);
    expect(pauses).toEqual([1_000, 2_000, 4_000]);
    expect(listTouched(await world.plan([createEdge('new')]))).toEqual([]);
  });

  it('ends: an edge gets a hostport that another edge gives up', async () => {
    const { world, makeLate } = createDelayingWorld({ ms: 2_500 });
    const other = '2.tcp.example.net:20002';
    await world.migrate([createEdge('a'), createEdge('b', { hostports: [other] })]);
    const next = [createEdge('a', {}), createEdge('b', { hostports: [HOSTPORT, other] })];
    const plan = await world.plan(next);
    makeLate();
    expect((await world.apply(plan)).outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
    expect(listTouched(await world.plan(next))).toEqual([]);
  });

  it('ends: a backend is deleted once the service no longer counts its use by an edge', async () => {
    const { world, makeLate } = createDelayingWorld({ ms: 3_000 });
    await world.migrate([POOL, createEdge('a', { backend: { backend_id: 'WeightedBackend/pool' } })]);
    const plan = await world.plan([createEdge('a', {})]);
    makeLate();
    expect(formatOutcomes(await world.apply(plan))).toEqual([
      'remove backend of TCPEdge/a: applied',
      'update TCPEdge/a: applied',
      'delete WeightedBackend/pool: applied',
    ]);
    expect(listTouched(await world.plan([createEdge('a', {})]))).toEqual([]);
  });

  it('fails after the time limit, after pauses that grow', async () => {
    const { world, pauses, makeLate } = createDelayingWorld({ ms: 100_000 });
    await world.migrate([createEdge('old')]);
    const plan = await world.plan([createEdge('new')]);
    makeLate();
    const result = await world.apply(plan);
    expect(formatOutcomes(result)).toEqual([
      'delete TCPEdge/old: applied',
      expect.stringMatching(/^create TCPEdge\/new: failed: POST \/edges\/tcp: 409 .* \(tried again for 60 s\)$/),
    ]);
    expect(result.outcomes).toMatchObject([{}, { status: 409 }]);
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  it('is waited for no longer than the time limit, also if the last pause is shorter for that', async () => {
    const pauses: number[] = [];
    const before = createWrite('delete', 'TCPEdge/old');
    const write = createWrite('create', 'TCPEdge/new', { dependsOn: [before.id] });
    const waits = new ConflictWaits(
      { writes: [before, write] },
      {
        limitMs: 10_000,
        sleep: async (ms) => void pauses.push(ms),
        signal: new AbortController().signal,
        onEvent: () => undefined,
      },
    ).start(write);
    const details = {
      status: 409,
      code: undefined,
      method: 'POST',
      path: '/edges/tcp',
      operationId: undefined,
      details: {},
    };
    const conflict = new ApiError('in use', details);
    while (waits.canWait(conflict)) await waits.wait();
    expect(pauses).toEqual([1_000, 2_000, 4_000, 3_000]);
    expect(waits.describe()).toBe(' (tried again for 10 s)');
  });

  it('is reported while it lasts, with the writes that the service has not finished', async () => {
    const { world, makeLate } = createDelayingWorld({ ms: 2_000 });
    await world.migrate([createEdge('old')]);
    const plan = await world.plan([createEdge('new')]);
    makeLate();
    world.events.length = 0;
    await world.apply(plan);
    const waits = world.events.filter((one) => one.event === 'write-waiting');
    expect(waits).toMatchObject([
      { write: { id: 'create TCPEdge/new' }, isFirst: true, leftMs: 60_000 },
      { write: { id: 'create TCPEdge/new' }, isFirst: false, leftMs: 59_000 },
    ]);
    expect(waits.flatMap((one) => (one.event === 'write-waiting' ? one.waitsFor : []))).toEqual([
      'delete TCPEdge/old',
      'delete TCPEdge/old',
    ]);
  });

  it('is the error of the write if the run is interrupted', async () => {
    const stop = new AbortController();
    const { world, makeLate } = createDelayingWorld({
      ms: 10_000,
      signal: stop.signal,
      onPause: () => stop.abort(new Error('interrupted')),
    });
    await world.migrate([createEdge('old')]);
    const plan = await world.plan([createEdge('new')]);
    makeLate();
    const result = await world.apply(plan);
    expect(formatOutcomes(result)[1]).toMatch(/^create TCPEdge\/new: failed: POST \/edges\/tcp: 409/);
    expect(result.interrupted).toBe(true);
  });
});

describe('any other conflict', () => {
  it('fails at once', async () => {
    const { world, pauses } = createDelayingWorld({ ms: 0 });
    const plan = await world.plan([createEdge('new'), POOL]);
    await world.call('POST', '/edges/tcp', { hostports: [HOSTPORT] });
    const result = await world.apply(plan);
    expect(formatOutcomes(result)).toEqual([
      expect.stringMatching(/^create TCPEdge\/new: failed: POST \/edges\/tcp: 409/),
      'create WeightedBackend/pool: applied',
    ]);
    expect(pauses).toEqual([]);
  });
});

describe('writes that wait for a conflict to end', () => {
  it('do not delay other writes', async () => {
    const waiting = Array.from({ length: 100 }, (_, index) => createWrite('delete', `TCPEdge/waits-${index}`));
    const other = createWrite('delete', 'TCPEdge/other');
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const ended: WriteId[] = [];
    await runWrites([...waiting, other], {
      ended: new Map(),
      mayFollow: () => true,
      perform: async (write, limit): Promise<Outcome> => {
        await limit(async () => undefined);
        if (write !== other) await isFree;
        return { outcome: 'applied', write, id: undefined };
      },
      onEnded: ({ write: { id } }) => {
        ended.push(id);
        if (id === other.id) free();
      },
    });
    expect(ended[0]).toBe(other.id);
    expect(ended).toHaveLength(101);
  });
});
