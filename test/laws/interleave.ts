import type { Transport } from '../../src/model/transport.ts';

/** What a runner does its work with. */
export interface RunnerContext {
  /** Wraps a transport, so that its requests wait for their turn. */
  readonly over: (inner: Transport) => Transport;
  /** Waits until the other runner has sent a request, or has ended. */
  readonly pause: () => Promise<void>;
}

/** Sends one request at a time, beside another runner. */
export type Runner<T> = (context: RunnerContext) => Promise<T>;

/** The state of one runner. */
interface Turn {
  /** Lets the runner continue. Absent while it works. */
  release: (() => void) | undefined;
  /** Whether it waits until the other runner has sent a request. */
  isPaused: boolean;
  isOver: boolean;
}

/**
 * Runs two runners in every order in which their requests can reach the service, and calls `check` after each order. `prepare` creates them,
 * and what they work on, for each order. Resolves with the number of orders.
 */
export async function runEveryInterleaving<T>(
  prepare: () => Promise<readonly [Runner<T>, Runner<T>]>,
  check: (results: readonly T[], order: string) => void | Promise<void>,
): Promise<number> {
  let orders = 0;
  for (let choices: readonly number[] | undefined = []; choices !== undefined; ) {
    const interleaved: Interleaved<T> = await interleave(await prepare(), choices);
    await check(interleaved.results, interleaved.order.join(''));
    orders += 1;
    choices = createNextChoices(interleaved);
  }
  return orders;
}

interface Interleaved<T> {
  readonly results: readonly T[];
  /** The number of the runner that continued, at each step. */
  readonly order: readonly number[];
  /** Whether the other runner could have continued, at each step. */
  readonly isFree: readonly boolean[];
}

/** `choices`: the numbers of the runners that continue at the first steps. After these, the first runner comes first. */
async function interleave<T>(runners: readonly Runner<T>[], choices: readonly number[]): Promise<Interleaved<T>> {
  const turns = runners.map((): Turn => ({ release: undefined, isPaused: false, isOver: false }));
  let wake = (): void => undefined;
  const wait = (turn: Turn, isPaused: boolean): Promise<void> =>
    new Promise((resolve) => {
      Object.assign(turn, { release: resolve, isPaused });
      wake();
    });
  const running = turns.map(async (turn, index) => {
    const over = (inner: Transport): Transport => {
      return async (request) => {
        await wait(turn, false);
        return inner(request);
      };
    };
    try {
      return await runners[index]?.({ over, pause: () => wait(turn, true) });
    } finally {
      turn.isOver = true;
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
    const ready = listReady(turns);
    const next = choices[order.length] ?? ready[0];
    const turn = turns[next ?? -1];
    if (next === undefined || turn === undefined) break;
    order.push(next);
    isFree.push(ready.length > 1);
    for (const other of turns) if (other !== turn) other.isPaused = false;
    const { release } = turn;
    turn.release = undefined;
    release?.();
  }
  return { results: (await Promise.all(running)) as readonly T[], order, isFree }; // each turn has a runner
}

/** The numbers of the runners that can continue. A pause ends when no other runner can continue. */
function listReady(turns: readonly Turn[]): readonly number[] {
  const waiting = turns.flatMap(({ release }, index) => (release === undefined ? [] : [index]));
  const requests = waiting.filter((index) => turns[index]?.isPaused === false);
  return requests.length > 0 ? requests : waiting;
}

/** The choices for the next order: those of this one up to the last step at which the second runner can come first. */
function createNextChoices({ order, isFree }: Interleaved<unknown>): readonly number[] | undefined {
  const last = order.findLastIndex((choice, index) => choice === 0 && isFree[index] === true);
  return last < 0 ? undefined : [...order.slice(0, last), 1];
}
