/** A point that several have to reach before any goes on. */
export interface Gate {
  /** One has reached it, and does not wait. */
  readonly pass: () => void;
  /** One has reached it, and waits for the others. */
  readonly wait: () => Promise<void>;
}

/** A gate for that many. */
export function createGate(count: number): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  const pass = (): void => {
    left -= 1;
    if (left <= 0) resolve();
  };
  return {
    pass,
    wait: () => {
      pass();
      return promise;
    },
  };
}
