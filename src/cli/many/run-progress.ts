import type { ApplyEvent } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { createEventStream, type EventBody, listStartEvents, toEventBody } from '../../report/programs/json-lines.ts';
import type { SentEvents } from '../../report/report.ts';
import type { RunOptions } from '../../stack/run-plan.ts';
import { findEventOutput, toTextOptions } from '../output/present.ts';
import { createProgress } from '../output/progress.ts';
import { toProgressOutput } from '../reconcile/execute-plan.ts';
import type { PooledAccount } from './account-pool.ts';
import type { StacksRun } from './stacks-run.ts';

/** The progress of all applies of a run, as one: for a person, and as a stream of events. */
export interface RunProgress {
  /** What the apply of one stack tells. */
  readonly follow: (folder: StackFolder, plan: Plan) => Required<Pick<RunOptions, 'onEvent' | 'onStart' | 'onWarning'>>;
  /** The events that were sent, and the stacks that they are of. */
  readonly sent: () => SentEvents;
  readonly end: () => void;
}

/** A stack that is going to be applied. */
interface Followed {
  readonly plan: Plan;
  readonly pooled: PooledAccount;
}

/** Follows the applies of stacks. Events are written to stdout as they happen, when that is the format. */
export function createRunProgress({ context, flags }: StacksRun, all: readonly Followed[]): RunProgress {
  const total = all.reduce((sum, { plan }) => sum + plan.writes.length, 0);
  const rateLimit = all[0]?.plan.settings.rateLimit ?? 'none';
  const options = toTextOptions(context.stderr, context, flags);
  const progress = createProgress(toProgressOutput(context), { total, rateLimit }, options);
  for (const { pooled } of all) pooled.tellBy(progress.tell);
  const stream = createEventStream(context.now, findEventOutput(flags, context));
  const parts = new Set<string>();
  let done = 0;
  return {
    follow: ({ name: stack, folder }, plan) => {
      const send = (body: EventBody): void => stream.send({ ...body, stack });
      return {
        onStart: () => {
          parts.add(folder);
          for (const body of listStartEvents(plan)) send(body);
        },
        onEvent: (event) => {
          if (event.event === 'write-ended') done += 1;
          progress.onEvent(withStack(event, { stack, done, total }));
          send(toEventBody(event));
        },
        onWarning: (message) => progress.tell(`Warning: ${message}`),
      };
    },
    sent: () => ({ ...stream.sent(), parts }),
    end: () => {
      progress.end();
      for (const { pooled } of all) pooled.tellBy(undefined);
    },
  };
}

/** An event whose write says which stack it is of: several may have that name. */
function withStack(
  event: ApplyEvent,
  { stack, done, total }: { readonly stack: string; readonly done: number; readonly total: number },
): ApplyEvent {
  const name = <T extends { readonly id: string }>(write: T): T => ({ ...write, id: `${stack}: ${write.id}` });
  switch (event.event) {
    case 'write-started':
      return { ...event, write: name(event.write) };
    case 'write-ended':
      return { ...event, result: { ...event.result, write: name(event.result.write) }, done, total };
    default:
      return event;
  }
}
