import { assertDefined } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Write, WriteId } from '../model/write.ts';

/** How writes are carried out in their order. */
export interface RunOptions {
  /** How a write ended before this run; `undefined`: it did not. */
  readonly find: (write: Write) => Outcome | undefined;
  /** Whether a write can start, given how one of its dependencies ended. */
  readonly accepts: (write: Write, needed: Outcome) => boolean;
  /** Makes one write whose dependencies have succeeded. Never rejects because of the service or the network. */
  readonly perform: (write: Write) => Promise<Outcome>;
  /** Called when a write ends, with the number that have ended. */
  readonly onEnded: (outcome: Outcome, done: number) => void;
}

/**
 * Runs the writes of a plan: each as soon as its dependencies have succeeded, those marked `last` when all others have ended. When a write
 * fails, writes that depend on it are skipped and the others go on. A write depends only on writes before it in the list.
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
