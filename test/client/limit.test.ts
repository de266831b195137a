import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLimit } from '../../src/client/limit.ts';

/** A limit of two places, and what became of what was handed to it. */
function observe() {
  const limit = createLimit(2);
  const seen: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => () => {
    seen.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await setImmediate();
  };
  return { limit, seen, task, end };
}

it('runs as many tasks as it has places, and starts the others in the order in which they came', async () => {
  const { limit, seen, task, end } = observe();
  limit(task('a'));
  limit.inTurn(() => {
    seen.push('turn of b');
    limit(task('b'));
  });
  limit.inTurn(() => {
    seen.push('turn of c');
    limit(task('c'));
  });
  limit(task('d'));
  expect(seen).toEqual(['a', 'turn of b', 'b']);
  await end('b');
  expect(seen).toEqual(['a', 'turn of b', 'b', 'turn of c', 'c']);
  await end('a');
  expect(seen.at(-1)).toBe('d');
});

it('gives a place on that nothing takes, and one whose task fails', async () => {
  const { limit, seen, task, end } = observe();
  limit(task('a'));
  const failing = limit(() => Promise.reject(new Error('refused')));
  limit.inTurn(() => seen.push('nothing to do'));
  limit(task('b'));
  await expect(failing).rejects.toThrow('refused');
  await setImmediate();
  expect(seen).toEqual(['a', 'nothing to do', 'b']);
  limit(task('c'));
  await end('a');
  expect(seen.at(-1)).toBe('c');
});

it('lets a start hand over one task in its place: the next one waits', async () => {
  const { limit, seen, task, end } = observe();
  limit(task('a'));
  limit.inTurn(() => {
    limit(task('b'));
    limit(task('c'));
  });
  expect(seen).toEqual(['a', 'b']);
  await end('a');
  expect(seen).toEqual(['a', 'b', 'c']);
});
