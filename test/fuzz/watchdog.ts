import { Worker } from 'node:worker_threads';

/** The processor time limit of any input, in milliseconds. Most inputs need a hundredth of it. */
const LIMIT_MS = 5_000;

/** The time limit of an input on a busy machine, in milliseconds. */
const BUSY_LIMIT_MS = 60_000;

/**
 * Runs in its own thread, because an endless loop stops every timer of this one. Only the end of the process ends such a loop: the watchdog
 * first prints the input.
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

/** Runs a task, and rejects if it hangs. `fed`: the input to show then. */
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
