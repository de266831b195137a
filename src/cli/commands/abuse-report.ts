import { type Command, InvalidArgumentError } from 'commander';
import { ABUSE_REPORT } from '../../kinds/abuse-report.ts';
import { toResourcePath } from '../../kinds/paths.ts';
import { toRequestSchema } from '../../kinds/schema.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../model/json.ts';
import { toPrintable } from '../../report/escape.ts';
import { toColumns } from '../../report/text-layout.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { addConnectionOptions, addExamples, addFormatOptions } from '../options.ts';
import type { FormatFlags } from '../present.ts';
import { withSession } from '../session.ts';
import { type ConnectionFlags, resolveSettings } from '../settings.ts';

interface Flags extends ConnectionFlags, FormatFlags {
  readonly metadata?: string;
}

/** `edgewise abuse-report submit` and `get`. */
export function defineAbuseReport(program: Command, act: Act): void {
  const group = program
    .command('abuse-report')
    .description('Report URLs with suspected abusive content, and read what became of a report.');
  const submitting = group
    .command('submit')
    .description('Submit a report. Only accounts that are authorized may.')
    .argument('<urls...>', 'absolute http or https URLs')
    .option('--metadata <text>', 'data of your own, at most 4096 bytes');
  addExamples(addFormatOptions(addConnectionOptions(submitting)), [
    ['edgewise abuse-report submit https://phishing.example.com/login', 'report one URL'],
  ]).action((urls: string[], flags: Flags) => act(flags, (context) => submit(urls, flags, context)));
  const getting = group
    .command('get')
    .description('Show a report and the status of each host name.')
    .argument('<id>', 'id of the report', parseId);
  addExamples(addFormatOptions(addConnectionOptions(getting)), [
    ['edgewise abuse-report get abrp_2ab…', 'read it by its id'],
  ]).action((id: string, flags: Flags) => act(flags, (context) => get(id, flags, context)));
}

async function submit(urls: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  const body: JsonObject = { urls, ...(flags.metadata !== undefined && { metadata: flags.metadata }) };
  const checked = toRequestSchema(ABUSE_REPORT, 'create').safeParse(body);
  if (!checked.success)
    throw new CommandError(
      checked.error.issues.map(({ message, path }) => `${path.join('.')}: ${message}`).join('\n'),
      { exitCode: EXIT.invalid, remedy: 'Nothing was sent.' },
    );
  const settings = resolveSettings(flags, context.env, {});
  const report = await withSession(settings, context, (client) => client.send('POST', ABUSE_REPORT.path, body));
  showReport(report ?? {}, flags, context);
  return EXIT.done;
}

async function get(id: string, flags: Flags, context: Context): Promise<ExitCode> {
  const settings = resolveSettings(flags, context.env, {});
  const report = await withSession(settings, context, (client) => client.get(toResourcePath(ABUSE_REPORT, { id })));
  showReport(report, flags, context);
  return EXIT.done;
}

function showReport(report: JsonObject, { format }: Flags, context: Context): void {
  context.stdout.write(format === 'json' ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report));
}

function renderReport({ id, status, created_at, hostnames }: JsonObject): string {
  const rows = (isJsonArray(hostnames) ? hostnames : [])
    .filter(isJsonObject)
    .map((row) => [String(row['hostname']), String(row['status'])] as const);
  const width = Math.max(0, ...rows.map(([hostname]) => toColumns(toPrintable(hostname))));
  const lines = rows.map(([hostname, state]) => `  ${toPrintable(hostname).padEnd(width)}  ${toPrintable(state)}`);
  return [
    `${toPrintable(String(id))}  ${toPrintable(String(status))}  submitted ${toPrintable(String(created_at))}`,
    ...lines,
    '',
  ].join('\n');
}

function parseId(text: string): string {
  if (/^abrp_\w+$/.test(text)) return text;
  throw new InvalidArgumentError('The id of a report starts with abrp_.');
}
