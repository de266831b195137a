import { Worker } from 'node:worker_threads';

/** The longest that anything may take that is fed nonsense. What is slow for other reasons takes a hundredth of it. */
const LIMIT_MS = 5_000;

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
  worker ??= new Worker(WATCH, { eval: true, workerData: LIMIT_MS + 2_000 });
  worker.unref();
  worker.postMessage(fed);
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('It does not come to an end')), LIMIT_MS);
  });
  try {
    return await Promise.race([task(), hangs]);
  } finally {
    clearTimeout(timer);
    worker.postMessage(undefined);
  }
}
