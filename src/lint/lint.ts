import { ATTACHED_KINDS, getKind } from '../kinds/tables/registry.ts';
import { createDiagnostic } from '../manifest/finding.ts';
import { toAddress } from '../model/address.ts';
import { type Diagnostic, type Severity, sortDiagnosticsInSourceOrder } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import type { FindingOn, UncodedFinding } from '../model/finding.ts';
import type { Place, TextRange } from '../model/place.ts';
import type { LintSettings, StackSettings } from '../model/stack.ts';
import type { DesiredResource, DesiredState, FieldPath } from '../model/state.ts';
import { findInLayers } from '../settings/resolve.ts';
import {
  type LintContext,
  type LintedResource,
  type LintRule,
  listSpecNodes,
  type ReplacementAddress,
} from './rule.ts';
import { LINT_RULES, lintPlaceholdersInSinkCommands } from './rules.ts';

/**
 * Lint finds valid manifests that are probably mistakes. It reads the desired state and never the live state. Manifests
 * that the service would reject are errors of validation, not of lint.
 */

export interface LintOptions {
  /** The current time. Used as the start of a validity whose start is not set. */
  readonly now: Date;
  /**
   * Whether the findings are for a plan. Warnings are then not sorted, because `limitWarningsPerLintRule` sorts them. Rules
   * for which the plan has its own warning are skipped, unless the Stack sets their severity to `error`.
   */
  readonly isForPlan?: boolean;
}

/**
 * Returns the findings of all rules, sorted by position. With `isForPlan`, the warnings are last and unsorted.
 * @example
 * const diagnostics = lintManifests(desired, { now: new Date() });
 */
export function lintManifests(state: DesiredState, options: LintOptions): readonly Diagnostic[] {
  const rules = listChecked(state.stack.lint, options);
  const context = { settings: state.stack.lint, now: options.now, names: createIdNames(state) };
  const findings = [
    ...lintSinks(state.stack, rules),
    ...[...state.resources.values()].flatMap((resource) => lintResource(resource, rules, context)),
  ];
  if (options.isForPlan !== true) return sortDiagnosticsInSourceOrder(findings.map(createLintDiagnostic), state.inputs);
  const [errors, warnings] = [findings.filter(isError), findings.filter((one) => !isError(one))];
  return [
    ...sortDiagnosticsInSourceOrder(errors.map(createLintDiagnostic), state.inputs),
    ...warnings.map(createLintDiagnostic),
  ];
}

export function getRuleSeverity({ id, severity }: LintRule, { severities }: LintSettings): Severity | 'off' {
  return severities[id] ?? severity;
}

interface CheckedRule {
  readonly rule: LintRule;
  readonly severity: Severity;
  readonly isReported: boolean;
}

function listChecked(settings: LintSettings, { isForPlan = false }: LintOptions): readonly CheckedRule[] {
  return LINT_RULES.flatMap((rule): CheckedRule[] => {
    const severity = getRuleSeverity(rule, settings);
    if (severity === 'off') return [];
    return [{ rule, severity, isReported: !(isForPlan && rule.isToldByPlan && severity !== 'error') }];
  });
}

/**
 * Maps an id to the address that manifests can use instead. If an attached resource and an `External` have the same id,
 * uses the attached resource, because its position can be shown.
 */
function createIdNames({ externals, resources }: DesiredState): ReadonlyMap<string, ReplacementAddress> {
  const attached = new Set(ATTACHED_KINDS.map(({ name }) => name));
  const names = new Map<string, ReplacementAddress>([...externals].map(([address, id]) => [id, { address }]));
  for (const { address, kind, spec, locate } of resources.values()) {
    const { id } = spec;
    if (attached.has(kind) && typeof id === 'string') names.set(id, { address, locate: () => locate(['spec', 'id']) });
  }
  return names;
}

/** Checks the token sinks of the Stack with the rule `placeholder-in-shell`. */
function lintSinks(
  { name, tokens, layers }: StackSettings,
  rules: readonly CheckedRule[],
): readonly FindingOn<LintSubject>[] {
  const checked = rules.find(({ rule }) => rule.id === 'placeholder-in-shell');
  if (checked === undefined) return [];
  const locate = (path: FieldPath) =>
    assertDefined(findInLayers(path.slice(1), layers)?.layer, 'a document with sinks').locate(path);
  const subject = { address: toAddress('Stack', name), locate };
  return lintPlaceholdersInSinkCommands(tokens).map((finding) => createLintFinding(finding, checked, subject));
}

function lintResource(
  resource: DesiredResource,
  rules: readonly CheckedRule[],
  context: LintContext,
): readonly FindingOn<LintSubject>[] {
  const kind = getKind(resource.kind);
  const subject: LintedResource = { kind, resource, spots: listSpecNodes(kind, resource) };
  const findings: FindingOn<LintSubject>[] = [];
  const idle: string[] = [];
  for (const checked of rules) {
    const { rule, isReported } = checked;
    const found = rule.check(subject, context);
    if (found.length === 0) idle.push(rule.id);
    else if (isReported && !Object.hasOwn(resource.allow, rule.id))
      findings.push(...found.map((finding) => createLintFinding(finding, checked, resource)));
  }
  return [...findings, ...listUnused(resource, rules, idle)];
}

/**
 * Reports the suppressions of the rules in `idle`, which were checked and found nothing. Rules that are off are not in
 * `idle`, because they may find something once they are switched on.
 */
function listUnused(
  resource: DesiredResource,
  rules: readonly CheckedRule[],
  idle: readonly string[],
): readonly FindingOn<LintSubject>[] {
  const unused = Object.keys(resource.allow).filter((id) => idle.includes(id));
  const checked = unused.length === 0 ? undefined : rules.find(({ rule }) => rule.id === 'suppression-unused');
  if (checked === undefined) return [];
  return unused.map((id) => {
    const finding = { path: ['lint', 'allow', id], message: `lint.allow.${id} has no effect` };
    return createLintFinding(finding, checked, resource);
  });
}

/** A resource, or the Stack. */
interface LintSubject extends Pick<DesiredResource, 'address'> {
  readonly locate: (path: FieldPath, part?: TextRange) => Place;
}

function createLintFinding(
  finding: UncodedFinding,
  { rule, severity }: CheckedRule,
  subject: LintSubject,
): FindingOn<LintSubject> {
  return { subject, finding: { ...finding, code: rule.id, severity, remedy: finding.remedy ?? rule.remedy } };
}

function isError({ finding }: FindingOn<LintSubject>): boolean {
  return finding.severity === 'error';
}

function createLintDiagnostic({ subject, finding }: FindingOn<LintSubject>): Diagnostic {
  const { address, locate } = subject;
  const { path, part } = finding;
  const [root, field] = path;
  return {
    ...createDiagnostic({ address }, { ...finding, place: locate(path, part) }),
    ...(root === 'spec' && typeof field === 'string' && { field }),
  };
}
