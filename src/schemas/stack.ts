import { z } from 'zod';
import { DURATION_SYNTAX, parseDurationMs } from '../kinds/duration.ts';
import { FORMATS } from '../kinds/formats.ts';
import { MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { parseAddress } from '../model/address.ts';
import { isAllowedKeyVariable, STACK_KEY_VARIABLE_PATTERN } from '../model/api-key.ts';
import { LINT_CODES, LINT_RULE_IDS, type LintCode } from '../model/diagnostic.ts';
import { DEFAULT_VERSION_HEADER_NAME } from '../model/http.ts';
import { DEFAULT_GUARD, parseRateLimit, RATE_LIMIT_DESCRIPTION, RATE_LIMIT_PATTERN } from '../model/stack.ts';
import { COMMAND_LINES } from './findings.ts';
import { nameSharedSchema } from './text.ts';

function createSpecSchema() {
  return z
    .strictObject({
      api: createApiSchema().prefault({}),
      kinds: z
        .array(z.enum(MANIFEST_KINDS.map(({ name }) => name)))
        .min(1)
        .optional()
        .describe(
          'Kinds that the stack uses. Others are not read, and a manifest of another kind is an error. Default: every kind.',
        ),
      guard: createGuardSchema().prefault({}),
      tokens: createTokensSchema().optional(),
      lint: createLintSchema().prefault({}),
      owner_label: z
        .string()
        .min(1)
        .meta({ examples: ['team', 'example.net/owner'] })
        .optional()
        .describe('Label or annotation that names the owner of a resource. Plans show it beside the resource.'),
      handed_over: z
        .array(createHandedOverSchema())
        .optional()
        .describe(
          'Resources (`Kind/name`) that another stack takes over. This stack does not delete them, although no document describes them any more.',
        ),
      render: z
        .array(z.string().min(1))
        .min(1)
        .meta({ examples: [['kustomize', 'build', '.']] })
        .register(COMMAND_LINES, {})
        .optional()
        .describe(
          'Program and arguments that print the manifests of the stack. The program runs without a shell, in the folder of this file, and only with `--render`. Edgewise does not read the other files below the folder as manifests.',
        ),
      inputs: z
        .array(z.string().min(1))
        .optional()
        .describe(
          'Extra files that the manifests depend on, such as `../../base/**`. If one changes, the stack counts as changed. Git patterns, relative to the folder of this file.',
        ),
      policies: z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Files and folders with Policy documents, in addition to those among the manifests. Paths are relative to the folder of the manifest.',
        ),
    })
    .describe('Settings.');
}

function createHandedOverSchema() {
  const kinds = MANIFEST_KINDS.filter(({ role }) => role === 'owned').map(({ name }) => name);
  return z
    .string()
    .refine((text) => kinds.includes(parseAddress(text)?.kind ?? ''), {
      error: `must be Kind/name, where Kind is one of ${kinds.join(', ')}`,
      params: { code: 'bad-value' },
    })
    .meta({ pattern: `^(${kinds.join('|')})/.+$`, examples: kinds.map((kind) => `${kind}/shop`) });
}

function createApiSchema() {
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
        .describe('URL of the service, or `embedded:` for the bundled server inside the process.'),
      key_env: z
        .string()
        .refine(isAllowedKeyVariable, {
          error:
            'must be the name of a variable such as EDGEWISE_API_KEY_PROD: EDGEWISE_API_KEY_, then A to Z, 0 to 9 and _, but no _FILE at its end',
          params: { code: 'bad-value' },
        })
        .meta({ pattern: STACK_KEY_VARIABLE_PATTERN.source, examples: ['EDGEWISE_API_KEY_PROD'] })
        .optional()
        .describe(
          'Environment variable that holds the API key, for repositories with several accounts. Alternatively, the variable with this name plus `_FILE` holds the path of a file with the key. Default: EDGEWISE_API_KEY.',
        ),
      version_header: z
        .string()
        .refine((name) => FORMATS['header-name'].check(name) === undefined, {
          error: `must be ${FORMATS['header-name'].expected}`,
          params: { code: 'bad-value' },
        })
        .default(DEFAULT_VERSION_HEADER_NAME)
        .describe('Name of the header that carries the API version.'),
      page_size: z.int().min(1).max(100).default(100).describe('Resources per list request.'),
      concurrency: z.int().min(1).max(64).default(8).describe('Concurrent requests.'),
      rate_limit: createRateLimitSchema().optional(),
      timeouts: createTimeoutsSchema().prefault({}),
      ca_file: z
        .string()
        .min(1)
        .optional()
        .describe(
          'PEM file of certificate authorities to trust in addition to those of the platform. The path is relative to the folder of the manifest.',
        ),
    })
    .describe('The connection to the service.');
}

function createRateLimitSchema() {
  return z
    .string()
    .refine((text) => text === 'none' || parseRateLimit(text) !== undefined, {
      error: `must be ${RATE_LIMIT_DESCRIPTION}, or \`none\``,
      params: { code: 'bad-value' },
    })
    .meta({ pattern: `${RATE_LIMIT_PATTERN}|^none$`, examples: ['120/60s', 'none'] })
    .describe(
      'Maximum number of requests in a time window, such as `120/60s`, or `none`. Default: 120/60s; none for the embedded server.',
    );
}

function createTimeoutsSchema() {
  return z
    .strictObject({
      connect: createDurationSchema().default('10s').describe('Time to connect.'),
      headers: createDurationSchema().default('30s').describe('Time until the response begins.'),
      body: createDurationSchema().default('30s').describe('Time between two parts of the body.'),
      request: createDurationSchema()
        .default('2m')
        .describe(
          'Time until the whole response is there, with all retries. Waits for the rate limit and between retries do not count.',
        ),
      conflict: createDurationSchema()
        .default('1m')
        .describe(
          'How long a write that the service rejects with 409 is tried again, if it depends on a delete or an update of the same run. Services free a hostport, or stop counting a use, some seconds later.',
        ),
    })
    .describe('Timeouts.');
}

function createGuardSchema() {
  return z
    .strictObject({
      max_deletes: z
        .int()
        .min(0)
        .default(DEFAULT_GUARD.maxDeletes)
        .describe('Number of deletes of one kind that need no consent.'),
      max_delete_share: z
        .number()
        .min(0)
        .max(1)
        .default(DEFAULT_GUARD.maxDeleteShare)
        .describe('Share of the owned resources of a kind that may be deleted without consent, 0 to 1.'),
    })
    .describe(
      `Deletes of a kind need consent if their number is above max_deletes and their share of the kind's owned resources is above max_delete_share.`,
    );
}

function createTokensSchema() {
  return z
    .strictObject({
      default: SINK_SCHEMA.optional().describe('Token sink for every credential that `credentials` does not name.'),
      credentials: z
        .record(z.string(), SINK_SCHEMA)
        .default({})
        .describe('Token sinks for single credentials, by name.'),
    })
    .describe('Where the tokens of new credentials are delivered. Without a token sink, no credential can be created.');
}

function createLintSchema() {
  return z
    .strictObject({
      max_validity: createDurationSchema()
        .default('90d')
        .describe('How long an SSH user certificate may be valid without a `certificate-too-long` finding.'),
      cel_variables: z
        .array(
          z
            .string()
            .regex(CEL_VARIABLE, {
              error: 'must be a dotted name, such as `conn.server_ip` or, for all names below one, `conn.tls.*`',
            })
            .describe('A variable; with `.*` at its end, all variables below it.'),
        )
        .default([])
        .describe('Further CEL variables of your service, such as `conn.server_ip` or `conn.tls.*`.'),
      ...createSeveritySchemas(),
    })
    .describe('Settings of the lint rules, such as the severity of each. `off`: not checked.');
}

/** Matches a dotted name, optionally with `.*` at its end. */
const CEL_VARIABLE = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\.\*)?$/;

function createSeveritySchemas() {
  const toSeverity = (id: LintCode) => SEVERITY_SCHEMA.optional().describe(LINT_CODES[id]);
  const schemas = LINT_RULE_IDS.map((id) => [id, toSeverity(id)] as const);
  return Object.fromEntries(schemas) as Record<LintCode, ReturnType<typeof toSeverity>>; // there is an entry for each id
}

function createDirectorySchema() {
  return z
    .strictObject({
      directory: z
        .string()
        .min(1)
        .describe(
          'Folder for one file per credential. Only the user who runs apply can read the files. {stack} is filled in.',
        ),
    })
    .describe('A folder with one file per credential.');
}

function createCommandSchema() {
  const words = z.array(z.string()).min(1);
  return z
    .strictObject({
      command: words
        .describe(
          'Program and arguments, run without a shell, with the token on standard input. {name}, {address}, {id} and {stack} are filled in.',
        )
        .register(COMMAND_LINES, {}),
      test: words
        .register(COMMAND_LINES, {})
        .optional()
        .describe('Command that succeeds if tokens can be delivered. Runs before the first write.'),
      timeout: createDurationSchema().default('30s').describe('Timeout of each command.'),
    })
    .describe('A command that reads the token from standard input. Only apply runs it.');
}

function createDurationSchema() {
  return z.string().refine((text) => parseDurationMs(text) !== undefined, {
    error: `must be ${DURATION_SYNTAX}`,
    params: { code: 'bad-value' },
  });
}

function isBaseUrl(text: string): boolean {
  if (text.startsWith('embedded:')) return true;
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

const SEVERITY_SCHEMA = nameSharedSchema('Severity', z.enum(['off', 'warning', 'error']));

const SINK_SCHEMA = nameSharedSchema('TokenSink', z.union([createDirectorySchema(), createCommandSchema()]));

/** Schema of the `spec` of a `Stack` and of a `Defaults`. Parsing fills in the defaults. */
export const STACK_SPEC_SCHEMA = createSpecSchema();

/** The `spec` of a `Stack` or a `Defaults`, with defaults filled in. */
export type StackSpec = z.infer<typeof STACK_SPEC_SCHEMA>;

/** Like `STACK_SPEC_SCHEMA`, for documents, in which `spec` may be absent. */
export const NULLISH_STACK_SPEC_SCHEMA = nameSharedSchema(
  'Settings',
  STACK_SPEC_SCHEMA.nullish().describe('Settings.'),
);
