import type { Client } from '../client/client.ts';
import { createWriteRequestLine } from '../kinds/request-body.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { getErrorMessage } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Write } from '../model/write.ts';
import { isExternalError } from './external-error.ts';

/**
 * A service may answer a DELETE with success and delete nothing, or only disable a module. So after the last write of a
 * run, each kind with deletes is listed once, and each deleted module is read once. A service that deletes slowly is
 * asked again for as long as conflicts are waited out.
 */
export interface DeleteChecks {
  readonly client: Pick<Client, 'list' | 'readModule'>;
  /** How long a delete may take to show, in milliseconds. */
  readonly limitMs: number;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborted when the user interrupts the run. */
  readonly signal: AbortSignal;
}

/** `undone`: a message for each delete that shows no effect. `requests`: the number of checks, for the report. */
interface CheckedDeletes {
  readonly undone: ReadonlyMap<Write, string>;
  readonly requests: number;
}

/** The first pause, and the longest. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

/**
 * Finds the deletes that show no effect. `deletes`: those that the service answered with success. After an interrupt,
 * nothing is checked.
 */
export async function findUndoneDeletes(deletes: readonly Write[], checks: DeleteChecks): Promise<CheckedDeletes> {
  const { limitMs, sleep, signal } = checks;
  let requests = 0;
  let undone = new Map(deletes.map((write) => [write, '']));
  let waitedMs = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    if (signal.aborted) return { undone: new Map(), requests };
    const asked = [...undone.keys()];
    requests += countRequests(asked);
    undone = await findShown(asked, checks);
    if (undone.size === 0 || waitedMs >= limitMs) break;
    const nextMs = Math.min(pauseMs, limitMs - waitedMs);
    await sleep(nextMs, signal);
    waitedMs += nextMs;
  }
  const since = waitedMs === 0 ? '' : `, ${Math.round(waitedMs / 1000)} s later`;
  return {
    undone: new Map(Array.from(undone, ([write, answer]) => [write, `${ANSWERED} ${answer}${since}`])),
    requests,
  };
}

/** One list for each kind, and one read for each module. */
function countRequests(deletes: readonly Write[]): number {
  return new Set(deletes.map(({ kind, module, id }) => (module === undefined ? kind : id))).size;
}

const ANSWERED = 'the service answered the DELETE with success, and';

/** Reads what was deleted. Returns what the service shows of each delete without an effect. */
async function findShown(deletes: readonly Write[], { client, signal }: DeleteChecks): Promise<Map<Write, string>> {
  const found = new Map<Write, string>();
  const [modules, resources] = [true, false].map((isModule) =>
    deletes.filter(({ module }) => (module !== undefined) === isModule),
  );
  const byKind = Map.groupBy(resources ?? [], ({ kind }) => kind);
  const lists = Array.from(byKind, async ([kind, writes]) => {
    const listed = await tryToRead(async () => {
      const all = await client.list(getKind(kind), undefined, signal);
      return new Set(all.map(({ id }) => id));
    }, signal);
    for (const write of writes) {
      if (typeof listed === 'string') found.set(write, listed);
      else if (listed.has(write.ids?.id ?? '')) found.set(write, 'still lists the resource');
    }
  });
  const reads = (modules ?? []).map(async (write) => {
    const { path } = createWriteRequestLine(write);
    const module = await tryToRead(() => client.readModule(path), signal);
    if (module !== null) found.set(write, typeof module === 'string' ? module : describeModule(module));
  });
  await Promise.all([...lists, ...reads]);
  return found;
}

function describeModule({ enabled }: JsonObject): string {
  return enabled === false ? 'only disabled the module' : 'still shows the module';
}

/** What is not read is not known to be deleted. A read that waits for its turn rejects after an interrupt. */
async function tryToRead<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    if (!isExternalError(error) && error !== signal.reason) throw error;
    return `it is unknown whether it took effect: ${getErrorMessage(error)}`;
  }
}
