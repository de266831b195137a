import { z } from 'zod';
import type { JsonObject } from '../model/json.ts';

const optional = z.exactOptional;

const JOURNAL_LINE_SCHEMA = z
  .looseObject({
    format: z.literal(1),
    time: z.iso.datetime().describe('When the line was written.'),
    run: z.string().describe('Id of the apply, the same on all its lines.'),
    version: z.string().describe('Version of edgewise.'),
    stack: z.string(),
    baseUrl: z.string(),
    event: z.enum(['before', 'after']).describe('Before the request is sent, or when it is over.'),
    request: z
      .enum(['write', 'look-up', 'undo'])
      .describe(
        'A write of the plan; a list that finds out what became of a creation or who else created the same; or a delete of its own creation when a concurrent apply was first.',
      ),
    write: optional(z.string()).describe(
      'The write of the plan that it serves, such as `create Kind/name`. Absent for a look-up.',
    ),
    method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
    path: z.string(),
    address: optional(z.string()),
    body: optional(z.string()).describe('Digest of the body as it is sent.'),
    outcome: optional(z.enum(['done', 'failed', 'not-sent'])).describe(
      'How it ended. `not-sent`: the run was interrupted first.',
    ),
    id: optional(z.string()).describe('Id of the resource, when it is known.'),
    status: optional(z.int()).describe('HTTP status of a refusal.'),
    message: optional(z.string()).describe('Why it failed.'),
  })
  .meta({
    title: 'Edgewise journal line',
    description:
      'One line of the file of --journal. A line that a crash left incomplete is not JSON: skip it. Fields may be added.',
  });

/** The published JSON Schema of a line, draft 2020-12. */
export function toJournalJsonSchema(): JsonObject {
  return z.toJSONSchema(JOURNAL_LINE_SCHEMA, { io: 'input' }) as JsonObject; // the JSON Schema type has undefined in it, its values do not
}
