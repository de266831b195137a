import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined, NetworkError } from '../../src/model/errors.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { createDyingTransport, type Death } from '../laws/dying-transport.ts';
import { listTouched, type PlanOptions, World } from '../laws/world.ts';
import { LONG } from '../tries.ts';

/**
 * Rotation with an old credential that stays: a run that is killed at any request is repaired by the next one, and no old credential is deleted
 * early.
 */

const ADDRESS = 'Credential/agent';
const WHEN = ['before', 'after'] as const;

function load(name: string, lifecycle: object, stack = 'shop'): DesiredState {
  const documents = [
    { apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: stack } },
    {
      apiVersion: 'edgewise/v1',
      kind: 'Credential',
      metadata: { name },
      spec: { acl: ['bind:*.example.com'] },
      lifecycle,
    },
  ];
  const text = documents.map((one) => JSON.stringify(one)).join('\n---\n');
  const source = { file: 'all.yaml', text };
  const { state, diagnostics } = validateManifests([source], { env: NO_ENVIRONMENT });
  return assertDefined(state, JSON.stringify(diagnostics));
}

const KEPT = load('agent', { keep_old_for: '24h' });

describe('a rotation that keeps the old credential', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-retirement-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const createWorld = () => new World({ tokenDirectory: folder, concurrency: 1 });

  function listCredentials(world: World) {
    return (world.resources()['Credential'] ?? []).map(({ id, metadata }) => {
      const { mark } = splitMetadata(String(metadata));
      return { id: String(id), mark };
    });
  }

  /** Finds the credential of the token in the folder, which its mark must name. */
  function expectOneWithToken(world: World, name: string): string {
    const [current, ...more] = listCredentials(world).filter(({ mark }) => mark?.retiring !== true);
    expect(more).toEqual([]);
    expect(current?.mark).toMatchObject({ name, delivered: true });
    const id = current?.id ?? '';
    expect(readFileSync(join(folder, 'agent.token'), 'utf8')).toContain(`${id.replace('cr_', '')}_`);
    return id;
  }

  async function countRequests(world: World, run: () => Promise<unknown>): Promise<number> {
    world.takeRequests();
    await run();
    return world.takeRequests().length;
  }

  async function interruptApply(world: World, state: DesiredState, options: PlanOptions, death: Death): Promise<void> {
    world.interpose(createDyingTransport(death));
    try {
      await world.apply(await world.plan(state, options));
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
    } finally {
      world.interpose();
    }
  }

  async function expectConverged(world: World, state: DesiredState): Promise<void> {
    await world.migrate(state);
    expect(listTouched(await world.plan(state))).toEqual([]);
  }

  it.each(WHEN)(
    'keeps the old one until it is due, and then deletes it, if it stops %s any request',
    LONG,
    async (when) => {
      const rotate = { rotate: [ADDRESS] };
      const trial = createWorld();
      await trial.migrate(KEPT);
      const requests = await countRequests(trial, () => trial.migrate(KEPT, rotate));
      expect(requests).toBeGreaterThan(8);
      for (let request = 0; request < requests; request += 1) {
        const world = createWorld();
        await world.migrate(KEPT);
        const old = expectOneWithToken(world, 'agent');
        await interruptApply(world, KEPT, rotate, { request, when });
        expect(listCredentials(world).map(({ id }) => id)).toContain(old);
        await expectConverged(world, KEPT);
        expect(listCredentials(world).map(({ id }) => id)).toContain(old);
        const current = expectOneWithToken(world, 'agent');
        if (current === old) expect(listCredentials(world)).toHaveLength(1);
        else {
          const [retiring, ...more] = listCredentials(world).filter(({ id }) => id !== current);
          expect(retiring).toMatchObject({ id: old, mark: { retiring: true } });
          expect(more).toEqual([]);
        }
        world.wait(86_500);
        await expectConverged(world, KEPT);
        expect(listCredentials(world).map(({ id }) => id)).toEqual([current]);
        expectOneWithToken(world, 'agent');
      }
    },
  );

  it.each(WHEN)('keeps at most one old one, if a second rotation stops %s any request', LONG, async (when) => {
    const rotate = { rotate: [ADDRESS] };
    const trial = createWorld();
    await trial.migrate(KEPT);
    await trial.migrate(KEPT, rotate);
    const requests = await countRequests(trial, () => trial.migrate(KEPT, rotate));
    for (let request = 6; request < requests; request += 1) {
      const world = createWorld();
      await world.migrate(KEPT);
      await world.migrate(KEPT, rotate);
      const second = expectOneWithToken(world, 'agent');
      await interruptApply(world, KEPT, rotate, { request, when });
      expect(listCredentials(world).map(({ id }) => id)).toContain(second);
      await expectConverged(world, KEPT);
      expectOneWithToken(world, 'agent');
      expect(listCredentials(world)).toHaveLength(2);
      expect(listCredentials(world).map(({ id }) => id)).toContain(second);
    }
  });

  const MOVES = {
    'a rename': load('build-agent', { keep_old_for: '24h', renamed_from: 'agent' }),
    'a hand-over': load(
      'build-agent',
      { keep_old_for: '24h', renamed_from: { stack: 'shop', name: 'agent' } },
      'other',
    ),
  };

  it.each(
    Object.keys(MOVES).flatMap((move) => WHEN.map((when) => [move as keyof typeof MOVES, when] as const)), // the keys above
  )('moves with its old one by %s that stops %s any request', LONG, async (move, when) => {
    const moved = MOVES[move];
    const start = async () => {
      const world = createWorld();
      await world.migrate(KEPT);
      await world.migrate(KEPT, { rotate: [ADDRESS] });
      return world;
    };
    const trial = await start();
    const before = listCredentials(trial).map(({ id }) => id);
    const requests = await countRequests(trial, () => trial.migrate(moved));
    for (let request = 6; request < requests; request += 1) {
      const world = await start();
      await interruptApply(world, moved, {}, { request, when });
      await expectConverged(world, moved);
      expect(listCredentials(world).map(({ id }) => id)).toEqual(before);
      for (const { mark } of listCredentials(world))
        expect(mark).toMatchObject({ name: 'build-agent', stack: moved.stack.name });
      expectOneWithToken(world, 'build-agent');
    }
  });

  it('gets a new one if the new one is deleted by hand, because the old token is not the one that was delivered', async () => {
    const world = createWorld();
    await world.migrate(KEPT);
    const old = expectOneWithToken(world, 'agent');
    await world.migrate(KEPT, { rotate: [ADDRESS] });
    await world.call('DELETE', `/credentials/${expectOneWithToken(world, 'agent')}`);
    await expectConverged(world, KEPT);
    expectOneWithToken(world, 'agent');
    expect(listCredentials(world).map(({ id }) => id)).toContain(old);
  });

  it('deletes the old one in the first plan after it is due, and not before', async () => {
    const world = createWorld();
    await world.migrate(KEPT);
    await world.migrate(KEPT, { rotate: [ADDRESS] });
    world.wait(86_000);
    expect(listTouched(await world.plan(KEPT))).toEqual([]);
    world.wait(500);
    expect(listTouched(await world.plan(KEPT))).toEqual([expect.stringMatching(/^delete Credential\/agent@cr_/)]);
  });
});
