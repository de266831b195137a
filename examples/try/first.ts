import { type Outcome, runTask, type Situation, type Task, type TaskEvent, type Texts } from './account.ts';
import { EXAMPLES, START } from './examples.ts';

/**
 * The plan of the first example, which the build puts into the page: it is on the screen before the worker has started.
 * The build makes it as the page would, with the same code.
 */
export interface FirstPlan {
  readonly outcome: Outcome;
  readonly texts: Texts;
}

export async function createFirstPlan(): Promise<FirstPlan> {
  const { files = [], before = [] } = EXAMPLES[START] ?? {};
  const start = { hours: 0, fault: 'none' };
  const { outcome: applied } = await run('setup', { ...start, files: before });
  const { outcome, texts } = await run('plan', { ...start, files, account: applied?.account });
  if (outcome === undefined || texts === undefined) throw new Error('The first example has no plan.');
  return { outcome, texts };
}

async function run(type: 'setup' | 'plan', situation: Situation): Promise<Partial<FirstPlan>> {
  const events: TaskEvent[] = [];
  const task: Task = { id: 1, type, situation, allowDeletes: false };
  await runTask(task, (event) => events.push(event));
  return Object.assign({}, ...events.filter((event) => event.type === 'end' || event.type === 'texts'));
}
