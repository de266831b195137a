import { mayShareService, type StackFolder } from '../model/stack-tree.ts';
import type { KeptPrunes } from '../plan/plan-input.ts';
import { formatPruneCommand, isPrune } from './passes.ts';
import { describeRefusal, findRefusal, forEachSession, type Run, type Session } from './session.ts';

/**
 * Plans again the stacks that would prune something while another stack of their service is not applied, whatever refuses
 * it: it might take over what they would delete. `planKeeping` makes a plan that keeps it.
 */
export async function keepPrunesBesideRefusedStacks(
  run: Run,
  planKeeping: (session: Session) => Promise<void>,
): Promise<void> {
  const refused = run.sessions.flatMap((session) => {
    const refusal = findRefusal(session, run);
    return refusal === undefined ? [] : [{ session, what: describeRefusal(refusal) }];
  });
  for (const session of run.sessions) {
    const other = refused.find((one) => one.session !== session && mayShareService(one.session.folder, session.folder));
    const why = findRefusal(session, run)?.why;
    const isPlanned = why === undefined || why === 'differs';
    if (isPlanned && other !== undefined && hasPrunes(session))
      session.keptPrunes = createReason(session.folder, other);
  }
  const sessions = run.sessions.filter(({ keptPrunes }) => keptPrunes !== undefined);
  await forEachSession({ ...run, sessions }, planKeeping);
}

function hasPrunes({ plan }: Session): boolean {
  return plan?.writes.some(isPrune(plan)) === true;
}

function createReason(folder: StackFolder, other: { readonly session: Session; readonly what: string }): KeptPrunes {
  return {
    why: `${other.session.folder.folder} ${other.what}, and might take it over`,
    remedy: `Correct that stack and run again. To delete it now, apply this stack alone: ${formatPruneCommand(folder)}`,
  };
}
