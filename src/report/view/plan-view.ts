import { type Action, type Change, toBaseAddress } from '../../model/change.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { GuardViolation, Plan, Withheld, Write } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { toWord } from './escape.ts';
import { listPlanParts, type PlanPart } from './plan-parts.ts';
import { toPrintableDiagnostic } from './printable-diagnostic.ts';
import { redactPlan } from './redact.ts';
import type { Names } from './value-lines.ts';

/**
 * The one view of a plan that all forms for people share: what is read, in reading order, as texts that are printable and
 * free of secrets, but neither styled, wrapped nor escaped for a form. Renderers decide on looks and on nothing else.
 */
export interface PlanView {
  readonly title: string;
  /** Sentences that limit what the plan is about. */
  readonly notes: readonly string[];
  readonly violations: readonly GuardViolation[];
  /** Deletes, then what the manifests change, then drift that is put back. None of them is empty. */
  readonly parts: readonly PlanPart[];
  /** What to know of what stays as it is: each sentence starts with an address. */
  readonly unchanged: readonly string[];
  /** What would be deleted, but for --no-delete: each sentence starts with an address. */
  readonly withheld: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly totals: Totals;
  readonly requests: Plan['requests'];
  /** `120/60s`, or `none`. */
  readonly rateLimit: string;
  readonly writes: readonly WriteView[];
  /** Nothing would be done. */
  readonly isEmpty: boolean;
  /** Files that will be written: each sentence starts with a path. */
  readonly files: readonly string[];
}

/** Number of resources by what happens to them. */
export type Totals = Readonly<Record<Action, number>>;

/** One API call. */
export interface WriteView {
  /** Its place in the plan, from 1. */
  readonly number: number;
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly reason: string;
  /** Numbers of the writes that it waits for. */
  readonly waitsFor: readonly number[];
  /** Waits for all writes that are not last. */
  readonly last: boolean;
}

const TITLES = { apply: 'Plan for', destroy: 'Plan to destroy', release: 'Plan to release from' } as const;

/** The view of a plan. */
export function toPlanView(plan: Plan): PlanView {
  const redacted = redactPlan(plan);
  const totals = countActions(redacted.changes);
  return {
    title: `${TITLES[plan.mode]} ${toSubject(plan)}`,
    notes: listNotes(redacted),
    violations: redacted.violations.map(toPrintableViolation),
    parts: listPlanParts(redacted.changes, toNames(redacted)),
    unchanged: redacted.changes.filter(({ action }) => action === 'no-op').flatMap(listUnchangedNotes),
    withheld: (redacted.withheld ?? []).map(toWithheldSentence),
    diagnostics: redacted.diagnostics.map(toPrintableDiagnostic),
    totals,
    requests: redacted.requests,
    rateLimit: redacted.settings.rateLimit,
    writes: toWriteViews(redacted.writes),
    files: redacted.files.map(toFileSentence),
    isEmpty: redacted.writes.length === 0 && redacted.files.length === 0 && totals['no-op'] === redacted.changes.length,
  };
}

/** Number of changes of each action. */
export function countActions(changes: readonly Change[]): Totals {
  const totals = { delete: 0, replace: 0, update: 0, release: 0, adopt: 0, create: 0, 'no-op': 0 };
  for (const { action } of changes) totals[action] += 1;
  return totals;
}

/** What a plan is about: `stack production on https://api.example.com`. */
export function toSubject({ stack, baseUrl }: Pick<Plan, 'stack' | 'baseUrl'>): string {
  return `stack ${toWord(stack)} on ${toPlace(baseUrl)}`;
}

function toPlace(baseUrl: string): string {
  const [scheme, ...file] = baseUrl.split(':');
  if (scheme !== 'embedded') return toPrintable(baseUrl);
  const path = file.join(':');
  return path === '' ? 'the embedded server' : `the embedded server, kept in ${toPrintable(path)}`;
}

/** A release is narrow by nature. */
function listNotes({ targets, mode }: Plan): readonly string[] {
  return targets.length === 0 || mode === 'release'
    ? []
    : [`Narrowed to ${targets.map(toWord).join(', ')}, with what is needed for it.`];
}

function listUnchangedNotes({ address, notes = [] }: Change): readonly string[] {
  return notes.map((note) => `${toWord(address)}: ${toPrintable(note)}`);
}

function toWithheldSentence({ address, id, reason }: Withheld): string {
  return `${toWord(toBaseAddress(address))} (${toWord(id)}): ${toPrintable(reason)}`;
}

function toFileSentence({ address, path, text }: Plan['files'][number]): string {
  const sentence = `${toPrintable(path)}: what is issued for ${toWord(address)}`;
  return text === undefined ? `${sentence} (known after apply)` : sentence;
}

function toPrintableViolation(violation: GuardViolation): GuardViolation {
  const { message, remedy, addresses } = violation;
  return {
    ...violation,
    message: toPrintable(message),
    remedy: toPrintable(remedy),
    addresses: addresses.map(toWord),
  };
}

function toNames({ changes, externals }: Plan): Names {
  const known = changes.flatMap(({ address, live }) => (live === undefined ? [] : [[live.id, address] as const]));
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  // Of several names for one id the last counts, in a plan as in its file.
  return new Map([...named.sort(([, left], [, right]) => (left < right ? -1 : 1)), ...known]);
}

function toWriteViews(writes: readonly Write[]): readonly WriteView[] {
  const numbers = new Map(writes.map(({ id }, index) => [id, index + 1]));
  return writes.map((write, index) => ({
    number: index + 1,
    id: toPrintable(write.id),
    method: toPrintable(write.method),
    path: toPrintable(write.path),
    reason: toPrintable(write.reason),
    waitsFor: write.needs.flatMap((id) => numbers.get(id) ?? []),
    last: write.last,
  }));
}
