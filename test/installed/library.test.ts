import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from './sandbox.ts';

const MANIFESTS = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: shop }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: web }
spec: { hostports: ["1.tcp.example.net:20001"] }
`;

/** Calls the exports of the examples, on a real port. */
const PROGRAM = `
import { openStack } from 'edgewise';
import { createServer, listen } from 'edgewise/server';
import { converge } from './example-0.ts';
import './example-1.ts';
import { report } from './example-2.ts';
import { listOpened } from './example-3.ts';
import { reconcile } from './example-4.ts';

const { url, close } = await listen(createServer(), { port: 0 });
process.env.EDGEWISE_BASE_URL = url;
process.env.EDGEWISE_API_KEY = 'dev';
const paths = ['shop.yaml'];
const opened = await listOpened(paths);
const converged = await converge(paths, url, 'dev');
const reconciled = await reconcile(paths, url, 'dev');
const stack = await openStack({ paths });
const drifted = await report(await stack.drift());
await stack.close();
await close();
console.log(JSON.stringify({ opened, converged, reconciled, drifted }));
`;

it('runs the examples of the library on this Node, with the installed package', () => {
  const page = readFileSync('docs/reference/library.md', 'utf8');
  const examples = Array.from(page.matchAll(/^```ts\n(.*?)^```/gms), ([, text = '']) => text);
  const folder = mkdtempSync(join(PROJECT, 'library-'));
  for (const [index, text] of examples.entries()) writeFileSync(join(folder, `example-${index}.ts`), text);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'shop.yaml'), MANIFESTS);
  writeFileSync(join(folder, 'main.ts'), PROGRAM);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['main.ts'], { cwd: folder, encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
  expect(examples).toHaveLength(5);
  expect(stdout).toContain("[ 'in-sync' ]");
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    opened: [],
    converged: true,
    reconciled: true,
    drifted: false,
  });
  expect(readFileSync(join(folder, 'drift.md'), 'utf8')).toContain('shop');
});
