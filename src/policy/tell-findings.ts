import type { Diagnostic, Severity } from '../model/diagnostic.ts';
import type { GuardViolation } from '../model/plan.ts';
import type { PolicyFinding } from '../model/policy.ts';

/** Findings of one policy that a plan tells one by one: a new rule may find something in every resource. */
const MAX_TOLD = 10;

const CONSENT = 'No flag allows what a policy refuses';

/** What policies refuse in a plan: of each policy the first findings, and the addresses of the others. */
export function toViolations(findings: readonly PolicyFinding[]): readonly GuardViolation[] {
  return divide(findings, 'error').flatMap(({ policy, told, rest }) => [
    ...told.map(toViolation),
    ...rest.slice(0, 1).map(
      ({ policyPlace }): GuardViolation => ({
        rule: 'policy',
        policy,
        message: toRest(policy, rest),
        remedy: `${CONSENT}. Change the manifests, or ask whoever keeps the policy.`,
        addresses: rest.map(({ address }) => address),
        places: [{ message: 'the policy is here', place: policyPlace }],
      }),
    ),
  ]);
}

/** What policies warn of in a plan, in the same way. */
export function toWarnings(findings: readonly PolicyFinding[]): readonly Diagnostic[] {
  return divide(findings, 'warning').flatMap(({ policy, told, rest }): readonly Diagnostic[] => [
    ...told.map(toDiagnostic),
    ...rest.slice(0, 1).map(
      (): Diagnostic => ({
        code: 'policy-warning',
        severity: 'warning',
        message: toRest(policy, rest),
        remedy: 'Change the manifests, or ask whoever keeps the policy.',
      }),
    ),
  ]);
}

/** What a policy says to a manifest. */
export function toDiagnostic(finding: PolicyFinding): Diagnostic {
  const { severity, address, policyPlace } = finding;
  const place = finding.locate();
  return {
    code: severity === 'error' ? 'policy-refused' : 'policy-warning',
    severity,
    message: toMessage(finding),
    remedy: 'Change the manifest, or ask whoever keeps the policy.',
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
  const end = (length: number): number => (length === MAX_TOLD + 1 ? length : MAX_TOLD);
  return [...groups].map(([policy, all]) => ({
    policy,
    told: all.slice(0, end(all.length)),
    rest: all.slice(end(all.length)),
  }));
}

function toRest(policy: string, rest: readonly PolicyFinding[]): string {
  return `The policy ${policy} says so of ${rest.length} more resources.`;
}

function toViolation(finding: PolicyFinding): GuardViolation {
  const { policy, isFailure, address, policyPlace } = finding;
  const place = finding.locate();
  return {
    rule: 'policy',
    policy,
    message: toMessage(finding),
    remedy: isFailure
      ? `${CONSENT}. Mend the policy, and add a case for it: see edgewise test-policy.`
      : `${CONSENT}. Change the manifest, or ask whoever keeps the policy.`,
    addresses: [address],
    places: [
      ...(place === undefined ? [] : [{ message: 'the resource is here', place }]),
      { message: 'the policy is here', place: policyPlace },
    ],
  };
}

/** Which resource it is about stands at the start, unless the policy says so itself. */
function toMessage({ policy, address, message }: PolicyFinding): string {
  return `${message.includes(address) ? '' : `${address}: `}${message} (policy ${policy})`;
}
