import { describe, expect, it } from 'vitest';
import { findConcurrentDuplicates } from '../../src/apply/duplicates.ts';
import { LookUps } from '../../src/apply/look-ups.ts';
import { ObservedResponseFields } from '../../src/kinds/observed-response-fields.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { NO_OP_SECRET_REDACTOR } from '../../src/model/secrets.ts';
import { type CreateWrite, toWriteId } from '../../src/model/write.ts';

const WRITE: CreateWrite = {
  purpose: 'create',
  method: 'POST',
  id: toWriteId({ purpose: 'create', address: 'WeightedBackend/pool' }),
  kind: 'WeightedBackend',
  address: 'WeightedBackend/pool',
  body: {},
  mark: { stack: 'shop', name: 'pool', protect: false, delivered: false, fields: {}, pending: {}, user: '' },
  dependsOn: [],
  last: false,
  reason: 'it is not there yet',
};

/** A backend with this name that was created in that second. */
function toBackend(id: string, second: number, name = 'pool'): JsonObject {
  const metadata = JSON.stringify({ edgewise: { stack: 'shop', name } });
  return { id, created_at: `2026-03-01T12:00:0${second}Z`, metadata, backends: {} };
}

/** Looks for duplicates of the created resource `ours`, with these responses to its list requests. */
async function findDuplicates(ours: string, lists: readonly (readonly JsonObject[])[], known: readonly string[] = []) {
  let looks = 0;
  const lookUps = new LookUps({
    list: async () => {
      looks += 1;
      return lists[Math.min(looks, lists.length) - 1] ?? [];
    },
    shown: new ObservedResponseFields(NO_OP_SECRET_REDACTOR),
    known: new Set(known),
  });
  const found = await findConcurrentDuplicates({ write: WRITE, id: ours }, { lookUps, sleep: async () => undefined });
  const losers = found.is === 'kept' ? found.losers : [];
  return { winner: found.is === 'duplicate' ? found.winner.id : undefined, losers: losers.map(({ id }) => id), looks };
}

describe('two resources with one mark that two applies create', () => {
  it('leave the older one', async () => {
    const list = [toBackend('bkdwd_a', 2), toBackend('bkdwd_b', 1)];
    expect(await findDuplicates('bkdwd_a', [list])).toMatchObject({ winner: 'bkdwd_b' });
    expect(await findDuplicates('bkdwd_b', [list])).toMatchObject({ winner: undefined, losers: ['bkdwd_a'] });
  });

  it.each([
    ['bkdwd_a', 'bkdwd_b'],
    ['bkdwd_b', 'bkdwd_a'],
  ])(
    'leave the one that the service lists later, if both were created in one second: %s, then %s',
    async (newer, older) => {
      const list = [toBackend(newer, 1), toBackend(older, 1)];
      expect(await findDuplicates(newer, [list])).toMatchObject({ winner: older });
      expect(await findDuplicates(older, [list])).toMatchObject({ winner: undefined, losers: [newer] });
    },
  );

  it('are not confused with a resource of the plan or of another name', async () => {
    const list = [toBackend('bkdwd_a', 3), toBackend('bkdwd_b', 1), toBackend('bkdwd_c', 2, 'other')];
    expect(await findDuplicates('bkdwd_a', [list], ['bkdwd_b'])).toMatchObject({ winner: undefined, losers: [] });
  });
});

describe('a list that does not show a new resource', () => {
  it('is read again', async () => {
    const late = [toBackend('bkdwd_a', 2), toBackend('bkdwd_b', 1)];
    expect(await findDuplicates('bkdwd_a', [[], late])).toEqual({ winner: 'bkdwd_b', losers: [], looks: 2 });
  });

  it('is read seven times in half a minute, and a resource that it then shows counts', async () => {
    expect(await findDuplicates('bkdwd_a', [[]])).toEqual({ winner: undefined, losers: [], looks: 7 });
    expect(await findDuplicates('bkdwd_a', [[toBackend('bkdwd_b', 1)]])).toEqual({
      winner: 'bkdwd_b',
      losers: [],
      looks: 7,
    });
  });
});
