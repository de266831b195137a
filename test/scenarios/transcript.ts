import { isJsonObject, type Json } from '../../src/model/json.ts';
import type { Act } from './scenario.ts';
import type { SentRequest } from './wire.ts';

/** Whether a transcript leaves a request out: a read that has nothing to do with what is shown. */
export type IsOther = (request: SentRequest) => boolean;

/**
 * A command as it looks to the person who typed it. What `shown` has printed before is not printed again. Of reads that are left out
 * elsewhere the number is left out here.
 */
export function toTranscript(act: Act, isOther: IsOther, shown?: { readonly act: Act; readonly file: string }): string {
  const { line, stdout, stderr, exitCode } = act;
  const before = shown?.act.stdout ?? '';
  const isRepeated = before !== '' && stdout.startsWith(before);
  const output = isRepeated ? `(the plan, as in ${shown?.file})\n\n${stdout.slice(before.length).trim()}` : stdout;
  const errors = stderr !== '' && stderr === shown?.act.stderr ? `(as in ${shown.file})` : stderr;
  const sections = [output.trim(), ...(errors === '' ? [] : [`--- stderr\n${errors.trim()}`])];
  const text = [`$ ${line}`, ...sections.filter((text) => text !== ''), `--- exit code ${exitCode}`].join('\n\n');
  return `${act.requests.some(isOther) ? text.replace(/^Reading took \d+ /m, 'Reading took … ') : text}\n`;
}

/** The requests of some commands. Reads that the first command has sent too are not listed again. */
export function toRequests([first, ...more]: readonly [Act, ...Act[]], isOther: IsOther): string {
  const reads = first.requests.map(toLine);
  const isRepeated = ({ requests }: Act) =>
    reads.length > 0 &&
    requests.length >= reads.length &&
    requests.slice(0, reads.length).every((request, at) => toLine(request) === reads[at]);
  const blocks = more.map((act) =>
    isRepeated(act)
      ? toBlock(act.line, [
          `(the same ${reads.length === 1 ? 'read' : 'reads'})`,
          ...toLines(act.requests.slice(reads.length), isOther),
        ])
      : toBlock(act.line, toLines(act.requests, isOther)),
  );
  return [toBlock(first.line, toLines(first.requests, isOther)), ...blocks].join('\n\n').concat('\n');
}

function toBlock(line: string, lines: readonly string[]): string {
  return [`$ ${line}`, ...(lines.length === 0 ? ['(no request)'] : lines)].join('\n');
}

/** In the place of what is left out stands one line, before the first write or at the end. */
function toLines(requests: readonly SentRequest[], isOther: IsOther): readonly string[] {
  const firstWrite = requests.findIndex(({ method }) => method !== 'GET');
  const at = firstWrite === -1 ? requests.length : firstWrite;
  const left = requests.some(isOther) ? ['(other kinds are read too, and there is nothing of them)'] : [];
  const show = (shown: readonly SentRequest[]) => shown.filter((each) => !isOther(each)).flatMap(toEntry);
  return [...show(requests.slice(0, at)), ...left, ...show(requests.slice(at))];
}

/** Bodies are shown field by field; metadata, which is a text, without its quotes. */
function toEntry(request: SentRequest): readonly string[] {
  return [toLine(request), ...toFields(request.body)];
}

function toLine({ method, path, status, id = '' }: SentRequest): string {
  return `${method} ${path} → ${status ?? 'no answer'} ${id}`.trimEnd();
}

function toFields(body: string): readonly string[] {
  const json: Json = body === '' ? {} : JSON.parse(body);
  if (!isJsonObject(json)) return [`    ${body}`];
  return Object.entries(json).map(([name, value]) => {
    const text = name === 'metadata' && typeof value === 'string' ? value : JSON.stringify(value);
    return `    ${name}: ${text}`;
  });
}
