import { toWriteRequest } from '../../kinds/write-request.ts';
import { type Change, toShownChange } from '../../model/change.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { LINT_CODES } from '../../model/diagnostic-codes.ts';
import { once } from '../../model/once.ts';
import type { GuardViolation, Plan, Withheld } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { countActions, type Totals } from '../../model/totals.ts';
import type { Write } from '../../model/write.ts';
import type { FormOptions } from '../report.ts';
import { type ChangeView, toChangeView } from './change-view.ts';
import { type DangerView, listDangerViews } from './danger-words.ts';
import { toPrintableDiagnostic, toPrintablePlace } from './diagnostic-view.ts';
import { toWord } from './escape.ts';
import { toHeadline } from './headline.ts';
import { listPlanParts, type PlanPart } from './plan-parts.ts';
import { listNarrowing, toPlanSummary, toPlanTitle, toRehearsalSentence, toRequestSentence } from './plan-wording.ts';
import { redactPlan } from './redact.ts';
import type { Names } from './value-lines.ts';
import { countSeverities, toWriteName } from './wording.ts';

/**
 * The one view of a plan that all forms for people share: what is read, in reading order, as texts that are printable and
 * free of secrets, but neither styled, wrapped nor escaped for a form. Renderers decide on looks and on nothing else.
 */
export interface PlanView {
  readonly title: string;
  /** The whole of it on one line. */
  readonly headline: string;
  /** Sentences that limit what the plan is about. */
  readonly notes: readonly string[];
  /** Safety rules that stand against it, with the addresses that the message does not name. */
  readonly violations: readonly GuardViolation[];
  /** What deserves a second look. */
  readonly dangers: readonly DangerView[];
  /** Deletes, then what the manifests change, then drift that is put back. None of them is empty. */
  readonly parts: readonly PlanPart<ChangeView>[];
  /** What to know of what stays as it is: each sentence starts with an address. */
  readonly unchanged: readonly string[];
  /** What would be deleted, but for --no-delete: each sentence starts with an address. */
  readonly withheld: readonly string[];
  /** Without the warnings of lint. */
  readonly diagnostics: readonly Diagnostic[];
  /** Warnings of lint in short, each with its place and its rule: validate shows them in full. */
  readonly lint: readonly LintView[];
  /** `2 errors, 1 warning`, those of lint among them; empty when there are none. */
  readonly found: string;
  readonly totals: Totals;
  /** What it comes to, in one sentence. */
  readonly summary: string;
  /** What reading took and applying will take. */
  readonly requests: string;
  readonly writes: readonly WriteView[];
  /** The Stack says how to tell whose a resource is. */
  readonly hasOwners: boolean;
  /** The order of the writes is another one than whoever knows what refers to what would think. */
  readonly isOrderTelling: boolean;
  /** Nothing would be done. */
  readonly isEmpty: boolean;
  /** An apply would do something, and nothing stands against it. */
  readonly isApplicable: boolean;
  /** Files that will be written: each sentence starts with a path. */
  readonly files: readonly string[];
}

/** A warning of lint in short. */
export interface LintView {
  /** `edge.yaml:6:1`; absent: it counts others. */
  readonly position?: string;
  /** `no-weight (WeightedBackend/pool)` */
  readonly said: string;
}

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

/** How the view of a plan is made. */
export interface PlanViewOptions extends Pick<FormOptions, 'isPart'> {
  /** Each change is read once, from the first to the last: nothing of its fields is kept. */
  readonly isReadOnce?: boolean;
}

/** The view of a plan. */
export function toPlanView(plan: Plan, { isPart, isReadOnce = false }: PlanViewOptions = {}): PlanView {
  const redacted = redactPlan(plan);
  const { changes, diagnostics, violations, withheld = [], writes, files } = redacted;
  const totals = countActions(changes);
  const isEmpty = writes.length === 0 && files.length === 0 && totals['no-op'] === changes.length;
  const isValid = !hasErrors(diagnostics);
  const names = toNames(redacted);
  const byId = new Map(writes.map((write) => [write.id, write]));
  const listWrites = once(() => toWriteViews(writes));
  return {
    title: toPlanTitle('plan', plan),
    headline: toHeadline(redacted, isEmpty),
    notes: listNotes(redacted),
    violations: violations.map(toViolationView),
    dangers: listDangerViews(changes),
    parts: listPlanParts(changes).map((part) => ({
      ...part,
      changes: part.changes.map((share) => {
        const view = toChangeView(share, names, plan.ownerLabel);
        return isReadOnce ? view : { ...view };
      }),
    })),
    unchanged: changes.filter(({ action }) => action === 'no-op').flatMap(listUnchangedNotes),
    withheld: withheld.map(toWithheldSentence),
    diagnostics: diagnostics.filter((one) => !isLintWarning(one)).map(toPrintableDiagnostic),
    lint: diagnostics.filter(isLintWarning).map(toLintView),
    found: countSeverities(diagnostics),
    totals,
    summary: toPlanSummary({ totals, withheld, diagnostics, isEmpty }),
    requests: [toRequestSentence(plan, { isApplied: !isEmpty && isValid, isPart }), toRehearsalSentence(plan)]
      .filter(Boolean)
      .join(' '),
    get writes() {
      return listWrites();
    },
    files: files.map(toFileSentence),
    hasOwners: plan.ownerLabel !== undefined,
    isOrderTelling: writes.some((write) => isSurprising(write, byId)),
    isEmpty,
    isApplicable: !isEmpty && isValid && violations.length === 0,
  };
}

/** What is made waits for what it refers to, and what goes for what refers to it: that needs no picture. */
function isSurprising(write: Write, byId: ReadonlyMap<Write['id'], Write>): boolean {
  const isRemoval = (id: Write['id']): boolean => byId.get(id)?.act === 'delete';
  return write.act === 'give-up' || write.last || (write.act !== 'delete' && write.needs.some(isRemoval));
}

/** A release is narrow by nature. */
function listNotes({ targets, mode, awaited = {} }: Plan): readonly string[] {
  if (mode === 'release') return [];
  const waits = Object.entries(awaited).map(([address, { stack, resource }]) => {
    return `${toWord(address)} is ${toWord(resource)} of the stack ${toWord(stack)}: its id is known after that stack is applied.`;
  });
  return [...listNarrowing(targets), ...waits];
}

function listUnchangedNotes({ address, notes = [] }: Change): readonly string[] {
  return notes.map((note) => `${toWord(address)}: ${toPrintable(note)}`);
}

function toWithheldSentence({ address, id, reason }: Withheld): string {
  return `${toWord(address)} (${toWord(id)}): ${toPrintable(reason)}`;
}

function isLintWarning({ code, severity }: Diagnostic): boolean {
  return severity === 'warning' && Object.hasOwn(LINT_CODES, code);
}

/** Of what is only counted, the message. */
function toLintView(diagnostic: Diagnostic): LintView {
  const { code, message, address, place } = toPrintableDiagnostic(diagnostic);
  if (place === undefined) return { said: `${code}: ${message}` };
  const position = `${place.file}:${place.line}:${place.column}`;
  return { position, said: address === undefined ? code : `${code} (${address})` };
}

/** A file that will be written, in one sentence. */
export function toFileSentence({ address, path, text, replaces }: Plan['files'][number]): string {
  const notes = [
    ...(text === undefined ? ['known after apply'] : []),
    ...(replaces === true ? ['replaces an existing file that has other content'] : []),
  ];
  const sentence = `${toPrintable(path)}: what is issued for ${toWord(address)}`;
  return notes.length === 0 ? sentence : `${sentence} (${notes.join('; ')})`;
}

function toViolationView(violation: GuardViolation): GuardViolation {
  const message = toPrintable(violation.message);
  const addresses = violation.addresses.map(toWord).filter((address) => !message.includes(address));
  const places = violation.places?.map((one) => ({
    message: toPrintable(one.message),
    place: toPrintablePlace(one.place),
  }));
  const remedy = toPrintable(violation.remedy);
  return { ...violation, message, remedy, addresses, ...(places !== undefined && { places }) };
}

/** What the ids of a plan are called. */
export function toNames({ changes, externals }: Plan): Names {
  const known = changes.flatMap((change) =>
    change.live === undefined ? [] : [[change.live.id, toShownChange(change)] as const],
  );
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  // Of several names for one id the last counts, in a plan as in its file.
  return new Map([...named.sort(([, left], [, right]) => (left < right ? -1 : 1)), ...known]);
}

function toWriteViews(writes: readonly Write[]): readonly WriteView[] {
  const numbers = new Map(writes.map(({ id }, index) => [id, index + 1]));
  return writes.map((write, index) => {
    const { method, path } = toWriteRequest(write);
    return {
      number: index + 1,
      id: toWriteName(write),
      method,
      path: toPrintable(path),
      reason: toPrintable(write.reason),
      waitsFor: write.needs.flatMap((id) => numbers.get(id) ?? []),
      last: write.last,
    };
  });
}
