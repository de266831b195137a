import type { Answer, Outcome, Question, Told } from './account.ts';
import PlanWorker from './worker.ts?worker&inline';

/** Questions to the worker. One that takes too long is ended with its worker, and the next one gets another. */

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** A question without what it is about. */
export type Asked = Without<Question, 'id' | 'situation'>;

const LIMITS_S = { plan: 10, edit: 10, drift: 30, apply: 120 } as const;

let worker: Worker | undefined;
let count = 0;

/** Asks, when nothing else is being asked. Rejects with a message for people. */
export function askWorker(asked: Without<Question, 'id'>, onTold: (told: Told) => void): Promise<Outcome> {
  count += 1;
  const question = { ...asked, id: count } as Question;
  const current = worker ?? new PlanWorker();
  worker = current;
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const end = (why: string): void => {
    current.terminate();
    worker = undefined;
    reject(new Error(why));
  };
  const limit = LIMITS_S[question.ask];
  const timer = setTimeout(
    end,
    limit * 1000,
    `This took longer than ${limit} seconds, and was ended. Nothing has changed.`,
  );
  current.onmessage = ({ data }: MessageEvent<Answer>) => {
    if (data.id !== question.id) return;
    if (data.tell === 'end') resolve(data.outcome);
    else onTold(data);
  };
  current.onerror = ({ message }) => end(`Edgewise broke off: ${message}`);
  current.postMessage(question);
  return promise.finally(() => clearTimeout(timer));
}
