import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { describeFileError, readInput, UNREADABLE_FILE_REMEDY } from '../../files/read-input.ts';
import { type Forge, findCommentMarker, type PostResult, postComment, syncIssue } from '../../forge/forge.ts';
import { openForge } from '../../forge/open-forge.ts';
import { isLoopbackHost } from '../../model/http.ts';
import { findOtherRun, splitRunLine } from '../../model/pipeline.ts';
import { toPrintable } from '../../model/printable.ts';
import { NO_OP_SECRET_REDACTOR } from '../../model/secrets.ts';
import { quoteForShell } from '../../model/shell-words.ts';
import { StackError } from '../../model/user-errors.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { findOutputFinding } from '../output/output-files.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { addToCommand } from './options.ts';

interface PostFlags {
  readonly as: 'comment' | 'issue';
  readonly resolved?: true;
  readonly number?: number;
}

export function configurePostCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Post a report to GitHub or GitLab, replacing the previous one. Sends no request to the service.')
    .argument('<report>', 'a file that --report markdown=FILE wrote');
  addToCommand(command, {
    options: [
      new Option('--as <what>', 'what to keep up to date').choices(['comment', 'issue']).default('comment'),
      new Option('--resolved', 'nothing to report: close the open issue'),
      new Option('--number <number>', 'the pull or merge request (default: the one of this job)').argParser(
        parsePullRequestNumber,
      ),
    ],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid],
    examples: [
      ['edgewise post plan.md', 'the comment on this pull request, updated at each push'],
      ['edgewise post drift.md --as issue', 'one open issue while there is drift'],
      ['edgewise post drift.md --as issue --resolved', 'close it'],
    ],
  }).action((file: string, flags: PostFlags) => act(TEXT_ONLY_FORMAT_FLAGS, (context) => post(file, flags, context)));
}

async function post(file: string, flags: PostFlags, context: Context): Promise<ExitCode> {
  const { secrets = NO_OP_SECRET_REDACTOR } = context;
  await refuseForgedReport(file, context);
  const { text, made } = splitRunLine(await readReportText(resolve(context.cwd, file), file));
  const other = findOtherRun(made, context.env, context.now());
  if (other !== undefined)
    throw new StackError(`${file} ${other}, and is not posted.`, {
      reason: 'invalid',
      remedy: `Write it in this run with --report ${quoteForShell(`markdown=${file}`)}.`,
    });
  const marker = findCommentMarker(text);
  if (marker === undefined)
    throw new StackError(`${file} is not a report that can be posted: its first line does not identify it`, {
      reason: 'invalid',
      remedy: `Write it with --report ${quoteForShell(`markdown=${file}`)}.`,
    });
  const forge = await openForgeOf(flags, context);
  warnOfClearText(forge, context);
  const posted = await sendReport(forge, { marker, text: withoutForgeCommands(secrets.redact(text)) }, flags);
  context.stdout.write(
    `${SENTENCES[posted.outcome](flags.as, forge.place)}${posted.url === undefined ? '' : `: ${toPrintable(posted.url)}`}\n`,
  );
  return EXIT.success;
}

/** Throws for a file that edgewise would not have written: a link of the checkout, or a file of its commit. */
async function refuseForgedReport(file: string, context: Context): Promise<void> {
  const finding = await findOutputFinding(file, context);
  if (finding === undefined) return;
  throw new StackError(`${file} ${finding}, and is not posted.`, {
    reason: 'invalid',
    remedy: 'Write the report to a file that is not in the commit, with --report markdown=FILE.',
  });
}

/**
 * Escapes lines such as `/merge`: a forge runs them with the rights of the user who posts them. No report contains such
 * a line, but the user may have named another file.
 */
function withoutForgeCommands(text: string): string {
  return text.replace(/^\//gm, '\\/');
}

function warnOfClearText({ url }: Forge, { stderr }: Pick<Context, 'stderr'>): void {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol !== 'http:' || isLoopbackHost(hostname)) return;
  stderr.write(`Warning: requests to ${origin} are not encrypted, and each carries the token. Use an https: URL.\n`);
}

async function openForgeOf({ as, number }: PostFlags, { env, cwd }: Context): Promise<Forge> {
  const refuse = (error: unknown): never => {
    throw error instanceof StackError ? error : createPostError(error, 'the forge');
  };
  const readEvent = async (path: string): Promise<string> => {
    try {
      return await readReportText(resolve(cwd, path), path);
    } catch (error) {
      throw createPostError(error, 'the forge');
    }
  };
  return openForge({ env, readFile: readEvent, number, needsNumber: as === 'comment' }).catch(refuse);
}

async function sendReport(
  forge: Forge,
  report: { readonly marker: string; readonly text: string },
  flags: PostFlags,
): Promise<PostResult> {
  try {
    if (flags.as === 'comment') return await postComment(forge, report.marker, report.text);
    return await syncIssue(forge, { ...report, isResolved: flags.resolved === true });
  } catch (error) {
    throw createPostError(error, forge.place);
  }
}

const SENTENCES: Readonly<Record<PostResult['outcome'], (what: string, place: string) => string>> = {
  created: (what, place) => `Created a new ${what} at ${place}`,
  updated: (what, place) => `Updated the ${what} at ${place}`,
  unchanged: (what, place) => `The ${what} at ${place} is already up to date`,
  closed: (what, place) => `Closed the ${what} at ${place}`,
  none: (what, place) => `There is no open ${what} at ${place}, and nothing to report`,
};

/** Octokit puts the whole response into its messages. The reason is at their start. */
const MAX_MESSAGE_LENGTH = 500;

function createPostError(error: unknown, place: string): StackError {
  const message = error instanceof Error ? error.message : String(error);
  return new StackError(`The report could not be posted to ${place}: ${message.slice(0, MAX_MESSAGE_LENGTH)}`, {
    reason: 'failed',
    remedy: 'Check that the token may write comments and issues there, and run the command again.',
    cause: error,
  });
}

async function readReportText(path: string, shown: string): Promise<string> {
  try {
    return readInput(path).toString('utf8');
  } catch (error) {
    throw new StackError(`${shown} ${describeFileError(error)}.`, {
      reason: 'invalid',
      remedy: UNREADABLE_FILE_REMEDY,
      cause: error,
    });
  }
}

function parsePullRequestNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A pull request number is a whole number above 0.');
}
