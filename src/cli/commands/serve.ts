import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { FileLock } from '../../files/write-file.ts';
import { getErrorMessage } from '../../model/errors.ts';
import { DEFAULT_VERSION_HEADER_NAME, isHost, isLoopbackHost } from '../../model/http.ts';
import type { ServerFaults } from '../../model/server-faults.ts';
import { parseRateLimit, RATE_LIMIT_DESCRIPTION, type RateLimit } from '../../model/stack.ts';
import type { ApiKey } from '../../server/admission.ts';
import { createServer, listen, parseApiKey, parseServerFaults, withFaults } from '../../server/index.ts';
import type { Server, ServerOptions } from '../../server/server.ts';
import {
  openServerFiles,
  readServerFileText,
  waitForSnapshotLock,
  withServerFileErrors,
} from '../../stack/embedded.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { createLogger } from '../output/logger.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { addExamples, addExitCodes, createRepeatableOption } from './options.ts';

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
}

/** The default key. It is documented, so it protects nothing. */
const KNOWN_KEY = 'dev';
const DEFAULT_KEY = `${KNOWN_KEY}:admin`;

export function configureServeCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Run the bundled server: the whole API in memory, for trying out and for tests.')
    .option('--port <number>', 'port to listen on; 0 picks a free one', parsePort, 4750)
    .option('--host <host>', 'address to listen on; one that other machines reach needs --api-key', '127.0.0.1')
    .addOption(
      createRepeatableOption(
        '--allow-host <name>',
        'respond to requests for this host too, not only for loopback names',
        {
          parse: parseHostName,
        },
      ),
    )
    .addOption(
      createRepeatableOption('--api-key <key>', 'an API key to accept: KEY, KEY:admin, KEY:abuse, KEY:usr_…', {
        default: DEFAULT_KEY,
      }),
    )
    .option('--seed <file>', 'resources and known ids to start with, as JSON')
    .option(
      '--snapshot <file>',
      'file that keeps the data; each change is saved before its response; if it exists, --seed is ignored',
    )
    .option(
      '--faults <file>',
      'faults to simulate: late, lost, broken and wrong responses, as YAML or JSON; edgewise schema faults describes them (default: nothing)',
    )
    .option(
      '--rate-limit <limit>',
      'answer 429 above this, such as 120/60s, whatever the key (default: none)',
      parseRateLimitFlag,
    )
    .option('--version-header <name>', 'name of the header that carries the API version', DEFAULT_VERSION_HEADER_NAME);
  addExitCodes(command, [EXIT.success, EXIT.failed, EXIT.invalid]);
  addExamples(command, [
    ['edgewise serve --port 4750 --api-key dev', 'listen on http://127.0.0.1:4750'],
    ['edgewise serve --port 0 --snapshot account.json', 'any free port, and keep the data'],
    ['edgewise serve --rate-limit 120/60s', 'with a typical rate limit'],
    ['edgewise serve --faults faults.yaml', 'with faults, to see how a program handles them'],
  ]).action((flags: ServeCommandFlags) => act(TEXT_ONLY_FORMAT_FLAGS, (context) => serve(flags, context)));
}

async function serve(flags: ServeCommandFlags, context: Context): Promise<ExitCode> {
  const words = flags.apiKey.length === 0 ? [DEFAULT_KEY] : flags.apiKey;
  const apiKeys = await withServerFileErrors('--api-key', () => words.map(parseApiKey));
  refuseKnownKey(flags.host, apiKeys);
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
  const keeper = await openServerFiles(flags, context, lock);
  const faults = await readFaults(flags.faults, context);
  const logger = createLogger(context, { level: 'info' });
  const options: ServerOptions = {
    apiKeys,
    now: context.now,
    versionHeader: flags.versionHeader,
    rateLimit: flags.rateLimit,
    seed: keeper.seed,
    onChange: keeper.save,
    onRequest: (entry) => logger[entry.error !== undefined || entry.status >= 500 ? 'error' : 'info'](entry, 'request'),
  };
  const server: Server = await withServerFileErrors(keeper.source, () => createServer(options));
  const faulty = withFaults(server, faults, { onFault: (entry) => logger.info(entry, 'fault') });
  const listening = await listen(faults.rules.length === 0 ? server : faulty, {
    port: flags.port,
    host: flags.host,
    allowedHosts: flags.allowHost,
  }).catch((error: unknown) => {
    throw new CommandError(`Cannot listen on ${flags.host}:${flags.port}: ${getErrorMessage(error)}`, {
      exitCode: EXIT.failed,
      cause: error,
    });
  });
  await keeper.fold(server.snapshot).catch(async (error: unknown) => {
    await listening.close();
    throw error;
  });
  const interrupted = untilInterrupted(context);
  context.stdout.write(`edgewise server listening on ${listening.url}\n`);
  await interrupted;
  await listening.close();
  await keeper.fold(server.snapshot);
  return EXIT.success;
}

/** Throws if other machines can reach the server and the server accepts the default key. */
function refuseKnownKey(host: string, apiKeys: readonly ApiKey[]): void {
  if (isLoopbackHost(host) || apiKeys.every(({ key }) => key !== KNOWN_KEY)) return;
  const address = host === '' ? 'every address of this machine' : host;
  throw new CommandError(`Other machines can reach ${address}, and everyone knows the API key \`${KNOWN_KEY}\`.`, {
    exitCode: EXIT.invalid,
    remedy: 'Name a key of your own with --api-key, such as the output of `openssl rand -hex 16`, or leave out --host.',
  });
}

async function readFaults(file: string | undefined, context: Context): Promise<ServerFaults> {
  if (file === undefined) return { rules: [] };
  const text = await readServerFileText(file, context);
  return withServerFileErrors(file, () => parseServerFaults(text));
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
