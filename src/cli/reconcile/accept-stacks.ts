import type { AcceptResult } from '../../accept/accept-drift.ts';
import { DANGER_GROUP_NAMES } from '../../model/danger.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { OpenedStack } from '../../run/session.ts';
import { refuseToWriteUntrusted } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderAcceptText } from '../output/accept-text.ts';
import { writeEditedFiles } from '../output/edited-files.ts';
import { getTextOptions } from '../output/present.ts';
import {
  createOtherStacksLookUps,
  forEachStack,
  openSession,
  reportStacksRun,
  type StackResult,
  type StacksFlags,
  type StacksRun,
  withStacks,
} from './stacks-run.ts';

export interface AcceptFlags extends StacksFlags {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

interface Accepted {
  readonly result: AcceptResult;
  readonly opened: OpenedStack;
}

/** Writes what is live into the manifests of stacks. Sends GET requests only. */
export async function acceptStacks(
  paths: readonly string[],
  { flags, names }: { readonly flags: AcceptFlags; readonly names: readonly string[] },
  context: Context,
): Promise<ExitCode> {
  refuseToWriteUntrusted(context);
  return withStacks(paths, { flags: { ...flags, targets: names }, command: 'accept' }, context, async (run) => {
    const accepted = new Map<StackFolder, Accepted>();
    const parts = await forEachStack(run, async (session): Promise<StackResult> => {
      const { folder } = session;
      const opened = await openSession(run, session);
      const lookUps = createOtherStacksLookUps(run, opened);
      const result = await opened.stack.accept({ names, all: flags.all === true, signal: run.signal, ...lookUps });
      accepted.set(folder, { result, opened });
      const { drift, refused } = result;
      const shown = { ...drift, diagnostics: [...drift.diagnostics, ...refused] };
      const exitCode = refused.length > 0 ? EXIT.failed : EXIT.success;
      return { report: { about: 'drift', drift: shown }, exitCode, options: { locate: opened.locate } };
    });
    const isWritten = await showAndWrite(run, [...accepted.values()], flags);
    const ends = parts.map((part, index) => {
      const folder = run.selected.stacks[index];
      const files = (folder && accepted.get(folder)?.result.files) ?? [];
      const hasDiff = part.exitCode === EXIT.success && files.length > 0 && !isWritten;
      return hasDiff ? { ...part, exitCode: EXIT.changes } : part;
    });
    const failures = run.isOfMany ? ends.filter(({ report }) => report.about === 'failure') : [];
    for (const { folder, report } of failures)
      if (report.about === 'failure')
        run.context.stderr.write(`${folder}: ${report.failure.error?.message ?? 'invalid manifests'}\n`);
    return reportStacksRun(run, ends, { isShown: true });
  });
}

/** Shows what is written, asks, and writes. Returns whether the files were written. */
async function showAndWrite(run: StacksRun, accepted: readonly Accepted[], flags: AcceptFlags): Promise<boolean> {
  const { context } = run;
  const options = getTextOptions(context.stdout, context, flags);
  const texts = accepted.map(({ result }) => renderAcceptText(result, options)).filter((text) => text !== '');
  if (texts.length > 0) context.stdout.write(`${texts.join('\n')}\n`);
  const files = accepted.flatMap(({ result }) => result.files);
  const counted = formatCount(files.length, 'file');
  if (files.length === 0) {
    context.stdout.write('Nothing to write.\n');
    return false;
  }
  if (flags.dryRun === true || !(await isConfirmed(`Write ${counted}?`, accepted, { flags, context }))) {
    context.stdout.write(`Nothing was written: ${counted} would change.\n`);
    return false;
  }
  await writeEditedFiles(
    accepted.map(({ result, opened }) => ({ files: result.files, state: opened.state })),
    context,
  );
  context.stdout.write(`Wrote ${counted}. git diff shows what to review.\n`);
  return true;
}

/** False if there is no terminal to ask. Throws if the user declines. */
async function isConfirmed(
  question: string,
  accepted: readonly Accepted[],
  { flags, context }: { readonly flags: AcceptFlags; readonly context: Context },
): Promise<boolean> {
  if (flags.yes === true) return true;
  const dangers = accepted.flatMap(({ result }) => result.accepted.flatMap((one) => one.dangers));
  const groups = DANGER_GROUP_NAMES.filter((name) => dangers.some(({ group }) => group === name));
  const warning = groups.length === 0 ? '' : `! ${formatCount(dangers.length, 'danger')} (${groups.join(', ')}).\n`;
  const answer = await context.ask(`${warning}${question} Only "yes" is accepted: `);
  if (answer === undefined) return false;
  if (answer.trim() === 'yes') return true;
  throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
}
