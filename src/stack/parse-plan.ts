import type { PlanFileContent } from '../kinds/plan-file-content.ts';
import { hasUsableIds } from '../kinds/request-body.ts';
import { checkJsonLimits, isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { PLAN_FORMAT, type Plan } from '../model/plan.ts';
import { fromFileJson } from '../model/secret-value.ts';
import { StackError } from '../model/user-errors.ts';
import type { Write } from '../model/write.ts';
import { PLAN_SCHEMA } from '../schemas/plan.ts';
import { findFirstSchemaIssue } from '../schemas/results.ts';

/** The only entry of a plan file, which nobody has to believe. Neither a plan nor a failure: no stack was selected. */
export interface PlanFileEntry {
  readonly plan?: Plan;
  /** Why there is no plan. */
  readonly failure?: string;
}

/**
 * Parses the text of a plan file. `name` is its name in messages. Throws `StackError` with the first error if it is
 * invalid. A plan file approves; it cannot do anything by itself, so it is not checked further.
 * @example
 * const approved = parsePlan(await readFile('plan.json', 'utf8'), 'plan.json');
 */
export function parsePlan(text: string, name = 'The text'): Plan {
  const { plan, failure } = parsePlanFileEntry(text, name);
  if (plan !== undefined) return plan;
  throw createPlanError(name, failure === undefined ? 'it has no stack' : `the run that wrote it failed: ${failure}`);
}

/** Like `parsePlan`, also for the file of a failed plan, or of a run without a stack. */
export function parsePlanFileEntry(text: string, name: string): PlanFileEntry {
  const finding = checkJsonLimits(text);
  if (finding !== undefined) throw createPlanError(name, `it ${finding}`);
  const value: unknown = parseJson(text);
  if (!isJsonObject(value)) throw createPlanError(name, 'it is not a JSON object');
  const { format, stacks, failure } = value;
  if (typeof format === 'number' && format !== PLAN_FORMAT) {
    throw new StackError(
      `${name} is a result of format ${format}, and this version of edgewise reads format ${PLAN_FORMAT} only.`,
      { reason: 'invalid', remedy: 'Make a new plan with this version: edgewise plan -o FILE.' },
    );
  }
  if (format === undefined || stacks === undefined || !isJsonArray(stacks))
    throw createPlanError(name, 'it has no format and no list of stacks');
  if (isJsonObject(failure)) return { failure: findFailureMessage(failure) };
  const [entry, ...others] = stacks;
  if (others.length > 0) throw createPlanError(name, `it has ${stacks.length} stacks, and a plan file has one`);
  if (entry === undefined) return {};
  return parseEntry(entry, name);
}

function parseEntry(entry: Json, name: string): PlanFileEntry {
  if (!isJsonObject(entry)) throw createPlanError(name, 'its stack is not a JSON object');
  const { plan, failure, result } = entry;
  if (isJsonObject(failure)) return { failure: findFailureMessage(failure) };
  if (result !== undefined) throw createPlanError(name, 'it is the result of an apply');
  if (plan === undefined || !isJsonObject(plan)) throw createPlanError(name, 'its stack has no plan');
  const issue = findFirstSchemaIssue(PLAN_SCHEMA, plan);
  if (issue !== undefined) throw createPlanError(name, `${issue.path.join('.') || 'the plan'}: ${issue.message}`);
  const read: unknown = fromFileJson(plan, (key) => createPlanError(name, `it has the key ${key}`));
  const parsed = toPlan(read as PlanFileContent); // the schema has checked it; its own output would lack keys such as __proto__
  const unusable = parsed.writes.find((write) => !hasUsableIds(write));
  if (unusable !== undefined) throw createPlanError(name, `the ids of ${unusable.id} are not ids`);
  return { plan: parsed };
}

/** Leaves out what a plan file has for readers. */
function toPlan({ totals: _, dangers: __, writes, ...plan }: PlanFileContent): Plan {
  return { ...plan, format: PLAN_FORMAT, writes: writes.map(({ path: _, ...write }): Write => write) };
}

/** The first message of a failure. */
function findFailureMessage({ error, diagnostics = [] }: JsonObject): string {
  const [first] = [error, ...(isJsonArray(diagnostics) ? diagnostics : [])].filter((one) => isJsonObject(one));
  return typeof first?.['message'] === 'string' ? first['message'] : 'it does not say why';
}

function createPlanError(name: string, why: string): StackError {
  const remedy = 'Make one with edgewise plan -o FILE.';
  return new StackError(`${name} is not a plan file: ${why}`, { reason: 'invalid', remedy });
}
