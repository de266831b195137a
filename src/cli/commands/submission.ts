import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '../../client/client.ts';
import { parseListedResource } from '../../client/parse-response.ts';
import { DURATION_SYNTAX, parseDurationMs } from '../../kinds/duration.ts';
import type { NamedField } from '../../kinds/field.ts';
import { type SubmittedKind, toHyphenated, withArticle } from '../../kinds/kind.ts';
import { isIdOf, toResourcePath } from '../../kinds/paths.ts';
import { ApiError, NetworkError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { StackError } from '../../model/user-errors.ts';
import { renderSubmissionJson, type SubmissionState } from '../../report/machine/json.ts';
import { formatErrorWithRemedy } from '../../report/text/findings.ts';
import { createSubmissionView, renderSubmissionState, renderSubmissionText } from '../../report/text/submission.ts';
import { createRequestBodySchema } from '../../schemas/field.ts';
import { checkAgainstSchema } from '../../schemas/findings.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { describeServiceOrigin, resolveServiceSettings } from '../../stack/settings.ts';
import { withAccounts } from '../connection/accounts.ts';
import type { SetNoticeWriter } from '../connection/notices.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type CommandBodyRunner, type FormatFlags, getTextOptions } from '../output/present.ts';
import { createStatusLine, getProgressStream, type StatusLine } from '../output/progress.ts';
import { addToCommand, CONNECTION_OPTIONS, createFormatOptions } from './options.ts';

/** The connection and format flags, and a value for each given option that sets a field of the kind. */
type SubmitFlags = ConnectionFlags & FormatFlags & Readonly<Record<string, unknown>>;

interface GetFlags extends ConnectionFlags, FormatFlags {
  readonly wait?: boolean;
  readonly waitTimeout?: number;
}

const DEFAULT_TIMEOUT = '15m';

/** Defines the commands of a submitted kind, such as `edgewise abuse-report submit` and `get`. */
export function defineSubmissionCommands(kind: SubmittedKind): (group: Command, act: CommandBodyRunner) => void {
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
      `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}, and show what was decided about ${withArticle(noun)}.`,
    );
  addToCommand(group, {
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid, EXIT.authentication],
    examples: [
      [`edgewise ${name} submit ${examples[0]}`, `submit ${withArticle(noun)}`],
      [`edgewise ${name} get ${formatExampleId(kind)} --wait`, 'wait for the decision and show it'],
    ],
  });
}

/** Defines `submit`: its options are the fields of the kind, and its argument the field that names what it is about. */
function defineSubmit(group: Command, kind: SubmittedKind, act: CommandBodyRunner): void {
  const { noun, argumentField, examples } = kind.submission;
  const line = `edgewise ${group.name()} submit`;
  const command = group
    .command('submit')
    .description(
      `Submit ${withArticle(noun)}. The service accepts it from authorized accounts only. It cannot be changed or withdrawn.`,
    );
  const fields = kind.specFields.filter(([name]) => name !== argumentField);
  for (const field of kind.specFields)
    if (field[0] === argumentField) command.argument(`<${argumentField}...>`, createFieldOption(field).description);
  addToCommand(command, {
    options: [...fields.map(createFieldOption), ...createFormatOptions(), ...CONNECTION_OPTIONS],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid, EXIT.authentication],
    examples: [
      [`${line} ${examples[0]}`, `submit ${withArticle(noun)}`],
      [`${line} ${examples.join(' ')}`, 'about several at once'],
    ],
  }).action((argumentValues: string[], flags: SubmitFlags) =>
    act(flags, (context) => submitOne(kind, { argumentValues, flags }, context)),
  );
}

function defineGet(group: Command, kind: SubmittedKind, act: CommandBodyRunner): void {
  const { noun, parts } = kind.submission;
  const line = `edgewise ${group.name()} get ${formatExampleId(kind)}`;
  const command = group
    .command('get')
    .description(`Show ${withArticle(noun)} and the status of each ${parts.title}.`)
    .argument('<id>', `id of the ${noun}`, (text) => parseId(kind, text));
  addToCommand(command, {
    options: [
      new Option('--wait', 'wait until everything is decided; progress goes to stderr'),
      new Option(
        '--wait-timeout <duration>',
        `with --wait: exit with 1 after this time, such as 90s or 2h (default: ${DEFAULT_TIMEOUT})`,
      ).argParser(parseTimeout),
      ...createFormatOptions(),
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid, EXIT.authentication, EXIT.interrupted],
    examples: [
      [line, `show the ${noun} as it is now`],
      [`${line} --wait --wait-timeout 2h`, 'wait for the decision, two hours at most'],
    ],
  }).action((id: string, flags: GetFlags) => act(flags, (context) => getSubmission(kind, { id, flags }, context)));
}

function formatExampleId({ idPrefix }: SubmittedKind): string {
  return `${idPrefix}_2ab…`;
}

async function submitOne(
  kind: SubmittedKind,
  { argumentValues, flags }: { readonly argumentValues: readonly string[]; readonly flags: SubmitFlags },
  context: Context,
): Promise<ExitCode> {
  const body = checkSubmissionBody(kind, {
    ...collectFields(kind, flags),
    [kind.submission.argumentField]: argumentValues,
  });
  const settings = resolveServiceSettings({ flags, env: context.env });
  context.onSubject?.({ service: describeServiceOrigin({ flags, env: context.env }) });
  const shown = await withAccounts(context, async ({ accounts, signal }) =>
    accounts.get(settings).write((client) => submit(client, { kind, body }, signal)),
  );
  showSubmission({ kind, verb: 'submit', shown }, flags, context);
  return EXIT.success;
}

/** Returns the fields that the user set with options. */
function collectFields(kind: SubmittedKind, flags: SubmitFlags): JsonObject {
  const fields = kind.specFields.flatMap((field): [string, string][] => {
    const value = flags[createFieldOption(field).attributeName()];
    return typeof value === 'string' ? [[field[0], value]] : [];
  });
  return Object.fromEntries(fields);
}

function createFieldOption([name, { description }]: NamedField): Option {
  return new Option(`--${name.replaceAll('_', '-')} <text>`, formatOptionText(description));
}

/** Formats the description of a field like the description of an option: without initial capital and full stop. */
function formatOptionText(description: string): string {
  const text = description.replace(/[.]$/, '');
  return /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
}

async function getSubmission(
  kind: SubmittedKind,
  { id, flags }: { readonly id: string; readonly flags: GetFlags },
  context: Context,
): Promise<ExitCode> {
  if (flags.waitTimeout !== undefined && flags.wait !== true)
    throw new StackError('--wait-timeout works only with --wait: add --wait.', { reason: 'invalid' });
  const settings = resolveServiceSettings({ flags, env: context.env });
  context.onSubject?.({ service: describeServiceOrigin({ flags, env: context.env }) });
  const path = toResourcePath(kind, { id });
  return withAccounts(context, async ({ accounts, signal: interrupted }) => {
    const { get } = await accounts.get(settings).open();
    const read = async (signal: AbortSignal): Promise<JsonObject> =>
      parseListedResource(kind, await get(path, signal), {
        place: `GET ${path}: the response`,
      }).json;
    if (flags.wait === true) {
      const timeoutMs = flags.waitTimeout ?? parseTimeout(DEFAULT_TIMEOUT);
      const { setLineWriter } = accounts;
      const waited = await waitForDecision({ kind, read, timeoutMs, setLineWriter, signal: interrupted }, context);
      return showWaited(kind, { id, flags, ...waited }, context);
    }
    showSubmission({ kind, verb: 'get', shown: await read(interrupted) }, flags, context);
    return EXIT.success;
  });
}

/** How a wait ended, and the last state that was read. `shown` is `undefined` if nothing was read. */
interface Waited {
  readonly ended: 'decided' | 'too-late' | 'interrupted';
  readonly shown: JsonObject | undefined;
}

/** Shows the last state that was read, even after a timeout or an interrupt. */
function showWaited(
  kind: SubmittedKind,
  { id, flags, ended, shown }: Waited & { readonly id: string; readonly flags: GetFlags },
  context: Context,
): ExitCode {
  const { exitCode, undecided } = ENDS[ended];
  if (shown === undefined) throw new StackError(`Interrupted before ${id} was read.`, { reason: 'interrupted' });
  const error =
    undecided === undefined ? undefined : { message: `${undecided}: ${id} is not decided yet.`, remedy: LATER };
  showSubmission({ kind, verb: 'get', shown, error }, flags, context);
  if (error !== undefined) context.stderr.write(formatErrorWithRemedy(error.message, error.remedy));
  return exitCode;
}

const ENDS: Readonly<Record<Waited['ended'], { readonly exitCode: ExitCode; readonly undecided: string | undefined }>> =
  {
    decided: { exitCode: EXIT.success, undecided: undefined },
    'too-late': { exitCode: EXIT.failed, undecided: 'Timeout' },
    interrupted: { exitCode: EXIT.interrupted, undecided: 'Interrupted' },
  };
const LATER = 'The service continues its work. To wait longer, run the same command again.';

function showSubmission(
  { kind, verb, shown, error }: Omit<SubmissionState, 'command'> & { readonly verb: 'submit' | 'get' },
  flags: FormatFlags,
  context: Context,
): void {
  const text =
    flags.format === 'json'
      ? renderSubmissionJson({ kind, command: `${toHyphenated(kind.name)} ${verb}`, shown, error })
      : renderSubmissionText(createSubmissionView(kind, shown), getTextOptions(context.stdout, context, flags));
  context.stdout.write(text);
}

function parseId({ idPrefix, submission }: SubmittedKind, text: string): string {
  if (isIdOf({ prefixes: [idPrefix] }, text)) return text;
  throw new InvalidArgumentError(`The id of ${withArticle(submission.noun)} starts with ${idPrefix}_.`);
}

function parseTimeout(text: string): number {
  const timeoutMs = parseDurationMs(text);
  if (timeoutMs !== undefined) return timeoutMs;
  throw new InvalidArgumentError(`A duration is ${DURATION_SYNTAX}.`);
}

/** Returns the body of a submission. Throws one error with all findings if it does not match the schema. */
function checkSubmissionBody(kind: SubmittedKind, body: JsonObject): JsonObject {
  const findings = checkAgainstSchema(createRequestBodySchema(kind, 'create'), body);
  if (findings.length === 0) return body;
  const { argumentField } = kind.submission;
  const lines = findings.map(({ path: [field], message }) =>
    field === argumentField ? message : `--${field} ${message}`,
  );
  throw new StackError(lines, { reason: 'invalid', remedy: 'Nothing was sent.' });
}

/** Submits a resource once, and returns it. An abort of `signal` has no effect once the request is sent. */
export async function submit(
  client: Client,
  { kind, body }: { readonly kind: SubmittedKind; readonly body: JsonObject },
  signal: AbortSignal,
): Promise<JsonObject> {
  try {
    const answer = await client.send('POST', kind.path, body, { waitSignal: signal });
    return parseListedResource(kind, answer, { place: `POST ${kind.path}: the response` }).json;
  } catch (error) {
    throw createSubmitError(kind, error);
  }
}

function createSubmitError(kind: SubmittedKind, error: unknown): unknown {
  if (error instanceof NetworkError) return error.isUnsent ? error : createUnknownOutcomeError(kind, error);
  if (!(error instanceof ApiError)) return error;
  if (error.response.status === 403) return createForbiddenError(kind, error);
  return error.response.status >= 500 ? createUnknownOutcomeError(kind, error) : error;
}

/**
 * Creates the error for a submission whose outcome is unknown. The submission cannot be looked up: the service does not
 * list submissions, and only the missing response would have contained the id.
 */
function createUnknownOutcomeError(
  { submission: { noun }, title }: SubmittedKind,
  error: ApiError | NetworkError,
): StackError {
  return new StackError(`It is not known whether the ${noun} was submitted. ${error.message}`, {
    reason: 'failed',
    remedy: `It was not sent again, because that could submit it twice, and the service cannot list ${title}s. Ask the service whether it has ${withArticle(noun)} like this. If you cannot find out, submit it again: the worst outcome is a second ${noun}.`,
    cause: error,
  });
}

/** Creates the error for a 403: the account lacks the permission or, at some services, the key is invalid. */
function createForbiddenError({ title }: SubmittedKind, error: ApiError): StackError {
  return new StackError(`The account of this API key lacks the permission to submit ${title}s. ${error.message}`, {
    reason: 'authentication',
    remedy:
      'The service gives this permission to some accounts only: ask for it. On the bundled server it is a right of the key: see --api-key in edgewise help serve. If other commands are refused too, the key is wrong.',
    cause: error,
  });
}

interface SubmissionWaitOptions {
  readonly kind: SubmittedKind;
  readonly read: (signal: AbortSignal) => Promise<JsonObject>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Redirects the notices of the client to the output that shows the progress. */
  readonly setLineWriter: SetNoticeWriter;
}

/**
 * The delay between two reads doubles from the first value to the maximum. 5 s shows a quick decision at
 * once. One read a minute is less than 1 % of the usual rate limit, 120 requests a minute, so a wait of hours slows down
 * no other run.
 */
const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 60_000;

/** Reads a submission until it is decided, time is up, or the user interrupts. Shows progress on stderr. */
async function waitForDecision(wait: SubmissionWaitOptions, context: Context): Promise<Waited> {
  const status = createStatusLine(getProgressStream(context));
  try {
    return await poll(wait, { context, status });
  } finally {
    status.clear();
    wait.setLineWriter(undefined);
  }
}

interface Polling {
  readonly context: Context;
  readonly status: StatusLine;
}

/** Reads until a wait ends, less and less often. */
async function poll(
  { kind, read, timeoutMs, setLineWriter, signal }: SubmissionWaitOptions,
  { context, status }: Polling,
): Promise<Waited> {
  const deadline = context.now().getTime() + timeoutMs;
  let shown: JsonObject | undefined;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    const answer = await unlessAborted(read, signal);
    if (answer === undefined) return { ended: 'interrupted', shown };
    shown = answer;
    const leftMs = deadline - context.now().getTime();
    const view = createSubmissionView(kind, shown);
    if (view.isDecided) return { ended: 'decided', shown };
    if (leftMs <= 0) return { ended: 'too-late', shown };
    setLineWriter(status.tell);
    status.show(`${renderSubmissionState(view)}; waiting for ${formatTimeLeft(leftMs)} more at most`);
    await context.sleep(Math.min(delayMs, leftMs), signal);
    if (signal.aborted) return { ended: 'interrupted', shown };
  }
}

/** Reads once. `undefined` if the read was aborted. */
async function unlessAborted<T>(
  read: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await read(signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Formats a time such as `40 s` or, from two minutes on, `15 min`. */
function formatTimeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
