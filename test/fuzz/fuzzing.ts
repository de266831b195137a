import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createServer, parseApiKey, type Server, type ServerSeed } from '../../src/server/index.ts';
import { type CommandResult, type FakeOptions, NOW, runCommand } from '../cli/fake-context.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';
import { withWatchdog } from './watchdog.ts';

const EVERYTHING = 'examples/everything';

/** A unique text, so that a search finds it. */
export const API_KEY = 'Zq8-fuzz-key-3fK1';

/** Creates a folder, which is deleted after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-fuzz-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Creates a folder with a copy of `examples/everything` in one file, `manifests.yaml`, and its certificates. It is in a repository, because the
 * manifests name a folder outside of their own.
 */
export function createEverything(): { readonly folder: string; readonly manifests: string } {
  const repository = createFolder();
  const folder = join(repository, 'everything');
  execFileSync('git', ['init', '--quiet', repository]);
  writeFileSync(join(repository, '.gitignore'), 'tokens/\n');
  mkdirSync(folder);
  const files = globSync('*.yaml', { cwd: EVERYTHING }).sort().map(readExample);
  const manifests = files.join('---\n');
  writeFileSync(join(folder, 'manifests.yaml'), manifests);
  writeFileSync(join(folder, 'authorities.pem'), readExample('authorities.pem'));
  return { folder, manifests };
}

/** A file of `examples/everything`. */
export function readExample(name: string): string {
  return readFileSync(join(EVERYTHING, name), 'utf8');
}

/** Opens a server that accepts the key of these tests. */
export function openServer(seed: ServerSeed = {}): Server {
  return createServer({
    now: () => NOW,
    idSeed: 'fuzz',
    apiKeys: [parseApiKey(`${API_KEY}:admin`)],
    seed: { externals: EXTERNAL_IDS, ...seed },
  });
}

/** Applies `examples/everything`. Returns the account, and its plan file. */
export async function applyEverything(): Promise<{ readonly seed: ServerSeed; readonly plan: string }> {
  const { folder } = createEverything();
  const { handle, snapshot } = openServer();
  const env = { EDGEWISE_API_KEY: API_KEY };
  for (const line of ['plan manifests.yaml -o plan.json', 'apply manifests.yaml --approved plan.json --yes']) {
    const { exitCode, stderr } = await runCommand(line.split(' '), { cwd: folder, transport: handle, env });
    expect(exitCode, stderr).toBe(0);
  }
  return { seed: snapshot(), plan: readFileSync(join(folder, 'plan.json'), 'utf8') };
}

/** The result of a command with fuzzed input. */
export interface FuzzResult extends CommandResult {
  /** Requests that are not GETs. */
  readonly writes: number;
}

/** The input of a command, in addition to the files in its folder. */
export interface FuzzInput extends Partial<FakeOptions> {
  readonly folder: string;
  /** Shown if the command hangs. */
  readonly fed: unknown;
}

/**
 * Runs a command line on input that may be invalid. Expects that it ends, with an exit code other than 70, shows no key, and writes nothing if
 * it reports bad input.
 */
export async function runWithInput(
  argv: readonly string[],
  { folder, fed, transport, ...options }: FuzzInput,
): Promise<FuzzResult> {
  const inner = transport ?? openServer().handle;
  let writes = 0;
  const counting: Transport = async (request) => {
    if (request.method !== 'GET') writes += 1;
    return inner(request);
  };
  const env = { EDGEWISE_API_KEY: API_KEY, ...options.env };
  const result = await withWatchdog(`${argv.join(' ')}\n${toText(fed)}`, () =>
    runCommand(argv, { cwd: folder, ...options, env, transport: counting }),
  );
  const shown = `${result.stdout}${result.stderr}`;
  expect(result.exitCode, shown).not.toBe(70);
  expect(shown).not.toContain(API_KEY);
  if (REFUSALS.includes(result.exitCode)) expect(writes, shown).toBe(0);
  return { ...result, writes };
}

/** Exit codes of a run that wrote nothing: bad input, a safety rule, a stale plan. */
const REFUSALS: readonly number[] = [3, 5, 6];

function toText(fed: unknown): string {
  return Buffer.isBuffer(fed) ? fed.toString('latin1') : (JSON.stringify(fed) ?? '');
}
