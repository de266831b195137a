import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HAND_CHANGE, LINE_CHANGE } from '../examples/demo-changes.ts';
import { createServer, parseApiKey } from '../src/server/index.ts';
import { type CommandResult, runCommand } from '../test/cli/fake-context.ts';
import { renderTerminalSvg } from './terminal-svg.ts';

/** Where the pictures of the README are. */
export const PICTURES = 'docs/images';

/** What the pictures show, made of the demo with its clock standing still. */
export interface Pictures {
  /** The plan in a terminal, as SVG. */
  readonly plan: string;
  /** The review page of that plan, as HTML: the other pictures are screenshots of it. */
  readonly page: string;
}

const NOW = new Date('2026-03-01T12:00:00Z');
const BASE_URL = 'https://api.example.com';
const COLUMNS = 96;
const PLAN = 'plan manifests -o plan.json';

/** Makes a plan of the demo's stack after both of its changes. The same each time. */
export async function makePictures(): Promise<Pictures> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-pictures-'));
  try {
    return await makePicturesIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What stands beside the screenshots, and says of which page they are. */
export function toPageDigest({ page }: Pictures): string {
  return `${createHash('sha256').update(page).digest('hex')}\n`;
}

async function makePicturesIn(folder: string): Promise<Pictures> {
  cpSync('examples/quickstart', join(folder, 'manifests'), { recursive: true });
  const seed = JSON.parse(readFileSync('examples/account.json', 'utf8'));
  const server = createServer({ now: () => NOW, idSeed: 'demo', apiKeys: [parseApiKey('dev:admin')], seed });
  const edgewise = async (line: string, expected: number): Promise<CommandResult> => {
    const env = { EDGEWISE_BASE_URL: BASE_URL };
    const options = { cwd: folder, env, now: () => NOW, transport: server.handle, terminal: COLUMNS };
    const result = await runCommand(line.split(' '), options);
    if (result.exitCode === expected) return result;
    throw new Error(`edgewise ${line} ended with ${result.exitCode}: ${result.stderr}`);
  };
  await edgewise('apply manifests --yes', 0);
  const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
  const headers = { authorization: 'Bearer dev', 'content-type': 'application/json', 'service-version': '2' };
  const body = JSON.stringify(HAND_CHANGE);
  await server.handle(new Request(`${BASE_URL}/edges/tcp/${edge?.['id']}`, { method: 'PATCH', headers, body }));
  const file = join(folder, 'manifests', LINE_CHANGE.file);
  writeFileSync(file, readFileSync(file, 'utf8').replace(LINE_CHANGE.from, LINE_CHANGE.to));
  const { stdout } = await edgewise(`${PLAN} --report html=plan.html`, 0);
  const plan = renderTerminalSvg(`\u001b[2m$ edgewise ${PLAN}\u001b[22m\n${stdout}`, 'edgewise plan in a terminal');
  return { plan, page: readFileSync(join(folder, 'plan.html'), 'utf8') };
}
