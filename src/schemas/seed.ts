import { z } from 'zod';
import { isIdOf } from '../kinds/paths.ts';
import { listAllIdPrefixes } from '../kinds/references.ts';
import { HOSTNAME_STATUSES } from '../kinds/tables/abuse-report.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { isHost } from '../model/http.ts';
import type { JsonObject } from '../model/json.ts';
import { type FaultRule, type NumberOrRange, type ServerFaults, STORED_FORMS } from '../model/server-faults.ts';
import { ANY_JSON_SCHEMA } from './text.ts';

/** Extra members of a resource in a seed. The fields of its kind are checked like the body of a request. */
const SEED_RESOURCE = z
  .looseObject({
    created_at: z.iso.datetime({ offset: true }).optional().describe('When the resource was created. Default: now.'),
    deletable: z.boolean().optional().describe('False: the server rejects a request to delete the resource.'),
    state: z
      .record(z.string(), ANY_JSON_SCHEMA)
      .optional()
      .describe('Only in snapshots: data that the server keeps in addition to the fields.'),
  })
  .describe('An existing resource: the fields of a create request, `id`, and these.');

const ABUSE_REPORT_RULE = z
  .strictObject({
    hostname: z
      .string()
      .refine((text) => text === '*' || isHost(text), {
        error: 'must be a host name such as `example.com`, without scheme, port, path and pattern, or `*`',
      })
      .describe(
        'The host name that the rule applies to, with all names below it: `example.com` matches `a.example.com` too. `*` matches all.',
      )
      .meta({ examples: ['phishing.example.com', '*'] }),
    status: z.enum(HOSTNAME_STATUSES).describe('The decision. `PENDING`: never decided.'),
    after_seconds: z
      .int()
      .min(1)
      .max(31_536_000)
      .optional()
      .describe("Seconds from the submission to the decision, on the server's clock. Default: 30."),
  })
  .describe('The decision about some host names.');

const ID_PREFIXES = listAllIdPrefixes();
const PREFIXES = `the prefixes are ${ID_PREFIXES.map((prefix) => `${prefix}_`).join(', ')}`;

function isKnownId(text: string): boolean {
  return isIdOf({ prefixes: ID_PREFIXES }, text);
}

/** Whether an id, or all ids of a prefix (`bkdhr_*`), can be those of a resource. */
function isExternal(text: string): boolean {
  return isKnownId(text) || ID_PREFIXES.some((prefix) => text === `${prefix}_*`);
}

/** Schema of a seed or a snapshot of the bundled server. */
export const SEED_SCHEMA = z
  .strictObject({
    externals: z
      .array(
        z.string().refine(isExternal, { error: `must be an id or all of a prefix, such as \`bkdhr_*\`; ${PREFIXES}` }),
      )
      .optional()
      .describe(
        'Existing ids in addition to those of the resources; `bkdhr_*` is every well-formed id with that prefix. Default: every well-formed id of kinds that the API cannot create.',
      ),
    resources: z
      .partialRecord(z.enum(KINDS.map(({ name }) => name)), z.array(SEED_RESOURCE))
      .optional()
      .describe('Existing resources by kind, in any order.'),
    abuse_report_rules: z
      .array(ABUSE_REPORT_RULE)
      .optional()
      .describe(
        'Decisions about the host names in new abuse reports. The first matching rule applies; a host name without a rule stays PENDING. A report is PROCESSED when all its host names are decided, PARTIALLY_PROCESSED when some are. Default: host names below `invalid` are ignored after 10 seconds, all others are banned after 30.',
      ),
    certificate_authorities: z
      .record(z.string().refine(isKnownId, { error: `must be an id; ${PREFIXES}` }), z.string())
      .optional()
      .describe('The secrets of SSH certificate authorities, by id: 32 bytes in base64url.'),
    sequence: z.int().min(0).optional().describe('Number of ids that the server has assigned.'),
    digest: z.string().optional().describe('Only in snapshots: tells whether the file was edited. May be left out.'),
  })
  .meta({
    title: 'Edgewise seed',
    description: 'The initial data of the bundled server. A snapshot has the same form. Every part is optional.',
  });

/** Schema of a request that moves the clock of a server. */
export const CLOCK_SCHEMA = z.union([
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
  z.strictObject({ advance_seconds: z.number().min(-1e12).max(1e12) }),
]);

/** Schema of a change of an account: a line of a snapshot file, after the first. */
export const CHANGE_SCHEMA = SEED_SCHEMA.pick({
  resources: true,
  certificate_authorities: true,
  sequence: true,
  digest: true,
}).extend({
  removed: z.partialRecord(z.enum(KINDS.map(({ name }) => name)), z.array(z.record(z.string(), z.string()))).optional(),
});

/** For a key that may be absent, but not undefined. */
const optional = z.exactOptional;

/** Matches a number (`3`), a range (`3-5`), or a range without an end (`3-`). */
const RANGE = /^(\d{1,9})(?:-(\d{0,9}))?$/;

/** Returns the limits of a range, both inclusive. Never throws: for invalid text, it returns an empty range. */
export function parseNumberRangeOrEmpty(range: NumberOrRange): { readonly from: number; readonly to: number } {
  if (typeof range === 'number') return { from: range, to: range };
  const [, from = '1', to = from] = RANGE.exec(range) ?? [undefined, '1', '0'];
  return { from: Number(from), to: to === '' ? Number.POSITIVE_INFINITY : Number(to) };
}

function isForward(range: NumberOrRange): boolean {
  const { from, to } = parseNumberRangeOrEmpty(range);
  return from <= to;
}

const CALLS = z
  .union([
    z.int().min(1),
    z
      .string()
      .regex(RANGE, { error: 'must be a number, a range such as `3-5`, or `3-` for all from there' })
      .refine(isForward, { error: 'ends before it starts' }),
  ])
  .describe('One request or several: `2`, `"3-5"`, `"4-"`.');

/** The keys that every rule has. They select the requests that get the fault. */
const CHOICE = {
  on: z
    .string()
    .regex(/^(\*|(\*|GET|POST|PUT|PATCH|DELETE) (\*|\/\S*))$/, {
      error: 'must be `*`, or a method and a path such as `POST /credentials`, `GET *` or `PATCH /edges/tcp/{id}`',
    })
    .describe(
      'Which requests: a method and a path. `*` is any method, or any text in a path; `{id}` is one path segment. `*` alone is every request. The query is compared only if there is a `?`.',
    )
    .meta({ examples: ['*', 'GET *', 'POST /credentials', 'PATCH /edges/tcp/{id}'] }),
  nth: optional(z.union([CALLS, z.array(CALLS).min(1), z.literal('every')])).describe(
    'Which of the requests that `on` matches, counted from 1: `2`, `"3-5"`, `[1, "4-"]`, `every`. Default: every.',
  ),
  rate: optional(z.number().min(0).max(1)).describe(
    'Probability of the fault for each request that `on` matches, 0 to 1. The seed decides which requests are affected.',
  ),
  times: optional(z.int().min(1)).describe('Maximum number of requests that get the fault. Default: no limit.'),
};

const WHEN = optional(z.enum(['before', 'after'])).describe(
  'Whether the fault comes before or after the request takes effect. Default: before.',
);

/** Creates the schema of a rule for one type of fault. `about`: the description of the fault. */
function rule<Name extends string, Shape extends z.core.$ZodLooseShape>(fault: Name, about: string, shape: Shape) {
  return z.strictObject({ ...CHOICE, fault: z.literal(fault), ...shape }).describe(about);
}

const MILLISECONDS = z
  .union([
    z.int().min(0),
    z
      .string()
      .regex(/^\d{1,7}-\d{1,7}$/, { error: 'must be milliseconds, or a range of them such as `20-200`' })
      .refine(isForward, { error: 'ends before it starts' }),
  ])
  .describe('Milliseconds, or a range of them: `"20-200"`.');

const RULE: z.ZodType<FaultRule> = z
  .discriminatedUnion('fault', [
    rule('latency', 'The response is delayed. Unlike other faults, this one combines with another.', {
      ms: MILLISECONDS,
    }),
    rule('throttle', 'Responds with 429.', {
      retry_after: optional(z.int().min(0)).describe(
        'Seconds in `Retry-After`. If absent, the response has no such header.',
      ),
    }),
    rule('status', 'Responds with a server error.', {
      code: optional(z.union([z.literal(500), z.literal(502), z.literal(503), z.literal(504)])).describe(
        'Default: 500.',
      ),
      when: WHEN,
    }),
    rule('reset', 'The connection is reset.', { when: WHEN }),
    rule('cut', 'The response is truncated in the middle of its body. The request takes effect.', {}),
    rule('hang', 'No response comes, and the connection is closed later.', {
      ms: optional(z.int().min(0)).describe(
        'Milliseconds until the connection is closed. Default: 120000, which is longer than clients wait.',
      ),
      when: WHEN,
    }),
    rule('broken_json', 'The response is complete, but contains only half of its JSON. The request takes effect.', {}),
    rule('content_type', 'Responds with 200 and an HTML page, as a proxy does.', { when: WHEN }),
    rule('missing', 'A page of a list silently lacks resources. Other requests are not affected.', {
      resources: optional(z.int().min(1)).describe('Number of missing resources. The seed chooses them. Default: 1.'),
    }),
    rule('no_next', 'A page of a list claims to be the last one. Other requests are not affected.', {}),
    rule('wrong_date', 'The `Date` of the response is wrong, as from a proxy whose clock is. Nothing else changes.', {
      seconds: z.int().min(-1e11).max(1e11).describe('Seconds that `Date` is ahead. Negative: it is behind.'),
    }),
    rule(
      'late_release',
      'The write takes effect, but for a while the server still counts what it removed: a write that claims a hostport of a deleted edge, or deletes a backend that was in use, is rejected with 409.',
      { ms: MILLISECONDS },
    ),
    rule('other_values', 'The server stores other values than the request has, and shows them in its response.', {
      values: z
        .record(z.string(), ANY_JSON_SCHEMA)
        .describe('The values, by field. `{"acl": []}` drops the ACL of a new credential.'),
    }),
    rule(
      'cut_metadata',
      'The server stores only the beginning of the metadata in a request that creates or changes a resource.',
      { bytes: optional(z.int().min(0)).describe('How much of it is stored. Default: 0, nothing.') },
    ),
    rule(
      'cached',
      'A request that creates a resource is answered with another resource of its kind, as by a cache. The seed chooses it. Without one, the answer is in order. Other requests are not affected.',
      { when: WHEN },
    ),
    rule(
      'no_effect',
      'A request that changes or deletes is answered with success, and has no effect. Other requests are not affected.',
      {},
    ),
    rule(
      'gone_cursor',
      'The next page of a list is rejected if the resource in its `before_id` was deleted. Other requests are not affected.',
      { code: optional(z.union([z.literal(400), z.literal(404)])).describe('Default: 404.') },
    ),
    rule(
      'left_out',
      'Resources and modules in the response lack fields that are empty, null or false, as on many services.',
      {
        fields: optional(z.array(z.string()).min(1)).describe(
          'Names of the response fields to leave out, whatever their values, instead of those that are empty, null or false.',
        ),
        share: optional(z.number().min(0).max(1)).describe(
          'Probability that each of the fields concerned is left out, from 0 to 1. The seed decides which ones. Default: 1.',
        ),
      },
    ),
    rule(
      'normalise',
      'Resources and modules in the response have values in the forms in which many services store them. Use it for every request.',
      {
        forms: optional(z.array(z.enum(STORED_FORMS)).min(1)).describe(
          'Which forms. `trimmed`: descriptions and texts in metadata without white space at both ends; `collapsed`: one space for all white space; `nfc`: texts in this form of Unicode; `lower_case`: descriptions; `cut`: descriptions of at most 32 bytes; `escaped`: entities of HTML in texts; `nulls_dropped`, `numbers_as_text`: in metadata; `sorted`: sets and metadata in another order; `a_labels`, `unicode`: host names, in lower case; `cidr`: blocks without host bits; `float32`: numbers as 32-bit floats; `times`: with milliseconds and an offset; `defaults`: numbers that a module leaves to the service; `backdated`: a validity that begins and ends half a minute earlier; `left_out`: like the fault `left_out`. Default: all.',
        ),
      },
    ),
    rule('stale', 'A list is outdated. Other requests are not affected.', {
      changes: optional(z.int().min(1)).describe(
        'Number of successful writes, the most recent ones, whose effect the list lacks. Default: 1, unless `requests` is set.',
      ),
      requests: optional(z.int().min(1)).describe(
        'Like `changes`, but counts all requests. Cannot be used with `changes`.',
      ),
    }),
  ])
  .superRefine((value, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (value.nth !== undefined && value.rate !== undefined)
      refuse('rate', 'and `nth` are mutually exclusive: a rule has one of them, or neither');
    if (value.fault === 'stale' && value.changes !== undefined && value.requests !== undefined)
      refuse('requests', 'and `changes` are mutually exclusive: a rule has one of them, or neither');
  });

export const FAULTS_SCHEMA: z.ZodType<ServerFaults> = z
  .strictObject({
    seed: optional(z.int().min(0)).describe(
      'Seed of all random choices: the same seed gives the same faults. Default: 0.',
    ),
    rules: z
      .array(RULE)
      .describe('Of the rules that match a request, the first one applies, and in addition the first `latency` rule.'),
  })
  .meta({
    title: 'Edgewise faults',
    description: 'Faults of the bundled server: `edgewise serve --faults FILE`.',
  });

/** The published JSON Schema of faults files, draft 2020-12. */
export function createFaultsJsonSchema(): JsonObject {
  return z.toJSONSchema(FAULTS_SCHEMA, { io: 'input' }) as JsonObject; // the type allows undefined, but the values never contain it
}
