import { describe, expect, it } from 'vitest';
import { JournalWriteError } from '../../src/apply/journal.ts';
import { createResourceOnce } from '../../src/apply/perform-write.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import type { LiveResource } from '../../src/model/state.ts';

const LOST = new NetworkError('the connection was lost');
const UNSENT = new NetworkError('the connection was refused', { isUnsent: true });

function toLive(id: string): LiveResource {
  return { kind: 'TCPEdge', id, createdAt: '', spec: {}, mark: undefined, markError: undefined, computed: {} };
}

/** Creates with these answers to the creation and to the looks, the last of each for ever, and says what was done. */
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
  it('that is answered is not looked up', async () => {
    expect(await create(['made'], [[]])).toEqual({ result: { answer: 'made' }, log: ['send'] });
  });

  it('without an answer is looked up, and the oldest of what is found is taken', async () => {
    const { result, log } = await create([LOST], [['old', 'new']]);
    expect(result).toMatchObject({ found: { id: 'old' } });
    expect(log).toEqual(['send', 'look']);
  });

  it('that a list shows late is found by the second look', async () => {
    const { result, log } = await create([new TimeoutError('late')], [[], ['late']]);
    expect(result).toMatchObject({ found: { id: 'late' } });
    expect(log).toEqual(['send', 'look', '1000 ms', 'look']);
  });

  it('that is not there is sent again', async () => {
    const { result, log } = await create([LOST, 'made'], [[]]);
    expect(result).toEqual({ answer: 'made' });
    expect(log).toEqual(['send', 'look', '1000 ms', 'look', 'send']);
  });

  it('is sent three times at most, with longer pauses, and then fails as it failed', async () => {
    const { result, log } = await create([LOST], [[]]);
    expect(result).toBe(LOST);
    expect(log.filter((entry) => entry === 'send')).toHaveLength(3);
    expect(log.filter((entry) => entry.endsWith('ms'))).toEqual(['1000 ms', '2000 ms', '4000 ms']);
  });

  it.each([
    ['the network', new NetworkError('gone')],
    ['the journal', new JournalWriteError('full')],
  ])('whose look-up fails because of %s is unknown, and not sent again', async (_, failure) => {
    const { result, log } = await create([LOST], [failure]);
    expect(result).toBe(LOST);
    expect(log).toEqual(['send', 'look']);
  });

  it('whose look-up fails because of the program itself fails so', async () => {
    const bug = new Error('a bug');
    expect((await create([LOST], [bug])).result).toBe(bug);
  });

  it('that surely was not sent fails at once', async () => {
    expect(await create([UNSENT], [[]])).toEqual({ result: UNSENT, log: ['send'] });
  });

  it('that is interrupted before it was sent comes to nothing, and after that to the failure before', async () => {
    expect((await create([undefined], [[]])).result).toBeUndefined();
    expect((await create([LOST, undefined], [[]])).result).toBe(LOST);
  });
});
