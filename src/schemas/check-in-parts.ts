import type { z } from 'zod';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';

/** The number of values checked at once: the findings on a million wrong ones would not fit into memory. */
const PART_VALUES = 20_000;

/** Where a schema finds the first mistake, and what it says. */
export type FirstIssue = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/**
 * The first mistake in an object whose lists may be long; nothing: it conforms. Each list at the top is checked by parts, with the others empty, which
 * the schema has to allow.
 */
export function findFirstIssue(schema: z.ZodType, value: JsonObject): FirstIssue | undefined {
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
    const end = findEnd(members, start);
    if (end === start + 1 && countValues(members[start] ?? null, MOST_VALUES) > MOST_VALUES)
      return { message: `it has more than ${MOST_VALUES.toLocaleString('en')} values`, path: [name, start] };
    const [issue] = schema.safeParse({ ...rest, [name]: members.slice(start, end) }).error?.issues ?? [];
    if (issue !== undefined) return { message: issue.message, path: moveIndex(issue.path, start) };
    start = end;
  }
  return undefined;
}

/** Values of one member: a change of the largest resource that a service takes has fewer. */
const MOST_VALUES = 100_000;

/** The end of a part that starts there: at least one member. */
function findEnd(members: readonly Json[], start: number): number {
  let left = PART_VALUES;
  let end = start;
  while (end < members.length && left > 0) {
    left -= countValues(members[end] ?? null, left);
    end += 1;
  }
  return end;
}

/** The values in a value, itself included; counting ends once there are more than so many. */
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
