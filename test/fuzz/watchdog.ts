import { Worker } from 'node:worker_threads';

/** The longest processor time that any input may take. Most inputs take a hundredth of it. */
const LIMIT_MS = 5_000;

/** The longest that an input may take on a busy machine. */
const BUSY_LIMIT_MS = 60_000;

/**
 * In a thread of its own, since a loop without end would stop every timer of this one. Nothing but the end of the process ends such a
 * loop: it says first what the process was fed.
 */
const WATCH = `
  const { parentPort, workerData } = require('node:worker_threads');
  let timer;
  parentPort.on('message', (fed) => {
    clearTimeout(timer);
    if (fed === undefined) return;
    timer = setTimeout(() => {
      require('node:fs').writeSync(2, 'It hangs. It was fed:\\n' + fed + '\\n');
      process.kill(process.pid, 'SIGKILL');
    }, workerData);
  });
`;

let worker: Worker | undefined;

/** Runs a task, and rejects when it hangs; `fed` is what to show then. */
export async function withWatchdog<T>(fed: string, task: () => Promise<T>): Promise<T> {
  worker ??= new Worker(WATCH, { eval: true, workerData: BUSY_LIMIT_MS + 2_000 });
  worker.unref();
  worker.postMessage(fed);
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('It does not end')), BUSY_LIMIT_MS);
  });
  const start = process.cpuUsage();
  try {
    const result = await Promise.race([task(), hangs]);
    const { user, system } = process.cpuUsage(start);
    if (user + system > LIMIT_MS * 1000) throw new Error(`It took more than ${LIMIT_MS} ms of processor time`);
    return result;
  } finally {
    clearTimeout(timer);
    worker.postMessage(undefined);
  }
}
