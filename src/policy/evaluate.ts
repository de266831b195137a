import { type Budget, createBudget } from '../cel/budget.ts';
import type { CelProgram } from '../cel/environment.ts';
import type { Json } from '../model/json.ts';
import type { PolicyFinding } from '../model/policy.ts';
import type { FieldPath } from '../model/state.ts';
import { isAbout } from './match.ts';
import { listNamedFields } from './named-fields.ts';
import type { Policy } from './policy.ts';
import type { PolicyScene, PolicySubject } from './subject.ts';

/** Steps that one policy may take for one change: some hundred times what a long rule takes, and a tenth of a second. */
const MAX_STEPS = 200_000;

/** Steps of all policies together, for all changes of a plan: ten seconds. */
const MAX_STEPS_OF_RUN = 20_000_000;

/** Characters of a message. */
const MAX_MESSAGE = 1_000;

/** Asks policies about subjects, within one budget. A policy that cannot be evaluated refuses, whatever its severity. */
export function evaluatePolicies(
  policies: readonly Policy[],
  subjects: readonly PolicySubject[],
  { stack }: PolicyScene,
  maxSteps = MAX_STEPS_OF_RUN,
): readonly PolicyFinding[] {
  const all = createBudget(maxSteps);
  return subjects.flatMap((subject) =>
    policies
      .filter((policy) => isAbout(policy, subject, stack.name))
      .flatMap((policy): PolicyFinding[] => {
        const verdict = evaluatePolicy(policy, subject, all);
        return verdict === undefined ? [] : [toFinding(policy, subject, verdict)];
      }),
  );
}

/** Why a policy does not let something through. */
interface Verdict {
  readonly message: string;
  readonly isFailure: boolean;
}

function evaluatePolicy(policy: Policy, { values }: PolicySubject, all: Budget): Verdict | undefined {
  const budget = createBudget(MAX_STEPS, all);
  const required = policy.require.run(values, budget);
  if ('fault' in required) return toFailure('spec.require', required.fault);
  if (required.value === true) return undefined;
  if (required.value !== false) return toFailure('spec.require', 'it comes to neither true nor false');
  const parts = policy.message.map((part) => (typeof part === 'string' ? { value: part } : fill(part, values, budget)));
  const fault = parts.find((part) => 'fault' in part);
  if (fault !== undefined) return toFailure('spec.message', fault.fault);
  return { message: cut(parts.map((part) => ('value' in part ? toText(part.value) : '')).join('')), isFailure: false };
}

function fill(program: CelProgram, values: PolicySubject['values'], budget: Budget) {
  return program.run(values, budget);
}

function toFailure(field: string, fault: string): Verdict {
  return { message: cut(`the policy cannot be evaluated, so it refuses: ${field}: ${fault}`), isFailure: true };
}

/** As JSON says it, but text without quotes. */
function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function cut(message: string): string {
  const text = message.trim();
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

function toFinding(policy: Policy, { address, locate }: PolicySubject, verdict: Verdict): PolicyFinding {
  const { document } = policy;
  return {
    policy: document.name,
    severity: verdict.isFailure ? 'error' : document.severity,
    ...verdict,
    address,
    locate: () => locate(toPlacePath(policy)),
    policyPlace: policy.locateRule(),
  };
}

/** The field that the rule is about, where it names one; the name of the resource otherwise. */
function toPlacePath({ names }: Policy): FieldPath {
  const [first] = listNamedFields(names).filter(({ name }) => name.startsWith('after.'));
  return first === undefined ? ['metadata', 'name'] : ['spec', ...first.path];
}
