import type { Plan } from '../../model/plan.ts';
import type { TextOptions } from '../../report/report.ts';
import { renderPlanText } from '../../report/text/plan.ts';
import { toPlanView } from '../../report/view/plan-view.ts';
import type { Context } from '../context.ts';
import { type FormatFlags, toTextOptions } from './present.ts';

/** A plan that no safety rule blocks, for the person who is asked about it. It is always text, and goes where questions go. */
export function renderAskedPlan(plan: Plan, context: Context, flags: FormatFlags): string {
  return renderUnblocked(plan, toTextOptions(context.stderr, context, flags));
}

/** With text, a plan is shown before it is applied, and its result after it. Other forms are one document, at the end. */
export function showPlanFirst(plan: Plan, flags: FormatFlags, context: Context): void {
  if (flags.format !== 'text') return;
  context.stdout.write(renderUnblocked(plan, toTextOptions(context.stdout, context, flags)));
}

function renderUnblocked(plan: Plan, options: TextOptions): string {
  return renderPlanText(toPlanView({ ...plan, violations: [] }, { isReadOnce: true }), options);
}
