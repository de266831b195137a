import type { Client } from '../../client/client.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Context } from '../context.ts';
import { isLogWanted } from '../output/log-level.ts';
import { createStatusLine } from '../output/status-line.ts';

/** Says what is being read when reading takes long. */
export interface ReadingWatch {
  /** A client whose reads are watched. */
  readonly watch: (client: Client) => Client;
  /** Writes a line to stderr that stays. */
  readonly tell: (line: string) => void;
  /** While somebody else writes to stderr nothing is said. */
  readonly mute: (isMuted: boolean) => void;
  /** Takes back what was said, whatever is still being read. */
  readonly end: () => void;
}

/** Time until the first message, and between messages where they are lines of a log. */
const FIRST_MS = 1_500;
const NEXT_MS = [8_500, 20_000, 30_000, 60_000];
const LIVE_MS = 1_000;

/** Watches the reads from a service. */
export function createReadingWatch(
  { stderr, env, now, after }: Pick<Context, 'stderr' | 'env' | 'now' | 'after'>,
  service: string,
): ReadingWatch {
  const output = { ...stderr, isTerminal: stderr.isTerminal && !isLogWanted({ env }) };
  const line = createStatusLine(output);
  let [started, done, startedAt, said] = [0, 0, 0, 0];
  let isMuted = false;
  let cancel = (): void => undefined;

  const say = (): void => {
    const delayMs = output.isTerminal ? LIVE_MS : (NEXT_MS[Math.min(said, NEXT_MS.length - 1)] ?? 0);
    said += 1;
    const seconds = Math.round((now().getTime() - startedAt) / 1000);
    if (!isMuted) line.show(`Reading from ${toPrintable(service)}: ${done} of ${started} done after ${seconds} s`);
    cancel = after(delayMs, say);
  };
  const stop = (): void => {
    cancel();
    line.clear();
    [started, done, said] = [0, 0, 0];
  };
  const watched = async <T>(read: () => Promise<T>): Promise<T> => {
    started += 1;
    if (started === 1) {
      startedAt = now().getTime();
      cancel = after(FIRST_MS, say);
    }
    try {
      return await read();
    } finally {
      done += 1;
      if (done === started) stop();
    }
  };
  return {
    watch: (client) => ({
      ...client,
      list: (...read) => watched(() => client.list(...read)),
      readModule: (...read) => watched(() => client.readModule(...read)),
      get: (...read) => watched(() => client.get(...read)),
    }),
    tell: line.tell,
    mute: (wants) => {
      if (wants) line.clear();
      isMuted = wants;
    },
    end: stop,
  };
}
