import { Command, CommanderError } from 'commander';
import { type FormName, isFormName } from '../report/forms.ts';
import { defineAbuseReport } from './commands/abuse-report.ts';
import type { Act } from './commands/act.ts';
import { defineApply } from './commands/apply.ts';
import { defineDestroy } from './commands/destroy.ts';
import { defineDrift } from './commands/drift.ts';
import { defineExplain } from './commands/explain.ts';
import { defineExport } from './commands/export.ts';
import { defineLint } from './commands/lint.ts';
import { addExamples, addExitCodes } from './commands/options.ts';
import { definePlan } from './commands/plan.ts';
import { definePost } from './commands/post.ts';
import { defineRelease } from './commands/release.ts';
import { defineSchema } from './commands/schema.ts';
import { defineServe } from './commands/serve.ts';
import { defineShow } from './commands/show.ts';
import { defineValidate } from './commands/validate.ts';
import type { Context } from './context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { showFailure } from './output/failure.ts';
import type { ReportTarget } from './output/present.ts';
import { checkReports, publish } from './output/publish.ts';
import { VERSION } from './version.ts';

/** Runs one command line, without the program's name, and returns its exit code. Every error ends here. */
export async function run(argv: readonly string[], context: Context): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  let name = '';
  const act: Act = async (flags, body) => {
    try {
      await checkReports(flags, context);
      exitCode = await body(context);
    } catch (error) {
      exitCode = await showFailure(error, { command: name, flags }, context);
    }
  };
  const program = defineProgram(context, act).hook('preAction', (_, command) => {
    name = toName(command);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    const format = findFormat(argv);
    const failure = { error: { message: error.message } };
    const flags = { format, report: findReports(argv), color: false };
    return publish(
      { about: 'failure', failure },
      { flags, isShown: format === 'text', exitCode: EXIT.invalid },
      context,
    );
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
  addExitCodes(program, Object.values(EXIT));
  addExamples(program, [
    ['edgewise validate manifests', 'check manifests; no request is sent'],
    ['edgewise plan manifests', 'show what would change; nothing is written'],
    ['edgewise apply manifests', 'plan, show, ask, apply'],
  ]);
  for (const define of [
    defineValidate,
    defineLint,
    definePlan,
    defineApply,
    defineDestroy,
    defineRelease,
    defineDrift,
    defineExport,
    definePost,
    defineShow,
    defineExplain,
    defineSchema,
    defineServe,
    defineAbuseReport,
  ])
    define(program, act);
  return program;
}

/** `plan`, `abuse-report submit`. */
function toName(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${toName(parent)} ${command.name()}`;
}

/** The reports that can be made of words that could not be parsed. */
function findReports(argv: readonly string[]): readonly ReportTarget[] {
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--report=')) return [word.slice('--report='.length)];
    return word === '--report' ? [argv[index + 1] ?? ''] : [];
  });
  return named.flatMap((text) => {
    const [form, file] = [text.slice(0, Math.max(text.indexOf('='), 0)), text.slice(text.indexOf('=') + 1)];
    return isFormName(form) && file !== '' && file !== '-' ? [{ form, file }] : [];
  });
}

/** The form of the result, read from the words themselves, since they could not be parsed. */
function findFormat(argv: readonly string[]): FormName {
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--format=')) return [word.slice('--format='.length)];
    return word === '--format' ? [argv[index + 1] ?? ''] : [];
  });
  return named.findLast(isFormName) ?? 'text';
}

const ENVIRONMENT = `
Environment:
  EDGEWISE_BASE_URL        where the service is
  EDGEWISE_API_KEY         the API key, or
  EDGEWISE_API_KEY_FILE    a file that holds it
  EDGEWISE_VERSION_HEADER, EDGEWISE_CONCURRENCY, EDGEWISE_PAGE_SIZE
                           as the flags of the same names
  EDGEWISE_JOURNAL         a file for the journal of apply and destroy
  GITHUB_WORKSPACE         the root of the repository, which paths are relative to
                           in annotations and SARIF
  EDGEWISE_LOG_LEVEL       trace, debug, info, warn, error, fatal or silent, for
                           the logs on stderr (default: warn)
  NO_COLOR                 no colours
A flag comes before the environment, and that before the Stack.`;
