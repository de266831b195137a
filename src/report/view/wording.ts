import type { Diagnostic, Severity } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Write } from '../../model/write.ts';
import type { Validation } from '../report.ts';
import { toWord } from './escape.ts';

/**
 * All wording that several forms share. Results are printable text; a form escapes, wraps and colours it, and adds
 * wording of its own only where no other form says the same.
 */

/** `1 request`, `2 requests`. */
export function toCount(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** A time as one says it before waiting: `30 s`, `4 min 0 s`, `1 h 27 min`. Parts of a second count as a whole one. */
export function toTimeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `2 errors, 1 warning`; only what there is. */
export function countSeverities(diagnostics: readonly Diagnostic[]): string {
  const severities: readonly Severity[] = ['error', 'warning'];
  return severities
    .map((severity) => ({ severity, number: diagnostics.filter((one) => one.severity === severity).length }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => toCount(number, severity))
    .join(', ');
}

/** What reports are about. */
export type Subject = Pick<Plan, 'stack' | 'baseUrl'>;

/** What a report is about: `stack production on https://api.example.com`. */
export function toSubject({ stack, baseUrl }: Subject): string {
  return `stack ${toWord(stack)} on ${toPlace(baseUrl)}`;
}

function toPlace(baseUrl: string): string {
  const [scheme, ...file] = baseUrl.split(':');
  if (scheme !== 'embedded') return toPrintable(baseUrl);
  const path = file.join(':');
  return path === '' ? 'the embedded server' : `the embedded server, kept in ${toPrintable(path)}`;
}

/** What reading took. */
export function toReadSentence(requests: number): string {
  return `Reading took ${toCount(requests, 'request')}.`;
}

/** How a write is called: `create TCPEdge/postgres`. */
export function toWriteName({ id }: Pick<Write, 'id'>): string {
  return toPrintable(id);
}

/** Names in a sentence: the first few, and how many more there are. */
export function toNameList(names: readonly string[]): string {
  const hidden = names.length - MAX_NAMES;
  return hidden > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${hidden} more` : names.join(', ');
}

const MAX_NAMES = 5;

/** Stands for the value of a field that its manifest leaves to the service again. */
export const STATED_NO_LONGER = '(no longer stated)';

/** How many manifests were checked: `5 resources in 2 files`. */
export function toValidationSize({ files, resources }: Pick<Validation, 'files' | 'resources'>): string {
  return `${toCount(resources, 'resource')} in ${toCount(files, 'file')}`;
}

/** `edgewise plan did not complete`. */
export function toNoResult(command: string | undefined): string {
  return `${command === undefined ? 'edgewise' : `edgewise ${toPrintable(command)}`} did not complete`;
}
