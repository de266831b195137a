import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CREDENTIAL } from '../../src/kinds/credential.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/registry.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined, NetworkError } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { parseMetadata } from '../../src/model/mark.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { arbitraryHistory } from '../laws/arbitrary-manifests.ts';
import { type Death, dieAt } from '../laws/dying-transport.ts';
import { holds, LONG } from '../laws/properties.ts';
import { listTouched, loadStack, World, type WorldOptions } from '../laws/world.ts';

const WHEN = ['before', 'after'] as const;

describe('a run that dies', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-crash-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(WHEN)('%s any request of the first apply is made good by the next', LONG, async (when) => {
    const everything = await loadFolder('examples/everything');
    const requests = await countRequests([everything]);
    expect(requests).toBeGreaterThan(20);
    for (let request = 0; request < requests; request += 1) {
      const world = await createWorld({ tokenDirectory: folder, concurrency: 1 });
      await dieOnTheWay(world, everything, { request, when });
      await expectConvergence(world, everything, folder);
    }
  });

  it.each(WHEN)(
    '%s any request of an apply that updates, replaces, moves and deletes is made good by the next',
    LONG,
    async (when) => {
      const [everything, changed] = [
        await loadFolder('examples/everything'),
        await loadFolder('test/walks/everything-changed'),
      ];
      const requests = await countRequests([everything, changed]);
      expect(requests).toBeGreaterThan(30);
      for (let request = 0; request < requests; request += 1) {
        const world = await createWorld({ tokenDirectory: folder, concurrency: 1 });
        await world.migrate(everything);
        await dieOnTheWay(world, changed, { request, when });
        await expectConvergence(world, changed, folder);
      }
    },
  );

  it('again and again, between changes of any stack, is made good in the end', LONG, async () => {
    const deaths = fc.array(fc.record({ request: fc.integer({ min: 6, max: 24 }), when: fc.constantFrom(...WHEN) }), {
      minLength: 1,
      maxLength: 3,
    });
    const property = fc.asyncProperty(arbitraryHistory(2), deaths, async (stacks, crashes) => {
      const world = await createWorld({ tokenDirectory: folder });
      for (const stack of stacks) for (const death of crashes) await dieOnTheWay(world, loadStack(stack), death);
      await expectConvergence(world, loadStack(stacks.at(-1) ?? []), folder);
    });
    await holds(property, 25);
  });
});

async function loadFolder(path: string): Promise<DesiredState> {
  const { sources } = await loadManifests([path], { cwd: process.cwd(), readStdin: async () => Buffer.from('') });
  const { state, diagnostics } = validateManifests(sources, { env: {} });
  return assertDefined(state, JSON.stringify(diagnostics));
}

/** A world where others have something too, some of it much like ours. */
async function createWorld(options: WorldOptions = {}): Promise<World> {
  const world = new World(options);
  await world.call('POST', '/edges/tcp', { description: THEIRS, hostports: ['theirs.example.net:1'] });
  const metadata = '{"edgewise":{"stack":"theirs","name":"build-agent"}}';
  await world.call('POST', '/credentials', { description: THEIRS, metadata });
  return world;
}

const THEIRS = 'somebody else’s';

/** How many requests it takes to come to the last of some states, without what came before. */
async function countRequests(states: readonly DesiredState[]): Promise<number> {
  const world = await createWorld();
  for (const state of states) {
    world.takeRequests();
    await world.migrate(state);
  }
  return world.takeRequests().length;
}

async function dieOnTheWay(world: World, state: DesiredState, death: Death): Promise<void> {
  world.interpose(dieAt(death));
  try {
    await world.apply(await world.plan(state));
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
  } finally {
    world.interpose();
  }
}

async function expectConvergence(world: World, state: DesiredState, folder: string): Promise<void> {
  const theirs = listTheirs(world);
  await world.migrate(state);
  expect(listTouched(await world.plan(state))).toEqual([]);
  expect(listTheirs(world)).toEqual(theirs);
  expect(theirs).toHaveLength(2);
  const owned = listOwned(world, state.stack.name);
  const wanted = [...state.resources.values()].filter(({ kind }) => getKind(kind).role === 'owned');
  expect(owned.map(({ address }) => address).sort()).toEqual(wanted.map(({ address }) => address).sort());
  for (const { address, id, delivered } of owned.filter(({ kind }) => kind === CREDENTIAL)) {
    expect(delivered).toBe(true);
    const [, name] = address.split('/');
    expect(readFileSync(join(folder, `${name}.token`), 'utf8')).toContain(`${id.replace('cr_', '')}_`);
  }
}

function listTheirs(world: World): readonly JsonObject[] {
  return Object.values(world.resources())
    .flat()
    .filter(({ description }) => description === THEIRS);
}

/** What bears the mark of a stack, each with its address. */
function listOwned(world: World, stack: string) {
  return OWNED_KINDS.flatMap((kind) =>
    (world.resources()[kind.name] ?? []).flatMap((resource) => {
      const { mark } = parseMetadata(String(resource['metadata'] ?? ''));
      const address = `${kind.name}/${mark?.name}`;
      return mark?.stack === stack ? [{ kind, address, id: String(resource['id']), delivered: mark.delivered }] : [];
    }),
  );
}
