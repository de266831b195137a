import { stripDuplicateId } from '../../model/address.ts';
import { type Change, type Difference, formatAction, formatChangeAddress } from '../../model/change.ts';
import type { DangerGroup } from '../../model/danger.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Drift } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { ApplyResult, Outcome, ServiceStop } from '../../model/outcome.ts';
import type { Place } from '../../model/place.ts';
import type { Plan, SafetyViolation } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatWriteAddress } from '../../model/write.ts';
import type { ComparisonReport, Failure, FormatOptions, Report, StacksRunReport } from '../report.ts';
import { describeNotStartedWrites, findStop, locateFailedWrite } from '../view/apply-view.ts';
import { createComparisonView } from '../view/comparison-view.ts';
import { listDangerViews } from '../view/danger-view.ts';
import { findServiceErrorRemedy, toPrintableDiagnostic, toPrintablePlace } from '../view/diagnostic-view.ts';
import {
  ABSENT_WORDING,
  createDriftView,
  type DriftedView,
  type DriftGroup,
  UNMANAGED_WORDING,
  type UnmanagedResourceView,
} from '../view/drift-view.ts';
import { quoteIfNeeded, toPrintableLines } from '../view/escape.ts';
import { formatShortField, type ResourceNames } from '../view/field-view.ts';
import { collectPlanAddressesById } from '../view/plan-view.ts';
import { listRemovedStackSentences } from '../view/stacks-view.ts';
import { formatWriteName, mapNotStartedWritesById, NEXT_APPLY_PREFIX } from '../view/wording.ts';

/**
 * An annotation about one resource or source position, for formats that do not show a whole plan (annotations, findings,
 * test cases). Texts are printable; each format escapes them only for its own syntax.
 */
export interface Annotation {
  /** A diagnostic code, the name of a safety rule, or a key of `NON_DIAGNOSTIC_RULES`. */
  readonly rule: string;
  readonly level: 'error' | 'warning' | 'notice';
  /**
   * `finding`: something is wrong. `danger`: the manifests request it, but it deserves a second look. `failure`: the
   * run itself failed.
   */
  readonly nature: 'finding' | 'danger' | 'failure';
  readonly message: string;
  readonly remedy?: string | undefined;
  /** The group of the danger. Present only for the rules `danger` and `drift-danger`. */
  readonly group?: DangerGroup | undefined;
  readonly address?: string | undefined;
  /** The path of the manifest field that the annotation is about. */
  readonly field?: string | undefined;
  readonly place?: Place | undefined;
  readonly related?: Diagnostic['related'];
  /** Whether the run was interrupted, or the service could not be reached, before the write was sent. */
  readonly isNotStarted?: boolean;
  /** Whether the write was not sent because the service could not be reached. */
  readonly stop?: ServiceStop | undefined;
}

export const NON_DIAGNOSTIC_RULES = {
  protect: 'The plan would delete or replace a protected resource.',
  'delete-share': 'The plan would delete more of what is owned than the guard allows.',
  'nothing-described': 'The plan would delete resources, and its manifests describe nothing that the stack owns.',
  'manifests-missing': 'The plan would delete resources, and git did not check out all manifests.',
  policy: 'The plan breaks a rule that a Policy document states.',
  'rejected-write': 'The service will reject a write of the plan.',
  'claimed-elsewhere': 'A resource of another owner has a unique value that the plan claims.',
  'value-exchange': 'Stacks exchange unique values, so each waits for another.',
  delete: 'A resource is deleted.',
  replace: 'A resource is replaced.',
  danger: 'A change concerns access, traffic, secrets, protection or ownership.',
  'not-approved': 'The plan is not as it was approved or shown.',
  'plan-differs': 'Two plans do different things.',
  drift: 'A live resource differs although its manifest did not change.',
  'drift-danger': 'What was changed at the service concerns access, traffic, secrets, protection or ownership.',
  'removed-stack': 'A file that probably had a Stack is gone. What the stack owns stays at the service.',
  unmanaged: 'A live resource is managed by no stack of this repository.',
  pending: 'A manifest was changed and not applied.',
  'write-failed': 'A write failed.',
  'write-skipped':
    'A write was skipped because one that it depends on failed, the run was interrupted, or the service cannot be reached.',
  'token-rescued': 'A token could not be delivered and is in a rescue file.',
  failure: 'The command did not complete.',
} as const;

type NonDiagnosticRule = keyof typeof NON_DIAGNOSTIC_RULES;

/** All annotations of a report: errors first, then warnings, then notices. */
export function listAnnotations(report: Report, options: FormatOptions): readonly Annotation[] {
  const annotations = [...listUnordered(report, options)].map((annotation) => withPlace(annotation, options));
  return LEVELS.flatMap((level) => annotations.filter((annotation) => annotation.level === level));
}

/** An annotation for each file that is gone since a commit and probably had a Stack. It has no place. */
export function listRemovedStackAnnotations({ removals }: StacksRunReport): readonly Annotation[] {
  if (removals === undefined) return [];
  return listRemovedStackSentences(removals).map((sentence) => ({
    rule: 'removed-stack',
    level: 'notice',
    nature: 'finding',
    message: toPrintable(sentence),
  }));
}

const LEVELS = ['error', 'warning', 'notice'] as const;

function listUnordered(report: Report, options: FormatOptions): readonly Annotation[] {
  switch (report.about) {
    case 'plan':
      return [
        ...report.blocking.map(createViolationAnnotation),
        ...report.plan.diagnostics.map(createDiagnosticAnnotation),
        ...listChangesAnnotations(report.plan),
      ];
    case 'comparison':
      return listComparisonAnnotations(report);
    case 'apply':
      return [
        ...listResultAnnotations(report.result, options),
        ...report.plan.diagnostics.map(createDiagnosticAnnotation),
      ];
    case 'drift':
      return listDriftAnnotations(report.drift, options);
    case 'validation':
      return report.validation.diagnostics.map(createDiagnosticAnnotation);
    case 'failure':
      return listFailureAnnotations(report.failure);
    default:
      return assertNever(report);
  }
}

/** If an annotation has no place, adds the position of its field or, without a field, of its resource's manifest. */
function withPlace(annotation: Annotation, { locate }: FormatOptions): Annotation {
  if (annotation.place !== undefined || annotation.address === undefined) return annotation;
  const place = locate?.(stripDuplicateId(annotation.address), annotation.field);
  return place === undefined ? annotation : { ...annotation, place: toPrintablePlace(place) };
}

/** The related places of an annotation, one text for each, for formats that show only one place. */
export function listRelatedPlaceTexts({ related = [] }: Annotation): readonly string[] {
  return related.map(({ message, place: { file, line, column } }) => `${message}: ${file}:${line}:${column}`);
}

/** Joins all annotations on writes that were not started into one annotation, for formats that show each annotation separately. */
export function joinNotStartedAnnotations(annotations: readonly Annotation[]): readonly Annotation[] {
  const found = annotations.filter(({ isNotStarted }) => isNotStarted);
  const [first] = found;
  if (first === undefined || found.length === 1) return annotations;
  const { rule, level, nature } = first;
  const one = {
    rule,
    level,
    nature,
    message: describeNotStartedWrites(
      found.map(({ message }) => message),
      found.map(({ stop }) => stop).find((stop) => stop !== undefined),
    ),
  };
  return annotations
    .filter((annotation) => annotation === first || annotation.isNotStarted !== true)
    .map((annotation) => (annotation === first ? one : annotation));
}

function createDiagnosticAnnotation(diagnostic: Diagnostic): Annotation {
  const { code, severity, ...rest } = toPrintableDiagnostic(diagnostic);
  return { rule: toPrintable(code), level: severity, nature: 'finding', ...rest };
}

function createViolationAnnotation({ rule, message, remedy, addresses, places = [] }: SafetyViolation): Annotation {
  const [address, ...others] = addresses;
  const said = others.length === 0 ? message : `${message} ${formatAnnotationList(addresses)}`;
  const related = places.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) }));
  // The first place is the resource's manifest. If a policy violation has no resource, its only place is the policy.
  const own = related.length > 1 || rule !== 'policy' ? related.shift() : undefined;
  return {
    rule,
    level: 'error',
    nature: 'finding',
    message: toPrintable(said),
    remedy: toPrintableLines(remedy).join('\n'),
    address,
    place: own?.place,
    ...(related.length > 0 && { related }),
  };
}

/** The maximum number of addresses that an annotation lists. The report has all. */
const MAX_LISTED = 10;

function formatAnnotationList(addresses: readonly string[]): string {
  const more = addresses.length > MAX_LISTED ? [`${addresses.length - MAX_LISTED} more`] : [];
  return `They are ${[...addresses.slice(0, MAX_LISTED), ...more].join(', ')}.`;
}

function listChangesAnnotations(plan: Plan): readonly Annotation[] {
  const names = collectPlanAddressesById(plan);
  return plan.changes.flatMap((change) => listChangeAnnotations(change, names));
}

function listChangeAnnotations(change: Change, names: ResourceNames): readonly Annotation[] {
  const { action, differences } = change;
  const drifted = differences.filter(({ origin }) => origin === 'drift' || origin === 'both');
  const address = formatChangeAddress(change);
  return [
    ...(action === 'delete' || action === 'replace' ? [createLossAnnotation(change, action)] : []),
    ...listDangerViews([change], names).map((one) =>
      createAnnotation('danger', 'warning', `${one.address} ${one.said} (${one.group})`, {
        address,
        nature: 'danger',
        group: one.group,
        field: one.manifestPath,
      }),
    ),
    ...(drifted.length === 0 ? [] : [createDriftAnnotation(change.address, drifted, 'notice')]),
  ];
}

function createLossAnnotation(change: Change, action: 'delete' | 'replace'): Annotation {
  const { reason, live } = change;
  const address = formatChangeAddress(change);
  const id = live === undefined ? '' : ` (${quoteIfNeeded(live.id)})`;
  const said = reason === undefined ? '' : `: ${toPrintable(reason)}`;
  return createAnnotation(action, 'warning', `${quoteIfNeeded(address)}${id} will be ${action}d${said}`, {
    address,
    nature: 'danger',
  });
}

function createDriftAnnotation(
  address: string,
  differences: readonly Difference[],
  level: Annotation['level'],
): Annotation {
  const fields = differences.map(({ path }) => toPrintable(path)).join(', ');
  return createAnnotation(
    'drift',
    level,
    `${quoteIfNeeded(address)}: ${fields} changed at the service; the apply sets the values of the manifest`,
    { address },
  );
}

/** Annotations on dangers come first, annotations on unmanaged resources last. */
function listDriftAnnotations(drift: Drift, options: FormatOptions): readonly Annotation[] {
  const { dangers, groups, unmanaged } = createDriftView(drift, options);
  return [
    ...dangers.map(({ address, said, group, change, manifestPath }) =>
      createAnnotation('drift-danger', 'error', `${address} ${said} (${group})`, {
        address: formatChangeAddress(change),
        group,
        field: manifestPath,
      }),
    ),
    ...drift.violations.map(createViolationAnnotation),
    ...drift.diagnostics.map(createDiagnosticAnnotation),
    ...groups.flatMap(({ resources }) => resources.map(createDriftedAnnotation)),
    ...unmanaged.map(createUnmanagedAnnotation),
  ];
}

function createUnmanagedAnnotation({ kind, id, description, absence }: UnmanagedResourceView): Annotation {
  const what = absence === '' ? 'unmanaged' : absence;
  const message = `${kind} ${id} is ${what}${description === '' ? '' : `: ${description}`}`;
  const remedy = absence === '' ? UNMANAGED_WORDING.hint : ABSENT_WORDING.hint;
  return { rule: 'unmanaged', level: 'notice', nature: 'finding', message, remedy };
}

/** The maximum number of characters of a value in an annotation: enough to recognize the value. */
const MAX_VALUE = 200;

function createDriftedAnnotation(resource: DriftedView): Annotation {
  const { state, reason, change } = resource;
  const { fields, traits, next, planned } = resource.show();
  const address = formatChangeAddress(change);
  const described = traits.map(({ said, values }) => `${said} ${values}`.trim());
  const why = [
    ...fields.map((field) => `${formatShortField(field, MAX_VALUE)} (${field.notes.join(', ')})`),
    ...(reason === undefined ? [] : [reason]),
    ...described,
    ...(next === undefined ? [] : [`${NEXT_APPLY_PREFIX}: ${next}`]),
    ...(planned?.dangers ?? []).map(({ group, said }) => `${said} (${group})`),
    ...(planned?.notes ?? []),
    ...(described.length > 0 ? [] : (planned?.fields ?? [])).map((field) => formatShortField(field, MAX_VALUE)),
  ].join('; ');
  const rule = state === 'pending' || state === 'to-prune' ? 'pending' : 'drift';
  const message = `${quoteIfNeeded(address)} ${STATE_CLAUSES[state]}${why === '' ? '' : `: ${why}`}`;
  return createAnnotation(rule, 'warning', message, { address });
}

const STATE_CLAUSES: Readonly<Record<DriftGroup['state'], string>> = {
  drifted: 'was changed at the service',
  'drifted-and-pending': 'was changed at the service, and has changes that were not applied',
  differs: 'differs from its manifest',
  missing: 'does not exist',
  unowned: 'exists without the mark of this stack',
  pending: 'has changes that were not applied',
  'to-prune': 'is no longer in a manifest',
};

function listResultAnnotations(
  { outcomes, tokens, diagnostics }: ApplyResult,
  options: FormatOptions,
): readonly Annotation[] {
  const notStarted = mapNotStartedWritesById(outcomes);
  return [
    ...diagnostics.map(createDiagnosticAnnotation),
    ...outcomes.flatMap((outcome) => listOutcomeAnnotations(outcome, { options, notStarted })),
    ...tokens
      .filter(({ rescued }) => rescued)
      .map(({ address, deliveredTo: place }) =>
        createAnnotation(
          'token-rescued',
          'warning',
          `${quoteIfNeeded(address)}: its token is in ${toPrintable(place)}`,
          {
            address,
          },
        ),
      ),
  ];
}

function listOutcomeAnnotations(
  outcome: Outcome,
  { options, notStarted }: { readonly options: FormatOptions; readonly notStarted: ReadonlyMap<string, unknown> },
): readonly Annotation[] {
  const { write } = outcome;
  const address = formatWriteAddress(write);
  switch (outcome.outcome) {
    case 'applied':
      return [];
    case 'failed':
      return [createFailedAnnotation(outcome, options)];
    case 'skipped':
      return [
        {
          ...createAnnotation(
            'write-skipped',
            'warning',
            `${formatWriteName(write)}: ${toPrintable(outcome.message)}`,
            {
              address,
            },
          ),
          isNotStarted: notStarted.has(write.id),
          stop: findStop(outcome),
        },
      ];
    default:
      return assertNever(outcome);
  }
}

/** The place of the annotation is the field that the service named or, if it named none, the manifest of the resource. */
function createFailedAnnotation(
  failed: Extract<Outcome, { readonly outcome: 'failed' }>,
  options: FormatOptions,
): Annotation {
  const { write, message } = failed;
  const place = locateFailedWrite(failed, options);
  const annotation = createAnnotation('write-failed', 'error', `${formatWriteName(write)}: ${toPrintable(message)}`, {
    address: write.address,
  });
  return place === undefined ? annotation : { ...annotation, place };
}

function listFailureAnnotations({ command, diagnostics = [], error }: Failure): readonly Annotation[] {
  const found = diagnostics.map(createDiagnosticAnnotation);
  if (error === undefined) return found;
  const remedy = error instanceof Error ? findServiceErrorRemedy(error, command) : error.remedy;
  const failure: Annotation = {
    rule: 'failure',
    level: 'error',
    nature: 'failure',
    message: toPrintable(error.message),
    remedy: remedy === undefined ? undefined : toPrintable(remedy),
  };
  return [failure, ...found];
}

/** A difference from an approved plan, or from one that was shown, is an error. One between two files is a notice. */
function listComparisonAnnotations(report: ComparisonReport): readonly Annotation[] {
  const { members, parts } = createComparisonView(report);
  const [rule, level] =
    report.command === 'diff' ? (['plan-differs', 'notice'] as const) : (['not-approved', 'error'] as const);
  const found = parts.flatMap(({ heading, changes }) =>
    changes.map(({ address, action, fields, notes }) => {
      const more = [...fields.map(({ path }) => path), ...notes].join(', ');
      const message = `${heading}: ${formatAction(action)} ${address}${more === '' ? '' : ` (${more})`}`;
      return createAnnotation(rule, level, message, { address });
    }),
  );
  const { diagnostics } = report.comparison.after;
  return [
    ...members.map((message): Annotation => ({ rule, level, nature: 'finding', message })),
    ...found,
    ...diagnostics.filter(({ severity }) => severity === 'error').map(createDiagnosticAnnotation),
  ];
}

function createAnnotation(
  rule: NonDiagnosticRule,
  level: Annotation['level'],
  message: string,
  {
    address,
    nature = 'finding',
    group,
    field,
  }: Pick<Annotation, 'group'> & {
    readonly address: string;
    readonly field?: string | undefined;
    readonly nature?: Annotation['nature'];
  },
): Annotation {
  return { rule, level, nature, message, address: toPrintable(address), group, field };
}
