import { describe, expect, it } from 'vitest';
import { listWrites } from '../repository/tree.ts';
import { LONG, selectEvenly } from '../tries.ts';
import {
  applyUntilDone,
  createRepositoryWorkspace,
  describeLive,
  describeWanted,
  type Graph,
  hasNoCircle,
  listGraphs,
  listShapes,
  listSubsets,
  type Repository,
  toFiles,
  toRepository,
} from './stack-graphs.ts';

/** Applies a change of a repository, with at most that many applies. */
async function expectChanged(before: Repository, after: Repository, most: number): Promise<void> {
  const workspace = await createRepositoryWorkspace(before);
  expect(describeLive(workspace)).toEqual(describeWanted(before));
  const ids = new Map(
    (workspace.server.snapshot().resources?.['WeightedBackend'] ?? []).map((one) => [one['id'], one]),
  );
  await workspace.write(toFiles(after, before));
  await applyUntilDone(workspace, most);
  expect(describeLive(workspace)).toEqual(describeWanted(after));
  // A resource that stays, or moves to another stack, keeps its id.
  const kept = Object.keys(after.homes).filter((pool) => before.homes[pool] !== undefined);
  const now = (workspace.server.snapshot().resources?.['WeightedBackend'] ?? []).map((one) => one['id']);
  expect(now.filter((id) => ids.has(id))).toHaveLength(kept.length);
}

function toText(graph: Graph): string {
  return graph.length === 0 ? 'no reference' : graph.map(([user, used]) => `${user}→${used}`).join(' ');
}

const SMALL = [2, 3].flatMap((count) => listGraphs(count).map((graph) => ({ count, graph })));
/** One graph of each shape: the 543 graphs of four stacks have 31 shapes. */
const LARGE = listShapes(4).map((graph) => ({ count: 4, graph }));

/** The number of cases in one test. Each takes at least two applies. */
const MOST = 120;

/** Each takes many applies of a single stack. */
const MOST_ALONE = 20;

describe('stacks with references, in every graph of three and every shape of four', () => {
  it('are applied in one run, whichever of them change', LONG, async () => {
    for (const { count, graph } of selectEvenly([...SMALL, ...LARGE])) {
      const before = toRepository(count, graph);
      const workspace = await createRepositoryWorkspace(before);
      for (const changed of listSubsets(before.stacks)) {
        const texts = Object.fromEntries(before.stacks.map((name) => [name, changed.includes(name) ? 'new' : 'old']));
        await workspace.write(toFiles({ ...before, texts }));
        await applyUntilDone(workspace, 1).catch((error: Error) => {
          throw new Error(`${toText(graph)}, of which ${changed.join(' ')} change: ${error.message}`);
        });
      }
    }
  });

  it('are applied from saved plans in one run, whichever of them change', LONG, async () => {
    for (const { count, graph } of selectEvenly(SMALL)) {
      const before = toRepository(count, graph);
      const workspace = await createRepositoryWorkspace(before);
      for (const changed of listSubsets(before.stacks)) {
        const texts = Object.fromEntries(before.stacks.map((name) => [name, changed.includes(name) ? 'new' : 'old']));
        await workspace.write(toFiles({ ...before, texts }));
        await applyUntilDone(workspace, 1, { isSaved: true }).catch((error: Error) => {
          throw new Error(`${toText(graph)}, of which ${changed.join(' ')} change: ${error.message}`);
        });
      }
    }
  });

  it('are applied in one run after their references change direction', LONG, async () => {
    const pairs = SMALL.flatMap(({ count, graph }) =>
      SMALL.filter((other) => other.count === count).map((other) => ({ count, from: graph, to: other.graph })),
    );
    for (const { count, from, to } of selectEvenly(pairs, MOST)) {
      const before = toRepository(count, from);
      await expectChanged(before, toRepository(count, to), 1).catch((error: Error) => {
        throw new Error(`from ${toText(from)} to ${toText(to)}: ${error.message}`);
      });
    }
  });

  it('have the same result as single applies in either order', LONG, async () => {
    const pairs = SMALL.flatMap(({ count, graph }) =>
      SMALL.filter((other) => other.count === count).map((other) => ({ count, from: graph, to: other.graph })),
    );
    for (const { count, from, to } of selectEvenly(pairs, MOST_ALONE)) {
      const [before, after] = [toRepository(count, from), toRepository(count, to)];
      for (const stacks of [before.stacks, before.stacks.toReversed()]) {
        const workspace = await createRepositoryWorkspace(before);
        await workspace.write(toFiles(after, before));
        // The wrong order for a reference takes one more apply of the stack that refers.
        for (const name of [...stacks, ...stacks, ...stacks]) await workspace.edgewise(`apply live/${name} --yes`);
        expect(describeLive(workspace), `${toText(from)} to ${toText(to)}, ${stacks}`).toEqual(describeWanted(after));
      }
    }
  });

  it('delete pools that were used, in one run', LONG, async () => {
    const cases = [...SMALL, ...LARGE].flatMap(({ count, graph }) => {
      const before = toRepository(count, graph);
      return listSubsets(Object.keys(before.homes)).map((gone) => ({ graph, before, gone }));
    });
    for (const { graph, before, gone } of selectEvenly(cases, MOST)) {
      const keeps = (pool: string): boolean => !gone.includes(pool);
      const after = {
        ...before,
        homes: Object.fromEntries(Object.entries(before.homes).filter(([pool]) => keeps(pool))),
        uses: Object.fromEntries(before.stacks.map((name) => [name, (before.uses[name] ?? []).filter(keeps)])),
      };
      await expectChanged(before, after, 1).catch((error: Error) => {
        throw new Error(`${toText(graph)} without ${gone.join(' ')}: ${error.message}`);
      });
    }
  });

  it('hand over pools to each other, and references follow in the same run', LONG, async () => {
    const cases = SMALL.flatMap(({ count, graph }) => {
      const before = toRepository(count, graph);
      return listHomes(before).map((homes) => ({ graph, before, after: { ...before, homes } }));
    });
    for (const { graph, before, after } of selectEvenly(
      cases.filter((one) => hasNoCircle(one.after)),
      MOST,
    )) {
      await expectChanged(before, after, 1).catch((error: Error) => {
        throw new Error(`${toText(graph)}, with pools at ${JSON.stringify(after.homes)}: ${error.message}`);
      });
    }
  });

  it(
    'pass on hostports, and release or delete pools at the same time, with one apply for each step of a hostport',
    LONG,
    async () => {
      const cases = SMALL.flatMap(({ count, graph }) => {
        const start = toRepository(count, graph);
        return listPorts(start.stacks).flatMap((ports) =>
          [start.homes, {}].map((homes) => ({ graph, start, ports, homes })),
        );
      });
      for (const { graph, start, ports, homes } of selectEvenly(cases, MOST)) {
        const before = { ...start, ports: ports.before };
        const after = { ...toRepository(start.stacks.length, []), homes, ports: ports.after };
        await expectChanged(before, after, start.stacks.length).catch((error: Error) => {
          throw new Error(
            `${toText(graph)}, ports ${JSON.stringify(ports)}, pools ${Object.keys(homes)}: ${error.message}`,
          );
        });
      }
    },
  );

  it('pass on hostports while they begin to refer to new pools of each other', LONG, async () => {
    const cases = SMALL.flatMap(({ count, graph }) => {
      const after = toRepository(count, graph);
      return listPorts(after.stacks).map((ports) => ({ graph, after, ports }));
    });
    for (const { graph, after, ports } of selectEvenly(cases, MOST)) {
      const before = { stacks: after.stacks, homes: {}, uses: {}, ports: ports.before };
      await expectChanged(before, { ...after, ports: ports.after }, after.stacks.length).catch((error: Error) => {
        throw new Error(`to ${toText(graph)}, ports ${JSON.stringify(ports)}: ${error.message}`);
      });
    }
  });

  it('are refused exactly if they exchange hostports', LONG, async () => {
    for (const count of [2, 3, 4]) {
      const start = toRepository(count, []);
      for (const ports of selectEvenly(listPortChanges(start.stacks), MOST)) {
        const before = { ...start, homes: {}, ports: ports.before };
        const workspace = await createRepositoryWorkspace(before);
        await workspace.write(toFiles({ ...before, ports: ports.after }, before));
        const { exitCode, stdout } = await workspace.edgewise('plan -R live --allow-deletes');
        const refused = [...stdout.matchAll(/^(\S+) +live\/\S+ +⛔ refused by 1 safety rule/gm)].map(
          ([, name]) => name,
        );
        const exchanging = listExchanging(ports);
        expect(refused, JSON.stringify(ports)).toEqual(exchanging);
        // Beside a refused stack, the others keep what they would delete.
        const refusal = stdout.includes('kept-prune') ? 1 : 5;
        expect(exitCode).toBe(exchanging.length > 0 ? refusal : 0);
      }
    }
  });

  it('send nothing if nothing changed', LONG, async () => {
    for (const { count, graph } of selectEvenly(SMALL)) {
      const workspace = await createRepositoryWorkspace(toRepository(count, graph));
      listWrites(workspace);
      expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
      expect(listWrites(workspace)).toEqual([]);
    }
  });
});

/** Lists every assignment of pools to the stacks of a repository. */
function listHomes({ stacks, homes }: Repository): readonly Readonly<Record<string, string>>[] {
  return Object.keys(homes).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, pool) => all.flatMap((known) => stacks.map((stack) => ({ ...known, [pool]: stack }))),
    [{}],
  );
}

type Ports = Readonly<Record<string, number>>;

interface PortChange {
  readonly before: Ports;
  readonly after: Ports;
}

/** Lists hostports of the stacks before and after, without stacks that exchange them: that needs a third value. */
function listPorts(stacks: readonly string[]): readonly PortChange[] {
  return listPortChanges(stacks).filter((one) => listExchanging(one).length === 0);
}

function listPortChanges(stacks: readonly string[]): readonly PortChange[] {
  const before = Object.fromEntries(stacks.map((name, at) => [name, 20_001 + at]));
  const values = [...Object.values(before), 20_009];
  const all = stacks.reduce<readonly Ports[]>(
    (known, stack) =>
      known.flatMap((ports) => [
        ports,
        ...values.filter((port) => !Object.values(ports).includes(port)).map((port) => ({ ...ports, [stack]: port })),
      ]),
    [{}],
  );
  return all.map((after) => ({ before, after }));
}

/** Lists the stacks that wait for themselves: each needs the hostport that the next one has. */
function listExchanging({ before, after }: PortChange): readonly string[] {
  const stacks = Object.keys(before);
  const follow = (stack: string): string | undefined =>
    stacks.find((other) => other !== stack && before[other] === after[stack]);
  return stacks.filter((start) => {
    let at = follow(start);
    for (let step = 0; step < stacks.length && at !== undefined; step += 1) {
      if (at === start) return true;
      at = follow(at);
    }
    return false;
  });
}
