import type { PlanFileContent } from '../kinds/plan-file-content.ts';
import { checkJsonLimits, isJsonArray, isJsonObject, type JsonObject, parseJson } from '../model/json.ts';
import { isFailureReport, PLAN_FORMAT, type Plan } from '../model/plan.ts';
import { PLAN_SCHEMA } from '../schemas/plan.ts';
import { findFirstSchemaIssue } from '../schemas/results.ts';
import { StackError } from './host.ts';
import { getSelfConsistentPlan } from './saved-plan.ts';

/**
 * Parses the text of a plan file. `name` is its name in messages. Throws `StackError` if the plan is invalid (the
 * message has the first error), or if its writes differ from the changes that it shows.
 */
export function parsePlan(text: string, name = 'The text'): Plan {
  const finding = checkJsonLimits(text);
  if (finding !== undefined) throw createPlanError(name, `it ${finding}`);
  const value: unknown = parseJson(text);
  if (!isJsonObject(value)) throw createPlanError(name, 'it holds no JSON object');
  if (isFailureReport(value)) throw createPlanError(name, `the run that wrote it failed: ${findFailure(value)}`);
  if (typeof value['format'] === 'number' && value['format'] !== PLAN_FORMAT) {
    throw new StackError(
      `${name} is a plan of format ${value['format']}, and this version of edgewise reads format ${PLAN_FORMAT} only.`,
      { reason: 'invalid', remedy: 'Make a new plan with this version: edgewise plan -o FILE.' },
    );
  }
  const issue = findFirstSchemaIssue(PLAN_SCHEMA, value);
  if (issue !== undefined) throw createPlanError(name, `${issue.path.join('.') || 'the document'}: ${issue.message}`);
  // Use `value`, because the output of the schema lacks keys such as __proto__.
  return getSelfConsistentPlan(name, value as unknown as PlanFileContent);
}

/** The first message of the report. */
function findFailure({ error, diagnostics }: JsonObject): string {
  const [first] = [error, ...(isJsonArray(diagnostics) ? diagnostics : [])].filter((one) => isJsonObject(one));
  return typeof first?.['message'] === 'string' ? first['message'] : 'it does not say why';
}

function createPlanError(name: string, why: string): StackError {
  const remedy = 'Make one with edgewise plan -o FILE.';
  return new StackError(`${name} is not a plan file: ${why}`, { reason: 'invalid', remedy });
}
