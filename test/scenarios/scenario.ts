import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isJsonObject } from '../../src/model/json.ts';
import { createServer, parseApiKey, type Server } from '../../src/server/index.ts';
import { BASE_URL, type CommandResult, NOW, runCommand } from '../cli/fake-context.ts';
import { createRecorder, type SentRequest } from '../cli/recorder.ts';

/**
 * A scenario is a folder that is read as prose: `manifest.yaml` is what git says, `live.yaml` how live came to be what it is,
 * `plan.txt`, `requests.txt` and `apply.txt` what edgewise does about it. Everything runs as in life, on a bundled server with a
 * fixed clock and seeded ids.
 */
export interface Scenario {
  readonly name: string;
  readonly folder: string;
}

/** How live came to be what it is, and what is special about the run. All optional. */
interface Setup {
  /** Done one after another before anything is planned. */
  readonly steps?: readonly Step[];
  /** More words for `plan` and for `apply`. */
  readonly plan?: readonly string[];
  readonly apply?: readonly string[];
  /** Done between the plan, which is then saved and applied as a file, and the apply. */
  readonly between?: readonly Step[];
  readonly env?: Readonly<Record<string, string>>;
  /** API keys of the server; the first is used. */
  readonly keys?: readonly string[];
  /** Objects that the server starts with. */
  readonly seed?: Readonly<Record<string, unknown>>;
  /** False where the point is that the apply does not lead to an empty plan. */
  readonly converges?: boolean;
}

/** `apply`: a file beside `live.yaml` is applied. `request`: somebody else calls the API; `{Kind/name}` in it is the id of that resource. */
type Step = { readonly apply: string } | { readonly request: string; readonly body?: unknown };

/** What a scenario did. */
export interface Played {
  readonly plan: CommandResult;
  readonly planRequests: readonly SentRequest[];
  readonly apply: CommandResult;
  readonly applyRequests: readonly SentRequest[];
  /** A plan after the apply. */
  readonly again: CommandResult;
  readonly converges: boolean;
}

const ROOT = new URL('.', import.meta.url).pathname;

/** Every scenario, by name. */
export function listScenarios(): readonly Scenario[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, folder: join(ROOT, name) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Plays a scenario from an empty server to the plan after its apply. */
export async function playScenario({ folder }: Scenario): Promise<Played> {
  const setup = await readSetup(folder);
  const cwd = await mkdtemp(join(tmpdir(), 'edgewise-scenario-'));
  try {
    for (const name of readdirSync(folder)) await symlink(join(folder, name), join(cwd, name));
    return await play(setup, cwd);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

async function readSetup(folder: string): Promise<Setup> {
  const file = join(folder, 'live.yaml');
  return existsSync(file) ? (parse(await readFile(file, 'utf8')) ?? {}) : {};
}

async function play(setup: Setup, cwd: string): Promise<Played> {
  let second = 0;
  const now = () => new Date(NOW.getTime() + 1000 * second);
  const keys = setup.keys ?? ['dev:admin'];
  const server = createServer({
    now,
    idSeed: 'scenario',
    apiKeys: keys.map(parseApiKey),
    ...(setup.seed && { seed: setup.seed }),
  });
  const recorder = createRecorder(server.handle);
  const env = { EDGEWISE_API_KEY: keys[0]?.split(':')[0] ?? 'dev', ...setup.env };
  const edgewise = (argv: readonly string[]) => runCommand(argv, { cwd, transport: recorder.transport, env, now });
  const take = async (steps: readonly Step[] = []) => {
    for (const step of steps) {
      second += 60;
      if ('apply' in step)
        await mustSucceed(edgewise(['apply', step.apply, '--yes', '--allow-deletes', '--token-directory', 'tokens']));
      else await call(server, env.EDGEWISE_API_KEY, step);
    }
    second += 60;
  };
  await take(setup.steps);
  recorder.take();
  const saved = setup.between === undefined ? [] : ['-o', 'plan.json'];
  const plan = await edgewise(['plan', 'manifest.yaml', ...saved, ...(setup.plan ?? [])]);
  const planRequests = recorder.take();
  await take(setup.between);
  recorder.take();
  const subject = setup.between === undefined ? ['manifest.yaml', ...(setup.plan ?? [])] : ['plan.json'];
  const apply = await edgewise(['apply', ...subject, '--yes', ...(setup.apply ?? [])]);
  const applyRequests = recorder.take();
  second += 60;
  const again = await edgewise(['plan', 'manifest.yaml', '--detailed-exitcode', ...(setup.plan ?? [])]);
  return { plan, planRequests, apply, applyRequests, again, converges: setup.converges ?? true };
}

async function mustSucceed(command: Promise<CommandResult>): Promise<void> {
  const { exitCode, stdout, stderr } = await command;
  if (exitCode !== 0) throw new Error(`A step before the plan failed with ${exitCode}:\n${stdout}${stderr}`);
}

/** A call by somebody else. */
async function call(
  server: Server,
  key: string,
  step: { readonly request: string; readonly body?: unknown },
): Promise<void> {
  const [method = '', path = ''] = step.request.split(' ');
  const filled = await fillIds(server, key, path);
  const body = step.body === undefined ? undefined : await fillIds(server, key, JSON.stringify(step.body));
  const response = await server.handle(toRequest(key, method, filled, body));
  if (response.status >= 300)
    throw new Error(`${step.request} was answered with ${response.status}: ${await response.text()}`);
}

function toRequest(key: string, method: string, path: string, body?: string): Request {
  const headers = { authorization: `Bearer ${key}`, 'service-version': '2', 'content-type': 'application/json' };
  return new Request(`${BASE_URL}${path}`, { method, headers, ...(body !== undefined && { body }) });
}

/** Fills in `{Kind/name}`: the id of the live resource whose mark says so. */
async function fillIds(server: Server, key: string, text: string): Promise<string> {
  let filled = text;
  for (const [token, kind = '', name = ''] of text.matchAll(/\{(\w+)\/([\w.-]+)\}/g))
    filled = filled.replace(token, await findId(server, key, { kind, name }));
  return filled;
}

const LISTS: Readonly<Record<string, string>> = {
  TCPEdge: '/edges/tcp',
  WeightedBackend: '/backends/weighted',
  IPRestriction: '/ip_restrictions',
  AgentIngress: '/agent_ingresses',
  Credential: '/credentials',
  SSHUserCertificate: '/ssh_user_certificates',
};

async function findId(
  server: Server,
  key: string,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<string> {
  const list: unknown = await (await server.handle(toRequest(key, 'GET', LISTS[kind] ?? '/'))).json();
  const resources = Object.values(isJsonObject(list) ? list : {})
    .flat()
    .filter(isJsonObject);
  const found = resources.find(({ metadata }) => String(metadata).includes(`"name":"${name}"`));
  if (found === undefined) throw new Error(`No ${kind} bears the mark of ${name}.`);
  return String(found['id']);
}
