import type { EffectiveStackSetting } from '../../manifest/stack-settings.ts';
import { KEY_VARIABLE, toKeyFileVariable } from '../../model/api-key.ts';
import { DEFAULT_VERSION_HEADER_NAME } from '../../model/http.ts';
import type { Json } from '../../model/json.ts';
import type { SettingRow } from '../../report/report.ts';
import { getDefaultRateLimit } from '../../stack/settings.ts';

/** A setting of a run: the ways to set it, and its default. Used in help texts and documents. */
export interface SettingDescription {
  readonly about: string;
  /** Such as `--base-url <url>`. Absent: the setting has no flag. */
  readonly flag?: string;
  /** Environment variables of the setting. The first is the usual one. */
  readonly environment?: readonly string[];
  /** Path of the setting in `spec` of the Stack. */
  readonly stack?: string;
  readonly default?: string;
}

/** Formats the meaning of a setting, its variables, its path in the Stack, and its default. */
export function describeSetting({
  about,
  environment = [],
  stack,
  default: fallback,
}: Omit<SettingDescription, 'flag'>): string {
  const ways = [...environment, ...(stack === undefined ? [] : [`spec.${stack}`])];
  const parts = [
    ...(ways.length > 0 ? [ways.join(', ')] : []),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ];
  return parts.length === 0 ? about : `${about} (${parts.join('; ')})`;
}

/** How to reach the service. Every command that sends requests takes these flags. */
export const CONNECTION_SETTINGS: readonly SettingDescription[] = [
  {
    about:
      'URL of the service; `embedded:` is the bundled server inside the process, `embedded:FILE` one that keeps its data',
    flag: '--base-url <url>',
    environment: ['EDGEWISE_BASE_URL'],
    stack: 'api.base_url',
  },
  {
    about: 'the API key, unless another variable is named for it',
    environment: ['EDGEWISE_API_KEY'],
  },
  { about: 'a file that holds the API key', environment: ['EDGEWISE_API_KEY_FILE'] },
  {
    about: 'variable that holds the API key; its name starts with `EDGEWISE_API_KEY`',
    flag: '--key-env <name>',
    environment: ['EDGEWISE_KEY_ENV'],
    stack: 'api.key_env',
    default: 'EDGEWISE_API_KEY',
  },
  {
    about: 'name of the header that carries the API version',
    flag: '--version-header <name>',
    environment: ['EDGEWISE_VERSION_HEADER'],
    stack: 'api.version_header',
    default: DEFAULT_VERSION_HEADER_NAME,
  },
  {
    about: 'maximum number of requests in a time window, such as `120/60s`, or `none` (the default for `embedded:`)',
    flag: '--rate-limit <limit>',
    environment: ['EDGEWISE_RATE_LIMIT'],
    stack: 'api.rate_limit',
    default: '120/60s',
  },
  {
    about: 'time until the whole response to a request is there, with all retries; the Stack sets those of its parts',
    flag: '--timeout <duration>',
    environment: ['EDGEWISE_TIMEOUT'],
    stack: 'api.timeouts.request',
    default: '2m',
  },
  {
    about: 'PEM file of certificate authorities to trust, in addition to those of the platform',
    flag: '--ca-file <path>',
    environment: ['EDGEWISE_CA_FILE'],
    stack: 'api.ca_file',
  },
  { about: 'certificate authorities to trust, as in every Node program', environment: ['NODE_EXTRA_CA_CERTS'] },
  { about: 'proxy for https: URLs', environment: ['HTTPS_PROXY', 'https_proxy'] },
  { about: 'proxy for http: URLs', environment: ['http_proxy'] },
  { about: 'proxy for both', environment: ['ALL_PROXY', 'all_proxy'] },
  {
    about:
      'hosts that are reached without a proxy: names, `.suffixes` or addresses (not ranges), each with an optional port, or `*`',
    environment: ['NO_PROXY', 'no_proxy'],
  },
];

/** The other settings of a run, except those that can only be set by a flag of a single command. */
export const OTHER_SETTINGS: readonly SettingDescription[] = [
  {
    about: 'folder for tokens of new resources, a file for each; {stack} is filled in',
    flag: '--token-directory <path>',
    stack: 'tokens',
  },
  {
    about: 'program that reads each new token on its standard input: a JSON list of the program and its arguments',
    flag: '--token-command <json>',
    stack: 'tokens',
  },
  {
    about: 'maximum number of deletes of one kind without consent',
    flag: '--allow-deletes',
    stack: 'guard.max_deletes',
    default: '5',
  },
  {
    about: 'maximum share of one kind that is deleted without consent',
    flag: '--allow-deletes',
    stack: 'guard.max_delete_share',
    default: '30 %',
  },
  {
    about:
      'how long a write that the service rejects with 409 is tried again, if it depends on a delete or an update of the same run',
    stack: 'api.timeouts.conflict',
    default: '1m',
  },
  {
    about: 'file that gets a line before and after each request that writes',
    flag: '--journal <file>',
    environment: ['EDGEWISE_JOURNAL'],
  },
  {
    about: 'the part of the stacks that a run over many stacks handles, such as `2/5`',
    flag: '--shard <shard>',
    environment: ['EDGEWISE_SHARD', 'EDGEWISE_SHARD_INDEX', 'EDGEWISE_SHARD_TOTAL'],
    default: 'set by an indexed Job of Kubernetes or `parallel` of GitLab',
  },
  {
    about: 'command that prints the manifests of a stack; it runs only with the flag',
    flag: '--render',
    stack: 'render',
  },
  {
    about: 'extra input files of a stack, as patterns; a change to one counts as a change of the stack',
    stack: 'inputs',
  },
  {
    about:
      'the manifests are not trusted: only flags and variables say where the API key goes, and no command of a manifest runs',
    flag: '--untrusted',
    environment: ['EDGEWISE_UNTRUSTED'],
  },
  {
    about: 'variables that manifests may read: names, and prefixes such as `DEPLOY_*`',
    flag: '--env <name>',
    environment: ['EDGEWISE_ENV'],
    default: 'none',
  },
  {
    about: 'folder that must contain every file that manifests name, with symbolic links resolved',
    flag: '--root <folder>',
    environment: ['EDGEWISE_ROOT'],
    default: 'the folder with `.git` above the manifests; without one, the working folder',
  },
  { about: 'no colours on a terminal', flag: '--no-color', environment: ['NO_COLOR'] },
  {
    about:
      'commit of the manifests, for plans and links to files; default: from GitHub (GITHUB_SHA) or GitLab (CI_COMMIT_SHA)',
    environment: ['EDGEWISE_COMMIT'],
  },
  { about: 'token with which `post` writes to GitHub', environment: ['GITHUB_TOKEN', 'GH_TOKEN'] },
  { about: 'token with which `post` writes to GitLab', environment: ['EDGEWISE_GITLAB_TOKEN', 'GITLAB_TOKEN'] },
  {
    about: 'root of the repository, to which paths in annotations and SARIF are relative',
    environment: ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR'],
    default: 'the working folder',
  },
  {
    about:
      'level of the logs on stderr: trace, debug, info, warn, error, fatal or silent; `serve` logs at info by default. At debug, each request is a line of JSON with the operation id of the service; at trace, with headers, sizes and times. No level logs bodies, the API key or tokens',
    environment: ['EDGEWISE_LOG_LEVEL'],
    default: 'warn',
  },
];

/** Lists the value of each setting, and the origin of the value. `flags`: values by flag name, in camel case. */
export function listSettingsWithOrigins(
  stated: readonly EffectiveStackSetting[],
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): readonly SettingRow[] {
  const found = new Map(stated.map((setting) => [setting.name, createRow(setting)]));
  for (const { flag = '', environment = [], stack, default: fallback } of CONNECTION_SETTINGS) {
    if (stack === undefined) continue;
    const given = flags[getFlagKey(flag)];
    const variable = environment.find((name) => (env[name] ?? '') !== '');
    if (typeof given === 'string' && given !== '')
      found.set(stack, { name: stack, value: given, from: getFlagWord(flag) });
    else if (variable !== undefined) found.set(stack, { name: stack, value: env[variable] ?? '', from: variable });
    else if (!found.has(stack)) found.set(stack, { name: stack, value: fallback ?? 'not set', from: 'default' });
  }
  const limit = found.get('api.rate_limit');
  if (limit?.from === 'default')
    found.set(limit.name, { ...limit, value: getDefaultRateLimit(found.get('api.base_url')?.value ?? '') });
  return [...found.values(), createKeyRow(found.get('api.key_env')?.value, env)].sort(byName);
}

function createRow({ name, value, source }: EffectiveStackSetting): SettingRow {
  const row = { name, value: formatValue(value), from: source?.by ?? 'default' };
  return source === undefined ? row : { ...row, place: `${source.place.file}:${source.place.line}` };
}

function formatValue(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the name of a flag, such as `--base-url` for `--base-url <url>`. */
function getFlagWord(flag: string): string {
  return flag.split(' ')[0] ?? '';
}

/** Returns the key of a flag, such as `baseUrl` for `--base-url <url>`. */
function getFlagKey(flag: string): string {
  return getFlagWord(flag)
    .slice(2)
    .replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Creates the row about the API key, which never contains the key itself. */
function createKeyRow(variable = KEY_VARIABLE, env: Readonly<Record<string, string | undefined>>): SettingRow {
  const from = [variable, toKeyFileVariable(variable)].find((name) => (env[name] ?? '') !== '');
  return { name: 'API key', value: from === undefined ? 'not set' : 'set', from: from ?? variable };
}

function byName(left: SettingRow, right: SettingRow): number {
  return left.name < right.name ? -1 : 1;
}
