import { assertDefined } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Write, WriteId } from '../model/write.ts';

/** How writes are carried out in their order. */
export interface RunOptions {
  /** How a write ended before this run; `undefined`: it did not. */
  readonly find: (write: Write) => Outcome | undefined;
  /** Whether a write can go on after another that it needs, for how that ended. */
  readonly accepts: (write: Write, needed: Outcome) => boolean;
  /** Does one write, when all that it needs has succeeded. Never rejects because of the world. */
  readonly perform: (write: Write) => Promise<Outcome>;
  /** Called as each ends, with how many are over. */
  readonly onEnded: (outcome: Outcome, done: number) => void;
}

/**
 * Carries out the writes of a plan: each as soon as the writes that it needs have succeeded, the last ones when all others are over. When
 * one fails, those that depend on it are skipped and the rest goes on. Every write needs only writes that stand before it.
 */
export async function runWrites(
  writes: readonly Write[],
  { find, accepts, perform, onEnded }: RunOptions,
): Promise<readonly Outcome[]> {
  const running = new Map<WriteId, Promise<Outcome>>();
  let ended = 0;
  const start = (write: Write, before: Promise<unknown>): Promise<Outcome> => {
    const needed = write.needs.map((id) => assertDefined(running.get(id), `write ${id}`));
    const outcome = Promise.all([before, ...needed]).then(async ([, ...results]) => {
      const result =
        find(write) ??
        toSkipped(
          write,
          results.filter((needed) => !accepts(write, needed)),
        ) ??
        (await perform(write));
      ended += 1;
      onEnded(result, ended);
      return result;
    });
    running.set(write.id, outcome);
    return outcome;
  };
  const early = writes.filter(({ last }) => !last).map((write) => start(write, NOTHING));
  const late = writes.filter(({ last }) => last).map((write) => start(write, Promise.all(early)));
  return Promise.all([...early, ...late]);
}

const NOTHING = Promise.resolve();

function toSkipped(write: Write, inVain: readonly Outcome[]): Outcome | undefined {
  const waitedFor = inVain.map((result) => result.write.id);
  if (waitedFor.length === 0) return undefined;
  return { outcome: 'skipped', write, message: `waited for ${waitedFor.join(', ')}`, waitedFor };
}
