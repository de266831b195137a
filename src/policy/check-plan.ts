import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, countActionsForDisplay } from '../model/change.ts';
import type { Diagnostic, Severity } from '../model/diagnostic.ts';
import { type JsonObject, omitUndefined } from '../model/json.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import type { DesiredState } from '../model/state.ts';
import { evaluatePolicies, type Policy, type PolicyFinding } from './evaluate.ts';
import { nameCrossStackReferences, nameReferencesInSpec, type ReferenceNames } from './reference-names.ts';
import { createChangeSubject, createManifestSubject, type PolicyRunContext } from './subject.ts';

export interface PolicyCheckContext {
  readonly policies: readonly Policy[];
  readonly state: Pick<DesiredState, 'stack' | 'resources'>;
  /** What expressions see in place of references. */
  readonly names: ReferenceNames;
  readonly now: Date;
}

/** Adds the findings of the policies to the plan: errors as violations, warnings as diagnostics. */
export function addPolicyFindings(plan: Plan, { policies, state, names, now }: PolicyCheckContext): Plan {
  const { labels, annotations } = state.stack;
  const scene = { stack: { name: plan.stack, labels, annotations }, plan: toPlanJson(plan), now };
  const findings = checkChanges(plan.changes, { policies, state, names, scene });
  return {
    ...plan,
    diagnostics: [...plan.diagnostics, ...createWarnings(findings)],
    violations: [...plan.violations, ...createViolations(findings)],
  };
}

function checkChanges(
  changes: readonly Change[],
  { policies, state, names, scene }: Omit<PolicyCheckContext, 'now'> & { readonly scene: PolicyRunContext },
): readonly PolicyFinding[] {
  const subjects = changes
    .filter(({ action }) => action !== 'no-op')
    .map((change) => createChangeSubject(change, { resource: state.resources.get(change.address), names }, scene));
  return evaluatePolicies(policies, subjects, scene);
}

/** The value of the variable `plan`. */
function toPlanJson({ mode, baseUrl, targets, changes, made }: Plan): JsonObject {
  return { mode, baseUrl, targets, totals: { ...countActionsForDisplay(changes) }, made: omitUndefined(made ?? {}) };
}

/**
 * Checks every resource in the manifests with the policies that need no plan, whether or not a plan would change it.
 */
export function checkManifests(state: DesiredState, policies: readonly Policy[], now: Date): readonly Diagnostic[] {
  const { stack, resources } = state;
  const asked = policies.filter(isStatic);
  if (asked.length === 0) return [];
  const { name, labels, annotations } = stack;
  const scene = { stack: { name, labels, annotations }, plan: {}, now };
  const names = nameCrossStackReferences(state);
  const subjects = [...resources.values()].map((resource) => {
    const kind = getKind(resource.kind);
    const after = nameReferencesInSpec(kind, canonical(kind, resource.spec, AS_WRITTEN), names);
    return createManifestSubject(resource, after, scene);
  });
  return evaluatePolicies(asked, subjects, scene).map(createPolicyDiagnostic);
}

/** Whether a policy can be evaluated without a plan. */
function isStatic({ document, names }: Policy): boolean {
  return (
    document.match.danger === undefined && names.every((name) => STATIC.some((known) => isSameOrInner(name, known)))
  );
}

function isSameOrInner(name: string, known: string): boolean {
  return name === known || name.startsWith(`${known}.`);
}

/** Variables, and members of `change`, that are known without a plan. */
const STATIC = [
  'after',
  'labels',
  'annotations',
  'stack',
  'now',
  'change.address',
  'change.kind',
  'change.name',
  'change.protect',
  'change.validForMs',
  'change.place',
];

/** For each policy, the maximum number of findings that a plan shows. A new policy may have one for every resource. */
const MAX_SHOWN = 10;

const CONSENT = 'No flag allows what a policy refuses';

/**
 * Creates a violation for each of the first findings of a policy, then one violation with the addresses of all others.
 */
function createViolations(findings: readonly PolicyFinding[]): readonly SafetyViolation[] {
  return divideFindings(findings, 'error').flatMap(({ policy, shown, rest }) => [
    ...shown.map(createViolation),
    ...rest.slice(0, 1).map(
      ({ finding: { related } }): SafetyViolation => ({
        rule: 'policy',
        policy,
        message: `The policy ${policy} refuses ${rest.length} more resources.`,
        remedy: `${CONSENT}. Change the manifests, or ask the author of the policy.`,
        addresses: rest.map(({ subject }) => subject.address),
        places: related,
      }),
    ),
  ]);
}

/** Creates a warning for each of the first findings of a policy, then one warning with the number of the others. */
function createWarnings(findings: readonly PolicyFinding[]): readonly Diagnostic[] {
  return divideFindings(findings, 'warning').flatMap(({ policy, shown, rest }): readonly Diagnostic[] => [
    ...shown.map(createPolicyDiagnostic),
    ...rest.slice(0, 1).map(
      (): Diagnostic => ({
        code: 'policy-violated',
        severity: 'warning',
        message: `The policy ${policy} warns of ${rest.length} more resources.`,
        remedy: 'Change the manifests, or ask the author of the policy.',
      }),
    ),
  ]);
}

function createPolicyDiagnostic(found: PolicyFinding): Diagnostic {
  const { code, severity = 'error', path, related } = found.finding;
  const { address, locate } = found.subject;
  const remedy = 'Change the manifest, or ask the author of the policy.';
  return { code, severity, message: formatMessage(found), remedy, address, place: locate(path), related };
}

interface Division {
  readonly policy: string;
  readonly shown: readonly PolicyFinding[];
  readonly rest: readonly PolicyFinding[];
}

function divideFindings(findings: readonly PolicyFinding[], severity: Severity): readonly Division[] {
  const groups = Map.groupBy(
    findings.filter(({ finding }) => finding.severity === severity),
    ({ policy }) => policy,
  );
  // If only one finding exceeds the limit, show it, because a message with the count would take as much space.
  const end = (length: number): number => (length === MAX_SHOWN + 1 ? length : MAX_SHOWN);
  return [...groups].map(([policy, all]) => ({
    policy,
    shown: all.slice(0, end(all.length)),
    rest: all.slice(end(all.length)),
  }));
}

function createViolation(found: PolicyFinding): SafetyViolation {
  const { policy, isFailure, subject, finding } = found;
  const place = subject.locate(finding.path);
  return {
    rule: 'policy',
    policy,
    message: formatMessage(found),
    remedy: isFailure
      ? `${CONSENT}. Fix the policy, and add a case for it: see edgewise test-policy.`
      : `${CONSENT}. Change the manifest, or ask the author of the policy.`,
    addresses: [subject.address],
    places: [...(place === undefined ? [] : [{ message: 'the resource is here', place }]), ...(finding.related ?? [])],
  };
}

/** Starts the message with the address, unless the policy's own message contains the address. */
function formatMessage({ policy, subject: { address }, finding: { message } }: PolicyFinding): string {
  return `${message.includes(address) ? '' : `${address}: `}${message} (policy ${policy})`;
}
