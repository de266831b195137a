import { describe, expect, it } from 'vitest';
import type { ApplyResult } from '../../src/model/outcome.ts';
import type { Plan } from '../../src/model/plan.ts';
import { type Runner, type RunnerContext, runEveryInterleaving } from './interleave.ts';
import type { TestResource } from './stack.ts';
import { type Beside, listTouched, World } from './world.ts';

const LIFECYCLE = { protect: false, ignore: [], settings: {} } as const;
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
const POOL: TestResource = { kind: 'WeightedBackend', name: 'a', spec: {}, lifecycle: LIFECYCLE };
const CREDENTIAL: TestResource = { kind: 'Credential', name: 'a', spec: {}, lifecycle: LIFECYCLE };
const TARGETS = ['Credential/a'];
const CERTIFICATE: TestResource = {
  kind: 'SSHUserCertificate',
  name: 'a',
  spec: { public_key: KEY, principals: ['alice'], ssh_certificate_authority_id: 'sshca_a' },
  lifecycle: LIFECYCLE,
};
const EDGE: TestResource = {
  kind: 'TCPEdge',
  name: 'a',
  spec: { hostports: ['1.tcp.example.net:20001'], backend: { backend_id: 'WeightedBackend/a' } },
  lifecycle: LIFECYCLE,
};

interface Applied {
  readonly world: World;
  readonly result: ApplyResult;
}

/** Two runs that planned at the same time. */
async function createTwoApplies(stack: readonly TestResource[]): Promise<readonly [Runner<Applied>, Runner<Applied>]> {
  const world = new World({ concurrency: 1 });
  const plans = [await world.plan(stack), await world.plan(stack)] as const;
  return [createRunner(world, { plan: plans[0] }), createRunner(world, { plan: plans[1] })];
}

interface RunnerOptions {
  /** Absent: plans first. */
  readonly plan?: Plan;
  /** Interrupts the apply when it starts to deliver a token. */
  readonly isInterrupted?: boolean;
}

function createRunner(world: World, { plan, isInterrupted }: RunnerOptions = {}): Runner<Applied> {
  return async (context) => {
    const { over } = context;
    const planned = plan ?? (await world.plan([CREDENTIAL], { targets: TARGETS, over }));
    return { world, result: await world.applyOver(planned, over, createBeside(context, isInterrupted)) };
  };
}

/** A delivery takes as long as the order says, and a pause until the other apply has sent a request. */
function createBeside({ over, pause }: RunnerContext, isInterrupted = false): Beside {
  const deliver = over(async () => new Response());
  const interrupt = new AbortController();
  return {
    sleep: pause,
    signal: interrupt.signal,
    startDelivery: async () => {
      if (isInterrupted) interrupt.abort();
      await deliver(new Request('https://sink.test'));
    },
  };
}

describe('two applies at once, whatever the order of their requests', () => {
  it.each([
    ['a weighted backend', POOL],
    ['an SSH user certificate', CERTIFICATE],
  ])('create %s once, and the apply that deletes its own copy reports it', async (_, resource) => {
    const orders = await runEveryInterleaving(
      () => createTwoApplies([resource]),
      async (applied, order) => {
        const [first] = applied;
        expect(first?.world.resources()[resource.kind], order).toHaveLength(1);
        const failed = applied.flatMap(({ result }) => result.outcomes.filter(({ outcome }) => outcome === 'failed'));
        expect(failed, order).toHaveLength(1);
        expect(failed[0], order).toMatchObject({
          message: expect.stringMatching(/another apply created this resource first, as /),
        });
        expect(first && listTouched(await first.world.plan([resource])), order).toEqual([]);
      },
    );
    expect(orders).toBeGreaterThan(5);
  });

  it('create a credential once, and deliver the token of the one that stays', async () => {
    const orders = await runEveryInterleaving(
      () => createTwoApplies([CREDENTIAL]),
      async (applied, order) => {
        const [first] = applied;
        const kept = first?.world.resources()['Credential'] ?? [];
        expect(kept, order).toHaveLength(1);
        const tokens = applied.flatMap(({ result }) => result.tokens);
        expect(tokens, order).toHaveLength(1);
        const delivered = applied.flatMap(({ result }) =>
          result.outcomes.filter(({ outcome, write }) => outcome === 'applied' && write.purpose === 'create'),
        );
        expect(delivered, order).toMatchObject([{ id: kept[0]?.['id'] }]);
        expect(first && listTouched(await first.world.plan([CREDENTIAL])), order).toEqual([]);
      },
    );
    expect(orders).toBeGreaterThan(5);
  });

  it('are repaired by one more apply if one adopts the resource that the other created', async () => {
    await runEveryInterleaving(
      () => createTwoApplies([POOL, EDGE]),
      async ([first], order) => {
        const world = first?.world ?? new World();
        expect(world.resources()['TCPEdge'], order).toHaveLength(1);
        await world.migrate([POOL, EDGE]);
        expect(world.resources()['WeightedBackend'], order).toHaveLength(1);
        expect(listTouched(await world.plan([POOL, EDGE])), order).toEqual([]);
      },
    );
  });

  it.each([
    ['delivers', false],
    ['is interrupted as it delivers', true],
  ])('leave the token of the credential that stays if one plans while the other %s', async (_, isInterrupted) => {
    const orders = await runEveryInterleaving(
      async () => {
        const world = new World({ concurrency: 1 });
        const first = await world.plan([CREDENTIAL], { targets: TARGETS });
        return [createRunner(world, { plan: first, isInterrupted }), createRunner(world)];
      },
      async ([first], order) => {
        const world = first?.world ?? new World();
        await world.migrate([CREDENTIAL]);
        const [kept, ...more] = world.resources()['Credential'] ?? [];
        expect(more, order).toEqual([]);
        expect(world.delivered.get('a'), order).toContain(`${String(kept?.['id']).replace('cr_', '')}_`);
        expect(listTouched(await world.plan([CREDENTIAL])), order).toEqual([]);
      },
    );
    expect(orders).toBeGreaterThan(100);
  });
});
