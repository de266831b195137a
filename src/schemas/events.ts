import { z } from 'zod';
import type { JsonObject } from '../model/json.ts';
import { DIAGNOSTIC_SCHEMA, VIOLATION_SCHEMA } from './plan.ts';

/** The schema of one line of a stream of events: what `--format json-lines` writes. */
const every = {
  seq: z.int().min(1).describe('Number of the event in its stream, from 1.'),
  time: z.iso.datetime().describe('When it happened.'),
};
const aWrite = { write: z.string().describe('Such as `create Kind/name`.'), address: z.string() };
const progress = { done: z.int().describe('Finished writes.'), total: z.int() };
const optional = z.exactOptional;
const outcome = z.enum(['applied', 'failed', 'skipped']);

const summary = z.looseObject({
  event: z.literal('summary'),
  ...every,
  command: z.string().nullable(),
  ok: z.boolean().describe('As in the JSON document of the same result.'),
  exit_code: z.int().nullable(),
  changes: optional(z.record(z.string(), z.int())).describe('Of a plan: resources by action.'),
  violations: optional(z.array(VIOLATION_SCHEMA)).describe(
    'Of a plan: the safety rules that it breaks without consent.',
  ),
  interrupted: optional(z.boolean()),
  totals: optional(
    z.strictObject({ applied: z.int(), already_done: z.int(), failed: z.int(), skipped: z.int() }),
  ).describe('Of an apply: writes by outcome.'),
  tokens: optional(z.array(z.looseObject({ address: z.string(), place: z.string(), rescued: z.boolean() }))),
  files: optional(z.array(z.looseObject({ address: z.string(), path: z.string(), outcome }))),
  drifted: optional(z.boolean()),
  same: optional(z.boolean()).describe('Of two plans: they do the same.'),
  within: optional(z.boolean()).describe('Of two plans: the later one does nothing that the earlier one does not.'),
  error: optional(z.string()).describe('Why the command has no result.'),
});

const EVENT_SCHEMA = z
  .discriminatedUnion('event', [
    z.looseObject({
      event: z.literal('start'),
      ...every,
      format: z.literal(1),
      command: z.string(),
      stack: z.string(),
      base_url: z.string(),
      writes: z.int(),
    }),
    z.looseObject({ event: z.literal('write-started'), ...every, ...aWrite }),
    z.looseObject({ event: z.literal('write-done'), ...every, ...aWrite, ...progress, id: optional(z.string()) }),
    z.looseObject({
      event: z.literal('write-failed'),
      ...every,
      ...aWrite,
      ...progress,
      message: z.string(),
      status: optional(z.int()).describe('HTTP status, if the service refused the write.'),
      field: optional(z.string()).describe(
        'The field of the spec that the service names, such as `backend.backend_id`.',
      ),
    }),
    z.looseObject({ event: z.literal('write-skipped'), ...every, ...aWrite, ...progress, message: z.string() }),
    z.looseObject({ event: z.literal('diagnostic'), ...every, diagnostic: DIAGNOSTIC_SCHEMA }),
    summary,
  ])
  .meta({
    title: 'Edgewise event',
    description: 'One line of a stream of events. Its last line is a summary. Events and fields may be added.',
  });

/** The published JSON Schema of a line, draft 2020-12. */
export function toEventsJsonSchema(): JsonObject {
  return z.toJSONSchema(EVENT_SCHEMA, { io: 'input' }) as JsonObject; // the JSON Schema type has undefined in it, its values do not
}
