import { type Command, CommanderError } from 'commander';
import { type FormName, isFormName } from '../report/forms.ts';
import type { RunSubject } from '../stack/surroundings.ts';
import type { Act } from './commands/act.ts';
import { defineProgram } from './commands/program.ts';
import type { Context } from './context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import type { FailedCommand } from './output/failure.ts';
import type { FormatFlags, ReportTarget } from './output/present.ts';
import { createRunInputs } from './output/run-inputs.ts';

/** Runs one command line, without the program's name, and returns its exit code. Every error ends here. */
export async function run(argv: readonly string[], surroundings: Context): Promise<ExitCode> {
  const inputs = createRunInputs(argv, surroundings.cwd);
  const context = { ...surroundings, inputs, onInput: inputs.add };
  let exitCode: ExitCode = EXIT.done;
  let name = '';
  const act: Act = async (flags, body) => {
    let subject: RunSubject = {};
    const onSubject = (told: RunSubject): void => {
      subject = { ...subject, ...told };
    };
    try {
      if (flags.report !== undefined) await (await import('./output/publish.ts')).checkReports(flags, context);
      exitCode = await body({ ...context, onSubject, ...(flags.render === true && (await allowRender(context))) });
    } catch (error) {
      exitCode = await showFailure(error, { command: name, flags, ...subject }, context);
    }
  };
  const program = (await defineProgram(argv, context, act)).hook('preAction', (_, command) => {
    name = toName(command);
  });
  if (isUnknownCommand(argv, program)) {
    const { toUnknownCommand } = await import('./commands/usage-error.ts');
    return showFailure(toUnknownCommand(argv, program), { flags: findFlags(argv, program) }, context);
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    // Without a command: the overview is on stderr.
    if (error.code === 'commander.help') return EXIT.invalid;
    const { toParseError } = await import('./commands/usage-error.ts');
    return showFailure(toParseError(error, argv), { flags: findFlags(argv, program) }, context);
  }
}

/** What runs commands of the manifests is loaded when that is allowed. */
async function allowRender(context: Context): Promise<Pick<Context, 'render'>> {
  const { createRender } = await import('../stack/render.ts');
  const { listenForInterrupts } = await import('./connection/interrupts.ts');
  return { render: createRender(context, { listen: () => listenForInterrupts(context) }) };
}

/** What a failure is shown with is loaded when there is one. */
async function showFailure(error: unknown, command: FailedCommand, context: Context): Promise<ExitCode> {
  return (await import('./output/failure.ts')).showFailure(error, command, context);
}

/** Whether the first word is neither a command nor an option. */
function isUnknownCommand([word]: readonly string[], { commands }: Command): boolean {
  if (word === undefined || word.startsWith('-')) return false;
  return !commands.some((command) => [command.name(), ...command.aliases()].includes(word));
}

/** `plan`, `abuse-report submit`. */
function toName(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${toName(parent)} ${command.name()}`;
}

/** How the result should be shown. The words could not be parsed, so they are searched for it. */
function findFlags(argv: readonly string[], program: Command): FormatFlags {
  return { format: findFormat(argv, program), report: findReports(argv), color: !argv.includes('--no-color') };
}

/** The reports that are asked for in words that could not be parsed. */
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

/** Some commands have a short name for the option. */
function findFormat(argv: readonly string[], { commands }: Command): FormName {
  const command = commands.find((one) => one.name() === argv[0]);
  const short = command?.options.find(({ long }) => long === '--format')?.short;
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--format=')) return [word.slice('--format='.length)];
    return word === '--format' || (short !== undefined && word === short) ? [argv[index + 1] ?? ''] : [];
  });
  return named.findLast(isFormName) ?? 'text';
}
