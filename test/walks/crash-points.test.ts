import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { readManifestFiles } from '../../src/manifest/load.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined, NetworkError } from '../../src/model/errors.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { arbitraryHistory } from '../laws/arbitrary-manifests.ts';
import { createDyingTransport, type Death } from '../laws/dying-transport.ts';
import { holds } from '../laws/properties.ts';
import { listTouched, loadStack, World, type WorldOptions } from '../laws/world.ts';
import { LONG, selectEvenly } from '../tries.ts';
import { listOwned, listWanted, mapForeignResources, OTHER_USER_REQUESTS } from './account.ts';

const WHEN = ['before', 'after'] as const;

/** The requests at which a run is killed. */
function listPoints(requests: number): readonly number[] {
  return selectEvenly(Array.from({ length: requests }, (_, request) => request));
}

describe('a run that is killed', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-crash-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(WHEN)('is repaired by the next run: %s any request of the first apply', LONG, async (when) => {
    const everything = await loadFolder('examples/everything');
    const requests = await countRequests([everything]);
    expect(requests).toBeGreaterThan(20);
    for (const request of listPoints(requests)) {
      const world = await createWorld({ tokenDirectory: folder, concurrency: 1 });
      await crashBetweenChanges(world, everything, { request, when });
      await expectConvergence(world, everything, folder);
    }
  });

  it.each(WHEN)(
    'is repaired by the next run: %s any request of an apply that updates, replaces, moves and deletes',
    LONG,
    async (when) => {
      const [everything, changed] = [
        await loadFolder('examples/everything'),
        await loadFolder('test/walks/everything-changed.yaml.txt'),
      ];
      const requests = await countRequests([everything, changed]);
      expect(requests).toBeGreaterThan(30);
      for (const request of listPoints(requests)) {
        const world = await createWorld({ tokenDirectory: folder, concurrency: 1 });
        await world.migrate(everything);
        await crashBetweenChanges(world, changed, { request, when });
        await expectConvergence(world, changed, folder);
      }
    },
  );

  it('is repaired at the end, if it is killed again and again between changes of any stack', LONG, async () => {
    const deaths = fc.array(fc.record({ request: fc.integer({ min: 6, max: 24 }), when: fc.constantFrom(...WHEN) }), {
      minLength: 1,
      maxLength: 3,
    });
    const property = fc.asyncProperty(arbitraryHistory(2), deaths, async (stacks, crashes) => {
      const world = await createWorld({ tokenDirectory: folder });
      for (const stack of stacks)
        for (const death of crashes) await crashBetweenChanges(world, loadStack(stack), death);
      await expectConvergence(world, loadStack(stacks.at(-1) ?? []), folder);
    });
    await holds(property, 25);
  });
});

async function loadFolder(path: string): Promise<DesiredState> {
  const { sources } = await readManifestFiles([path], {
    cwd: process.cwd(),
    uid: process.getuid?.(),
    readStdin: async () => Buffer.from(''),
  });
  const { state, diagnostics } = validateManifests(sources, { env: NO_ENVIRONMENT });
  return assertDefined(state, JSON.stringify(diagnostics));
}

/** A world with resources of others, some of them similar to ours. */
async function createWorld(options: WorldOptions = {}): Promise<World> {
  const world = new World(options);
  for (const [path, body] of OTHER_USER_REQUESTS) await world.call('POST', path, body);
  return world;
}

/** Counts the requests of the last apply of some states. */
async function countRequests(states: readonly DesiredState[]): Promise<number> {
  const world = await createWorld();
  for (const state of states) {
    world.takeRequests();
    await world.migrate(state);
  }
  return world.takeRequests().length;
}

async function crashBetweenChanges(world: World, state: DesiredState, death: Death): Promise<void> {
  world.interpose(createDyingTransport(death));
  try {
    await world.apply(await world.plan(state));
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
  } finally {
    world.interpose();
  }
}

async function expectConvergence(world: World, state: DesiredState, folder: string): Promise<void> {
  const theirs = mapForeignResources(world.resources());
  await world.migrate(state);
  expect(listTouched(await world.plan(state))).toEqual([]);
  expect(mapForeignResources(world.resources())).toEqual(theirs);
  expect(theirs).toHaveLength(OTHER_USER_REQUESTS.length);
  const owned = listOwned(world.resources(), state.stack.name);
  expect(owned.map(({ address }) => address).sort()).toEqual(listWanted(state));
  for (const { address, id, delivered } of owned.filter(({ kind }) => kind === CREDENTIAL.name)) {
    expect(delivered).toBe(true);
    const [, name] = address.split('/');
    expect(readFileSync(join(folder, `${name}.token`), 'utf8')).toContain(`${id.replace('cr_', '')}_`);
  }
}
