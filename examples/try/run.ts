import type { Outcome, Task, TaskEvent } from './account.ts';
import PlanWorker from './worker.ts?worker&inline';

/** Runs tasks in the worker. A task over its limit is ended with its worker, and the next task gets a new worker. */

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** A task without what the page adds when the task starts. */
export type TaskInput = Without<Task, 'id' | 'situation' | 'allowDeletes'>;

const LIMITS_S = { plan: 10, edit: 10, drift: 30, setup: 30, apply: 120 } as const;

let worker: Worker | undefined;
let count = 0;

/** Starts a worker, if there is none, so that it is ready for the next task. */
export function startWorker(): Worker {
  worker ??= new PlanWorker();
  return worker;
}

/** Runs a task; no other may be running. Rejects with a message for people. */
export function runInWorker(input: Without<Task, 'id'>, onEvent: (event: TaskEvent) => void): Promise<Outcome> {
  count += 1;
  const task = { ...input, id: count } as Task;
  const current = startWorker();
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const end = (why: string): void => {
    current.terminate();
    worker = undefined;
    reject(new Error(why));
  };
  const limit = LIMITS_S[task.type];
  const message = `This took longer than ${limit} seconds, and was stopped. Nothing has changed.`;
  const timer = setTimeout(end, limit * 1000, message);
  current.onmessage = ({ data: { id, event } }: MessageEvent<{ readonly id: number; readonly event: TaskEvent }>) => {
    if (id !== task.id) return;
    if (event.type === 'end') resolve(event.outcome);
    else onEvent(event);
  };
  current.onerror = (error) => end(`Edgewise failed: ${error.message}`);
  current.postMessage(task);
  return promise.finally(() => clearTimeout(timer));
}
