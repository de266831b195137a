import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import type { Report } from '../../report/report.ts';
import type { StackPart } from '../../report/stacks-report.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import { resolveTokens } from '../../stack/token-sinks.ts';
import { describeRivals, type ReadClaims } from '../../stacks/claim-ledger.ts';
import { EXIT } from '../exit-code.ts';
import { type StacksRun, toGravest } from './stacks-run.ts';

/**
 * Stops the stacks of a run that claim what only one of them may have: what they came to gets an error that names the other one. The rest of the run
 * goes on. `withdraw` takes back what was made of such a stack.
 */
export async function stopRivals(
  run: StacksRun,
  parts: readonly StackPart[],
  withdraw: (folder: StackFolder) => Promise<void> | void = () => undefined,
): Promise<readonly StackPart[]> {
  const errors = await describeRivals(run.claims.listRivals(), (folder) => readClaims(run, folder), run.context);
  for (const folder of errors.keys()) await withdraw(folder);
  const { stacks } = run.selected;
  return parts.map((part, index) => {
    const folder = stacks[index];
    const found = folder === undefined ? undefined : errors.get(folder);
    return found === undefined ? part : toStopped(part, found);
  });
}

async function readClaims({ flags, context }: StacksRun, folder: StackFolder): ReturnType<ReadClaims> {
  const { onSubject: _, ...quiet } = context;
  const { state } = await readManifests([folder.folder], quiet);
  if (state === undefined) return undefined;
  return { state, tokens: resolveTokens(flags, state.stack.tokens, state.stack.name) };
}

function toStopped({ options: { locate }, ...part }: StackPart, errors: readonly Diagnostic[]): StackPart {
  return {
    ...part,
    report: withErrors(part.report, errors),
    exitCode: toGravest([part.exitCode, EXIT.invalid]),
    options: { ...(locate !== undefined && { locate }) },
  };
}

/** A report of what was planned or compared, whatever became of it, with errors that forbid it. */
function withErrors(report: Report, errors: readonly Diagnostic[]): Report {
  const add = (found: readonly Diagnostic[] = []): readonly Diagnostic[] => [...errors, ...found];
  // It was rehearsed as if the other stack were not there.
  const toPlan = ({ rehearsal: _, ...plan }: Plan): Plan => ({ ...plan, diagnostics: add(plan.diagnostics) });
  switch (report.about) {
    case 'plan':
      return { ...report, plan: toPlan(report.plan) };
    case 'apply':
      return { about: 'plan', plan: toPlan(report.plan), standing: [] };
    case 'drift':
      return { ...report, drift: { ...report.drift, diagnostics: add(report.drift.diagnostics) } };
    case 'validation':
      return { ...report, validation: { ...report.validation, diagnostics: add(report.validation.diagnostics) } };
    case 'failure':
      return { ...report, failure: { ...report.failure, diagnostics: add(report.failure.diagnostics) } };
    default:
      return report;
  }
}
