import { normalizeSpec } from '../kinds/normalize.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, countShownActions } from '../model/change.ts';
import type { Diagnostic, Severity } from '../model/diagnostic.ts';
import type { JsonObject } from '../model/json.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import type { PolicyFinding } from '../model/policy.ts';
import type { StackSettings } from '../model/stack.ts';
import type { DesiredState } from '../model/state.ts';
import { evaluatePolicies, type Policy, references } from './evaluate.ts';
import { createChangeSubject, createResourceSubject, type PolicyRunContext } from './subject.ts';

/** What a plan is checked with. */
export interface PlanPolicies {
  readonly policies: readonly Policy[];
  /** What the manifests say now; absent: the plan is of a file, and what that says of them proves nothing. */
  readonly state: Pick<DesiredState, 'stack' | 'resources'> | undefined;
  readonly now: Date;
}

/** The plan with what policies say to it: errors among the safety rules that it breaks, warnings among the diagnostics. */
export function withPolicies(given: Plan, { policies, state, now }: PlanPolicies): Plan {
  const plan = withoutPolicies(given, policies);
  const stack = toStack(plan, state?.stack);
  const scene = { stack, plan: toPlanJson(plan, state === undefined), now };
  const answerable = state === undefined ? policies.filter((policy) => !needsManifests(policy)) : policies;
  const findings = checkChanges(plan.changes, { policies: answerable, state, scene });
  const unanswered = policies.filter((policy) => !answerable.includes(policy)).map(toUnanswered);
  return {
    ...plan,
    diagnostics: [...plan.diagnostics, ...toWarnings(findings)],
    violations: [...plan.violations, ...unanswered, ...toViolations(findings)],
  };
}

/** Drops the earlier findings of these policies, because a saved plan is checked again. Findings of others remain. */
function withoutPolicies(plan: Plan, policies: readonly Policy[]): Plan {
  const names = new Set<string | undefined>(policies.map(({ document }) => document.name));
  return {
    ...plan,
    diagnostics: plan.diagnostics.filter(({ code }) => code !== 'policy-warning'),
    violations: plan.violations.filter(({ rule, policy }) => rule !== 'policy' || !names.has(policy)),
  };
}

function checkChanges(
  changes: readonly Change[],
  {
    policies,
    state,
    scene,
  }: Pick<PlanPolicies, 'policies' | 'state'> & {
    readonly scene: PolicyRunContext;
  },
): readonly PolicyFinding[] {
  const subjects = changes
    .filter(({ action }) => action !== 'no-op')
    .map((change) => createChangeSubject(change, state?.resources.get(change.address), scene));
  return evaluatePolicies(policies, subjects, scene);
}

function toStack({ stack }: Plan, settings: StackSettings | undefined): PolicyRunContext['stack'] {
  const { labels = {}, annotations = {} } = settings ?? {};
  return { name: stack, labels, annotations };
}

/** The plan as a whole, as expressions see it. Of a plan that was saved nobody knows when and from what it was made. */
function toPlanJson({ mode, baseUrl, targets, changes, made }: Plan, isSaved: boolean): JsonObject {
  return { mode, baseUrl, targets, totals: { ...countShownActions(changes) }, made: isSaved ? {} : { ...made } };
}

/** Whether a policy asks for something that only manifests say. */
function needsManifests(policy: Policy): boolean {
  const isNamed = MANIFEST_NAMES.some((name) => references(policy, name));
  return isNamed || policy.document.match.labels !== undefined || policy.names.some((name) => WHOLES.has(name));
}

const MANIFEST_NAMES = ['labels', 'annotations', 'stack.labels', 'stack.annotations', 'change.place'];

/** Variables that have something in them which only manifests say. */
const WHOLES: ReadonlySet<string> = new Set(['stack', 'change']);

/** A policy about manifests blocks when no manifests are named: it might have refused the plan. */
function toUnanswered({ document, locateRule }: Policy): GuardViolation {
  const { name } = document;
  return {
    rule: 'policy',
    policy: name,
    message: `The policy ${name} needs values from the manifests, so the plan is refused.`,
    remedy: 'With --manifests, name the manifests from which the plan was made.',
    addresses: [],
    places: [{ message: 'the policy is here', place: locateRule() }],
  };
}

/** What policies say to manifests: those that ask for nothing which only a plan knows. A resource need not change to be looked at. */
export function checkManifests(
  { stack, resources }: DesiredState,
  policies: readonly Policy[],
  now: Date,
): readonly Diagnostic[] {
  const asked = policies.filter(isStatic);
  if (asked.length === 0) return [];
  const { name, labels, annotations } = stack;
  const scene = { stack: { name, labels, annotations }, plan: {}, now };
  const subjects = [...resources.values()].map((resource) =>
    createResourceSubject(resource, normalizeSpec(getKind(resource.kind), resource.spec), scene),
  );
  return evaluatePolicies(asked, subjects, scene).map(createPolicyDiagnostic);
}

/** Whether a policy can be evaluated with a manifest alone. */
function isStatic({ document, names }: Policy): boolean {
  return document.match.danger === undefined && names.every((name) => STATIC.some((known) => isWithin(name, known)));
}

function isWithin(name: string, known: string): boolean {
  return name === known || name.startsWith(`${known}.`);
}

/** Variables that are known without a plan. */
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

/** Findings of one policy that a plan tells one by one: a new rule may find something in every resource. */
const MAX_SHOWN = 10;

const CONSENT = 'No flag allows what a policy refuses';

/** What policies refuse in a plan: of each policy the first findings, and the addresses of the others. */
function toViolations(findings: readonly PolicyFinding[]): readonly GuardViolation[] {
  return divide(findings, 'error').flatMap(({ policy, told, rest }) => [
    ...told.map(toViolation),
    ...rest.slice(0, 1).map(
      ({ policyPlace }): GuardViolation => ({
        rule: 'policy',
        policy,
        message: `The policy ${policy} refuses ${rest.length} more resources.`,
        remedy: `${CONSENT}. Change the manifests, or ask the owner of the policy.`,
        addresses: rest.map(({ address }) => address),
        places: [{ message: 'the policy is here', place: policyPlace }],
      }),
    ),
  ]);
}

/** What policies warn of in a plan, in the same way. */
function toWarnings(findings: readonly PolicyFinding[]): readonly Diagnostic[] {
  return divide(findings, 'warning').flatMap(({ policy, told, rest }): readonly Diagnostic[] => [
    ...told.map(createPolicyDiagnostic),
    ...rest.slice(0, 1).map(
      (): Diagnostic => ({
        code: 'policy-warning',
        severity: 'warning',
        message: `The policy ${policy} warns of ${rest.length} more resources.`,
        remedy: 'Change the manifests, or ask the owner of the policy.',
      }),
    ),
  ]);
}

/** The finding of a policy on a manifest, as a diagnostic. */
export function createPolicyDiagnostic(finding: PolicyFinding): Diagnostic {
  const { severity, address, policyPlace } = finding;
  const place = finding.locate();
  return {
    code: severity === 'error' ? 'policy-refused' : 'policy-warning',
    severity,
    message: toMessage(finding),
    remedy: 'Change the manifest, or ask the owner of the policy.',
    address,
    ...(place !== undefined && { place }),
    related: [{ message: 'the policy is here', place: policyPlace }],
  };
}

interface Division {
  readonly policy: string;
  readonly told: readonly PolicyFinding[];
  readonly rest: readonly PolicyFinding[];
}

function divide(findings: readonly PolicyFinding[], severity: Severity): readonly Division[] {
  const groups = Map.groupBy(
    findings.filter((finding) => finding.severity === severity),
    ({ policy }) => policy,
  );
  // One more is told as quickly as counted.
  const end = (length: number): number => (length === MAX_SHOWN + 1 ? length : MAX_SHOWN);
  return [...groups].map(([policy, all]) => ({
    policy,
    told: all.slice(0, end(all.length)),
    rest: all.slice(end(all.length)),
  }));
}

function toViolation(finding: PolicyFinding): GuardViolation {
  const { policy, isFailure, address, policyPlace } = finding;
  const place = finding.locate();
  return {
    rule: 'policy',
    policy,
    message: toMessage(finding),
    remedy: isFailure
      ? `${CONSENT}. Fix the policy, and add a case for it: see edgewise test-policy.`
      : `${CONSENT}. Change the manifest, or ask the owner of the policy.`,
    addresses: [address],
    places: [
      ...(place === undefined ? [] : [{ message: 'the resource is here', place }]),
      { message: 'the policy is here', place: policyPlace },
    ],
  };
}

/** The message starts with the resource, unless the policy names it itself. */
function toMessage({ policy, address, message }: PolicyFinding): string {
  return `${message.includes(address) ? '' : `${address}: `}${message} (policy ${policy})`;
}
