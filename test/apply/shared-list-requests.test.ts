import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LookUps } from '../../src/apply/look-ups.ts';
import { ObservedResponseFields } from '../../src/kinds/observed-response-fields.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { NO_OP_SECRET_REDACTOR } from '../../src/model/secrets.ts';

const KIND = getKind('WeightedBackend');

/** Runs the event loop until a scheduled list has started. */
async function runEventLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
}

/** Shared list requests that are answered when the test says so. */
function createListRequests() {
  const waiting: PromiseWithResolvers<readonly []>[] = [];
  const lookUps = new LookUps({
    list: async () => {
      const answer = Promise.withResolvers<readonly []>();
      waiting.push(answer);
      return answer.promise;
    },
    shown: new ObservedResponseFields(NO_OP_SECRET_REDACTOR),
    known: new Set(),
  });
  return { lookUps, waiting };
}

it('shares the next list among all callers that request it while one is read', async () => {
  const { lookUps, waiting } = createListRequests();
  const first = lookUps.list(KIND);
  await runEventLoop();
  const others = [lookUps.list(KIND), lookUps.list(KIND), lookUps.list(KIND)];
  await runEventLoop();
  expect(waiting).toHaveLength(1);
  waiting[0]?.resolve([]);
  await first;
  await runEventLoop();
  expect(waiting).toHaveLength(2);
  waiting[1]?.resolve([]);
  expect(await Promise.all(others)).toMatchObject([{ all: [] }, { all: [] }, { all: [] }]);
  expect(lookUps.count).toBe(2);
});

it('rejects each caller that shares a failed list, and reads the next one', async () => {
  const { lookUps, waiting } = createListRequests();
  const shared = [lookUps.list(KIND), lookUps.list(KIND)].map((list) => list.catch((error: unknown) => error));
  await runEventLoop();
  const next = lookUps.list(KIND);
  const fault = new Error('gone');
  waiting[0]?.reject(fault);
  expect(await Promise.all(shared)).toEqual([fault, fault]);
  await runEventLoop();
  waiting[1]?.resolve([]);
  expect(await next).toMatchObject({ all: [] });
});

it('reads lists of two kinds at the same time', async () => {
  const { lookUps, waiting } = createListRequests();
  void lookUps.list(KIND);
  void lookUps.list(getKind('TCPEdge'));
  await runEventLoop();
  expect(waiting).toHaveLength(2);
});
