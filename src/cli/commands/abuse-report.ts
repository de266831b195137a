import { type Command, InvalidArgumentError } from 'commander';
import { toListedResource } from '../../client/conform.ts';
import { DURATION_EXPECTED, toDurationMs } from '../../kinds/duration.ts';
import { isIdOf } from '../../kinds/ids.ts';
import { toResourcePath } from '../../kinds/paths.ts';
import { ABUSE_REPORT } from '../../kinds/tables/abuse-report.ts';
import type { JsonObject } from '../../model/json.ts';
import { type AbuseReportResult, renderAbuseReportJson } from '../../report/programs/json.ts';
import { renderAbuseReportText, toAbuseReportView } from '../../report/text/abuse-report.ts';
import { toParagraph } from '../../report/text/failure.ts';
import { withSession } from '../connection/session.ts';
import { type ConnectionFlags, resolveSettings } from '../connection/settings.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from '../output/present.ts';
import type { Act } from './act.ts';
import { addConnectionOptions, addExamples, addExitCodes, addFormatOptions } from './options.ts';
import { submitReport, toReportBody } from './submit-report.ts';
import { type Waited, waitForReport } from './wait-for-report.ts';

interface SubmitFlags extends ConnectionFlags, FormatFlags {
  readonly metadata?: string;
}

interface GetFlags extends ConnectionFlags, FormatFlags {
  readonly wait?: boolean;
  readonly timeout?: number;
}

const DEFAULT_TIMEOUT = '15m';

/** `edgewise abuse-report submit` and `get`. */
export function defineAbuseReport(program: Command, act: Act): void {
  const group = program
    .command('abuse-report')
    .summary('report URLs with suspected abusive content')
    .helpCommand(false)
    .description('Report URLs with suspected abusive content, and read what became of a report.');
  addExitCodes(group, [EXIT.done, EXIT.failed, EXIT.invalid, EXIT.authentication]);
  addExamples(group, [
    ['edgewise abuse-report submit https://phishing.example.com/login', 'report one URL'],
    ['edgewise abuse-report get abrp_2ab… --wait', 'read what became of it, once that is decided'],
  ]);
  defineSubmit(group, act);
  defineGet(group, act);
}

function defineSubmit(group: Command, act: Act): void {
  const command = group
    .command('submit')
    .description('Submit a report. Only accounts that are authorized may. A report cannot be changed or taken back.')
    .argument('<urls...>', 'absolute http or https URLs')
    .option('--metadata <text>', 'data of your own, at most 4096 bytes');
  addExitCodes(command, [EXIT.done, EXIT.failed, EXIT.invalid, EXIT.authentication]);
  addExamples(addConnectionOptions(addFormatOptions(command)), [
    ['edgewise abuse-report submit https://phishing.example.com/login', 'report one URL'],
    ['edgewise abuse-report submit https://a.example.com/ https://b.example.com/ --metadata case-17', 'report two'],
  ]).action((urls: string[], flags: SubmitFlags) => act(flags, (context) => submit(urls, flags, context)));
}

function defineGet(group: Command, act: Act): void {
  const command = group
    .command('get')
    .description('Show a report and the status of each host name.')
    .argument('<id>', 'id of the report', parseId)
    .option('--wait', 'wait until the report is processed; its progress goes to stderr')
    .option(
      '--timeout <duration>',
      `with --wait: exit with 1 after this time, such as 90s or 2h (default: ${DEFAULT_TIMEOUT})`,
      parseTimeout,
    );
  addExitCodes(command, [EXIT.done, EXIT.failed, EXIT.invalid, EXIT.authentication, EXIT.interrupted]);
  addExamples(addConnectionOptions(addFormatOptions(command)), [
    ['edgewise abuse-report get abrp_2ab…', 'read it by its id'],
    ['edgewise abuse-report get abrp_2ab… --wait --timeout 2h', 'until all of it is decided'],
  ]).action((id: string, flags: GetFlags) => act(flags, (context) => get(id, flags, context)));
}

async function submit(urls: readonly string[], flags: SubmitFlags, context: Context): Promise<ExitCode> {
  const body = toReportBody(urls, flags.metadata);
  const settings = resolveSettings(flags, context.env, {});
  const report = await withSession(settings, context, ({ client, signal }) => submitReport(client, body, signal));
  showReport({ command: 'abuse-report submit', report }, flags, context);
  return EXIT.done;
}

async function get(id: string, flags: GetFlags, context: Context): Promise<ExitCode> {
  if (flags.timeout !== undefined && flags.wait !== true)
    throw new CommandError('--timeout says how long to wait: it goes with --wait.', { exitCode: EXIT.invalid });
  const settings = resolveSettings(flags, context.env, {});
  const path = toResourcePath(ABUSE_REPORT, { id });
  return withSession(settings, context, async ({ client, tellBy, signal: interrupted }) => {
    const read = async (signal: AbortSignal): Promise<JsonObject> =>
      toListedResource(ABUSE_REPORT, await client.get(path, signal), {
        place: `GET ${path}: the answer`,
        excerpt: client.excerpt,
      }).json;
    if (flags.wait === true) {
      const timeoutMs = flags.timeout ?? parseTimeout(DEFAULT_TIMEOUT);
      return showWaited(
        { id, ...(await waitForReport({ read, timeoutMs, tellBy, signal: interrupted }, context)) },
        flags,
        context,
      );
    }
    showReport({ command: 'abuse-report get', report: await read(interrupted) }, flags, context);
    return EXIT.done;
  });
}

/** Shows the last that is known, however the wait ended. */
function showWaited(
  { id, ended, report }: Waited & { readonly id: string },
  flags: FormatFlags,
  context: Context,
): ExitCode {
  const { exitCode, problem } = ENDS[ended];
  if (report === undefined) throw new CommandError(`Interrupted before ${id} was read.`, { exitCode });
  const error =
    problem === undefined ? undefined : { message: `${problem}: ${id} is not processed yet.`, remedy: LATER };
  showReport({ command: 'abuse-report get', report, error }, flags, context);
  if (error !== undefined) context.stderr.write(toParagraph(error.message, error.remedy));
  return exitCode;
}

const ENDS: Readonly<Record<Waited['ended'], { readonly exitCode: ExitCode; readonly problem: string | undefined }>> = {
  processed: { exitCode: EXIT.done, problem: undefined },
  'too-late': { exitCode: EXIT.failed, problem: 'The time limit is over' },
  interrupted: { exitCode: EXIT.interrupted, problem: 'Interrupted' },
};
const LATER = 'It is reviewed whether or not somebody waits: the same command goes on waiting.';

function showReport(result: AbuseReportResult, flags: FormatFlags, context: Context): void {
  const text =
    flags.format === 'json'
      ? renderAbuseReportJson(result)
      : renderAbuseReportText(toAbuseReportView(result.report), toTextOptions(context.stdout, context, flags));
  context.stdout.write(text);
}

function parseId(text: string): string {
  if (isIdOf({ prefixes: [ABUSE_REPORT.idPrefix] }, text)) return text;
  throw new InvalidArgumentError(`The id of a report starts with ${ABUSE_REPORT.idPrefix}_.`);
}

function parseTimeout(text: string): number {
  const timeoutMs = toDurationMs(text);
  if (timeoutMs !== undefined) return timeoutMs;
  throw new InvalidArgumentError(`A duration is ${DURATION_EXPECTED}.`);
}
