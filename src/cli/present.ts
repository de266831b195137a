import type { Diagnostic } from '../model/diagnostic.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import { renderFailureJson, renderPlanJson } from '../report/json.ts';
import { renderDiagnosticsText } from '../report/text-diagnostics.ts';
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

/** Shows what is wrong with manifests, for a command that can't go on: JSON is the result, text is not. */
export function showDiagnostics(diagnostics: readonly Diagnostic[], context: Context, flags: FormatFlags): void {
  if (flags.format === 'json') context.stdout.write(renderFailureJson({ diagnostics }));
  else context.stderr.write(renderDiagnosticsText(diagnostics, toTextOptions(context.stderr, context, flags)));
}
