import type { Diagnostic } from '../model/diagnostic.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { listDependencies, orderStacks } from './order-stacks.ts';
import { describeRefusal, findRefusal, isReady, type Run } from './session.ts';

/**
 * Finds the stacks with writes that depend on one which is refused, or blocked itself. An apply writes nothing in
 * them, and a plan says so: both end with the exit code of what blocks them. A stack without writes is never blocked.
 */
export function noteBlockedDependents(run: Pick<Run, 'sessions' | 'consentTo'>): void {
  const byFolder = new Map(run.sessions.map((session) => [session.folder, session]));
  const stacks = [...byFolder.keys()];
  for (const folder of orderStacks(stacks).ordered) {
    const session = byFolder.get(folder);
    if (session === undefined || !isReady(session, run)) continue;
    const blocking = listDependencies(folder, stacks).flatMap((other) => {
      const dependency = byFolder.get(other);
      const refusal = dependency && findRefusal(dependency, run);
      return refusal === undefined ? [] : [{ other, refusal }];
    });
    if (blocking.length === 0) continue;
    session.findings.blockedBy = blocking.map(({ refusal }) => refusal);
    session.findings.blocked = createBlockedWarning(
      folder,
      blocking.map(({ other, refusal }) => `${other.folder}, which ${describeRefusal(refusal)}`),
    );
  }
}

function createBlockedWarning({ name }: StackFolder, why: readonly string[]): Diagnostic {
  return {
    code: 'dependency-blocked',
    severity: 'warning',
    message: `The stack ${name} is not applied in this run: it depends on ${why.join(', and on ')}`,
    remedy: 'Correct that stack, and run again.',
  };
}
