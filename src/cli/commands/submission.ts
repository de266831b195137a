import { type Command, InvalidArgumentError, Option } from 'commander';
import { toListedResource } from '../../client/conform.ts';
import { DURATION_EXPECTED, toDurationMs } from '../../kinds/duration.ts';
import type { NamedField } from '../../kinds/field.ts';
import { isIdOf } from '../../kinds/ids.ts';
import { listSpecFields, type SubmittedKind, toHyphenated } from '../../kinds/kind.ts';
import { toResourcePath } from '../../kinds/paths.ts';
import { toIndefinite } from '../../kinds/submission.ts';
import type { JsonObject } from '../../model/json.ts';
import { renderSubmissionJson, type SubmissionResult } from '../../report/programs/json.ts';
import { toParagraph } from '../../report/text/failure.ts';
import { renderSubmissionText, toSubmissionView } from '../../report/text/submission.ts';
import { type ConnectionFlags, resolveSettings } from '../../stack/settings.ts';
import { withAccount } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from '../output/present.ts';
import type { Act } from './act.ts';
import { addConnectionOptions, addExamples, addExitCodes, addFormatOptions } from './options.ts';
import { submit, toSubmissionBody } from './submit.ts';
import { type Waited, waitForDecision } from './wait-for-decision.ts';

/** Also the options that the fields of the kind stand for, by their names. */
type SubmitFlags = ConnectionFlags & FormatFlags & Readonly<Record<string, unknown>>;

interface GetFlags extends ConnectionFlags, FormatFlags {
  readonly wait?: boolean;
  readonly timeout?: number;
}

const DEFAULT_TIMEOUT = '15m';

/** The command of a kind that is submitted: `edgewise abuse-report submit` and `get`. */
export function defineSubmission(kind: SubmittedKind): (group: Command, act: Act) => void {
  return (group, act) => {
    describeGroup(group, kind);
    defineSubmit(group, kind, act);
    defineGet(group, kind, act);
  };
}

function describeGroup(group: Command, kind: SubmittedKind): void {
  const { noun, purpose, examples } = kind.submission;
  const name = group.name();
  group
    .helpCommand(false)
    .description(
      `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}, and read what became of ${toIndefinite(noun)}.`,
    );
  addExitCodes(group, [EXIT.done, EXIT.failed, EXIT.invalid, EXIT.authentication]);
  addExamples(group, [
    [`edgewise ${name} submit ${examples[0]}`, `submit ${toIndefinite(noun)}`],
    [`edgewise ${name} get ${toExampleId(kind)} --wait`, 'wait for the decision and show it'],
  ]);
}

function defineSubmit(group: Command, kind: SubmittedKind, act: Act): void {
  const { noun, words, examples } = kind.submission;
  const line = `edgewise ${group.name()} submit`;
  const command = group
    .command('submit')
    .description(
      `Submit ${toIndefinite(noun)}. The service takes it from authorized accounts only. It cannot be changed or withdrawn.`,
    );
  for (const field of listSpecFields(kind)) {
    const option = toFieldOption(field);
    if (field[0] === words) command.argument(`<${words}...>`, option.description);
    else command.addOption(option);
  }
  addExitCodes(command, [EXIT.done, EXIT.failed, EXIT.invalid, EXIT.authentication]);
  addExamples(addConnectionOptions(addFormatOptions(command)), [
    [`${line} ${examples[0]}`, `submit ${toIndefinite(noun)}`],
    [`${line} ${examples.join(' ')}`, 'about several at once'],
  ]).action((given: string[], flags: SubmitFlags) =>
    act(flags, (context) => submitOne(kind, { given, flags }, context)),
  );
}

function defineGet(group: Command, kind: SubmittedKind, act: Act): void {
  const { noun, parts } = kind.submission;
  const line = `edgewise ${group.name()} get ${toExampleId(kind)}`;
  const command = group
    .command('get')
    .description(`Show ${toIndefinite(noun)} and the status of each ${parts.title}.`)
    .argument('<id>', `id of the ${noun}`, (text) => parseId(kind, text))
    .option('--wait', 'wait until everything is decided; progress goes to stderr')
    .option(
      '--timeout <duration>',
      `with --wait: exit with 1 after this time, such as 90s or 2h (default: ${DEFAULT_TIMEOUT})`,
      parseTimeout,
    );
  addExitCodes(command, [EXIT.done, EXIT.failed, EXIT.invalid, EXIT.authentication, EXIT.interrupted]);
  addExamples(addConnectionOptions(addFormatOptions(command)), [
    [line, `show the ${noun} as it is now`],
    [`${line} --wait --timeout 2h`, 'wait for the decision, two hours at most'],
  ]).action((id: string, flags: GetFlags) => act(flags, (context) => get(kind, { id, flags }, context)));
}

function toExampleId({ idPrefix }: SubmittedKind): string {
  return `${idPrefix}_2ab…`;
}

async function submitOne(
  kind: SubmittedKind,
  { given, flags }: { readonly given: readonly string[]; readonly flags: SubmitFlags },
  context: Context,
): Promise<ExitCode> {
  const body = toSubmissionBody(kind, { ...listStated(kind, flags), [kind.submission.words]: given });
  const settings = resolveSettings(flags, context.env, {});
  const shown = await withAccount(settings, context, ({ account, signal }) =>
    account.write((client) => submit(client, { kind, body }, signal)),
  );
  show({ kind, verb: 'submit', shown }, flags, context);
  return EXIT.done;
}

/** The fields that are options. */
function listStated(kind: SubmittedKind, flags: SubmitFlags): JsonObject {
  const stated = listSpecFields(kind).flatMap((field): [string, string][] => {
    const value = flags[toFieldOption(field).attributeName()];
    return typeof value === 'string' ? [[field[0], value]] : [];
  });
  return Object.fromEntries(stated);
}

function toFieldOption([name, { description }]: NamedField): Option {
  return new Option(`--${name.replaceAll('_', '-')} <text>`, toOptionText(description));
}

/** The description of a field as options have theirs: no capital and no full stop. */
function toOptionText(description: string): string {
  const text = description.replace(/[.]$/, '');
  return /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

async function get(
  kind: SubmittedKind,
  { id, flags }: { readonly id: string; readonly flags: GetFlags },
  context: Context,
): Promise<ExitCode> {
  if (flags.timeout !== undefined && flags.wait !== true)
    throw new CommandError('--timeout limits how long --wait waits: give both.', { exitCode: EXIT.invalid });
  const settings = resolveSettings(flags, context.env, {});
  const path = toResourcePath(kind, { id });
  return withAccount(settings, context, async ({ account, tellBy, signal: interrupted }) => {
    const client = await account.open();
    const read = async (signal: AbortSignal): Promise<JsonObject> =>
      toListedResource(kind, await client.get(path, signal), {
        place: `GET ${path}: the answer`,
        excerpt: client.excerpt,
      }).json;
    if (flags.wait === true) {
      const timeoutMs = flags.timeout ?? parseTimeout(DEFAULT_TIMEOUT);
      const waited = await waitForDecision({ kind, read, timeoutMs, tellBy, signal: interrupted }, context);
      return showWaited(kind, { id, flags, ...waited }, context);
    }
    show({ kind, verb: 'get', shown: await read(interrupted) }, flags, context);
    return EXIT.done;
  });
}

/** Shows the last that is known, however the wait ended. */
function showWaited(
  kind: SubmittedKind,
  { id, flags, ended, shown }: Waited & { readonly id: string; readonly flags: GetFlags },
  context: Context,
): ExitCode {
  const { exitCode, problem } = ENDS[ended];
  if (shown === undefined) throw new CommandError(`Interrupted before ${id} was read.`, { exitCode });
  const error = problem === undefined ? undefined : { message: `${problem}: ${id} is not decided yet.`, remedy: LATER };
  show({ kind, verb: 'get', shown, error }, flags, context);
  if (error !== undefined) context.stderr.write(toParagraph(error.message, error.remedy));
  return exitCode;
}

const ENDS: Readonly<Record<Waited['ended'], { readonly exitCode: ExitCode; readonly problem: string | undefined }>> = {
  decided: { exitCode: EXIT.done, problem: undefined },
  'too-late': { exitCode: EXIT.failed, problem: 'Timeout' },
  interrupted: { exitCode: EXIT.interrupted, problem: 'Interrupted' },
};
const LATER = 'The service goes on deciding without you. To wait again, run the same command.';

function show(
  { kind, verb, shown, error }: Omit<SubmissionResult, 'command'> & { readonly verb: 'submit' | 'get' },
  flags: FormatFlags,
  context: Context,
): void {
  const text =
    flags.format === 'json'
      ? renderSubmissionJson({ kind, command: `${toHyphenated(kind.name)} ${verb}`, shown, error })
      : renderSubmissionText(toSubmissionView(kind, shown), toTextOptions(context.stdout, context, flags));
  context.stdout.write(text);
}

function parseId({ idPrefix, submission }: SubmittedKind, text: string): string {
  if (isIdOf({ prefixes: [idPrefix] }, text)) return text;
  throw new InvalidArgumentError(`The id of ${toIndefinite(submission.noun)} starts with ${idPrefix}_.`);
}

function parseTimeout(text: string): number {
  const timeoutMs = toDurationMs(text);
  if (timeoutMs !== undefined) return timeoutMs;
  throw new InvalidArgumentError(`A duration is ${DURATION_EXPECTED}.`);
}
