import type { GuardViolation, Plan } from '../model/plan.ts';
import { renderPlanJson } from '../report/json.ts';
import type { TextOptions } from '../report/text-options.ts';
import { renderPlanText } from '../report/text-plan.ts';
import { toPlanView } from '../report/view.ts';
import type { Context, Output } from './context.ts';

/** How results are shown. */
export interface FormatFlags {
  readonly format: 'text' | 'json';
  readonly verbose?: boolean;
  /** False with --no-color. */
  readonly color: boolean;
}

/** The flags of commands whose result has one form only. */
export const PLAIN: FormatFlags = { format: 'text', color: true };

/** Looks for one output: colours only on a terminal, and not with NO_COLOR or --no-color. */
export function toTextOptions(output: Output, { env }: Pick<Context, 'env'>, flags: FormatFlags): TextOptions {
  const wantsColor = flags.color && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return {
    color: wantsColor && output.isTerminal,
    width: output.isTerminal ? output.columns() : 0,
    verbose: flags.verbose === true,
  };
}

/** Shows a plan as a result. Broken safety rules that a flag allows are not shown again. */
export function showPlan(
  plan: Plan,
  context: Context,
  { flags, standing }: { readonly flags: FormatFlags; readonly standing: readonly GuardViolation[] },
): void {
  const text =
    flags.format === 'json'
      ? renderPlanJson(plan)
      : renderPlanText(toPlanView({ ...plan, violations: standing }), toTextOptions(context.stdout, context, flags));
  context.stdout.write(text);
}

/** A plan that no safety rule stands against, for the person who is asked about it: that is never JSON, and goes where questions go. */
export function renderAskedPlan(plan: Plan, context: Context, flags: FormatFlags): string {
  return renderPlanText(toPlanView({ ...plan, violations: [] }), toTextOptions(context.stderr, context, flags));
}
