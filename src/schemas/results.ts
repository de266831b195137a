import { z } from 'zod';
import { DRIFT_STATES } from '../model/drift.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import { CHANGE_SCHEMA, DANGER_SCHEMA, DIAGNOSTIC_SCHEMA, PLAN_MEMBERS, VIOLATION_SCHEMA } from './plan.ts';

/**
 * Schemas of the JSON results of edgewise, with the fields that edgewise needs to show a result again. Later versions
 * may add fields.
 */

const text = z.string();
const optional = z.exactOptional;
const count = z.int();
const diagnostics = z.array(DIAGNOSTIC_SCHEMA);

export const MULTI_STACK_RESULT_SCHEMA = z.looseObject({
  command: text,
  root: text,
  summary: text,
  stacks: z.array(
    z.looseObject({
      stack: text,
      folder: text,
      keyEnv: optional(text),
      exitCode: count,
      report: z.record(text, z.json()),
    }),
  ),
  since: optional(text),
  removed: optional(z.array(text)),
});

/** The output of a command that failed without a result. */
export const FAILURE_RESULT_SCHEMA = z.looseObject({
  command: z.nullable(text),
  ok: z.literal(false),
  stack: optional(text),
  diagnostics,
  error: optional(z.looseObject({ message: text, remedy: optional(text) })),
});

const { made, stack, baseUrl, targets, exclusions, externals, crossStackReferences, ownerLabel, requests, skipped } =
  PLAN_MEMBERS.shape;

export const VALIDATION_RESULT_SCHEMA = z.looseObject({
  command: z.literal('validate'),
  stack: optional(text),
  files: count,
  resources: count,
  skipped,
  diagnostics,
});

/** One resource of a `drift` result: the change of the plan, and what happened at the service. */
const DRIFTED_CHANGE_SCHEMA = CHANGE_SCHEMA.extend({
  state: z.enum(DRIFT_STATES).describe('How the live resource compares with its manifest.'),
  driftDangers: optional(z.array(DANGER_SCHEMA)).describe(
    'Dangers of what happened at the service, from the expected to the live value.',
  ),
  besideId: optional(text).describe(
    'Only for a create: id of the live resource without the mark of the stack that is there instead. The differences compare it with the manifest.',
  ),
  validUntil: optional(text).describe('End of the validity of the live resource.'),
  validFrom: optional(text).describe('Start of the validity of the live resource.'),
}).loose();

/** A live resource that the stack does not own. */
const UNOWNED_SCHEMA = z.looseObject({
  kind: text,
  id: text,
  description: text,
  stack: optional(text),
  absence: optional(z.literal('not-here')).describe(
    'Only in a run over many stacks, if that stack is not in this repository.',
  ),
});

export const DRIFT_RESULT_SCHEMA = z.looseObject({
  command: z.literal('drift'),
  stack,
  baseUrl,
  made: made.unwrap(),
  targets,
  exclusions,
  externals,
  crossStackReferences,
  skipped,
  ownerLabel,
  changes: z.array(DRIFTED_CHANGE_SCHEMA),
  kinds: z.array(text),
  unowned: z.array(UNOWNED_SCHEMA),
  diagnostics,
  violations: z.array(VIOLATION_SCHEMA),
  requests,
});

/** The result of an apply. Each outcome refers to a write of the plan. */
export const APPLY_RESULT_SCHEMA = z.looseObject({
  command: text,
  interrupted: z.boolean(),
  outcomes: z.array(
    z.discriminatedUnion('outcome', [
      z.looseObject({ outcome: z.literal('applied'), write: text, id: optional(text) }),
      z.looseObject({
        outcome: z.literal('failed'),
        write: text,
        message: text,
        isAuthentication: z.boolean(),
        isUnknown: z.boolean(),
      }),
      z.looseObject({ outcome: z.literal('skipped'), write: text, message: text, waitedFor: z.array(text) }),
    ]),
  ),
  tokens: z.array(z.looseObject({ address: text, deliveredTo: text, rescued: z.boolean() })),
  lookUps: count,
  next: optional(z.array(text)).describe('The next steps for the user, such as to apply again or to set NS records.'),
  diagnostics,
  plan: z.record(text, z.json()),
});

/** The maximum number of values checked at once. The issues of a million wrong values would not fit into memory. */
const PART_VALUES = 20_000;

type FirstIssue = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/**
 * Returns the first mistake in an object whose lists may be long. `undefined` if the object conforms. Each top-level
 * list is checked in parts, with the other lists empty, so the schema must allow empty lists.
 */
export function findFirstSchemaIssue(schema: z.ZodType, value: JsonObject): FirstIssue | undefined {
  const lists = Object.entries(value).filter((entry): entry is [string, readonly Json[]] => isJsonArray(entry[1]));
  const rest = { ...value, ...Object.fromEntries(lists.map(([name]) => [name, []])) };
  const [issue] = schema.safeParse(rest).error?.issues ?? [];
  if (issue !== undefined) return issue;
  for (const [name, members] of lists) {
    const found = findInList(schema, rest, { name, members });
    if (found !== undefined) return found;
  }
  return undefined;
}

function findInList(
  schema: z.ZodType,
  rest: JsonObject,
  { name, members }: { readonly name: string; readonly members: readonly Json[] },
): FirstIssue | undefined {
  for (let start = 0; start < members.length; ) {
    const end = computeEnd(members, start);
    if (end === start + 1 && countValues(members[start] ?? null, MOST_VALUES) > MOST_VALUES)
      return { message: `it has more than ${MOST_VALUES.toLocaleString('en')} values`, path: [name, start] };
    const [issue] = schema.safeParse({ ...rest, [name]: members.slice(start, end) }).error?.issues ?? [];
    if (issue !== undefined) return { message: issue.message, path: moveIndex(issue.path, start) };
    start = end;
  }
  return undefined;
}

/** The maximum number of values in one member of a list. A change of the largest possible resource has fewer values. */
const MOST_VALUES = 100_000;

/** Returns the end, exclusive, of the part that begins at `start`. A part has at least one member. */
function computeEnd(members: readonly Json[], start: number): number {
  let left = PART_VALUES;
  let end = start;
  while (end < members.length && left > 0) {
    left -= countValues(members[end] ?? null, left);
    end += 1;
  }
  return end;
}

/** Counts a value and all values inside it. Stops once the count exceeds `most`. */
function countValues(value: Json, most: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const member of Object.values(value)) {
    if (count > most) break;
    count += countValues(member, most - count);
  }
  return count;
}

function moveIndex([name, index, ...rest]: FirstIssue['path'], start: number): FirstIssue['path'] {
  return typeof index === 'number' ? [name ?? '', index + start, ...rest] : [name ?? ''];
}
