import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { readManifestFiles } from '../../src/manifest/load.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createServer, parseApiKey, type Server, type ServerSeed } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { runCommand } from '../cli/fake-context.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';
import { selectEvenly } from '../tries.ts';
import { listOwned, listWanted, mapForeignResources, OTHER_USER_REQUESTS } from '../walks/account.ts';
import { startEdgewise } from './processes.ts';
import { startSocketServer } from './socket-server.ts';

const API_KEY = 'killed';
const STACK = 'everything';
const BASE_URL = 'http://killed.test';

/** When the process is killed: after its write took effect and before the response, or while the response arrives. */
const WHEN = ['before the response', 'after the response'] as const;

/** The request at which a process is killed, from 0: among all requests for a plan file, else among the writes. */
interface Kill {
  readonly request: number;
  readonly when: (typeof WHEN)[number];
}

/** Of two kills at a request of a plan file, one is enough: applies of manifests show what a second apply does. */
function isSelected({ request, when }: Kill): boolean {
  return request % WHEN.length === WHEN.indexOf(when);
}

/** Whether a process may be killed at a request. Reads change nothing, but an approval is compared with their responses. */
function canKillAt({ method }: Request, how: How): boolean {
  return how === 'of a plan file' || method !== 'GET';
}

/** What is applied: manifests, or a plan file with them. */
type How = 'of manifests' | 'of a plan file';

/** The state before a process starts: an account, and a folder of tokens. */
interface Scene {
  readonly seed: ServerSeed;
  readonly tokens: string;
}

describe('a process that is killed', () => {
  let folder: string;
  let nothing: Scene;
  let everything: Scene;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-killed-'));
    // In the repository it is not a manifest, because examples/everything has a stack with the same name.
    cpSync('test/walks/everything-changed.yaml.txt', join(folder, 'changed/stack.yaml'));
    nothing = await createNothing();
    everything = await createEverything();
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  async function createNothing(): Promise<Scene> {
    const server = openServer({});
    for (const [path, body] of OTHER_USER_REQUESTS)
      await sendByHand({ server, key: API_KEY, baseUrl: BASE_URL }, 'POST', path, body);
    return { seed: server.snapshot(), tokens: join(folder, 'no-tokens') };
  }

  async function createEverything(): Promise<Scene> {
    const tokens = join(folder, 'tokens');
    const server = openServer(nothing.seed);
    const { exitCode, stderr } = await edgewise(server.handle, ['apply', 'examples/everything', ...toFlags(tokens)]);
    expect(exitCode, stderr).toBe(0);
    return { seed: server.snapshot(), tokens };
  }

  it.each(WHEN)(
    'is repaired by the next apply: %s to any write of the first one',
    { timeout: 300_000 },
    async (when) => {
      await expectRecovery(nothing, 'examples/everything', when);
    },
  );

  it.each(WHEN)(
    'is repaired by the next apply: %s to any write of one that updates, replaces, moves and deletes',
    { timeout: 300_000 },
    async (when) => {
      await expectRecovery(everything, join(folder, 'changed'), when);
    },
  );

  it.each(WHEN)(
    'is repaired by the same command without another approval: %s to any request of an apply of a plan file',
    { timeout: 300_000 },
    async (when) => {
      await expectRecovery(nothing, 'examples/everything', when, 'of a plan file');
      await expectRecovery(everything, join(folder, 'changed'), when, 'of a plan file');
    },
  );

  async function expectRecovery(
    scene: Scene,
    manifests: string,
    when: Kill['when'],
    how: How = 'of manifests',
  ): Promise<void> {
    const requests = await countRequests(scene, manifests, how);
    expect(requests).toBeGreaterThan(10);
    const all = Array.from({ length: requests }, (_, request): Kill => ({ request, when }));
    const kills = selectEvenly(how === 'of a plan file' ? all.filter(isSelected) : all);
    await runInParallel(kills, 3, (kill) => expectRecoveryFrom({ kill, how }, scene, manifests));
  }

  async function countRequests(scene: Scene, manifests: string, how: How): Promise<number> {
    let requests = 0;
    const server = openServer(scene.seed);
    const count: Transport = async (request) => {
      if (canKillAt(request, how)) requests += 1;
      return server.handle(request);
    };
    const { exitCode, stderr } = await edgewise(count, ['apply', manifests, ...toFlags(copyTokens(scene))]);
    expect(exitCode, stderr).toBe(0);
    return requests;
  }

  function copyTokens({ tokens }: Scene): string {
    const copy = mkdtempSync(join(folder, 'copy-'));
    if (tokens !== nothing.tokens) cpSync(tokens, copy, { recursive: true });
    return copy;
  }

  async function expectRecoveryFrom(
    { kill, how }: { readonly kill: Kill; readonly how: How },
    scene: Scene,
    manifests: string,
  ): Promise<void> {
    const [server, tokens, issued] = [openServer(scene.seed), copyTokens(scene), new Map<string, string>()];
    const transport = withTokensNoted(server.handle, issued);
    const about = `killed ${kill.when} to request ${kill.request}`;
    const killed = await applyUntilKilled({ kill, how, manifests, tokens, transport });
    expect(killed.signal, about).toBe('SIGKILL');
    setFilesOneHourOld(tokens);

    const again = await edgewise(transport, killed.line, killed.url);
    expect(again.exitCode, `${about}, the next apply printed:\n${again.stdout}${again.stderr}`).toBe(0);
    const plan = await edgewise(transport, ['plan', manifests, '--detailed-exitcode']);
    expect(plan.exitCode, `${about}, the plan after that printed:\n${plan.stdout}${plan.stderr}`).toBe(0);

    const { resources } = server.snapshot();
    expect(mapForeignResources(resources), about).toEqual(mapForeignResources(scene.seed.resources ?? {}));
    const owned = listOwned(resources, STACK);
    expect(owned.map(({ address }) => address).sort(), about).toEqual(await listDesiredAddresses(manifests));
    const credentials = owned.filter(({ kind }) => kind === CREDENTIAL.name);
    expect(readdirSync(tokens).sort(), about).toEqual(credentials.map(({ address }) => toTokenFile(address)).sort());
    for (const { address, id } of credentials) {
      const token = readFileSync(join(tokens, toTokenFile(address)), 'utf8').trim();
      // A token from before the kill belongs to a credential that stayed.
      if (issued.has(id)) expect(token, about).toBe(issued.get(id));
      else expect(token, about).toContain(id.replace('cr_', ''));
    }
  }
});

/** An apply of manifests, or of a plan that was saved beside the tokens. */
async function prepareApply({ how, manifests, tokens, transport }: Victim, url: string): Promise<readonly string[]> {
  if (how === 'of manifests') return ['apply', manifests, ...toFlags(tokens)];
  const file = `${tokens}.plan.json`;
  const [, ...flags] = toFlags(tokens);
  const { exitCode, stderr } = await edgewise(transport, ['plan', manifests, '-o', file, ...flags], url);
  expect(exitCode, stderr).toBe(0);
  return ['apply', manifests, '--approved', file, ...toFlags(tokens)];
}

interface Victim {
  readonly kill: Kill;
  readonly how: How;
  readonly manifests: string;
  readonly tokens: string;
  readonly transport: Transport;
}

/** Runs an apply as a process, and kills it. Returns its words, the service that it used, and the signal by which it ended. */
async function applyUntilKilled(victim: Victim) {
  const { kill, how, transport } = victim;
  let requests = 0;
  let last: Request | undefined;
  const die = (): void => void child.kill('SIGKILL');
  const deadly: Transport = async (request) => {
    if (!canKillAt(request, how) || requests++ !== kill.request) return transport(request);
    last = request;
    if (kill.when === 'after the response') return transport(request);
    await transport(request);
    die();
    throw new Error('The service has ended');
  };
  const listening = await startSocketServer(deadly, (request) => {
    if (request === last) die();
  });
  const env = { EDGEWISE_BASE_URL: listening.url, EDGEWISE_API_KEY: API_KEY };
  const line = await prepareApply(victim, listening.url);
  const { child, ended } = startEdgewise(line, env);
  await ended;
  await listening.close();
  return { line, url: listening.url, signal: child.signalCode };
}

function openServer(seed: ServerSeed): Server {
  return createServer({ apiKeys: [parseApiKey(`${API_KEY}:admin`)], seed: { externals: EXTERNAL_IDS, ...seed } });
}

/** Runs a command line in this process, which takes a fraction of the time. */
async function edgewise(transport: Transport, argv: readonly string[], url: string = BASE_URL) {
  const env = { EDGEWISE_API_KEY: API_KEY, EDGEWISE_BASE_URL: url };
  return runCommand(argv, { cwd: process.cwd(), transport, env, now: () => new Date() });
}

function toFlags(tokens: string): readonly string[] {
  return ['--yes', '--no-rehearsal', '--token-directory', tokens];
}

/** Makes the files of a folder an hour old, because no process still writes a file that is older than a minute. */
function setFilesOneHourOld(tokens: string): void {
  const then = new Date(Date.now() - 3_600_000);
  for (const name of readdirSync(tokens)) utimesSync(join(tokens, name), then, then);
}

function toTokenFile(address: string): string {
  return `${address.split('/')[1]}.token`;
}

/** Records the token of each created credential, by id. */
function withTokensNoted(transport: Transport, issued: Map<string, string>): Transport {
  return async (request) => {
    const response = await transport(request);
    if (request.method !== 'POST' || !new URL(request.url).pathname.endsWith(CREDENTIAL.path)) return response;
    const made: unknown = await response.clone().json();
    if (isJsonObject(made)) issued.set(String(made['id']), String(made['token']));
    return response;
  };
}

async function listDesiredAddresses(manifests: string): Promise<readonly string[]> {
  const { sources } = await readManifestFiles([manifests], {
    cwd: process.cwd(),
    uid: process.getuid?.(),
    readStdin: async () => Buffer.from(''),
  });
  const { state, diagnostics } = validateManifests(sources, { env: NO_ENVIRONMENT });
  return listWanted(assertDefined(state, JSON.stringify(diagnostics)));
}

/** Runs a task for each value, at most `width` at once. */
async function runInParallel<T>(values: readonly T[], width: number, task: (value: T) => Promise<void>): Promise<void> {
  const left = values.values();
  const work = async (): Promise<void> => {
    for (const value of left) await task(value);
  };
  await Promise.all(Array.from({ length: width }, work));
}
