import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HAND_CHANGE, LINE_CHANGE } from '../examples/demo-changes.ts';
import { MARK } from '../src/report/html/face.ts';
import { createServer, parseApiKey } from '../src/server/index.ts';
import { type CommandResult, runCommand } from '../test/cli/fake-context.ts';
import { renderTerminalSvg } from './terminal-svg.ts';

/** The folder of the pictures in the README and the tutorial. */
export const PICTURES = 'docs/images';

/** The contents of the pictures: from the demo and the tutorial, on a clock that stands still. */
export interface Pictures {
  /** The plan in a terminal, as SVG. */
  readonly plan: string;
  /** The mark, in the size for the README, as SVG. */
  readonly mark: string;
  /** The review page of that plan, as HTML. */
  readonly page: string;
  /** The review page of the pull request in the tutorial. The other pictures are screenshots of these two. */
  readonly tutorial: string;
}

const NOW = new Date('2026-03-01T12:00:00Z');
const BASE_URL = 'https://api.example.com';
const COLUMNS = 96;
const PLAN = 'plan manifests -o plan.json';

/** Runs the demo up to the plan after both of its changes, and the tutorial up to its review. The result is always the same. */
export async function createPictures(): Promise<Pictures> {
  const mark = `${MARK.replace('<svg ', '<svg width="56" height="56" ')}\n`;
  return { ...(await withTemporaryFolder(runDemo)), mark, tutorial: await withTemporaryFolder(runTutorial) };
}

/** A digest of the pages, which is saved with the screenshots. */
export function toPageDigest({ page, tutorial }: Pictures): string {
  return `${createHash('sha256').update(page).update(tutorial).digest('hex')}\n`;
}

async function withTemporaryFolder<T>(play: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-pictures-'));
  try {
    return await play(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runDemo(folder: string): Promise<Pick<Pictures, 'plan' | 'page'>> {
  cpSync('examples/quickstart', join(folder, 'manifests'), { recursive: true });
  const { server, edgewise } = openAccount(folder, 'examples/account.json');
  await edgewise('apply manifests --yes');
  const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json', 'service-version': '2' };
  const body = JSON.stringify(HAND_CHANGE);
  await server.handle(new Request(`${BASE_URL}/edges/tcp/${edge?.['id']}`, { method: 'PATCH', headers, body }));
  changeFile(join(folder, 'manifests', LINE_CHANGE.file), LINE_CHANGE.from, LINE_CHANGE.to);
  const { stdout } = await edgewise(`${PLAN} --report html=plan.html`);
  const plan = renderTerminalSvg(`\u001b[2m$ edgewise ${PLAN}\u001b[22m\n${stdout}`, 'edgewise plan in a terminal');
  return { plan, page: readFileSync(join(folder, 'plan.html'), 'utf8') };
}

/** Runs the commands of docs/tutorial.md up to its fifth step. */
async function runTutorial(folder: string): Promise<string> {
  const { edgewise } = openAccount(folder, 'examples/tutorial/account.json');
  await edgewise('export -o ingress --owner shop');
  rmSync(join(folder, 'ingress/tcp-edge/demo-for-tuesday.yaml'));
  await edgewise('apply ingress --yes');
  changeFile(join(folder, 'ingress/weighted-backend/postgres-pool.yaml'), /: (90|10)$/gm, ': 50');
  changeFile(join(folder, 'ingress/tcp-edge/postgres.yaml'), / {2}ip_restriction:[\s\S]*?External.*\n/, '');
  await edgewise('plan ingress -o plan.json --report html=review.html');
  return readFileSync(join(folder, 'review.html'), 'utf8');
}

function openAccount(folder: string, seedFile: string) {
  const seed = JSON.parse(readFileSync(seedFile, 'utf8'));
  const server = createServer({ now: () => NOW, idSeed: 'demo', apiKeys: [parseApiKey('dev:admin')], seed });
  const edgewise = async (line: string): Promise<CommandResult> => {
    const env = { EDGEWISE_BASE_URL: BASE_URL };
    const options = { cwd: folder, env, now: () => NOW, transport: server.handle, terminal: COLUMNS };
    const result = await runCommand(line.split(' '), options);
    if (result.exitCode === 0) return result;
    throw new Error(`edgewise ${line} ended with ${result.exitCode}: ${result.stderr}`);
  };
  return { server, edgewise };
}

function changeFile(file: string, from: string | RegExp, to: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}
