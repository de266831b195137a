import { type CelBudget, createBudget } from '../expressions/cost.ts';
import type { CelProgram } from '../expressions/environment.ts';
import type { Action } from '../model/change.ts';
import type { Severity } from '../model/diagnostic.ts';
import type { FindingOn } from '../model/finding.ts';
import type { Json } from '../model/json.ts';
import type { Place } from '../model/place.ts';
import type { PolicyDocument } from '../model/policy.ts';
import type { FieldPath } from '../model/state.ts';
import type { PolicyRunContext, PolicySubject } from './subject.ts';
import { pickBeforeAndAfterPaths } from './vocabulary.ts';

/** A policy with compiled expressions, whose names and types are checked. */
export interface Policy {
  readonly document: PolicyDocument;
  /** Names of the kinds that the policy applies to. */
  readonly kinds: ReadonlySet<string>;
  readonly require: CelProgram;
  /** The template of the message: literal texts and expressions, in order. */
  readonly message: readonly (string | CelProgram)[];
  /** The variables in the expressions, with the members that are selected from them, such as `after.acl`. */
  readonly names: readonly string[];
  /** Returns the position of `spec.require`. Computed at the first call. */
  readonly locateRule: () => Place;
}

/** A policy that a change breaks. Its message is that of the policy, or says why the policy could not be evaluated. */
export interface PolicyFinding extends FindingOn<PolicySubject> {
  readonly policy: string;
  /** Whether an expression of the policy could not be evaluated. */
  readonly isFailure: boolean;
}

/** Whether the expressions of a policy use a variable or one of its members. */
function isVariableUsedInPolicy({ names }: Policy, variable: string): boolean {
  return names.some((name) => name === variable || name.startsWith(`${variable}.`));
}

/** The maximum number of evaluation steps of one policy for one change: about 0.1 seconds. A long rule needs 2,000. */
const MAX_STEPS = 200_000;

/** The maximum number of evaluation steps of all policies for all changes of a plan: about ten seconds. */
const MAX_STEPS_OF_RUN = 20_000_000;

/** The maximum length of a message, in characters: about twelve lines of a terminal. */
const MAX_MESSAGE = 1_000;

/**
 * Evaluates each policy for each subject that it applies to. A policy that cannot be evaluated refuses the subject,
 * even if the severity of the policy is `warning`. `maxSteps`: the limit for all evaluations together.
 */
export function evaluatePolicies(
  policies: readonly Policy[],
  subjects: readonly PolicySubject[],
  { stack }: PolicyRunContext,
  maxSteps = MAX_STEPS_OF_RUN,
): readonly PolicyFinding[] {
  const all = createBudget(maxSteps);
  return subjects.flatMap((subject) =>
    policies
      .filter((policy) => appliesTo(policy, subject, stack.name))
      .flatMap((policy): PolicyFinding[] => {
        const found = evaluatePolicy(policy, subject, all);
        return found === undefined ? [] : [found];
      }),
  );
}

function evaluatePolicy(policy: Policy, subject: PolicySubject, all: CelBudget): PolicyFinding | undefined {
  const { values } = subject;
  const budget = createBudget(MAX_STEPS, all);
  const fail = (field: string, finding: string): PolicyFinding => {
    const message = `the policy cannot be evaluated, so it refuses: ${field}: ${finding}`;
    return { ...createPolicyFinding(policy, subject, message, 'error'), isFailure: true };
  };
  const required = policy.require.run(values, budget);
  if ('finding' in required) return fail('spec.require', required.finding);
  if (required.value === true) return undefined;
  if (required.value !== false) return fail('spec.require', 'its value is neither true nor false');
  const parts = policy.message.map((part) => (typeof part === 'string' ? { value: part } : part.run(values, budget)));
  const finding = parts.find((part) => 'finding' in part);
  if (finding !== undefined) return fail('spec.message', finding.finding);
  const message = parts.map((part) => ('value' in part ? formatPolicyValue(part.value) : '')).join('');
  return createPolicyFinding(policy, subject, message, policy.document.severity);
}

function formatPolicyValue(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(message: string): string {
  const text = message.trim();
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

function createPolicyFinding(
  policy: Policy,
  subject: PolicySubject,
  message: string,
  severity: Severity,
): PolicyFinding {
  return {
    subject,
    policy: policy.document.name,
    isFailure: false,
    finding: {
      code: 'policy-violated',
      severity,
      message: cut(message),
      path: choosePlacePath(policy),
      related: [{ message: 'the policy is here', place: policy.locateRule() }],
    },
  };
}

/** Returns the path of a finding: the first field of `after` that the policy uses, otherwise the resource's name. */
function choosePlacePath({ names }: Policy): FieldPath {
  const [first] = pickBeforeAndAfterPaths(names).filter(({ name }) => name.startsWith('after.'));
  return first === undefined ? ['metadata', 'name'] : ['spec', ...first.path];
}

/** Whether a subject meets the conditions in `match`. No policy applies to a resource that the plan does not change. */
export function appliesTo(policy: Policy, subject: PolicySubject, stack: string): boolean {
  const { danger, labels = {}, stacks } = policy.document.match;
  const { kind, action, dangers } = subject;
  return (
    policy.kinds.has(kind) &&
    isAboutAction(policy, action) &&
    (danger === undefined || danger.some((name) => dangers.includes(name))) &&
    Object.entries(labels).every(([name, value]) => hasLabel(subject.labels, name, value)) &&
    (stacks === undefined || stacks.some((pattern) => isPolicyMatch(pattern, stack)))
  );
}

/**
 * Whether a policy applies to an action, which is `undefined` if a manifest is checked without a plan. Without
 * `match.actions`, a policy that uses values of manifests does not apply to deletes and releases, and a policy that
 * uses only `before` does not apply to creates.
 */
function isAboutAction(policy: Policy, action: PolicySubject['action']): boolean {
  const { actions } = policy.document.match;
  if (action === 'no-op') return false;
  if (action === undefined) return actions === undefined || MANIFEST_ACTIONS.every((one) => actions.includes(one));
  if (actions !== undefined) return actions.includes(action);
  if (MANIFEST_VARIABLES.some((variable) => isVariableUsedInPolicy(policy, variable))) return !REMOVALS.has(action);
  return !isVariableUsedInPolicy(policy, 'before') || action !== 'create';
}

/** A policy with `match.actions` is checked without a plan only if it lists all of these actions. */
const MANIFEST_ACTIONS: readonly Action[] = ['create', 'update'];

/** Variables that are empty if the resource has no manifest. */
const MANIFEST_VARIABLES = ['after', 'labels', 'annotations', 'change.place'];

/** Actions after which the resource does not exist or the stack does not own it. */
const REMOVALS: ReadonlySet<Action> = new Set(['delete', 'release']);

function hasLabel(labels: PolicySubject['labels'], name: string, wanted: string | readonly string[]): boolean {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  const allowed: readonly (string | undefined)[] = [wanted].flat();
  return allowed.includes(value);
}

/**
 * Whether a name matches a pattern, in which `*` matches any text. Does not use a regular expression, because one made
 * from a user's pattern could be slow.
 */
export function isPolicyMatch(pattern: string, name: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return name === start;
  if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false;
  let at = start.length;
  for (const part of parts) {
    const index = name.indexOf(part, at);
    if (index < 0) return false;
    at = index + part.length;
  }
  return at <= name.length - end.length;
}
