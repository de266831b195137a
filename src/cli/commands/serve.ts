import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FileLock } from '../../files/write-file.ts';
import { getErrorMessage } from '../../model/errors.ts';
import { DEFAULT_VERSION_HEADER_NAME, isHost, isLoopbackHost } from '../../model/http.ts';
import type { ServerFaults } from '../../model/server-faults.ts';
import { parseRateLimit, RATE_LIMIT_DESCRIPTION, type RateLimit } from '../../model/stack.ts';
import { StackError } from '../../model/user-errors.ts';
import { KNOWN_KEY } from '../../server/admin-server.ts';
import type { ApiKey } from '../../server/admission.ts';
import {
  type AdminServerOptions,
  createAccounts,
  createAdminServer,
  createServer,
  listen,
  parseApiKey,
  parseServerFaults,
  type Server,
  withFaults,
} from '../../server/index.ts';
import {
  openServerFiles,
  readServerFileText,
  waitForSnapshotLock,
  withServerFileErrors,
} from '../../stack/embedded.ts';
import { type Context, VERSION } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { createLogger } from '../output/logger.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { addToCommand, createRepeatableOption } from './options.ts';

interface ServeCommandFlags {
  readonly port: number;
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly apiKey: readonly string[];
  readonly seed?: string;
  readonly snapshot?: string;
  readonly faults?: string;
  readonly rateLimit?: RateLimit;
  readonly versionHeader: string;
  readonly admin?: boolean;
  readonly accounts?: boolean;
}

const DEFAULT_KEY = `${KNOWN_KEY}:admin`;

export function configureServeCommand(command: Command, act: CommandBodyRunner): void {
  command.description('Run the bundled server: the whole API in memory, for trying out and for tests.');
  addToCommand(command, {
    options: [
      new Option('--port <number>', 'port to listen on; 0 picks a free one').argParser(parsePort).default(4750),
      new Option('--host <host>', 'address to listen on; one that other machines reach needs --api-key').default(
        '127.0.0.1',
      ),
      createRepeatableOption(
        '--allow-host <name>',
        'respond to requests for this host too, not only for loopback names',
        {
          parse: parseHostName,
        },
      ),
      createRepeatableOption('--api-key <key>', 'an API key to accept: KEY, KEY:admin, KEY:abuse, KEY:usr_…', {
        default: DEFAULT_KEY,
      }),
      new Option('--seed <file>', 'resources and known ids to start with, as JSON'),
      new Option(
        '--snapshot <file>',
        'file that keeps the data; each change is saved before its response; if it exists, --seed is ignored',
      ),
      new Option(
        '--faults <file>',
        'faults to simulate: late, lost, broken and wrong responses, as YAML or JSON; edgewise schema faults describes them (default: nothing)',
      ),
      new Option(
        '--rate-limit <limit>',
        'answer 429 above this, such as 120/60s, whatever the key (default: no limit)',
      ).argParser(parseRateLimitFlag),
      new Option(
        '--admin',
        'let tests reset the server, read its requests, and change its faults and its clock, below /_edgewise/; needs an --api-key with :admin, and a loopback address',
      ),
      new Option('--accounts', 'give each --api-key an account of its own, so that tests run side by side'),
      new Option('--version-header <name>', 'name of the header that carries the API version').default(
        DEFAULT_VERSION_HEADER_NAME,
      ),
    ],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid],
    examples: [
      ['edgewise serve --port 4750 --api-key dev', 'listen on http://127.0.0.1:4750'],
      ['edgewise serve --port 0 --snapshot account.json', 'any free port, and keep the data'],
      ['edgewise serve --rate-limit 120/60s', 'with a typical rate limit'],
      ['edgewise serve --admin --accounts --api-key a:admin --api-key b:admin', 'for two tests side by side'],
      ['edgewise serve --faults faults.yaml', 'with faults, to see how a program handles them'],
    ],
  }).action((flags: ServeCommandFlags) => act(TEXT_ONLY_FORMAT_FLAGS, (context) => serve(flags, context)));
}

async function serve(flags: ServeCommandFlags, context: Context): Promise<ExitCode> {
  const words = flags.apiKey.length === 0 ? [DEFAULT_KEY] : flags.apiKey;
  const apiKeys = await withServerFileErrors('--api-key', () => words.map(parseApiKey));
  refuseKnownKey(flags.host, apiKeys);
  refuseUnsafeAdmin(flags, apiKeys);
  const { snapshot } = flags;
  const lock =
    snapshot === undefined ? undefined : await waitForSnapshotLock(resolve(context.cwd, snapshot), snapshot, context);
  try {
    return await serveKept(flags, { apiKeys, lock }, context);
  } finally {
    await lock?.release();
  }
}

async function serveKept(
  flags: ServeCommandFlags,
  { apiKeys, lock }: { readonly apiKeys: readonly ApiKey[]; readonly lock: FileLock | undefined },
  context: Context,
): Promise<ExitCode> {
  const keeper = await openServerFiles(flags, context, { lock, writer: `edgewise ${VERSION}` });
  const faults = await readFaults(flags.faults, context);
  const logger = createLogger(context, { level: 'info' });
  const options: Omit<AdminServerOptions, 'apiKeys'> = {
    now: context.now,
    versionHeader: flags.versionHeader,
    rateLimit: flags.rateLimit,
    seed: keeper.seed,
    isSeedTrusted: keeper.isSeedTrusted,
    onChange: keeper.save,
    onReset: keeper.replace,
    onRequest: (entry) => logger[entry.error !== undefined || entry.status >= 500 ? 'error' : 'info'](entry, 'request'),
    faults,
    onFault: (entry) => logger.info(entry, 'fault'),
  };
  const create = flags.admin ? createAdminServer : createFaultyServer;
  const server = await withServerFileErrors(keeper.source, () => create({ ...options, apiKeys }));
  const served = flags.accounts
    ? createAccounts(apiKeys, (apiKey) => create({ ...options, apiKeys: [apiKey] }))
    : server;
  const listening = await listen(served, {
    port: flags.port,
    host: flags.host,
    allowedHosts: flags.allowHost,
  }).catch((error: unknown) => {
    throw createListenError(flags, error);
  });
  try {
    await keeper.begin(server.snapshot);
    const interrupted = untilInterrupted(context);
    context.stdout.write(`edgewise server listening on ${listening.url}\n`);
    await interrupted;
  } finally {
    await listening.close();
  }
  await keeper.fold(server.snapshot);
  return EXIT.success;
}

/** Creates a server without paths for admins. */
function createFaultyServer({ faults = { rules: [] }, onFault, ...options }: AdminServerOptions): Server {
  const server = createServer(options);
  return faults.rules.length === 0 ? server : withFaults(server, faults, { ...(onFault && { onFault }) });
}

function createListenError({ host, port }: ServeCommandFlags, cause: unknown): StackError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const address = `${host}:${port}`;
  if (code === 'EADDRINUSE')
    return new StackError(`Another program listens on ${address} already.`, {
      reason: 'failed',
      remedy: 'Stop it, or choose another port: --port 0 picks a free one.',
      cause,
    });
  return new StackError(`Cannot listen on ${address}: ${getErrorMessage(cause)}`, {
    reason: 'failed',
    remedy: 'Choose another --host or --port.',
    cause,
  });
}

/** Throws for accounts in one file, and for paths of admins that others could use, or no test could. */
function refuseUnsafeAdmin(flags: ServeCommandFlags, apiKeys: readonly ApiKey[]): void {
  const { admin, accounts, host, snapshot } = flags;
  const refuse = (message: string, remedy: string): never => {
    throw new StackError(message, { reason: 'invalid', remedy });
  };
  if (accounts && snapshot !== undefined)
    refuse('A snapshot is of one account, and --accounts makes several.', 'Leave out --accounts or --snapshot.');
  if (!admin) return;
  if (!isLoopbackHost(host))
    refuse(
      `With --admin, the server listens on a loopback address only, not on ${host}.`,
      'Leave out --host or --admin.',
    );
  const remedy = 'Name a key of an admin with --api-key, such as --api-key "$(openssl rand -hex 16):admin".';
  if (apiKeys.some(({ key }) => key === KNOWN_KEY))
    refuse(`--admin needs another API key than \`${KNOWN_KEY}\`, which everyone knows.`, remedy);
  const isUsable = accounts ? apiKeys.every(({ isAdmin }) => isAdmin) : apiKeys.some(({ isAdmin }) => isAdmin);
  if (!isUsable) refuse(`--admin needs ${accounts ? 'only API keys' : 'an API key'} with \`:admin\`.`, remedy);
}

/** Throws if other machines can reach the server and the server accepts the default key. */
function refuseKnownKey(host: string, apiKeys: readonly ApiKey[]): void {
  if (isLoopbackHost(host) || apiKeys.every(({ key }) => key !== KNOWN_KEY)) return;
  const address = host === '' ? 'every address of this machine' : host;
  throw new StackError(`Other machines can reach ${address}, and everyone knows the API key \`${KNOWN_KEY}\`.`, {
    reason: 'invalid',
    remedy: 'Name a key of your own with --api-key, such as the output of `openssl rand -hex 16`, or leave out --host.',
  });
}

async function readFaults(file: string | undefined, context: Context): Promise<ServerFaults> {
  if (file === undefined) return { rules: [] };
  const text = await readServerFileText(file, context);
  return withServerFileErrors(file, () => parseServerFaults(text), 'edgewise schema faults describes the file.');
}

function untilInterrupted(context: Context): Promise<void> {
  return new Promise((done) => {
    const stopListening = context.onInterrupt(() => {
      stopListening();
      done();
    });
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
}

function parseHostName(text: string): string {
  if (isHost(text)) return text;
  throw new InvalidArgumentError('A host is a name or an address, without a port, such as edgewise.test.');
}

function parseRateLimitFlag(text: string): RateLimit {
  const limit = parseRateLimit(text);
  if (limit !== undefined) return limit;
  throw new InvalidArgumentError(`A rate limit is ${RATE_LIMIT_DESCRIPTION}.`);
}
