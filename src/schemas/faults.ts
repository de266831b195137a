import { z } from 'zod';
import type { JsonObject } from '../model/json.ts';

/** A number, or from one to another: `3`, `3-5`; open at its end with `3-`. */
const RANGE = /^(\d{1,9})(?:-(\d{0,9}))?$/;

/** The limits of a range, both included. Throws nothing: what is no range is the range of nothing. */
export function parseRange(range: number | string): { readonly from: number; readonly to: number } {
  if (typeof range === 'number') return { from: range, to: range };
  const [, from = '1', to = from] = RANGE.exec(range) ?? [undefined, '1', '0'];
  return { from: Number(from), to: to === '' ? Number.POSITIVE_INFINITY : Number(to) };
}

function isForward(range: number | string): boolean {
  const { from, to } = parseRange(range);
  return from <= to;
}

const CALLS = z
  .union([
    z.int().min(1),
    z
      .string()
      .regex(RANGE, { error: 'must be a number, `3-5` for some after another, or `3-` for all from one on' })
      .refine(isForward, { error: 'ends before it begins' }),
  ])
  .describe('One call, or some: `2`, `"3-5"`, `"4-"`.');

/** What every rule has. */
const CHOICE = {
  on: z
    .string()
    .regex(/^(\*|(\*|GET|POST|PUT|PATCH|DELETE) (\*|\/\S*))$/, {
      error: 'must be a method and a path, such as `POST /credentials`, `GET *` or `PATCH /edges/tcp/{id}`, or `*`',
    })
    .describe(
      'Which requests: a method and a path. `*` is any method, or any text in a path; `{id}` is one part of a path. `*` alone is every request. The query counts only when there is a `?`.',
    )
    .meta({ examples: ['*', 'GET *', 'POST /credentials', 'PATCH /edges/tcp/{id}'] }),
  nth: z
    .union([CALLS, z.array(CALLS).min(1), z.literal('every')])
    .optional()
    .describe('Which of those requests, counted from 1: `2`, `"3-5"`, `[1, "4-"]`, `every`. Left out: every one.'),
  rate: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('How likely each of those requests is to meet it, 0 to 1. The seed of the document decides which.'),
  times: z.int().min(1).optional().describe('How often at most. Left out: as often as it comes up.'),
};

const WHEN = z
  .enum(['before', 'after'])
  .optional()
  .describe('Whether it comes before the request has an effect, or after. Left out: before.');

/** A rule of one fault. */
function rule<Name extends string, Shape extends z.core.$ZodLooseShape>(fault: Name, about: string, shape: Shape) {
  return z.strictObject({ ...CHOICE, fault: z.literal(fault), ...shape }).describe(about);
}

const RULE = z
  .discriminatedUnion('fault', [
    rule('latency', 'The answer comes late. Of all rules, this one goes together with another.', {
      ms: z
        .union([
          z.int().min(0),
          z
            .string()
            .regex(/^\d{1,7}-\d{1,7}$/, { error: 'must be milliseconds, or a range of them such as `20-200`' })
            .refine(isForward, { error: 'ends before it begins' }),
        ])
        .describe('Milliseconds, or a range of them: `"20-200"`.'),
    }),
    rule('throttle', 'Answers 429.', {
      retry_after: z
        .int()
        .min(0)
        .optional()
        .describe('Seconds in `Retry-After`. Left out: the answer has no such header.'),
    }),
    rule('status', 'Answers with a failure of the service.', {
      code: z
        .union([z.literal(500), z.literal(502), z.literal(503), z.literal(504)])
        .optional()
        .describe('Left out: 500.'),
      when: WHEN,
    }),
    rule('reset', 'The connection is reset.', { when: WHEN }),
    rule('cut', 'The answer breaks off in the middle of its body. The request took effect.', {}),
    rule('hang', 'No answer comes, and in the end the connection is closed.', {
      ms: z
        .int()
        .min(0)
        .optional()
        .describe('Milliseconds until the connection is closed. Left out: 120000, which is longer than clients wait.'),
      when: WHEN,
    }),
    rule('broken_json', 'The answer is complete, but only half of its JSON. The request took effect.', {}),
    rule('content_type', 'Answers 200 with an HTML page, as a proxy does.', { when: WHEN }),
    rule('missing', 'A page of a list lacks resources, and nothing says so. Other requests are not affected.', {
      resources: z.int().min(1).optional().describe('How many, chosen by the seed. Left out: 1.'),
    }),
    rule('no_next', 'A page of a list says that it is the last one. Other requests are not affected.', {}),
    rule('stale', 'A list is as it was before. Other requests are not affected.', {
      changes: z.int().min(1).optional().describe('So many successful writes ago. Left out, with `requests`: 1.'),
      requests: z.int().min(1).optional().describe('So many requests ago, instead.'),
    }),
  ])
  .superRefine((value, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (value.nth !== undefined && value.rate !== undefined)
      refuse('rate', 'and `nth` exclude each other: a rule has one of them, or neither');
    if (value.fault === 'stale' && value.changes !== undefined && value.requests !== undefined)
      refuse('requests', 'and `changes` exclude each other: a rule has one of them, or neither');
  });

/** Schema of what goes wrong on the bundled server. */
export const FAULTS_SCHEMA = z
  .strictObject({
    seed: z
      .int()
      .min(0)
      .optional()
      .describe('Decides what is left to chance. The same seed, the same faults. Left out: 0.'),
    rules: z
      .array(RULE)
      .describe('Of the rules that a request meets, the first one holds, and with it the first one of latency.'),
  })
  .meta({
    title: 'Edgewise faults',
    description: 'What goes wrong on the bundled server: `edgewise serve --faults FILE`.',
  });

/** What goes wrong on the bundled server. */
export type ServerFaults = Readonly<z.infer<typeof FAULTS_SCHEMA>>;

/** One thing that goes wrong, and when. */
export type FaultRule = Readonly<z.infer<typeof RULE>>;

/** The published JSON Schema of faults files, draft 2020-12. */
export function toFaultsJsonSchema(): JsonObject {
  return z.toJSONSchema(FAULTS_SCHEMA, { io: 'input' }) as JsonObject; // the JSON Schema type has undefined in it, its values do not
}
