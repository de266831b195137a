import { isJsonObject, type Json } from '../../src/model/json.ts';
import type { CommandRun } from './scenario.ts';
import type { SentRequest } from './wire.ts';

/** Reads that transcripts leave out of a command that read every kind. */
export interface Omission {
  readonly isLeftOut: (request: SentRequest) => boolean;
  /** Whether a command with these requests read every kind. */
  readonly isComplete: (requests: readonly SentRequest[]) => boolean;
}

export const SHOW_ALL: Omission = { isLeftOut: () => false, isComplete: () => false };

/**
 * Renders a command as its user sees it, without what `shown` has printed before. If reads are left out, so are their number, and ids that
 * count requests.
 */
export function toTranscript(
  act: CommandRun,
  omission: Omission,
  shown?: { readonly act: CommandRun; readonly file: string },
): string {
  const { line, stdout, stderr, exitCode } = act;
  const before = shown?.act.stdout ?? '';
  const isRepeated = before !== '' && stdout.startsWith(before);
  const output = isRepeated ? `(the plan, as in ${shown?.file})\n\n${stdout.slice(before.length).trim()}` : stdout;
  const errors = stderr !== '' && stderr === shown?.act.stderr ? `(as in ${shown.file})` : stderr;
  const sections = [output.trim(), ...(errors === '' ? [] : [`--- stderr\n${errors.trim()}`])];
  const text = [`$ ${line}`, ...sections.filter((text) => text !== ''), `--- exit code ${exitCode}`].join('\n\n');
  return `${omission.isComplete(act.requests) ? text.replace(COUNTS, (count) => count.replace(/\d+$|(?<=^op_).+/, '…')) : text}\n`;
}

/** The meaning of a line without its wording: a stack, a planned change, a danger, a code, a result. */
const ACTIONS = [
  /^── \S+/,
  /^\S [A-Z]\w+\/\S+ .*?(?<= )[a-z][a-z ]*(?=:|$)/,
  /^ +! [a-z]+(?=: )/,
  /^[a-z]+\[[a-z-]+\](?:: [A-Z]\w+\/[\w.-]+(?=[ :]))?/,
  /^(?:Applied|Failed|Skipped|Drift to revert):$/,
  /^ {2}[a-z-]+(?=: \S+:\d+:\d+ )/,
  /^ {2}[a-z][\w ]* [A-Z]\w+\/\S+/,
];

/**
 * Lists the effects of commands without their texts: the exit code of each, its diagnostic codes, and for each resource the planned action, the
 * dangers and the result. Lines that the first command printed are not repeated.
 */
export function toActions([first, ...more]: readonly [CommandRun, ...CommandRun[]]): string {
  const plan = withoutEnding(first.stdout);
  const blocks = more.map((act) => {
    const output = withoutEnding(act.stdout);
    const isRepeated = plan !== '' && output.startsWith(plan);
    const lines = listActions(isRepeated ? output.slice(plan.length) : output, act.stderr);
    return toBlock(toOutcome(act), isRepeated ? ['(the same plan)', ...lines] : lines, '(nothing)');
  });
  return [toBlock(toOutcome(first), listActions(first.stdout, first.stderr), '(nothing)'), ...blocks]
    .join('\n\n')
    .concat('\n');
}

/** What a plan says about the end of an apply, and the apply about its own. Exit codes show both. */
function withoutEnding(output: string): string {
  return output.replace(/^(?:edgewise apply would .*|Nothing was written\.)\n/gm, '');
}

function toOutcome({ line, exitCode }: CommandRun): string {
  return `${line} → exit code ${exitCode}`;
}

function listActions(stdout: string, stderr: string): readonly string[] {
  return `${stdout}\n${stderr}`.split('\n').flatMap((line) => {
    const [action] = ACTIONS.flatMap((pattern) => pattern.exec(line) ?? []);
    return action === undefined ? [] : [action.replace(/ +\(\w+\) +/, ' ').replace(/(?<=\S) {2,}/g, ' ')];
  });
}

/** Lists the requests of commands. Reads that the first command sent too are not repeated. */
export function toRequests([first, ...more]: readonly [CommandRun, ...CommandRun[]], omission: Omission): string {
  const reads = first.requests.map(toLine);
  const isRepeated = ({ requests }: CommandRun) =>
    reads.length > 0 &&
    requests.length >= reads.length &&
    requests.slice(0, reads.length).every((request, at) => toLine(request) === reads[at]);
  const blocks = more.map((act) =>
    isRepeated(act)
      ? toBlock(act.line, [
          `(the same ${reads.length === 1 ? 'read' : 'reads'})`,
          ...toLines(act.requests.slice(reads.length), { ...omission, isComplete: () => false }),
        ])
      : toBlock(act.line, toLines(act.requests, omission)),
  );
  return [toBlock(first.line, toLines(first.requests, omission)), ...blocks].join('\n\n').concat('\n');
}

/** Texts that differ if a kind is added: the number of reads, and the numbered ids of responses. */
const COUNTS = /\bReading took \d+|"read": \d+|\bop_\w{27}\b/gm;

function toBlock(line: string, lines: readonly string[], none = '(no request)'): string {
  return [`$ ${line}`, ...(lines.length === 0 ? [none] : lines)].join('\n');
}

/** One line replaces the reads that are left out, before the first write or at the end. */
function toLines(requests: readonly SentRequest[], omission: Omission): readonly string[] {
  const firstWrite = requests.findIndex(({ method }) => method !== 'GET');
  const at = firstWrite === -1 ? requests.length : firstWrite;
  const isComplete = omission.isComplete(requests);
  const show = (shown: readonly SentRequest[]) =>
    shown.filter((each) => !(isComplete && omission.isLeftOut(each))).flatMap(toEntry);
  const left = isComplete ? ['(every kind is read; of those not shown there is nothing)'] : [];
  return [...show(requests.slice(0, at)), ...left, ...show(requests.slice(at))];
}

/** Renders a body field by field, and metadata without quotes. */
function toEntry(request: SentRequest): readonly string[] {
  return [toLine(request), ...toFields(request.body)];
}

function toLine({ method, path, status, id = '' }: SentRequest): string {
  return `${method} ${path} → ${status ?? 'no answer'} ${id}`.trimEnd();
}

/** The filling of the mark of a creation: `cli/unkept-marks.test.ts` checks it. */
function withoutReserved(metadata: string): string {
  return metadata.replace(/,"reserved":"-*"/, '');
}

function toFields(body: string): readonly string[] {
  const json: Json = body === '' ? {} : JSON.parse(body);
  if (!isJsonObject(json)) return [`    ${body}`];
  return Object.entries(json).map(([name, value]) => {
    const text = name === 'metadata' && typeof value === 'string' ? withoutReserved(value) : JSON.stringify(value);
    return `    ${name}: ${text}`;
  });
}
