import type { StackInventory } from '../model/drift.ts';
import type { Locate } from '../model/place.ts';
import type { StackFolder, StackTree } from '../model/stack-tree.ts';
import type { DesiredState } from '../model/state.ts';
import type { ServiceSettings } from '../settings/table.ts';
import type { Account } from '../stack/account.ts';
import { createAccountKeyContainingSecret } from '../stack/account-key.ts';
import type { Host } from '../stack/host.ts';
import type { RunnableStack } from '../stack/stack.ts';
import { orderStacks } from './order-stacks.ts';

/** A stack on its way through a run. It gains members with each step, and reports read them. */
export interface Session {
  /** The stack, as it was selected. */
  readonly folder: StackFolder;
  /** Which host its requests go to, and what sets that. For errors of the service. */
  service?: string | undefined;
  opened?: OpenedStack;
  /** What it owns. */
  inventory?: StackInventory;
  /** Why one of many stacks has no result. The other stacks of the run continue. */
  error?: unknown;
}

/** A stack whose manifests were read. */
export interface OpenedStack {
  /** The stack among those around it. */
  readonly folder: StackFolder;
  /** The stacks of the repository, or those below the folder of a run over many. */
  readonly tree: StackTree;
  readonly state: DesiredState;
  readonly locate: Locate;
  readonly settings: ServiceSettings;
  readonly stack: RunnableStack;
  readonly account: Account;
}

interface SteppingRun {
  /** Whether the stacks are folders that were selected. Otherwise the user names the only one, and its error ends the run. */
  readonly isOfMany: boolean;
  readonly signal: AbortSignal;
  readonly context: Pick<Host, 'env' | 'cwd' | 'secrets'> & {
    /** Whether an error of one stack ends the whole run. Absent: none does. */
    readonly endsRun?: (error: unknown) => boolean;
  };
}

/**
 * Takes each stack a step further. If that fails for one of many, the error is its result, and the others continue. Stacks
 * of one account take the step one after another, to limit memory; accounts run in parallel.
 */
export async function forEachSession(
  sessions: readonly Session[],
  step: (session: Session) => Promise<void>,
  { isOfMany, signal, context }: SteppingRun,
): Promise<void> {
  const byFolder = new Map(sessions.map((session) => [session.folder, session]));
  const { ordered, circles } = orderStacks([...byFolder.keys()]);
  const groups = Map.groupBy(ordered, (folder) => createAccountKeyContainingSecret(folder, context));
  const take = async (session: Session): Promise<void> => {
    const circle = circles.get(session.folder);
    if (circle !== undefined) throw circle;
    await step(session);
    session.error = undefined;
  };
  const takeOrNote = (session: Session): Promise<void> =>
    isOfMany
      ? take(session).catch((error: unknown) => {
          if (context.endsRun?.(error) === true) throw error;
          session.error = error;
        })
      : take(session);
  await Promise.all(
    [...groups.values()].map(async (group) => {
      for (const folder of group) {
        signal.throwIfAborted();
        const session = byFolder.get(folder);
        if (session !== undefined) await takeOrNote(session);
      }
    }),
  );
  signal.throwIfAborted();
}
