import { z } from 'zod';
import { DURATION_EXPECTED, toDurationMs } from '../kinds/duration.ts';
import { FORMATS } from '../kinds/formats.ts';
import { MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { parseAddress } from '../model/address.ts';
import { isNamedKeyVariable, NAMED_KEY_VARIABLE } from '../model/api-key.ts';
import { LINT_CODES, LINT_RULE_IDS, type LintCode } from '../model/diagnostic-codes.ts';
import type { JsonObject } from '../model/json.ts';
import { once } from '../model/once.ts';
import { parseRateLimit, RATE_LIMIT_EXPECTED, RATE_LIMIT_PATTERN } from '../model/rate-limit.ts';
import { DEFAULT_GUARD } from '../model/stack.ts';
import { DEFAULT_VERSION_HEADER } from '../model/transport.ts';
import { toPart } from './parts.ts';

/** What the `spec` of a `Stack` holds, with defaults filled in. */
export type StackSpec = z.infer<ReturnType<typeof toStackSpecSchema>>;

/** Schema of the `spec` of a `Stack`. Parsing fills in the defaults. */
export function toStackSpecSchema() {
  return z
    .strictObject({
      api: PARTS.api().prefault({}),
      kinds: PARTS.kinds()
        .optional()
        .describe(
          'Kinds that the stack uses. Others are not read, and a manifest of another kind is an error. Left out: every kind.',
        ),
      guard: PARTS.guard().prefault({}),
      tokens: PARTS.tokens().optional(),
      lint: PARTS.lint().prefault({}),
      owner_label: PARTS.owner_label()
        .optional()
        .describe('Label or annotation that says whose a resource is. Plans show it beside the resource.'),
      released: PARTS.released()
        .optional()
        .describe(
          'Addresses (`Kind/name`) that another stack takes over: never deleted, although no document describes them any more.',
        ),
      render: PARTS.render()
        .optional()
        .describe(
          'Program and arguments that print the manifests of the stack, run without a shell in the folder of this file, and only with `--render`. Other files below the folder are then no manifests.',
        ),
      inputs: PARTS.inputs()
        .optional()
        .describe(
          'Files that the manifests are made of besides, such as `../../base/**`: when one changes, the stack counts as changed. Patterns of git, relative to the folder of this file.',
        ),
      policies: PARTS.policies()
        .default(DEFAULTS.policies)
        .describe(
          'Files and folders with Policy documents, besides those among the manifests. Paths are relative to the folder of the manifest.',
        ),
    })
    .describe('Settings.');
}

/** The schemas of what stands in a `Stack`, each built when one states it: most state little. */
const PARTS = {
  api: once(toApiSchema),
  kinds: once(() => z.array(z.enum(MANIFEST_KINDS.map(({ name }) => name))).min(1)),
  guard: once(toGuardSchema),
  tokens: once(toTokensSchema),
  lint: once(toLintSchema),
  owner_label: once(() =>
    z
      .string()
      .min(1)
      .meta({ examples: ['team', 'example.net/owner'] }),
  ),
  released: once(() => z.array(toReleasedSchema())),
  render: once(() =>
    z
      .array(z.string().min(1))
      .min(1)
      .meta({ examples: [['kustomize', 'build', '.']] }),
  ),
  inputs: once(() => z.array(z.string().min(1))),
  policies: once(() => z.array(z.string().min(1))),
} as const;

const NONE: string[] = [];

/** What holds where a `Stack` says nothing. */
const DEFAULTS = {
  api: {
    version_header: DEFAULT_VERSION_HEADER,
    page_size: 100,
    concurrency: 8,
    timeouts: { connect: '10s', headers: '30s', body: '30s', request: '2m' },
  },
  guard: { max_deletes: DEFAULT_GUARD.maxDeletes, max_delete_share: DEFAULT_GUARD.maxDeleteShare },
  lint: { max_validity: '90d', cel_variables: NONE },
  policies: NONE,
};

/** Whether a value is a valid `spec` of a `Stack`: as its schema says, of which only what the value states is built. */
export function isStackSpec(spec: JsonObject): boolean {
  return Object.entries(spec).every(([name, value]) => isPart(name) && PARTS[name]().safeParse(value).success);
}

/** The valid `spec` of a `Stack`, its defaults filled in. */
export function parseStackSpec(spec: JsonObject): StackSpec {
  const stated = Object.entries(spec).map(
    ([name, value]) => [name, isPart(name) ? PARTS[name]().parse(value) : value] as const,
  );
  return { ...DEFAULTS, ...Object.fromEntries(stated) };
}

function isPart(name: string): name is keyof typeof PARTS {
  return Object.hasOwn(PARTS, name);
}

function toReleasedSchema() {
  const kinds = MANIFEST_KINDS.filter(({ role }) => role === 'owned').map(({ name }) => name);
  return z
    .string()
    .refine((text) => kinds.includes(parseAddress(text)?.kind ?? ''), {
      error: `must be Kind/name, where Kind is one of ${kinds.join(', ')}`,
      params: { code: 'bad-value' },
    })
    .meta({ pattern: `^(${kinds.join('|')})/.+$`, examples: kinds.map((kind) => `${kind}/shop`) });
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
        .describe('URL of the service, or `embedded:` for the bundled server inside the process.'),
      key_env: z
        .string()
        .refine(isNamedKeyVariable, {
          error:
            'must be the name of a variable such as EDGEWISE_API_KEY_PROD: EDGEWISE_API_KEY_, then A to Z, 0 to 9 and _, but no _FILE at its end',
          params: { code: 'bad-value' },
        })
        .meta({ pattern: NAMED_KEY_VARIABLE.source, examples: ['EDGEWISE_API_KEY_PROD'] })
        .optional()
        .describe(
          'Environment variable that holds the API key, for repositories with several accounts. With `_FILE` behind its name: the path of a file that holds the key. Default: EDGEWISE_API_KEY.',
        ),
      version_header: z
        .string()
        .refine((name) => FORMATS['header-name'].check(name) === undefined, {
          error: `must be ${FORMATS['header-name'].expected}`,
          params: { code: 'bad-value' },
        })
        .default(DEFAULTS.api.version_header)
        .describe('Name of the header that carries the interface version.'),
      page_size: z.int().min(1).max(100).default(DEFAULTS.api.page_size).describe('Resources per list request.'),
      concurrency: z.int().min(1).max(64).default(DEFAULTS.api.concurrency).describe('Concurrent requests.'),
      rate_limit: toRateLimitSchema().optional(),
      timeouts: toTimeoutsSchema().prefault({}),
      ca_file: z
        .string()
        .min(1)
        .optional()
        .describe(
          'PEM file of certificate authorities to trust in addition to those of the platform. The path is relative to the folder of the manifest.',
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
    .describe('Most requests in any window of this length, or `none`. Default: 120/60s; none for the embedded server.');
}

function toTimeoutsSchema() {
  const { timeouts } = DEFAULTS.api;
  return z
    .strictObject({
      connect: toDurationSchema().default(timeouts.connect).describe('Time to connect.'),
      headers: toDurationSchema().default(timeouts.headers).describe('Time until the response begins.'),
      body: toDurationSchema().default(timeouts.body).describe('Time between two parts of the body.'),
      request: toDurationSchema()
        .default(timeouts.request)
        .describe('Time for a whole request. A retry gets the full time again.'),
    })
    .describe('Timeouts.');
}

function toGuardSchema() {
  return z
    .strictObject({
      max_deletes: z
        .int()
        .min(0)
        .default(DEFAULTS.guard.max_deletes)
        .describe('Number of deletes of one kind that need no consent.'),
      max_delete_share: z
        .number()
        .min(0)
        .max(1)
        .default(DEFAULTS.guard.max_delete_share)
        .describe('Share of the owned resources of a kind that may be deleted without consent, 0 to 1.'),
    })
    .describe(
      'When deletes need consent: more than max_deletes of a kind, if they are also more than max_delete_share of it.',
    );
}

function toTokensSchema() {
  return z
    .strictObject({
      default: toSinkSchema().optional().describe('For every credential that `credentials` does not name.'),
      credentials: z.record(z.string(), toSinkSchema()).default({}).describe('Places for single credentials, by name.'),
    })
    .describe('Where the tokens of new credentials go. Without a place, no credential can be created.');
}

function toLintSchema() {
  return z
    .strictObject({
      max_validity: toDurationSchema()
        .default(DEFAULTS.lint.max_validity)
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
        .default(DEFAULTS.lint.cel_variables)
        .describe('Further CEL variables of your service, such as `conn.server_ip` or `conn.tls.*`.'),
      ...toSeveritySchemas(),
    })
    .describe('Severity of each lint rule. `off`: not checked.');
}

/** A dotted name, perhaps with `.*` at its end. */
const CEL_VARIABLE = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\.\*)?$/;

function toSeveritySchemas() {
  const toSeverity = (id: LintCode) => toSeveritySchema().optional().describe(LINT_CODES[id]);
  const schemas = LINT_RULE_IDS.map((id) => [id, toSeverity(id)] as const);
  return Object.fromEntries(schemas) as Record<LintCode, ReturnType<typeof toSeverity>>; // every id has its entry
}

const toSeveritySchema = once(() => toPart('Severity', z.enum(['off', 'warning', 'error'])));

const toSinkSchema = once(() => toPart('TokenSink', z.union([toDirectorySchema(), toCommandSchema()])));

function toDirectorySchema() {
  return z
    .strictObject({
      directory: z
        .string()
        .min(1)
        .describe('Folder for one file per credential, which only its owner can read. {stack} is filled in.'),
    })
    .describe('A folder with one file per credential.');
}

function toCommandSchema() {
  const words = z.array(z.string()).min(1);
  return z
    .strictObject({
      command: words.describe(
        'Program and arguments, run without a shell, with the token on standard input. {name}, {address}, {id} and {stack} are filled in.',
      ),
      test: words.optional().describe('Command that succeeds if tokens can be delivered. Runs before the first write.'),
      timeout: toDurationSchema().default('30s').describe('Timeout of each command.'),
    })
    .describe('A command that reads the token from standard input. Only apply runs it.');
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
