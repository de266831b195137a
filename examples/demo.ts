import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Plan } from '../src/model/plan.ts';
import { HAND_CHANGE, LINE_CHANGE } from './demo-changes.ts';

/**
 * `npm run demo`: a change of examples/quickstart from the manifest to the service, on the embedded server, in a temporary folder. Prints each
 * command before its output. Fails when a command does not end as it should, or when a plan is not the expected one.
 */

const PROGRAM = join(import.meta.dirname, '../src/cli/main.ts');
const BASE_URL = 'embedded:account.json';
const folder = mkdtempSync(join(tmpdir(), 'edgewise-demo-'));
/** Without the user's settings, which would change the output. */
const ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EDGEWISE_'))),
  EDGEWISE_BASE_URL: BASE_URL,
};
const PLAN_ARGS = ['plan', 'manifests', '-o', 'plan.json'];
const APPLY_ARGS = ['apply', 'manifests', '--compact', '--yes'];
const STALE = 6;

/** What a plan is expected to do: the action of each address that is not left alone, with the paths that differ and whose difference it is. */
type Expected = Readonly<Record<string, string>>;

const NEXT = `
── Now you ──
npm run try        the same in a page, where the plan answers while you type
docs/tutorial.md   the whole story, from an account made by clicks
npx --no-install edgewise init --name try --base-url embedded:   your own stack`;

const children = new Set<ChildProcess>();

process.once('SIGINT', () => stop(130));
process.once('SIGTERM', () => stop(143));

try {
  await demonstrate();
  console.log(NEXT);
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  cleanUp();
}

async function demonstrate(): Promise<void> {
  cpSync(join(import.meta.dirname, 'quickstart'), join(folder, 'manifests'), { recursive: true });
  cpSync(join(import.meta.dirname, 'account.json'), join(folder, 'account.json'));
  title('A manifest says what should be live, and an apply makes it so');
  console.log(
    readManifest(LINE_CHANGE.file)
      .replace(/^#.*\n/, '')
      .trimEnd(),
  );
  console.log();
  await edgewise(APPLY_ARGS, { shown: 'last line' });

  title('A line is changed: the plan is what a reviewer approves');
  changeLine(LINE_CHANGE);
  console.log();
  await edgewise(PLAN_ARGS);
  expectPlan({ 'WeightedBackend/postgres-pool': `update backends.${readBlueId()} (manifest)` });

  title('The edge is changed by hand: nobody approved that, so nothing is written');
  await changeByHand();
  console.log();
  await edgewise(['apply', 'manifests', '--approved', 'plan.json', '--yes'], { exitCode: STALE });

  title('The next plan says which change is whose, and reverts the one by hand');
  await edgewise(APPLY_ARGS);

  title('Nothing is left to do');
  await edgewise(PLAN_ARGS);
  expectPlan({});
}

/** The part of a plan file that the demo compares. */
interface SavedPlans {
  readonly stacks: readonly { readonly plan: Pick<Plan, 'changes'> }[];
}

/** Compares the saved plan with what it is expected to be. */
function expectPlan(expected: Expected): void {
  const saved: SavedPlans = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'));
  const touched = saved.stacks.flatMap(({ plan }) => plan.changes).filter(({ action }) => action !== 'no-op');
  const found = touched.map(({ address, action, differences }): [string, string] => {
    return [address, [action, ...differences.map(({ path, origin }) => `${path} (${origin})`)].join(' ')];
  });
  expectSame('the plan', JSON.stringify(Object.fromEntries(found)), JSON.stringify(expected));
}

interface Ending {
  readonly exitCode?: number;
  readonly shown?: 'all' | 'last line';
}

/** Runs a command line in the folder, in the open. Its progress is shown only if it fails. */
async function edgewise(args: readonly string[], { exitCode = 0, shown = 'all' }: Ending = {}): Promise<void> {
  console.log(`$ edgewise ${args.join(' ')}${shown === 'all' ? '' : ' | tail -n 1'}`);
  const child = start(args, shown === 'all' ? 'inherit' : 'pipe');
  const [output, progress]: [string[], string[]] = [[], []];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => progress.push(text));
  const [ended] = await once(child, 'close');
  if (ended !== exitCode) process.stderr.write(progress.join(''));
  expectSame(`the exit code of edgewise ${args[0]}`, ended, exitCode);
  if (shown === 'last line') console.log(output.join('').trimEnd().split('\n').at(-1));
  if (exitCode !== 0) console.log(`(exit code ${ended})`);
}

function start(args: readonly string[], stdout: 'inherit' | 'pipe'): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', stdout, 'pipe'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** Serves the account over HTTP for one PATCH, as any other program would send it. */
async function changeByHand(): Promise<void> {
  const server = start(['serve', '--port', '0', '--snapshot', 'account.json', '--api-key', 'someone'], 'pipe');
  const url = await readUrl(server);
  const [edge] = (await send('GET', `${url}/edges/tcp`)).tcp_edges ?? [];
  const path = `/edges/tcp/${edge?.id}`;
  console.log(`> PATCH ${path} ${JSON.stringify(HAND_CHANGE)}`);
  await send('PATCH', `${url}${path}`, HAND_CHANGE);
  server.kill('SIGTERM');
  const [exitCode] = await once(server, 'exit');
  expectSame('the exit code of edgewise serve', exitCode, 0);
}

async function readUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout !== null)
    for await (const line of createInterface({ input: stdout })) {
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
  const headers = { authorization: 'Bearer someone', 'service-version': '2', 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: text });
  expectSame(`the answer to ${method}`, response.status, 200);
  return JSON.parse(await response.text());
}

function changeLine({ file, from, to }: typeof LINE_CHANGE): void {
  const text = readManifest(file);
  expectSame(`the number of lines "${from}"`, text.split(from).length - 1, 1);
  writeFileSync(join(folder, 'manifests', file), text.replace(from, to));
  console.log(`manifests/${file}\n-    ${from}\n+    ${to}`);
}

function readBlueId(): string {
  const [, id = ''] = /\n {2}id: (\S+)/.exec(readManifest('external-blue.yaml')) ?? [];
  return id;
}

function readManifest(file: string): string {
  return readFileSync(join(folder, 'manifests', file), 'utf8');
}

function expectSame(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what} is ${found}, and ${expected} was expected.`);
}

function title(text: string): void {
  console.log(`\n── ${text} ──`);
}

function stop(exitCode: number): void {
  cleanUp();
  process.exit(exitCode);
}

function cleanUp(): void {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
