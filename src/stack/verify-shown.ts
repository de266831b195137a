import type { PlanDocument } from '../kinds/plan-document.ts';
import type { Plan } from '../model/plan.ts';
import { verifyPlan } from '../plan/saved/verify-plan.ts';
import { StackError } from './stack-error.ts';

/** The plan of a document, when it does what it shows and nothing else. */
export function verifyShown(name: string, document: PlanDocument): Plan {
  const plan = verifyPlan(document);
  if (typeof plan !== 'string') return plan;
  throw new StackError(`${name} would do what it does not show: ${plan}.`, {
    reason: 'invalid',
    remedy: 'It was edited. Make a new plan and have that approved.',
  });
}
