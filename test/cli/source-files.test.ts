import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Composer } from 'yaml';
import { commitAll, toStack } from '../repository/tree.ts';
import { createWorkspace, toEdge } from './workspace.ts';

/** Each manifest is read once and composed once for each making of a plan, whatever looks into it. */

const FILES = {
  'edgewise.yaml':
    'apiVersion: edgewise/v1\nkind: Defaults\nspec: { skip_files: ["**/chart.yaml"], api: { base_url: "embedded:account.json" } }\n',
  'live/web/web.yaml': toStack('web'),
  'live/web/chart.yaml': 'name: x\nversion: 1\nkind: { a: b }\n',
  'live/web/edges/a.yaml': toEdge('a', 20_001),
  // A key without a value: reports quote its line.
  'live/web/edges/b.yaml':
    'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: b }\nspec:\n  hostports: ["1.tcp.example.net:20002"]\n  backend:\n',
  'live/shop/shop.yaml': toStack('shop'),
  'live/shop/c.yaml': toEdge('c', 20_003),
};
const NAMES = Object.keys(FILES).map((path) => basename(path));

let opened: ReturnType<typeof countOpened>;

beforeEach(() => {
  opened = countOpened();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Counts what the program opens. */
function countOpened() {
  const spy = vi.spyOn(fs, 'openSync');
  syncBuiltinESMExports();
  return spy;
}

async function countWork(line: string) {
  const workspace = await createWorkspace(FILES);
  commitAll(workspace.folder);
  const compose = vi.spyOn(Composer.prototype, 'compose');
  opened.mockClear();
  const { exitCode, stdout, stderr } = await workspace.edgewise(line);
  const reads = opened.mock.calls.map(([path]) => basename(String(path))).filter((name) => NAMES.includes(name));
  return { exitCode, reads: reads.toSorted(), composed: compose.mock.calls.length, text: `${stdout}${stderr}` };
}

it.each([
  ['validate live/web', 0],
  ['validate -R live', 0],
  ['plan live/web', 0],
  ['plan -R live', 0],
  ['drift live/web', 2],
  ['apply live/web --yes', 0],
  ['apply -R live --yes', 0],
])('%s reads each manifest once, and composes it once', async (line, exitCode) => {
  const work = await countWork(line);
  expect(work, work.text).toMatchObject({ exitCode, reads: NAMES.toSorted(), composed: NAMES.length });
});

it('quotes a manifest without composing it again', async () => {
  const { text, composed } = await countWork('validate live/web');
  expect(text).toMatch(/6 \| {3}backend:/);
  expect(composed).toBe(NAMES.length);
});
