import { describe, expect, it } from 'vitest';
import { createResourceOnce } from '../../src/apply/create-resource.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import type { LiveResource } from '../../src/model/state.ts';

const LOST = new NetworkError('the connection was lost');
const UNSENT = new NetworkError('the connection was refused', { isUnsent: true });

function toLive(id: string): LiveResource {
  return { kind: 'TCPEdge', id, createdAt: '', spec: {}, mark: undefined, markError: undefined, computed: {} };
}

/**
 * Sends a create to a service with these responses to it and to the look-ups. The last of each is repeated. Returns what was sent, and the
 * outcome.
 */
async function create(answers: readonly (string | Error | undefined)[], looks: readonly (readonly string[] | Error)[]) {
  const log: string[] = [];
  const next = <T>(list: readonly T[], name: string): T => {
    const value = list[Math.min(log.filter((entry) => entry === name).length, list.length - 1)];
    log.push(name);
    if (value instanceof Error) throw value;
    return value as T; // lists are never empty
  };
  const outcome = createResourceOnce({
    send: async () => next(answers, 'send'),
    look: async () => (next(looks, 'look') as readonly string[]).map(toLive), // errors are thrown before
    sleep: async (ms) => {
      log.push(`${ms} ms`);
    },
  });
  const result = await outcome.catch((error: unknown) => error);
  return { result, log };
}

describe('a creation', () => {
  it('is not looked up after a response', async () => {
    expect(await create(['made'], [[]])).toEqual({ result: { answer: 'made' }, log: ['send'] });
  });

  it('is looked up if there is no response, and the oldest resource found is used', async () => {
    const { result, log } = await create([LOST], [['old', 'new']]);
    expect(result).toMatchObject({ found: { id: 'old' } });
    expect(log).toEqual(['send', 'look']);
  });

  it('is found by the second look-up if a list shows it late', async () => {
    const { result, log } = await create([new TimeoutError('late')], [[], ['late']]);
    expect(result).toMatchObject({ found: { id: 'late' } });
    expect(log).toEqual(['send', 'look', '1000 ms', 'look']);
  });

  it('is sent again if it is not found', async () => {
    const { result, log } = await create([LOST, 'made'], [[]]);
    expect(result).toEqual({ answer: 'made' });
    expect(log).toEqual(['send', 'look', '1000 ms', 'look', 'send']);
  });

  it('is sent at most three times, with longer pauses, and then fails with the first error', async () => {
    const { result, log } = await create([LOST], [[]]);
    expect(result).toBe(LOST);
    expect(log.filter((entry) => entry === 'send')).toHaveLength(3);
    expect(log.filter((entry) => entry.endsWith('ms'))).toEqual(['1000 ms', '2000 ms', '4000 ms']);
  });

  it('is unknown and not sent again if its look-up fails because of the network', async () => {
    const { result, log } = await create([LOST], [new NetworkError('gone')]);
    expect(result).toBe(LOST);
    expect(log).toEqual(['send', 'look']);
  });

  it('fails with a programming error of its look-up', async () => {
    const bug = new Error('a bug');
    expect((await create([LOST], [bug])).result).toBe(bug);
  });

  it('fails at once if it was certainly not sent', async () => {
    expect(await create([UNSENT], [[]])).toEqual({ result: UNSENT, log: ['send'] });
  });

  it('has no outcome if it is interrupted before the first attempt, and the earlier failure after one', async () => {
    expect((await create([undefined], [[]])).result).toBeUndefined();
    expect((await create([LOST, undefined], [[]])).result).toBe(LOST);
  });
});
