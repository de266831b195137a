import type { Transport } from '../../src/model/transport.ts';

/** One of several that send requests at the same time, one request at a time each. */
interface Turn {
  /** Lets the request that waits go on. */
  release: (() => void) | undefined;
  isOver: boolean;
}

/** What runs with the transport that it is given. */
export type Runner<T> = (toTransport: (inner: Transport) => Transport) => Promise<T>;

/**
 * Runs both in every order in which their requests can reach the service, and calls `check` after each. `prepare` makes what they
 * run on anew each time. Gives the number of orders.
 */
export async function interleaveAll<T>(
  prepare: () => Promise<readonly [Runner<T>, Runner<T>]>,
  check: (results: readonly T[], order: string) => void | Promise<void>,
): Promise<number> {
  let orders = 0;
  for (let choices: readonly number[] | undefined = []; choices !== undefined; ) {
    const played: Played<T> = await play(await prepare(), choices);
    await check(played.results, played.order.join(''));
    orders += 1;
    choices = toNext(played);
  }
  return orders;
}

interface Played<T> {
  readonly results: readonly T[];
  /** Whose request came next, at each step. */
  readonly order: readonly number[];
  /** Whether the other could have been next. */
  readonly isFree: readonly boolean[];
}

async function play<T>(runners: readonly Runner<T>[], choices: readonly number[]): Promise<Played<T>> {
  const turns = runners.map((): Turn => ({ release: undefined, isOver: false }));
  let wake = (): void => undefined;
  const running = runners.map(async (runner, index) => {
    const turn = turns[index];
    try {
      return await runner((inner) => async (request) => {
        await new Promise<void>((resolve) => {
          if (turn !== undefined) turn.release = resolve;
          wake();
        });
        return inner(request);
      });
    } finally {
      if (turn !== undefined) turn.isOver = true;
      wake();
    }
  });
  const order: number[] = [];
  const isFree: boolean[] = [];
  for (;;) {
    while (turns.some(({ release, isOver }) => release === undefined && !isOver))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    const ready = turns.flatMap(({ release }, index) => (release === undefined ? [] : [index]));
    const next = choices[order.length] ?? ready[0];
    const turn = turns[next ?? -1];
    if (next === undefined || turn === undefined) break;
    const { release } = turn;
    turn.release = undefined;
    order.push(next);
    isFree.push(ready.length > 1);
    release?.();
  }
  return { results: await Promise.all(running), order, isFree };
}

/** The next order, when the last step at which 1 was free to come instead of 0 is taken the other way. */
function toNext<T>({ order, isFree }: Played<T>): readonly number[] | undefined {
  const last = order.findLastIndex((choice, index) => choice === 0 && isFree[index] === true);
  return last < 0 ? undefined : [...order.slice(0, last), 1];
}
