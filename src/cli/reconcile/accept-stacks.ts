import type { AcceptResult } from '../../accept/accept-drift.ts';
import { DANGER_GROUP_NAMES } from '../../model/danger.ts';
import { assertDefined } from '../../model/errors.ts';
import { StackError } from '../../model/user-errors.ts';
import { formatCount } from '../../report/view/wording.ts';
import { createOtherStacksLookUps } from '../../run/plan-stacks.ts';
import { forEachSession } from '../../run/session.ts';
import { refuseUntrustedManifests } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderAcceptText } from '../output/accept-text.ts';
import { writeEditedFiles } from '../output/edited-files.ts';
import { getTextOptions } from '../output/present.ts';
import { createParts, reportStacksRun } from './report-run.ts';
import { openSession, type StacksFlags, type StacksRun, withStacks } from './with-stacks.ts';

export interface AcceptFlags extends StacksFlags {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Writes what is live into the manifests of stacks. Sends GET requests only. */
export async function acceptStacks(
  paths: readonly string[],
  { flags, names }: { readonly flags: AcceptFlags; readonly names: readonly string[] },
  context: Context,
): Promise<ExitCode> {
  refuseUntrustedManifests(context);
  return withStacks(paths, { flags: { ...flags, targets: names }, command: 'accept' }, context, async (run) => {
    await forEachSession(run, async (session) => {
      const { stack, ...opened } = await openSession(run, session);
      const lookUps = createOtherStacksLookUps(run, opened);
      session.accepted = await stack.accept({ names, all: flags.all === true, signal: run.signal, ...lookUps });
    });
    const isWritten = await showAndWrite(run, flags);
    const ends = createParts(run, ({ accepted, folder }) => {
      const { drift, refused, files } = assertDefined(accepted, `what was accepted of ${folder.folder}`);
      const report = { about: 'drift', drift: { ...drift, diagnostics: [...drift.diagnostics, ...refused] } } as const;
      if (refused.length > 0) return { report, exitCode: EXIT.failed };
      return { report, exitCode: files.length > 0 && !isWritten ? EXIT.changes : EXIT.success };
    });
    const failures = run.isOfMany ? ends.filter(({ report }) => report.about === 'failure') : [];
    for (const { folder, report } of failures)
      if (report.about === 'failure')
        run.context.stderr.write(`${folder}: ${report.failure.error?.message ?? 'invalid manifests'}\n`);
    return reportStacksRun(run, ends, { isShown: true });
  });
}

/** Shows what is written, asks, and writes. Returns whether the files were written. */
async function showAndWrite({ sessions, context }: StacksRun, flags: AcceptFlags): Promise<boolean> {
  const edits = sessions.flatMap(({ accepted, opened }) =>
    accepted === undefined || opened === undefined ? [] : [{ ...accepted, state: opened.state }],
  );
  const options = getTextOptions(context.stdout, context, flags);
  const texts = edits.map((edit) => renderAcceptText(edit, options)).filter((text) => text !== '');
  if (texts.length > 0) context.stdout.write(`${texts.join('\n')}\n`);
  const files = edits.flatMap((edit) => edit.files);
  const counted = formatCount(files.length, 'file');
  if (files.length === 0) {
    context.stdout.write('Nothing to write.\n');
    return false;
  }
  if (flags.dryRun === true || !(await isConfirmed(`Write ${counted}?`, edits, { flags, context }))) {
    context.stdout.write(`Nothing was written: ${counted} would change.\n`);
    return false;
  }
  await writeEditedFiles(edits, context);
  context.stdout.write(`Wrote ${counted}. git diff shows what to review.\n`);
  return true;
}

/** False if there is no terminal to ask. Throws if the user declines. */
async function isConfirmed(
  question: string,
  edits: readonly AcceptResult[],
  { flags, context }: { readonly flags: AcceptFlags; readonly context: Context },
): Promise<boolean> {
  if (flags.yes === true) return true;
  const dangers = edits.flatMap(({ accepted }) => accepted.flatMap((one) => one.dangers));
  const groups = DANGER_GROUP_NAMES.filter((name) => dangers.some(({ group }) => group === name));
  const warning = groups.length === 0 ? '' : `! ${formatCount(dangers.length, 'danger')} (${groups.join(', ')}).\n`;
  const answer = await context.ask(`${warning}${question} Only "yes" is accepted: `);
  if (answer === undefined) return false;
  if (answer.trim() === 'yes') return true;
  throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
}
