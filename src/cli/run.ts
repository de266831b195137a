import { Command, CommanderError } from 'commander';
import { ApiError, NetworkError } from '../model/errors.ts';
import { toPrintable } from '../report/escape.ts';
import { renderFailureJson } from '../report/json.ts';
import type { Act } from './act.ts';
import { defineAbuseReport } from './commands/abuse-report.ts';
import { defineApply } from './commands/apply.ts';
import { defineDestroy } from './commands/destroy.ts';
import { definePlan } from './commands/plan.ts';
import { defineSchema } from './commands/schema.ts';
import { defineServe } from './commands/serve.ts';
import { defineShow } from './commands/show.ts';
import { defineValidate } from './commands/validate.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './exit-code.ts';
import type { FormatFlags } from './present.ts';
import { VERSION } from './version.ts';

/** Runs one command line, without the program's name, and returns its exit code. Every error ends here. */
export async function run(argv: readonly string[], context: Context): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const act: Act = async (flags, body) => {
    try {
      exitCode = await body(context);
    } catch (error) {
      exitCode = showFailure(error, flags.format, context);
    }
  };
  try {
    await defineProgram(context, act).parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    if (wantsJson(argv)) context.stdout.write(renderFailureJson({ error: { message: error.message } }));
    return EXIT.invalid;
  }
}

function defineProgram(context: Context, act: Act): Command {
  const program = new Command('edgewise')
    .description(
      'Keeps network ingress equal to manifests in git: plan shows what would change, apply does that and nothing else.',
    )
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.stdout.write(text), writeErr: (text) => context.stderr.write(text) })
    .addHelpText('after', ENVIRONMENT);
  for (const define of [
    defineValidate,
    definePlan,
    defineApply,
    defineDestroy,
    defineShow,
    defineSchema,
    defineServe,
    defineAbuseReport,
  ])
    define(program, act);
  return program;
}

/** Read from the words themselves, since they could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  return (
    argv.includes('--format=json') || argv.some((word, index) => word === '--format' && argv[index + 1] === 'json')
  );
}

const ENVIRONMENT = `
Environment:
  EDGEWISE_BASE_URL       where the service is
  EDGEWISE_API_KEY        the API key, or
  EDGEWISE_API_KEY_FILE   a file that holds it
  NO_COLOR                no colours

Exit codes: 0 done, 1 failed or done only in part, 2 changes (plan --detailed-exitcode), 3 manifests or usage invalid,
4 authentication or permission, 5 refused by a safety rule, 6 the saved plan is stale, 70 a bug, 130 interrupted.`;

interface ShownFailure {
  readonly exitCode: ExitCode;
  /** Printable lines. */
  readonly message: string;
  readonly remedy: string | undefined;
}

function showFailure(error: unknown, format: FormatFlags['format'], context: Context): ExitCode {
  const { exitCode, message, remedy } = toFailure(error);
  if (format === 'json') context.stdout.write(renderFailureJson({ error: toReported(error) }));
  context.stderr.write(`edgewise: ${message}\n${remedy === undefined ? '' : `${remedy}\n`}`);
  if (exitCode !== EXIT.bug) return exitCode;
  const trace = error instanceof Error ? (error.stack ?? '') : '';
  context.stderr.write(`${trace}\nThis is a bug in edgewise. Please report it with the lines above.\n`);
  return exitCode;
}

/** A message of ours may have lines; one that holds what a service said is a single line, so that nobody can forge others. */
function toFailure(error: unknown): ShownFailure {
  if (error instanceof CommandError)
    return { exitCode: error.exitCode, message: toLines(error.message), remedy: error.remedy };
  const message = toPrintable(error instanceof Error ? error.message : String(error));
  if (error instanceof ApiError && error.isAuthentication)
    return { exitCode: EXIT.authentication, message, remedy: 'Check the API key and its permissions.' };
  if (error instanceof ApiError || error instanceof NetworkError)
    return { exitCode: EXIT.failed, message, remedy: undefined };
  return { exitCode: EXIT.bug, message, remedy: undefined };
}

/** What the JSON form says of an error. */
function toReported(error: unknown): Error | { readonly message: string; readonly remedy?: string } {
  if (!(error instanceof CommandError)) return error instanceof Error ? error : { message: String(error) };
  return { message: error.message, ...(error.remedy !== undefined && { remedy: error.remedy }) };
}

function toLines(text: string): string {
  return text.split('\n').map(toPrintable).join('\n');
}
