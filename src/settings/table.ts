import { DURATION_SYNTAX, parseDurationMs } from '../kinds/duration.ts';
import { FORMATS } from '../kinds/formats.ts';
import { hasToken } from '../kinds/kind.ts';
import { formatKindTitles, MANIFEST_KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { parseAddress } from '../model/address.ts';
import {
  GITHUB_TOKEN_VARIABLES,
  GITLAB_TOKEN_VARIABLES,
  isAllowedKeyVariable,
  KEY_VARIABLE,
  KEY_VARIABLE_PATTERN,
  toKeyFileVariable,
} from '../model/api-key.ts';
import { LINT_CODES, LINT_RULE_IDS, type LintCode } from '../model/diagnostic.ts';
import { DEFAULT_VERSION_HEADER_NAME } from '../model/http.ts';
import { isJsonArray, parseJson } from '../model/json.ts';
import { DEFAULT_GUARD, parseRateLimit, RATE_LIMIT_DESCRIPTION, RATE_LIMIT_PATTERN } from '../model/stack.ts';
import { isBaseUrl, isOnThisMachine, normalizeUrl } from './base-url.ts';
import { getRequestFlag } from './request.ts';
import {
  BOOLEAN,
  defineEnum,
  defineList,
  defineOpenText,
  defineText,
  defineWholeNumber,
  type GivenOfType,
  PATH,
  type Setting,
  SHARE,
  SINK_TYPE,
  SINKS_TYPE,
  TEXT,
  type ValueOfType,
} from './setting.ts';

/** The types of single settings. */

const BASE_URL_TYPE = defineText(
  (text) => (isBaseUrl(text) ? normalizeUrl(text) : undefined),
  'an http or https URL such as https://api.example.net, without user, query and fragment, or `embedded:` with an optional file path',
  { examples: ['https://api.example.net', 'embedded:'], isQuotable: false },
);

const KEY_VARIABLE_NAME = defineText(
  (text) => (isAllowedKeyVariable(text) ? text : undefined),
  'the name of a variable such as EDGEWISE_API_KEY_PROD: EDGEWISE_API_KEY_, then A to Z, 0 to 9 and _, but no _FILE at its end',
  { pattern: KEY_VARIABLE_PATTERN.source, examples: ['EDGEWISE_API_KEY_PROD'] },
);

const HEADER_NAME_TYPE = defineText(
  (text) => (FORMATS['header-name'].check(text) === undefined ? text : undefined),
  FORMATS['header-name'].expected,
);

const RATE_LIMIT_TYPE = defineText(
  (text) => (text === 'none' || parseRateLimit(text) !== undefined ? text : undefined),
  `${RATE_LIMIT_DESCRIPTION}, or \`none\``,
  { pattern: `${RATE_LIMIT_PATTERN}|^none$`, examples: ['120/60s', 'none'] },
);

export const DURATION_TYPE = defineText(parseDurationMs, DURATION_SYNTAX);

/** A dotted name, optionally with `.*` at its end. */
const CEL_VARIABLE_PATTERN = '^[A-Za-z_]\\w*(\\.[A-Za-z_]\\w*)*(\\.\\*)?$';

const CEL_VARIABLE = defineText(
  (text) => (new RegExp(CEL_VARIABLE_PATTERN).test(text) ? text : undefined),
  'a dotted name, such as `conn.server_ip` or, for all names below one, `conn.tls.*`',
  { pattern: CEL_VARIABLE_PATTERN },
);

const OWNED_KIND_NAMES = OWNED_KINDS.map(({ name }) => name);

const OWNED_ADDRESS = defineText(
  (text) => (OWNED_KIND_NAMES.includes(parseAddress(text)?.kind ?? '') ? text : undefined),
  `Kind/name, where Kind is one of ${OWNED_KIND_NAMES.join(', ')}`,
  { pattern: `^(${OWNED_KIND_NAMES.join('|')})/.+$`, examples: OWNED_KIND_NAMES.map((kind) => `${kind}/shop`) },
);

const IGNORE_PATTERN = defineText(
  (text) => (text.trim() === '' || text.split('/').includes('..') ? undefined : text),
  'a pattern as in .gitignore, without `..`',
  { examples: ['charts/', '*.tpl.yaml'] },
);

const COMMAND_JSON = defineText((text): readonly string[] | undefined => {
  const words = parseJson(text);
  if (words === undefined || !isJsonArray(words) || words.length === 0) return undefined;
  return words.every((word) => typeof word === 'string') ? words : undefined;
}, 'a JSON list of words, such as ["vault","kv","put","secret/{name}","token=-"]');

const VARIABLE_NAMES = defineList(
  defineText(
    (text) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? text : undefined),
    'the name of a variable, such as DEPLOY_REGION',
  ),
);

const SEVERITY_TYPE = { ...defineEnum('off', 'warning', 'error'), title: 'Severity' };

/** Entry for each lint rule. */
const LINT_RULE_SETTINGS = Object.fromEntries(
  LINT_RULE_IDS.map((id) => [id, defineSetting({ type: SEVERITY_TYPE, about: LINT_CODES[id], stack: `lint.${id}` })]),
) as Readonly<
  Record<LintCode, { readonly type: typeof SEVERITY_TYPE; readonly about: string; readonly stack: string }>
>; // an entry for each id

/**
 * All settings. A name is the flag's in camel case, if there is a flag. The order is that of the help and, for settings
 * of documents, that of the schema.
 */
export const SETTINGS = {
  baseUrl: defineSetting({
    type: BASE_URL_TYPE,
    about:
      'URL of the service; `embedded:` is the bundled server inside the process, `embedded:FILE` one that keeps its data',
    flag: '--base-url <url>',
    topic: 'connection',
    variables: ['EDGEWISE_BASE_URL'],
    stack: 'api.base_url',
    needsTrust: true,
    help: 'connection',
  }),
  apiKey: defineSetting({
    type: TEXT,
    about: 'the API key, unless another variable is named for it',
    variables: [KEY_VARIABLE],
    help: 'connection',
  }),
  apiKeyFile: defineSetting({
    type: PATH,
    about: 'a file that holds the API key',
    variables: [toKeyFileVariable(KEY_VARIABLE)],
    help: 'connection',
  }),
  keyEnv: defineSetting({
    type: KEY_VARIABLE_NAME,
    about: 'variable that holds the API key; its name starts with `EDGEWISE_API_KEY`',
    details:
      'For repositories with several accounts. Alternatively, the variable with this name plus `_FILE` holds the path of a file with the key.',
    flag: '--key-env <name>',
    topic: 'connection',
    variables: ['EDGEWISE_KEY_ENV'],
    stack: 'api.key_env',
    default: KEY_VARIABLE,
    needsTrust: true,
    help: 'connection',
  }),
  versionHeader: defineSetting({
    type: HEADER_NAME_TYPE,
    about: 'name of the header that carries the API version',
    flag: '--version-header <name>',
    topic: 'connection',
    variables: ['EDGEWISE_VERSION_HEADER'],
    stack: 'api.version_header',
    default: DEFAULT_VERSION_HEADER_NAME,
    needsTrust: true,
    help: 'connection',
  }),
  pageSize: defineSetting({
    type: defineWholeNumber(1, 100),
    about: 'resources per list request',
    stack: 'api.page_size',
    default: 100,
  }),
  concurrency: defineSetting({
    type: defineWholeNumber(1, 64),
    about: 'concurrent requests',
    stack: 'api.concurrency',
    default: 8,
  }),
  rateLimit: defineSetting({
    type: RATE_LIMIT_TYPE,
    about: 'limit that edgewise sets itself: requests in a time window, such as `120/60s`, or `none`',
    details: 'The service may allow more or less. Default: 120/60s; `none` for `embedded:` and for loopback addresses.',
    flag: '--rate-limit <limit>',
    topic: 'connection',
    variables: ['EDGEWISE_RATE_LIMIT'],
    stack: 'api.rate_limit',
    default: (baseUrl: string) => (isOnThisMachine(baseUrl) ? 'none' : '120/60s'),
    defaultText: '120/60s; none for embedded: and loopback',
    needsTrust: true,
    help: 'connection',
  }),
  // Far longer than usual responses take: after a write that timed out, it is unknown whether it took effect.
  connectTimeout: defineSetting({
    type: DURATION_TYPE,
    about: 'time to connect',
    stack: 'api.timeouts.connect',
    default: '10s',
  }),
  headersTimeout: defineSetting({
    type: DURATION_TYPE,
    about: 'time until the response begins',
    stack: 'api.timeouts.headers',
    default: '30s',
  }),
  bodyTimeout: defineSetting({
    type: DURATION_TYPE,
    about: 'time between two parts of the body',
    stack: 'api.timeouts.body',
    default: '30s',
  }),
  timeout: defineSetting({
    type: DURATION_TYPE,
    about: 'time until the response to a request is complete, with all retries; the Stack sets those of its parts',
    details: 'Waits for the rate limit and between retries do not count.',
    flag: '--timeout <duration>',
    topic: 'connection',
    variables: ['EDGEWISE_TIMEOUT'],
    stack: 'api.timeouts.request',
    default: '2m',
    help: 'connection',
  }),
  caFile: defineSetting({
    type: PATH,
    about: 'PEM file of certificate authorities to trust, in addition to those of the platform',
    details: 'The path is relative to the folder of the manifest.',
    flag: '--ca-file <path>',
    topic: 'connection',
    variables: ['EDGEWISE_CA_FILE'],
    stack: 'api.ca_file',
    needsTrust: true,
    help: 'connection',
  }),
  nodeAuthorities: defineSetting({
    type: PATH,
    about: 'certificate authorities to trust, as in every Node program',
    variables: ['NODE_EXTRA_CA_CERTS'],
    help: 'connection',
  }),
  httpsProxy: defineSetting({
    type: TEXT,
    about: 'proxy for https: URLs',
    variables: ['HTTPS_PROXY', 'https_proxy'],
    help: 'connection',
  }),
  httpProxy: defineSetting({
    type: TEXT,
    about: 'proxy for http: URLs',
    variables: ['http_proxy'],
    help: 'connection',
  }),
  allProxy: defineSetting({
    type: TEXT,
    about: 'proxy for both',
    variables: ['ALL_PROXY', 'all_proxy'],
    help: 'connection',
  }),
  noProxy: defineSetting({
    type: TEXT,
    about:
      'hosts that are reached without a proxy: names, `.suffixes` or addresses (not ranges), each with an optional port, or `*`',
    variables: ['NO_PROXY', 'no_proxy'],
    help: 'connection',
  }),
  kinds: defineSetting({
    type: defineList(defineEnum(...MANIFEST_KINDS.map(({ name }) => name)), 1),
    about: 'kinds that the stack uses',
    details: 'Others are not read, and a manifest of another kind is an error. Default: every kind.',
    stack: 'kinds',
  }),
  tokenDirectory: defineSetting({
    type: PATH,
    about: 'folder for tokens of new resources, a file for each; {stack} is filled in',
    flag: '--token-directory <path>',
    topic: 'tokens',
    flagAbout: `folder for the token of each new ${formatKindTitles(hasToken)}, one file each; overrides the Stack`,
    replaces: 'tokens',
    help: 'settings',
  }),
  tokenCommand: defineSetting({
    type: COMMAND_JSON,
    about: 'program that reads each new token on its standard input: a JSON list of the program and its arguments',
    flag: '--token-command <json>',
    topic: 'tokens',
    replaces: 'tokens',
    help: 'settings',
  }),
  maxDeletes: defineSetting({
    type: defineWholeNumber(0),
    about: 'maximum number of deletes of one kind without consent',
    consent: getRequestFlag('allowDeletes'),
    stack: 'guard.max_deletes',
    default: DEFAULT_GUARD.maxDeletes,
    help: 'settings',
  }),
  maxDeleteShare: defineSetting({
    type: SHARE,
    about: 'maximum share of one kind that is deleted without consent',
    details: 'From 0 to 1, of the owned resources of the kind.',
    consent: getRequestFlag('allowDeletes'),
    stack: 'guard.max_delete_share',
    default: DEFAULT_GUARD.maxDeleteShare,
    defaultText: `${DEFAULT_GUARD.maxDeleteShare * 100} %`,
    help: 'settings',
  }),
  conflictTimeout: defineSetting({
    type: DURATION_TYPE,
    about:
      'how long a write that the service rejects with 409 is retried, if it depends on a delete or an update of the same run',
    details: 'Services free a hostport, or stop counting a use, a few seconds later.',
    stack: 'api.timeouts.conflict',
    default: '1m',
    help: 'settings',
  }),
  defaultSink: defineSetting({
    type: SINK_TYPE,
    about: 'token sink for every credential that `credentials` does not name',
    stack: 'tokens.default',
  }),
  credentialSinks: defineSetting({
    type: SINKS_TYPE,
    about: 'token sinks for single credentials, by name',
    stack: 'tokens.credentials',
    default: {},
  }),
  maxValidity: defineSetting({
    type: DURATION_TYPE,
    about: 'how long an SSH user certificate may be valid without a `certificate-too-long` finding',
    stack: 'lint.max_validity',
    default: '90d',
  }),
  celVariables: defineSetting({
    type: defineList(CEL_VARIABLE),
    about: 'further CEL variables of your service, such as `conn.server_ip` or `conn.tls.*`',
    details: 'With `.*` at its end, a name stands for all variables below it.',
    stack: 'lint.cel_variables',
    default: [],
  }),
  ...LINT_RULE_SETTINGS,
  teamLabel: defineSetting({
    type: defineOpenText({ examples: ['team', 'example.net/team'] }),
    about: 'label or annotation that names the team of a resource',
    details: 'Plans show it beside the resource.',
    stack: 'team_label',
  }),
  handedOver: defineSetting({
    type: defineList(OWNED_ADDRESS),
    about: 'resources (`Kind/name`) that another stack takes over',
    details: 'This stack does not delete them, although no document describes them any more.',
    stack: 'handed_over',
  }),
  inputs: defineSetting({
    type: defineList(PATH),
    about: 'extra input files of a stack, as patterns; a change to one counts as a change of the stack',
    details: 'Git patterns such as `../../base/**`, relative to the folder of this file.',
    stack: 'inputs',
    help: 'settings',
  }),
  skipFiles: defineSetting({
    type: defineList(IGNORE_PATTERN, 1),
    about: 'files of other tools among the manifests, as patterns; they are not read as manifests',
    details:
      'Patterns as in `.gitignore`, relative to the folder of this file. A file with a document of edgewise cannot be skipped.',
    stack: 'skip_files',
  }),
  policies: defineSetting({
    type: defineList(PATH),
    about: 'files and folders with Policy documents, in addition to those among the manifests',
    details: 'Paths are relative to the folder of the manifest.',
    stack: 'policies',
    default: [],
  }),
  untrusted: defineSetting({
    type: BOOLEAN,
    about:
      'the manifests are not trusted: only flags and variables say where the API key goes, and no command of a manifest runs',
    flag: '--untrusted',
    topic: 'trust',
    flagAbout:
      'the manifests are not merged yet: only flags and variables say where the API key goes (EDGEWISE_UNTRUSTED)',
    variables: ['EDGEWISE_UNTRUSTED'],
    help: 'settings',
  }),
  env: defineSetting({
    type: VARIABLE_NAMES,
    about: `names of the variables that manifests may read with \`\${env:NAME}\``,
    flag: '--env <name>',
    topic: 'trust',
    flagAbout: `variable that manifests may read with \${env:NAME} (EDGEWISE_ENV)`,
    variables: ['EDGEWISE_ENV'],
    defaultText: 'none',
    help: 'settings',
  }),
  secret: defineSetting({
    type: VARIABLE_NAMES,
    about: `names of the variables that manifests may send with \`\${secret:NAME}\`, and that no output shows`,
    flag: '--secret <name>',
    topic: 'trust',
    flagAbout: `variable that manifests may send with \${secret:NAME}; no output shows it (EDGEWISE_SECRETS)`,
    variables: ['EDGEWISE_SECRETS'],
    defaultText: 'none',
    help: 'settings',
  }),
  root: defineSetting({
    type: PATH,
    about: 'folder that must contain every file that manifests name, with symbolic links resolved',
    flag: '--root <folder>',
    topic: 'trust',
    flagAbout: 'folder that must contain every file that manifests name (EDGEWISE_ROOT; default: their repository)',
    variables: ['EDGEWISE_ROOT'],
    defaultText: 'the folder with `.git` above the manifests; without one, the working folder',
    help: 'settings',
  }),
  color: defineSetting({
    type: BOOLEAN,
    about: 'no colours on a terminal',
    flag: '--no-color',
    flagAbout: 'no colours, as with NO_COLOR',
    variables: ['NO_COLOR'],
    help: 'settings',
  }),
  commit: defineSetting({
    type: TEXT,
    about:
      'commit of the manifests, for plans and links to files; default: from GitHub (GITHUB_SHA) or GitLab (CI_COMMIT_SHA)',
    variables: ['EDGEWISE_COMMIT'],
    help: 'settings',
  }),
  githubToken: defineSetting({
    type: TEXT,
    about: 'token with which `post` writes to GitHub',
    variables: GITHUB_TOKEN_VARIABLES,
    help: 'settings',
  }),
  gitlabToken: defineSetting({
    type: TEXT,
    about: 'token with which `post` writes to GitLab',
    variables: GITLAB_TOKEN_VARIABLES,
    help: 'settings',
  }),
  repositoryRoot: defineSetting({
    type: PATH,
    about: 'root of the repository, to which paths in annotations and SARIF are relative',
    variables: ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR'],
    defaultText: 'the working folder',
    help: 'settings',
  }),
  logLevel: defineSetting({
    type: defineEnum('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    about:
      'level of the logs on stderr: trace, debug, info, warn, error, fatal or silent; `serve` logs at info by default. At debug, there is a line of JSON before each request, and one after it, with the operation id of the service; at trace, with headers and sizes. No level logs bodies, the API key or tokens',
    variables: ['EDGEWISE_LOG_LEVEL'],
    defaultText: 'warn',
    help: 'settings',
  }),
} as const;

/** Keeps the types of a setting's members. */
function defineSetting<const One extends Setting>(setting: One): One {
  return setting;
}

export type SettingName = keyof typeof SETTINGS;

/** A value of a setting, as the program uses it. */
export type SettingValue<Name extends SettingName> = ValueOfType<(typeof SETTINGS)[Name]['type']>;

/** Settings whose place in a document is below `api`. */
type ServiceSettingName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly stack: `api.${string}` } ? Name : never;
}[SettingName];

/**
 * Settings for reaching the service in this run, resolved from flags, environment, documents and defaults. Timeouts are
 * in milliseconds. `keyEnv` is the environment variable that contains the API key; `undefined`: EDGEWISE_API_KEY.
 */
export type ServiceSettings = {
  readonly [Name in ServiceSettingName]: SettingValue<Name> | UnsetSetting<Name>;
};

/** `undefined` for a setting that may be unset. Without a base URL, no settings are resolved. */
type UnsetSetting<Name extends ServiceSettingName> = Name extends 'baseUrl'
  ? never
  : Name extends 'keyEnv'
    ? undefined
    : (typeof SETTINGS)[Name] extends { readonly default: unknown }
      ? never
      : undefined;

/** Settings whose flags every command has that sends requests. */
type ConnectionSettingName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { readonly topic: 'connection' } ? Name : never;
}[SettingName];

/** The settings of the service, as a program gives them. */
export type ServiceSettingOptions = GivenSettings<ServiceSettingName>;

/** The flags of the connection. */
export type ConnectionFlags = GivenSettings<ConnectionSettingName>;

/** Values of settings, as a program gives them. */
type GivenSettings<Name extends SettingName> = {
  readonly [One in Name]?: GivenOfType<(typeof SETTINGS)[One]['type']> | undefined;
};

/** The members of `spec` that contain settings. Documents add to them, setting by setting. */
export const SETTING_GROUPS: Readonly<Record<string, string>> = {
  api: 'The connection to the service.',
  'api.timeouts': 'Timeouts.',
  guard:
    "Deletes of a kind need consent if their number is above max_deletes and their share of the kind's owned resources is above max_delete_share.",
  tokens: 'Where the tokens of new credentials are delivered. Without a token sink, no credential can be created.',
  lint: 'Settings of the lint rules, such as the severity of each. `off`: not checked.',
};

/** All settings, with their names, in the order of the table. */
export const NAMED_SETTINGS: readonly (Setting & { readonly name: SettingName })[] = listNamedSettings();

/** The names of the settings of the service. */
export const SERVICE_SETTING_NAMES: readonly ServiceSettingName[] = NAMED_SETTINGS.map(({ name }) => name).filter(
  isServiceSetting,
);

function isServiceSetting(name: SettingName): name is ServiceSettingName {
  const setting: Setting = SETTINGS[name];
  return setting.stack?.startsWith('api.') ?? false;
}

function listNamedSettings(): readonly (Setting & { readonly name: SettingName })[] {
  const names = Object.keys(SETTINGS) as SettingName[]; // `Object.keys` loses the key type
  return names.map((name) => ({ name, ...SETTINGS[name] }));
}
