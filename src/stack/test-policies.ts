import { hasErrors } from '../model/diagnostic.ts';
import type { PolicyTestResult } from '../model/policy.ts';
import { loadPolicies, loadPolicyDocuments } from './load-policies.ts';
import { InvalidManifests, StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * Runs the cases of the policies in files and folders; other documents are passed over. Sends nothing. Rejects with `InvalidManifests` for
 * policies and cases that cannot be read, and with `StackError` when there are no cases.
 */
export async function testPolicies(paths: readonly string[], context: Surroundings): Promise<PolicyTestResult> {
  const { rules, diagnostics } = await loadPolicyDocuments(paths, { context, isMixed: true });
  const read = await loadPolicies({ documents: rules.policies, sources: [], paths: [] }, context);
  const found = [...diagnostics, ...read.diagnostics];
  if (hasErrors(found)) throw new InvalidManifests(found);
  if (rules.tests.length === 0)
    throw new StackError('There are no cases: no document is a PolicyTest.', {
      reason: 'invalid',
      remedy: 'Write cases beside the policies. edgewise explain PolicyTest shows their form.',
    });
  const { runPolicyCases } = await import('../policy/run-cases.ts');
  const { cases, untested, diagnostics: missing } = runPolicyCases(rules.tests, read.policies);
  if (missing.length > 0) throw new InvalidManifests(missing);
  return { cases, untested };
}
