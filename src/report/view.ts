import { findKind } from '../kinds/registry.ts';
import { type Action, type Change, toBaseAddress } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { GuardViolation, Plan, Write } from '../model/plan.ts';
import { toPrintable } from '../model/printable.ts';
import { toWord } from './escape.ts';
import { type FieldView, listFieldViews, toDifferenceView } from './field-view.ts';
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
  /** Deletes first, then replaces, updates, adoptions, creates. None of them is empty. */
  readonly groups: readonly ChangeGroup[];
  /** What to know of what stays as it is: each sentence starts with an address. */
  readonly unchanged: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly totals: Totals;
  readonly requests: Plan['requests'];
  readonly writes: readonly WriteView[];
  /** Nothing would be done. */
  readonly isEmpty: boolean;
  /** Files that will be written: each sentence starts with a path. */
  readonly files: readonly string[];
}

/** What is done to a resource that is not left as it is. */
export type ChangeAction = Exclude<Action, 'no-op'>;

/** The changes of one action, in the order of the plan. */
export interface ChangeGroup {
  readonly action: ChangeAction;
  readonly changes: readonly ChangeView[];
}

/** One change, ready to read. */
export interface ChangeView {
  readonly action: ChangeAction;
  readonly glyph: string;
  readonly address: string;
  /** Id of the live resource. */
  readonly id?: string;
  readonly reason?: string;
  /** What else who approves should know. */
  readonly notes: readonly string[];
  readonly protect: boolean;
  /** What differs; of a create, what will be there. */
  readonly fields: readonly FieldView[];
  /** Of a delete, what will be gone. */
  readonly lost: readonly FieldView[];
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

/** The order in which a plan is read, and the glyph of each action. What is lost comes first. */
const GLYPHS: Readonly<Record<ChangeAction, string>> = {
  delete: '-',
  replace: '±',
  update: '~',
  adopt: '»',
  create: '+',
};

const READING_ORDER = ['delete', 'replace', 'update', 'adopt', 'create'] as const;

/** The view of a plan. */
export function toPlanView(plan: Plan): PlanView {
  const redacted = redactPlan(plan);
  const totals = countActions(redacted.changes);
  return {
    title: `${plan.mode === 'destroy' ? 'Plan to destroy' : 'Plan for'} ${toSubject(plan)}`,
    notes: listNotes(redacted),
    violations: redacted.violations.map(toPrintableViolation),
    groups: listGroups(redacted),
    unchanged: redacted.changes.filter(({ action }) => action === 'no-op').flatMap(listUnchangedNotes),
    diagnostics: redacted.diagnostics.map(toPrintableDiagnostic),
    totals,
    requests: redacted.requests,
    writes: toWriteViews(redacted.writes),
    files: redacted.files.map(toFileSentence),
    isEmpty: redacted.writes.length === 0 && redacted.files.length === 0 && totals['no-op'] === redacted.changes.length,
  };
}

/** Number of changes of each action. */
export function countActions(changes: readonly Change[]): Totals {
  const totals = { delete: 0, replace: 0, update: 0, adopt: 0, create: 0, 'no-op': 0 };
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

function listNotes({ targets }: Plan): readonly string[] {
  return targets.length === 0 ? [] : [`Narrowed to ${targets.map(toWord).join(', ')}, with what is needed for it.`];
}

function listUnchangedNotes({ address, notes = [] }: Change): readonly string[] {
  return notes.map((note) => `${toWord(address)}: ${toPrintable(note)}`);
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

function listGroups(plan: Plan): readonly ChangeGroup[] {
  const { changes } = plan;
  const names = toNames(plan);
  return READING_ORDER.flatMap((action) => {
    const views = changes
      .filter((change) => change.action === action)
      .map((change) => toChangeView(change, action, names));
    return views.length === 0 ? [] : [{ action, changes: views }];
  });
}

function toNames({ changes, externals }: Plan): Names {
  const known = changes.flatMap(({ address, live }) => (live === undefined ? [] : [[live.id, address] as const]));
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  // Of several names for one id the last counts, in a plan as in its file.
  return new Map([...named.sort(([, left], [, right]) => (left < right ? -1 : 1)), ...known]);
}

function toChangeView(change: Change, action: ChangeAction, names: Names): ChangeView {
  const context = { kind: findKind(change.kind), names };
  const { live, desired } = change;
  const isNew = action === 'create' && desired !== undefined;
  const isGone = action === 'delete' && live?.spec !== undefined;
  return {
    action,
    glyph: GLYPHS[action],
    address: toWord(toBaseAddress(change.address)),
    ...(live !== undefined && { id: toWord(live.id) }),
    ...(change.reason !== undefined && { reason: toPrintable(change.reason) }),
    notes: (change.notes ?? []).map(toPrintable),
    protect: change.protect === true,
    fields: isNew
      ? listFieldViews(desired, 'added', context)
      : change.differences.map((difference) => toDifferenceView(difference, context)),
    lost: isGone ? listFieldViews(live.spec, 'removed', context) : [],
  };
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
