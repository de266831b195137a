import { z } from 'zod';
import { DURATION_EXPECTED, toDurationMs } from '../kinds/duration.ts';
import { FORMATS } from '../kinds/formats.ts';
import { LINT_CODES, LINT_RULE_IDS, type LintCode } from '../model/diagnostic-codes.ts';
import { parseRateLimit, RATE_LIMIT_EXPECTED, RATE_LIMIT_PATTERN } from '../model/rate-limit.ts';
import { DEFAULT_VERSION_HEADER } from '../model/transport.ts';

/** What the `spec` of a `Stack` holds, with defaults filled in. */
export type StackSpec = z.infer<ReturnType<typeof toStackSpecSchema>>;

/** Schema of the `spec` of a `Stack`. Parsing fills in the defaults. */
export function toStackSpecSchema() {
  return z
    .strictObject({
      api: toApiSchema().prefault({}),
      guard: toGuardSchema().prefault({}),
      tokens: toTokensSchema().optional(),
      lint: toLintSchema().prefault({}),
    })
    .describe('Settings.');
}

function toApiSchema() {
  return z
    .strictObject({
      base_url: z
        .string()
        .refine(isBaseUrl, {
          error:
            'must be an http or https URL without user, query and fragment, or `embedded:` with an optional file path',
          params: { code: 'bad-value' },
        })
        .meta({ examples: ['https://api.example.net', 'embedded:'] })
        .optional()
        .describe('Where the service is, or `embedded:` for the bundled server inside of the process.'),
      version_header: z
        .string()
        .refine((name) => FORMATS['header-name'].check(name) === undefined, {
          error: `must be ${FORMATS['header-name'].expected}`,
          params: { code: 'bad-value' },
        })
        .default(DEFAULT_VERSION_HEADER)
        .describe('Name of the header that carries the version of the interface.'),
      page_size: z.int().min(1).max(100).default(100).describe('Resources asked for in one list request.'),
      concurrency: z.int().min(1).max(64).default(8).describe('Requests under way at once.'),
      rate_limit: toRateLimitSchema().optional(),
      timeouts: toTimeoutsSchema().prefault({}),
      ca_file: z
        .string()
        .min(1)
        .optional()
        .describe(
          'File with certificates of authorities to trust besides those of the platform, in PEM, relative to the folder of the manifest.',
        ),
    })
    .describe('How to talk to the service.');
}

function toRateLimitSchema() {
  return z
    .string()
    .refine((text) => text === 'none' || parseRateLimit(text) !== undefined, {
      error: `must be ${RATE_LIMIT_EXPECTED}, or \`none\``,
      params: { code: 'bad-value' },
    })
    .meta({ pattern: `${RATE_LIMIT_PATTERN}|^none$`, examples: ['120/60s', 'none'] })
    .describe(
      'Most requests in any window of that length, or `none`. Left out: 120/60s, and none for the embedded server.',
    );
}

function toTimeoutsSchema() {
  return z
    .strictObject({
      connect: toDurationSchema().default('10s').describe('Until there is a connection.'),
      headers: toDurationSchema().default('30s').describe('Until the head of the response is there.'),
      body: toDurationSchema().default('30s').describe('Between two parts of the body.'),
      request: toDurationSchema().default('2m').describe('A request as a whole; one that is sent again starts anew.'),
    })
    .describe('How long parts of a request may take.');
}

function toGuardSchema() {
  return z
    .strictObject({
      max_deletes: z.int().min(0).default(5).describe('Deletes of one kind that need no consent.'),
      max_delete_share: z
        .number()
        .min(0)
        .max(1)
        .default(0.3)
        .describe('Share of what is owned of a kind that may be deleted without consent, 0 to 1.'),
    })
    .describe('When deletes need consent: where there are more than max_deletes that are also over max_delete_share.');
}

function toTokensSchema() {
  return z
    .strictObject({
      default: toSinkSchema().optional().describe('For every credential that has none of its own.'),
      credentials: z.record(z.string(), toSinkSchema()).default({}).describe('By the name of the credential.'),
    })
    .describe('Where the tokens of new credentials go. Without it no credential can be created.');
}

function toLintSchema() {
  return z
    .strictObject({
      max_validity: toDurationSchema()
        .default('90d')
        .describe('How long an SSH user certificate may be valid before `certificate-too-long` speaks up.'),
      cel_variables: z
        .array(
          z
            .string()
            .regex(CEL_VARIABLE, {
              error: 'must be a dotted name, such as `conn.server_ip`, or all below one: `conn.tls.*`',
            })
            .describe('A variable, or with `.*` at its end all below it.'),
        )
        .default([])
        .describe('CEL variables that exist besides those that edgewise knows: `conn.server_ip`, `conn.tls.*`.'),
      ...toSeveritySchemas(),
    })
    .describe('How grave the findings of each lint rule are. `off`: not checked.');
}

/** A dotted name, perhaps with `.*` at its end. */
const CEL_VARIABLE = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\.\*)?$/;

function toSeveritySchemas() {
  const toSeverity = (id: LintCode) => z.enum(['off', 'warning', 'error']).optional().describe(LINT_CODES[id]);
  const schemas = LINT_RULE_IDS.map((id) => [id, toSeverity(id)] as const);
  return Object.fromEntries(schemas) as Record<LintCode, ReturnType<typeof toSeverity>>; // every id has its entry
}

function toSinkSchema() {
  return z.union([toDirectorySchema(), toCommandSchema()]);
}

function toDirectorySchema() {
  return z
    .strictObject({
      directory: z.string().min(1).describe('Folder that gets a file for each credential, readable by its owner only.'),
    })
    .describe('A folder with one file for each credential.');
}

function toCommandSchema() {
  const words = z.array(z.string()).min(1);
  return z
    .strictObject({
      command: words.describe(
        'Program and arguments, run without a shell, with the token on standard input. {name}, {address}, {id} and {stack} are filled in.',
      ),
      test: words
        .optional()
        .describe('A command that succeeds when tokens could be delivered now. Run before the first write.'),
      timeout: toDurationSchema().default('30s').describe('How long either may take.'),
    })
    .describe('A command that reads the token. Only apply runs it.');
}

function toDurationSchema() {
  return z.string().refine((text) => toDurationMs(text) !== undefined, {
    error: `must be ${DURATION_EXPECTED}`,
    params: { code: 'bad-value' },
  });
}

function isBaseUrl(text: string): boolean {
  if (text.startsWith('embedded:')) return true;
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return [url.username, url.password, url.search, url.hash].every((part) => part === '');
}
