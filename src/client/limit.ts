/** Lets only so many tasks run at once, in the order in which they came. */
export interface Limit {
  /** Runs a task once a place is free. Tasks must not wait for further tasks of the same limit. */
  <T>(run: () => Promise<T>): Promise<T>;
  /**
   * Calls `start` once a place is free, which the first task that it hands over before it returns takes. Until then nothing else is kept of what will
   * be started: ten thousand promises that wait take as much memory as all that they are about.
   */
  readonly inTurn: (start: () => void) => void;
}

/** What follows from the end of a task, such as telling of it or ending all others, comes first: the next task starts so many microtasks later. */
const STEPS_BETWEEN = 5;

/** A limit of that many places. */
export function createLimit(concurrency: number): Limit {
  const waiting = new Queue<() => void>();
  let free = concurrency;
  let isReserved = false;
  let isServing = false;
  const serve = (): void => {
    // What is called may come back here.
    if (isServing) return;
    isServing = true;
    try {
      while (free > 0) {
        const next = waiting.take();
        if (next === undefined) return;
        next();
      }
    } finally {
      isServing = false;
    }
  };
  const release = async (): Promise<void> => {
    for (let step = 0; step < STEPS_BETWEEN; step += 1) await undefined;
    free += 1;
    serve();
  };
  const occupy = <T>(run: () => Promise<T>): Promise<T> => {
    free -= 1;
    const ended = run();
    ended.then(release, release);
    return ended;
  };
  const limit = <T>(run: () => Promise<T>): Promise<T> => {
    if (isReserved) {
      isReserved = false;
      return occupy(run);
    }
    return new Promise((resolve) => {
      waiting.put(() => resolve(occupy(run)));
      serve();
    });
  };
  const inTurn = (start: () => void): void => {
    waiting.put(() => {
      isReserved = true;
      try {
        start();
      } finally {
        isReserved = false;
      }
    });
    serve();
  };
  return Object.assign(limit, { inTurn });
}

/** First in, first out. Each step takes the same time, however many wait. */
class Queue<T> {
  #coming: T[] = [];
  #going: T[] = [];

  put(one: T): void {
    this.#coming.push(one);
  }

  take(): T | undefined {
    if (this.#going.length === 0) {
      this.#going = this.#coming.reverse();
      this.#coming = [];
    }
    return this.#going.pop();
  }
}
