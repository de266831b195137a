import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Plan } from '../src/model/plan.ts';
import type { ServerSnapshot } from '../src/server/index.ts';
import { HAND_CHANGE, LINE_CHANGE } from './demo-changes.ts';

/**
 * `npm run demo`: the life of examples/quickstart on the embedded server, from nothing to nothing, in a temporary folder.
 * Prints each command before its output. Fails when a command does not end as it should, or when a plan is not the expected one.
 */

const PROGRAM = join(import.meta.dirname, '../src/cli/main.ts');
const BASE_URL = 'embedded:account.json';
const folder = mkdtempSync(join(tmpdir(), 'edgewise-demo-'));
/** Without the user's settings, which would change the output. */
const ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EDGEWISE_'))),
  EDGEWISE_BASE_URL: BASE_URL,
};
const PLAN_ARGS = ['plan', 'manifests', '-o', 'plan.json', '--detailed-exitcode'];
const APPLY_ARGS = ['apply', 'plan.json', '--manifests', 'manifests', '--yes'];
const NO_CHANGES = 0;
const CHANGES = 2;

/** What a plan is expected to do: the action of each address that is not left alone, with the paths that differ and whose difference it is. */
type Expected = Readonly<Record<string, string>>;

const children = new Set<ChildProcess>();

process.once('SIGINT', () => stop(130));
process.once('SIGTERM', () => stop(143));

try {
  await demonstrate();
  console.log('\nThat is all: every step ended as it should.');
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  cleanUp();
}

async function demonstrate(): Promise<void> {
  cpSync(join(import.meta.dirname, 'quickstart'), join(folder, 'manifests'), { recursive: true });
  cpSync(join(import.meta.dirname, 'account.json'), join(folder, 'account.json'));
  title('Three resources, described in YAML');
  for (const name of ['postgres', 'postgres-pool', 'dashboard'])
    console.log(`\n${readFileSync(join(folder, `manifests/${name}.yaml`), 'utf8').trimEnd()}`);
  console.log(`\n$ export EDGEWISE_BASE_URL=${BASE_URL}`);
  await edgewise(['validate', 'manifests']);

  title('A plan says what would be done, and applying it does that and nothing else');
  await plan({
    'IPRestriction/dashboard': 'create',
    'TCPEdge/postgres': 'create',
    'WeightedBackend/postgres-pool': 'create',
  });
  await edgewise(APPLY_ARGS);

  title('Nothing is left to do');
  await plan({});

  title('Somebody changes the edge by hand, behind the back of git');
  await changeBehindGit();

  title('The next plan shows it, and says that it did not come from the manifests');
  await plan({ 'TCPEdge/postgres': 'update hostports (drift)' });
  await edgewise(APPLY_ARGS);

  title('A line in the manifests is changed');
  changeLine(LINE_CHANGE);
  await plan({ 'WeightedBackend/postgres-pool': `update backends.${readBlueId()} (manifest)` });
  await edgewise(APPLY_ARGS);
  await plan({});

  title('And all of it is deleted again');
  await edgewise(['destroy', 'manifests', '--yes']);
  const { resources }: ServerSnapshot = JSON.parse(readFileSync(join(folder, 'account.json'), 'utf8'));
  expectSame('the number of resources that are left', Object.values(resources).flat().length, 0);
}

/** Plans, and holds the plan against what it is expected to be. */
async function plan(expected: Expected): Promise<void> {
  const exitCode = Object.keys(expected).length === 0 ? NO_CHANGES : CHANGES;
  await edgewise(PLAN_ARGS, exitCode);
  const { changes }: Plan = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'));
  const touched = changes.filter(({ action }) => action !== 'no-op');
  const found = touched.map(({ address, action, differences }): [string, string] => {
    return [address, [action, ...differences.map(({ path, origin }) => `${path} (${origin})`)].join(' ')];
  });
  expectSame('the plan', JSON.stringify(Object.fromEntries(found)), JSON.stringify(expected));
}

/** Runs a command line in the folder, in the open. */
async function edgewise(args: readonly string[], expected = 0): Promise<void> {
  console.log(`\n$ edgewise ${args.join(' ')}`);
  const child = start(args, 'inherit');
  const [exitCode] = await once(child, 'exit');
  expectSame(`the exit code of edgewise ${args[0]}`, exitCode, expected);
  if (expected !== 0) console.log(`(exit code ${exitCode}: there are changes)`);
}

function start(args: readonly string[], stdout: 'inherit' | 'pipe'): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', stdout, stdout === 'pipe' ? 'ignore' : 'inherit'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Serves the account over HTTP for one PATCH, as any other program would send it. */
async function changeBehindGit(): Promise<void> {
  const args = ['serve', '--port', '0', '--snapshot', 'account.json', '--api-key', 'someone'];
  console.log(`\n$ edgewise ${args.join(' ')}`);
  const server = start(args, 'pipe');
  const url = await readUrl(server);
  const [edge] = (await send('GET', `${url}/edges/tcp`)).tcp_edges ?? [];
  await send('PATCH', `${url}/edges/tcp/${edge?.id}`, HAND_CHANGE);
  server.kill('SIGTERM');
  const [exitCode] = await once(server, 'exit');
  expectSame('the exit code of edgewise serve', exitCode, 0);
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout !== null)
    for await (const line of createInterface({ input: stdout })) {
      console.log(line);
      const [url] = /http:\/\/\S+/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
  throw new Error('the server ended before it was ready');
}

interface EdgeList {
  readonly tcp_edges?: readonly { readonly id: string }[];
}

async function send(method: string, url: string, body?: object): Promise<EdgeList> {
  const text = body === undefined ? null : JSON.stringify(body);
  console.log(`\n> ${method} ${url}${text === null ? '' : `\n> ${text}`}`);
  const headers = { authorization: 'Bearer someone', 'service-version': '2', 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: text });
  console.log(`< ${response.status} ${response.statusText}`);
  expectSame(`the answer to ${method}`, response.status, 200);
  return JSON.parse(await response.text());
}

function changeLine({ file, from, to }: typeof LINE_CHANGE): void {
  const path = join(folder, 'manifests', file);
  const text = readFileSync(path, 'utf8');
  expectSame(`the number of lines "${from}"`, text.split(from).length - 1, 1);
  writeFileSync(path, text.replace(from, to));
  console.log(`\nmanifests/${file}\n-    ${from}\n+    ${to}`);
}

function readBlueId(): string {
  const text = readFileSync(join(folder, 'manifests/external-blue.yaml'), 'utf8');
  const [, id = ''] = /\n {2}id: (\S+)/.exec(text) ?? [];
  return id;
}

function expectSame(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what} is ${found}, and ${expected} was expected.`);
}

function title(text: string): void {
  console.log(`\n── ${text} ${'─'.repeat(Math.max(0, 90 - text.length))}`);
}

function stop(exitCode: number): void {
  cleanUp();
  process.exit(exitCode);
}

function cleanUp(): void {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
