import { z } from 'zod';
import type { JsonObject } from '../model/json.ts';
import { findFirstIssue } from './check-in-parts.ts';
import { DIAGNOSTIC_SCHEMA } from './plan.ts';

/** What is read of the JSON results that edgewise writes: enough to show them again. Fields may be added to them. */

const text = z.string();
const optional = z.exactOptional;
const count = z.int();
const diagnostics = z.array(DIAGNOSTIC_SCHEMA);
const address = text.regex(/^[A-Za-z]+\/[^/\s]+$/);

/** A run over many stacks. */
export const RUN_RESULT_SCHEMA = z.looseObject({
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
});

/** A command that came to no result. */
export const FAILURE_RESULT_SCHEMA = z.looseObject({
  command: z.nullable(text),
  ok: z.literal(false),
  stack: optional(text),
  diagnostics,
  error: optional(z.looseObject({ message: text, remedy: optional(text) })),
});

/** A check of manifests. */
export const VALIDATION_RESULT_SCHEMA = z.looseObject({
  command: z.literal('validate'),
  stack: optional(text),
  files: count,
  resources: count,
  diagnostics,
});

/** A comparison. */
export const DRIFT_RESULT_SCHEMA = z.looseObject({
  command: z.literal('drift'),
  stack: text,
  baseUrl: text,
  at: z.iso.datetime(),
  against: optional(text),
  targets: z.array(text),
  kinds: z.array(text),
  requests: count,
  externals: z.record(text, text),
  diagnostics,
  resources: z.array(
    z.looseObject({
      address,
      duplicateOf: optional(text),
      kind: text,
      state: text,
      id: optional(text),
      differences: z.array(
        z.looseObject({
          path: text,
          origin: z.enum(['manifest', 'drift', 'both', 'unknown']),
          forcesReplace: z.boolean(),
        }),
      ),
      moved: optional(z.array(text)),
      reason: optional(text),
      validUntil: optional(text),
    }),
  ),
  strangers: z.array(z.looseObject({ kind: text, id: text, description: text, stack: optional(text) })),
});

/** An apply: its outcomes name writes of its plan. */
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
  tokens: z.array(z.looseObject({ address: text, place: text, rescued: z.boolean() })),
  files: z.array(
    z.looseObject({
      address: text,
      path: text,
      outcome: z.enum(['applied', 'failed', 'skipped']),
      message: optional(text),
    }),
  ),
  lookUps: count,
  diagnostics,
  plan: z.record(text, z.json()),
});

/** The document in the shape of a schema. Throws what `refuse` makes of the first thing that is wrong with it. */
export function checkResult<T>(schema: z.ZodType<T>, document: JsonObject, refuse: (why: string) => Error): T {
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  const issue = findFirstIssue(schema, document);
  throw refuse(issue === undefined ? 'it has another form' : `${issue.path.join('.')}: ${issue.message}`);
}
