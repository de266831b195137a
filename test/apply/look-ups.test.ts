import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LookUps } from '../../src/apply/look-ups.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';

const KIND = getKind('WeightedBackend');

/** Look-ups of a list whose answers wait until they are given. */
function createLookUps() {
  const waiting: PromiseWithResolvers<readonly []>[] = [];
  const lookUps = new LookUps(async () => {
    const answer = Promise.withResolvers<readonly []>();
    waiting.push(answer);
    return answer.promise;
  });
  return { lookUps, waiting };
}

it('who asks while a list is under way shares the next one, which starts after it', async () => {
  const { lookUps, waiting } = createLookUps();
  const first = lookUps.list(KIND);
  await setImmediate();
  const others = [lookUps.list(KIND), lookUps.list(KIND), lookUps.list(KIND)];
  await setImmediate();
  expect(waiting).toHaveLength(1);
  waiting[0]?.resolve([]);
  await first;
  await setImmediate();
  expect(waiting).toHaveLength(2);
  waiting[1]?.resolve([]);
  expect(await Promise.all(others)).toEqual([[], [], []]);
  expect(lookUps.count).toBe(2);
});

it('a list that fails fails for who shares it, and the next one is asked for all the same', async () => {
  const { lookUps, waiting } = createLookUps();
  const shared = [lookUps.list(KIND), lookUps.list(KIND)].map((list) => list.catch((error: unknown) => error));
  await setImmediate();
  const next = lookUps.list(KIND);
  const fault = new Error('gone');
  waiting[0]?.reject(fault);
  expect(await Promise.all(shared)).toEqual([fault, fault]);
  await setImmediate();
  waiting[1]?.resolve([]);
  expect(await next).toEqual([]);
});

it('lists of two kinds do not wait for each other', async () => {
  const { lookUps, waiting } = createLookUps();
  void lookUps.list(KIND);
  void lookUps.list(getKind('TCPEdge'));
  await setImmediate();
  expect(waiting).toHaveLength(2);
});
