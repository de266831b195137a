import { isJsonObject, type Json } from '../../src/model/json.ts';
import type { Act } from './scenario.ts';
import type { SentRequest } from './wire.ts';

/** A command as it looks to the person who typed it. What `shown` has printed before is not printed again. */
export function toTranscript(act: Act, shown?: { readonly act: Act; readonly file: string }): string {
  const { line, stdout, stderr, exitCode } = act;
  const before = shown?.act.stdout ?? '';
  const isRepeated = before !== '' && stdout.startsWith(before);
  const output = isRepeated ? `(the plan, as in ${shown?.file})\n\n${stdout.slice(before.length).trim()}` : stdout;
  const errors = stderr !== '' && stderr === shown?.act.stderr ? `(as in ${shown.file})` : stderr;
  const sections = [output.trim(), ...(errors === '' ? [] : [`--- stderr\n${errors.trim()}`])];
  return [`$ ${line}`, ...sections.filter((text) => text !== ''), `--- exit code ${exitCode}`]
    .join('\n\n')
    .concat('\n');
}

/** The requests of some commands. Reads that the first command has sent too are counted only. */
export function toRequests([first, ...more]: readonly [Act, ...Act[]]): string {
  const reads = first.requests.map(toLine);
  const isRepeated = ({ requests }: Act) =>
    reads.length > 0 &&
    requests.length >= reads.length &&
    requests.slice(0, reads.length).every((request, at) => toLine(request) === reads[at]);
  const blocks = more.map((act) =>
    isRepeated(act)
      ? toBlock(act, [`(the same ${reads.length === 1 ? 'read' : `${reads.length} reads`})`], reads.length)
      : toBlock(act, [], 0),
  );
  return [toBlock(first, [], 0), ...blocks].join('\n\n').concat('\n');
}

function toBlock({ line, requests }: Act, before: readonly string[], skipped: number): string {
  const lines = [...before, ...requests.slice(skipped).flatMap(toLines)];
  return [`$ ${line}`, ...(lines.length === 0 ? ['(no request)'] : lines)].join('\n');
}

/** Bodies are shown field by field; metadata, which is a text, without its quotes. */
function toLines(request: SentRequest): readonly string[] {
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
