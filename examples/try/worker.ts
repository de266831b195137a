import { runTask, type Task } from './account.ts';

/** Runs tasks one after another beside the page, so that the page stays responsive. */

let last = Promise.resolve();

self.addEventListener('message', ({ data }: MessageEvent<Task>) => {
  last = last.then(async () => {
    await runTask(data, (event) => self.postMessage({ id: data.id, event }));
  });
  // A rejection is a bug. The page gets it as an uncaught error of the worker.
  last.catch((error: unknown) => self.reportError(error));
});
