import { z } from 'zod';
import { DRIFT_STATES, type DriftedChange } from '../model/drift.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import { PLAN_FORMAT } from '../model/plan.ts';
import {
  CHANGE_SCHEMA,
  DANGER_SCHEMA,
  DIAGNOSTIC_SCHEMA,
  PLAN_MEMBERS,
  type SchemaOf,
  VIOLATION_SCHEMA,
  type Whole,
} from './plan.ts';

/**
 * The schema of results: what `validate`, `plan`, `drift`, `apply`, `destroy`, `release` and `get` print as JSON, and of plan files, which
 * `plan -o` writes and `apply --approved` compares with. Later versions may add members, but none to a plan.
 */

const text = z.string();
const optional = z.exactOptional;
const count = z.int();
const diagnostics = z.array(DIAGNOSTIC_SCHEMA);
const address = text.describe('Kind/name.');

const FAILURE_SCHEMA = z
  .looseObject({
    diagnostics,
    error: optional(z.looseObject({ message: text, remedy: optional(text) })),
  })
  .describe('Why there is no result.');

const { made, baseUrl, targets, exclusions, externals, crossStackReferences, teamLabel, requests, skipped } =
  PLAN_MEMBERS.shape;

const VALIDATION_SCHEMA = z
  .looseObject({ files: count, resources: count, skipped, diagnostics })
  .describe('The result of `validate`.');

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

const DRIFT_SCHEMA = z.looseObject({
  drifted: z.boolean(),
  counts: z.record(text, count).describe('Number of resources by state.'),
  baseUrl,
  made: made.unwrap(),
  targets,
  exclusions,
  externals,
  crossStackReferences,
  skipped,
  teamLabel,
  changes: z.array(
    DRIFTED_CHANGE_SCHEMA satisfies SchemaOf<DriftedChange, Whole<z.output<typeof DRIFTED_CHANGE_SCHEMA>>>,
  ),
  kinds: z.array(text),
  unowned: z.array(UNOWNED_SCHEMA),
  diagnostics,
  violations: z.array(VIOLATION_SCHEMA),
  requests,
});

/** The result of an apply. Each outcome refers to a write of the plan beside it. */
const APPLY_SCHEMA = z.looseObject({
  interrupted: z.boolean(),
  totals: z.strictObject({ applied: count, failed: count, skipped: count }).describe('Number of writes by outcome.'),
  outcomes: z.array(
    z.discriminatedUnion('outcome', [
      z.looseObject({ outcome: z.literal('applied'), write: text, address, id: optional(text) }),
      z.looseObject({
        outcome: z.literal('failed'),
        write: text,
        address,
        message: text,
        isAuthentication: z.boolean(),
        isQuota: optional(z.literal(true)).describe('The account has as many resources of the kind as it may have.'),
        isUnknown: z.boolean(),
        isUnmanageable: optional(z.literal(true)).describe(
          'The service does not keep the mark of what it creates, so nothing more was sent to it.',
        ),
      }),
      z.looseObject({ outcome: z.literal('skipped'), write: text, address, message: text, waitedFor: z.array(text) }),
    ]),
  ),
  tokens: z.array(z.looseObject({ address: text, deliveredTo: text, rescued: z.boolean() })),
  lookUps: count,
  next: optional(z.array(text)).describe('The next steps for the user, such as to apply again or to set NS records.'),
  diagnostics,
  error: optional(z.looseObject({ message: text })).describe('Why the apply ended early.'),
});

const INVENTORY_SCHEMA = z.looseObject({
  baseUrl,
  requests: count,
  resources: z.array(
    z.looseObject({
      address,
      kind: text,
      name: text,
      id: text,
      owner: optional(z.nullable(text)).describe(
        'The other stack that owns it. null: no stack does. Absent: this stack does.',
      ),
      spec: z.record(text, z.json()),
      computed: z.record(text, z.json()).describe('What the service computed.'),
    }),
  ),
});

const COMPARISON_SCHEMA = z.looseObject({
  same: z.boolean().describe('Whether the two plans do the same, apart from what is done already.'),
  diagnostics,
});

const ENTRY_SCHEMA = z.looseObject({
  stack: optional(text).describe('Name of the stack. Absent if it could not be read.'),
  folder: optional(text).describe(
    'Path of its manifests, as given or found. For information. Absent if they were not files.',
  ),
  keyEnv: optional(text).describe(
    'The environment variable with the API key of the account. Absent if it is EDGEWISE_API_KEY.',
  ),
  ok: z.boolean().describe('Whether there is a result without errors, with nothing refused or failed.'),
  plan: optional(PLAN_MEMBERS),
  result: optional(APPLY_SCHEMA).describe('The outcome of the apply. Absent if it was not applied.'),
  drift: optional(DRIFT_SCHEMA),
  validation: optional(VALIDATION_SCHEMA),
  inventory: optional(INVENTORY_SCHEMA).describe('The result of `get`.'),
  comparison: optional(COMPARISON_SCHEMA).describe('How two plans differ. For `apply`: it is not as approved.'),
  failure: optional(FAILURE_SCHEMA),
});

const RESULT_SCHEMA = z
  .looseObject({
    format: z.literal(PLAN_FORMAT).describe('Another number: the members may have another meaning.'),
    command: z.nullable(text).describe('The command. null if it is unknown.'),
    ok: z.boolean().describe('Whether the run and each stack is ok.'),
    summary: optional(text).describe(
      'The result in one sentence of at most 300 characters, as in the Markdown. A plan file has none.',
    ),
    stacks: z.array(ENTRY_SCHEMA).describe('An entry for each stack of the run, also if there is one.'),
    failure: optional(FAILURE_SCHEMA).describe('Why the run failed before it had a stack. Then there are no stacks.'),
    since: optional(text).describe('The commit of --changed-since.'),
    removed: optional(z.array(text)).describe('Files with a Stack that this commit has, and the checkout lacks.'),
  })
  .meta({
    title: 'Edgewise result',
    description:
      'What a run found or did, for each of its stacks. A plan file has one stack. Contains no secrets: a hidden value is {"$hidden": number} or {"$secret": text}, and each other key that begins with $ has one more $.',
  });

/**
 * The published JSON Schema of results, draft 2020-12.
 * @example
 * const schema = createResultJsonSchema();
 */
export function createResultJsonSchema(): JsonObject {
  return z.toJSONSchema(RESULT_SCHEMA, { io: 'input' }) as JsonObject; // the type allows undefined, but the values never contain it
}

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
