import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import { arbitraryHistory } from '../laws/arbitrary-manifests.ts';
import { toChanges } from './planned-changes.ts';
import { createRandom } from './random.ts';
import { listClaimKeys, type Repository, toRepositories } from './repository.ts';
import { simulate } from './simulate.ts';
import { runWalk } from './walk.ts';
import { renderFailure } from './walk-shares.ts';

describe('a simulation', () => {
  it('is the same for the same seed, and another for another', async () => {
    const [first, second, third] = await listTraces({ from: 2, count: 3 });
    expect(first).toMatch(/run 1: edgewise /);
    expect(second).not.toBe(first);
    expect(await listTraces({ from: 4, count: 1 })).toEqual([third]);
  });

  it('shows how to repeat a failure, with what was done and sent', async () => {
    const walked = await runWalk(2, () => async () => Response.json({}));
    expect(walked.violations.length).toBeGreaterThan(0);
    expect(renderFailure(walked)).toMatch(/\nAgain: npm run simulate -- --seeds 1 --from 2\n/);
    expect(renderFailure(walked)).toMatch(/run 1: edgewise /);
  });
});

describe('the effects of a plan', () => {
  it('are the same a minute later, and others for another plan', () => {
    const [sooner, later, other] = ['119 minutes', '118 minutes', undefined].map((left) =>
      toChanges(
        JSON.stringify({
          stacks: [{ plan: { changes: [{ address: 'Credential/b', notes: left && [`rotates in ${left}`] }] } }],
        }),
      ),
    );
    expect(sooner).toBe(later);
    expect(sooner).not.toBe(other);
  });
});

describe('a generated repository', () => {
  it('hands over no resource that claims a value of another hand-over', () => {
    const seeds = Array.from({ length: 200 }, (_, seed) => seed);
    const swapped = seeds.flatMap((seed) => {
      const options = { kinds: [getKind('TCPEdge')], minResources: 3, maxResources: 6 };
      const [first, second] = fc.sample(arbitraryHistory(1, options), { seed, numRuns: 1 }).flat();
      const history = [first ?? [], second ?? []];
      return listSwapped(toRepositories(history, createRandom(String(seed)), { moving: 0.9 }));
    });
    expect(swapped).toEqual([]);
  });
});

/** Lists resources that are handed over and claim a value of another one that is handed over. */
function listSwapped([before = [], after = []]: readonly Repository[]): readonly string[] {
  const moving = after.flatMap(({ members }) => members.filter(({ lifecycle }) => lifecycle.takenFrom !== undefined));
  const addresses = new Set(moving.map(({ kind, name }) => toAddress(kind, name)));
  const claims = new Map(
    before.flatMap(({ members }) =>
      members.flatMap((one) => listClaimKeys(one).map((key) => [key, toAddress(one.kind, one.name)] as const)),
    ),
  );
  return moving.flatMap((one) => {
    const address = toAddress(one.kind, one.name);
    return listClaimKeys(one).filter((key) => {
      const holder = claims.get(key);
      return holder !== undefined && holder !== address && addresses.has(holder);
    });
  });
}

/** Returns the steps and requests of some walks. */
async function listTraces({ from, count }: { readonly from: number; readonly count: number }) {
  const { exitCode, output } = await simulate(['--trace', '--seeds', String(count), '--from', String(from)]);
  expect(exitCode, output).toBe(0);
  return output
    .split(/^walk \d+\n/m)
    .slice(1)
    .map((walked) => walked.split('\n\n')[0]);
}
