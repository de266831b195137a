import { toPlainAddress, toShownAddress } from '../../model/address.ts';
import { type Change, type Difference, toShownChange } from '../../model/change.ts';
import type { Diagnostic, SourcePlace } from '../../model/diagnostic.ts';
import type { ResourceDrift } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { GuardViolation } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { toShownWriteAddress } from '../../model/write.ts';
import type { ComparisonReport, Failure, FormOptions, Report } from '../report.ts';
import { findFailedPlace } from '../view/apply-view.ts';
import { toNotStarted } from '../view/apply-wording.ts';
import { toComparisonView } from '../view/comparison-view.ts';
import { type DangerView, listDangerClauses, listDangerViews } from '../view/danger-words.ts';
import { toPrintableDiagnostic, toPrintablePlace } from '../view/diagnostic-view.ts';
import { toWord } from '../view/escape.ts';
import { toRemedy } from '../view/failure-view.ts';
import { findNotStarted } from '../view/totals.ts';
import { toWriteName } from '../view/wording.ts';

/**
 * Statements about single resources and places, for forms that have no room for a plan (annotations, findings,
 * test cases). Texts are printable; forms escape them for their syntax and for nothing else.
 */
export interface Remark {
  /** A diagnostic code, a safety rule, or one of `OTHER_RULES`. */
  readonly rule: string;
  readonly level: 'error' | 'warning' | 'notice';
  /**
   * `finding`: something is wrong. `danger`: an apply does it, as the manifests ask, and it deserves a second look.
   * `failure`: the run itself went wrong.
   */
  readonly nature: 'finding' | 'danger' | 'failure';
  readonly message: string;
  readonly remedy?: string;
  readonly address?: string;
  readonly place?: SourcePlace;
  readonly related?: Diagnostic['related'];
  /** It is about a write that an interruption kept from starting. */
  readonly isNotStarted?: boolean;
}

/** Rules of remarks that are no diagnostics, with what each means. */
export const OTHER_RULES = {
  protect: 'The plan would delete or replace a protected resource.',
  'delete-share': 'The plan would delete more of what is owned than the guard allows.',
  'nothing-described': 'The plan would delete resources, and its manifests describe nothing that the stack owns.',
  policy: 'The plan breaks a rule that a Policy document states.',
  delete: 'A resource is deleted.',
  replace: 'A resource is replaced.',
  danger: 'A change lets more in than before, takes protection away, or makes a token or certificate that differs.',
  'not-approved': 'The plan does something that the approved plan does not.',
  'plan-differs': 'Two plans do different things.',
  drift: 'A live resource differs although its manifest did not change.',
  pending: 'A manifest was changed and not applied.',
  'write-failed': 'A write failed.',
  'write-skipped': 'A write was skipped because one that it depends on failed, or because the run was interrupted.',
  'file-failed': 'A file could not be written.',
  'token-rescued': 'A token could not be delivered and is in a rescue file.',
  failure: 'The command did not complete.',
} as const;

type OtherRule = keyof typeof OTHER_RULES;

/** Everything that a report has to say of single resources and places, the most important first. */
export function listRemarks(report: Report, options: FormOptions): readonly Remark[] {
  const remarks = [...listUnordered(report, options)].map((remark) => withPlace(remark, options));
  return LEVELS.flatMap((level) => remarks.filter((remark) => remark.level === level));
}

const LEVELS = ['error', 'warning', 'notice'] as const;

function listUnordered(report: Report, options: FormOptions): readonly Remark[] {
  switch (report.about) {
    case 'plan':
      return [
        ...report.standing.map(toViolationRemark),
        ...report.plan.diagnostics.map(toDiagnosticRemark),
        ...report.plan.changes.flatMap(listChangeRemarks),
      ];
    case 'comparison':
      return listComparisonRemarks(report);
    case 'apply':
      return [...listResultRemarks(report.result, options), ...report.plan.diagnostics.map(toDiagnosticRemark)];
    case 'drift':
      return [
        ...report.drift.diagnostics.map(toDiagnosticRemark),
        ...report.drift.resources.flatMap(listResourceRemarks),
      ];
    case 'validation':
      return report.validation.diagnostics.map(toDiagnosticRemark);
    case 'failure':
      return listFailureRemarks(report.failure);
    default:
      return assertNever(report);
  }
}

/** The start of the resource's document, where nothing says more exactly what the remark is about. */
function withPlace(remark: Remark, { locate }: FormOptions): Remark {
  if (remark.place !== undefined || remark.address === undefined) return remark;
  const place = locate?.(toPlainAddress(remark.address));
  return place === undefined ? remark : { ...remark, place };
}

/** The other places of a remark, a line for each, for forms that show one place. */
export function listRelatedLines({ related = [] }: Remark): readonly string[] {
  return related.map(({ message, place: { file, line, column } }) => `${message}: ${file}:${line}:${column}`);
}

/** The remarks, with a single one for all writes that an interrupt kept from starting. For forms that show remarks one by one. */
export function joinNotStarted(remarks: readonly Remark[]): readonly Remark[] {
  const found = remarks.filter(({ isNotStarted }) => isNotStarted);
  const [first] = found;
  if (first === undefined || found.length === 1) return remarks;
  const { rule, level, nature } = first;
  const one = { rule, level, nature, message: toNotStarted(found.map(({ message }) => message)) };
  return remarks
    .filter((remark) => remark === first || remark.isNotStarted !== true)
    .map((remark) => (remark === first ? one : remark));
}

function toDiagnosticRemark(diagnostic: Diagnostic): Remark {
  const { code, severity, ...rest } = toPrintableDiagnostic(diagnostic);
  return { rule: toPrintable(code), level: severity, nature: 'finding', ...rest };
}

function toViolationRemark({ rule, message, remedy, addresses, places = [] }: GuardViolation): Remark {
  const [address, ...others] = addresses;
  const said = others.length === 0 ? message : `${message} ${toList(addresses)}`;
  const related = places.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) }));
  // Of two places the first is that of the resource.
  const own = related.length > 1 ? related.shift() : undefined;
  return {
    rule,
    level: 'error',
    nature: 'finding',
    message: toPrintable(said),
    remedy: toPrintable(remedy),
    ...(address !== undefined && { address }),
    ...(own !== undefined && { place: own.place }),
    ...(related.length > 0 && { related }),
  };
}

/** Addresses that a remark lists. */
const MAX_LISTED = 10;

function toList(addresses: readonly string[]): string {
  const more = addresses.length > MAX_LISTED ? [`${addresses.length - MAX_LISTED} more`] : [];
  return `They are ${[...addresses.slice(0, MAX_LISTED), ...more].join(', ')}.`;
}

function listChangeRemarks(change: Change): readonly Remark[] {
  const { action, differences } = change;
  const drifted = differences.filter(({ origin }) => origin === 'drift' || origin === 'both');
  return [
    ...(action === 'delete' || action === 'replace' ? [toLossRemark(change, action)] : []),
    ...listDangerViews([change]).flatMap((one) => toDangerRemark(one, change)),
    ...(drifted.length === 0 ? [] : [toDriftRemark(change.address, drifted, 'notice')]),
  ];
}

/** A delete and a replace have remarks of their own, and a lock-out is a diagnostic. */
function toDangerRemark({ danger, address, said }: DangerView, change: Change): readonly Remark[] {
  if (danger === 'delete' || danger === 'replace' || danger === 'lockout') return [];
  return [toRemark('danger', 'warning', `${address} ${said}`, { address: toShownChange(change), nature: 'danger' })];
}

function toLossRemark(change: Change, action: 'delete' | 'replace'): Remark {
  const { reason, live, dangers = [] } = change;
  const address = toShownChange(change);
  const id = live === undefined ? '' : ` (${toWord(live.id)})`;
  const lost = listDangerClauses({ dangers: dangers.filter(({ danger }) => danger === action) });
  const why = [...(reason === undefined ? [] : [toPrintable(reason)]), ...lost.map((clause) => `it ${clause}`)];
  const said = why.length === 0 ? '' : `: ${why.join('; ')}`;
  return toRemark(action, 'warning', `${toWord(address)}${id} will be ${action}d${said}`, {
    address,
    nature: 'danger',
  });
}

function toDriftRemark(address: string, differences: readonly Difference[], level: Remark['level']): Remark {
  const fields = differences.map(({ path }) => toPrintable(path)).join(', ');
  return toRemark('drift', level, `${toWord(address)} drifted: ${fields} changed at the service`, { address });
}

function listResourceRemarks(resource: ResourceDrift): readonly Remark[] {
  const { state, differences, moved = [], reason } = resource;
  const address = toShownAddress(resource);
  const fields = [...differences.map(({ path }) => path), ...moved].map(toPrintable).join(', ');
  const why = [fields, ...(reason === undefined ? [] : [toPrintable(reason)])].filter((text) => text !== '').join('; ');
  const tell = (rule: OtherRule, what: string): readonly Remark[] => {
    const message = `${toWord(address)} ${what}${why === '' ? '' : `: ${why}`}`;
    return [toRemark(rule, 'warning', message, { address })];
  };
  switch (state) {
    case 'in-sync':
      return [];
    case 'drifted':
      return tell('drift', 'drifted');
    case 'drifted-and-pending':
      return tell('drift', 'drifted, and has changes that were not applied');
    case 'differs':
      return tell('drift', 'differs from its manifest');
    case 'missing':
      return tell('drift', 'is not there');
    case 'unowned':
      return tell('drift', 'is not ours');
    case 'file-differs':
      return tell('drift', 'has a file that differs');
    case 'pending':
      return tell('pending', 'has changes that were not applied');
    case 'left-over':
      return tell('pending', 'is no longer in a manifest');
    default:
      return assertNever(state);
  }
}

function listResultRemarks(
  { outcomes, files, tokens, diagnostics }: ApplyResult,
  options: FormOptions,
): readonly Remark[] {
  const notStarted = findNotStarted(outcomes);
  return [
    ...diagnostics.map(toDiagnosticRemark),
    ...outcomes.flatMap((outcome) => listOutcomeRemarks(outcome, { options, notStarted })),
    ...files
      .filter(({ outcome }) => outcome !== 'applied')
      .map(({ address, path, message = 'not written' }) =>
        toRemark('file-failed', 'error', `${toPrintable(path)}: ${toPrintable(message)}`, { address }),
      ),
    ...tokens
      .filter(({ rescued }) => rescued)
      .map(({ address, place }) =>
        toRemark('token-rescued', 'warning', `${toWord(address)}: its token is in ${toPrintable(place)}`, { address }),
      ),
  ];
}

function listOutcomeRemarks(
  outcome: Outcome,
  { options, notStarted }: { readonly options: FormOptions; readonly notStarted: ReadonlyMap<string, unknown> },
): readonly Remark[] {
  const { write } = outcome;
  const address = toShownWriteAddress(write);
  switch (outcome.outcome) {
    case 'applied':
      return [];
    case 'failed':
      return [toFailedRemark(outcome, options)];
    case 'skipped':
      return [
        {
          ...toRemark('write-skipped', 'warning', `${toWriteName(write)}: ${toPrintable(outcome.message)}`, {
            address,
          }),
          isNotStarted: notStarted.has(write.id),
        },
      ];
    default:
      return assertNever(outcome);
  }
}

/** At the field that the service names, if it names one. */
function toFailedRemark(failed: Extract<Outcome, { readonly outcome: 'failed' }>, options: FormOptions): Remark {
  const { write, message } = failed;
  const place = findFailedPlace(failed, options);
  const remark = toRemark('write-failed', 'error', `${toWriteName(write)}: ${toPrintable(message)}`, {
    address: write.address,
  });
  return place === undefined ? remark : { ...remark, place };
}

function listFailureRemarks({ command, diagnostics = [], error }: Failure): readonly Remark[] {
  const found = diagnostics.map(toDiagnosticRemark);
  if (error === undefined) return found;
  const remedy = error instanceof Error ? toRemedy(error, command) : error.remedy;
  const failure: Remark = {
    rule: 'failure',
    level: 'error',
    nature: 'failure',
    message: toPrintable(error.message),
    ...(remedy !== undefined && { remedy: toPrintable(remedy) }),
  };
  return [failure, ...found];
}

/** What was not approved is an error; that plans differ is what one wants to know. */
function listComparisonRemarks(report: ComparisonReport): readonly Remark[] {
  const { parts } = toComparisonView(report);
  const isApply = report.command === 'apply';
  return parts.flatMap(({ part, heading, changes }) =>
    changes.map(({ address, action, fields, notes }) => {
      const more = [...fields.map(({ path }) => path), ...notes].join(', ');
      const message = `${heading}: ${action} ${address}${more === '' ? '' : ` (${more})`}`;
      if (isApply && part === 'more') return toRemark('not-approved', 'error', message, { address });
      return toRemark('plan-differs', 'notice', message, { address });
    }),
  );
}

function toRemark(
  rule: OtherRule,
  level: Remark['level'],
  message: string,
  { address, nature = 'finding' }: { readonly address: string; readonly nature?: Remark['nature'] },
): Remark {
  return { rule, level, nature, message, address: toPrintable(address) };
}
