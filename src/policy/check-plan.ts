import type { Change } from '../model/change.ts';
import type { JsonObject } from '../model/json.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import type { PolicyFinding } from '../model/policy.ts';
import type { StackSettings } from '../model/stack.ts';
import type { DesiredState } from '../model/state.ts';
import { toShownTotals } from '../model/totals.ts';
import { evaluatePolicies } from './evaluate.ts';
import { doesName, type Policy } from './policy.ts';
import { type PolicyScene, toChangeSubject } from './subject.ts';
import { toViolations, toWarnings } from './tell-findings.ts';

/** What a plan is checked with. */
export interface PlanPolicies {
  readonly policies: readonly Policy[];
  /** What the manifests say now; absent: they were not named, and what a plan file says of them proves nothing. */
  readonly state: Pick<DesiredState, 'stack' | 'resources'> | undefined;
  readonly now: Date;
  /** It is not a plan that was just made. */
  readonly isSaved?: boolean;
}

/** The plan with what policies say to it: errors among the safety rules that it breaks, warnings among the diagnostics. */
export function withPolicies(given: Plan, { policies, state, now, isSaved = false }: PlanPolicies): Plan {
  const plan = withoutPolicies(given, policies);
  const stack = toStack(plan, state?.stack);
  const scene = { stack, plan: toPlanJson(plan, isSaved), now };
  const answerable = state === undefined ? policies.filter((policy) => !needsManifests(policy)) : policies;
  const findings = checkChanges(plan.changes, { policies: answerable, state, scene });
  const unanswered = policies.filter((policy) => !answerable.includes(policy)).map(toUnanswered);
  return {
    ...plan,
    diagnostics: [...plan.diagnostics, ...toWarnings(findings)],
    violations: [...plan.violations, ...unanswered, ...toViolations(findings)],
  };
}

/** Without what these policies said before: a plan that was saved is checked anew. What others said stands. */
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
    readonly scene: PolicyScene;
  },
): readonly PolicyFinding[] {
  const subjects = changes
    .filter(({ action }) => action !== 'no-op')
    .map((change) => toChangeSubject(change, state?.resources.get(change.address), scene));
  return evaluatePolicies(policies, subjects, scene);
}

function toStack({ stack }: Plan, settings: StackSettings | undefined): PolicyScene['stack'] {
  const { labels = {}, annotations = {} } = settings ?? {};
  return { name: stack, labels, annotations };
}

/** The plan as a whole, as expressions see it. Of a plan that was saved nobody knows when and from what it was made. */
function toPlanJson({ mode, baseUrl, targets, changes, made }: Plan, isSaved: boolean): JsonObject {
  return { mode, baseUrl, targets, totals: { ...toShownTotals(changes) }, made: isSaved ? {} : { ...made } };
}

/** Whether a policy asks for something that only manifests say. */
function needsManifests(policy: Policy): boolean {
  const isNamed = MANIFEST_NAMES.some((name) => doesName(policy, name));
  return isNamed || policy.document.match.labels !== undefined || policy.names.some((name) => WHOLES.has(name));
}

const MANIFEST_NAMES = ['labels', 'annotations', 'stack.labels', 'stack.annotations', 'change.place'];

/** Variables that have something in them which only manifests say. */
const WHOLES: ReadonlySet<string> = new Set(['stack', 'change']);

/** A policy about manifests that nobody named: it might refuse, so it does. */
function toUnanswered({ document, locateRule }: Policy): GuardViolation {
  const { name } = document;
  return {
    rule: 'policy',
    policy: name,
    message: `The policy ${name} cannot be evaluated, so it refuses: it asks for what only manifests say.`,
    remedy: 'Name the manifests that the plan was made of with --stack.',
    addresses: [],
    places: [{ message: 'the policy is here', place: locateRule() }],
  };
}
