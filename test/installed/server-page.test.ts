import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runTool } from '../pipelines/tools.ts';
import { PROJECT } from './sandbox.ts';

const PAGE = readFileSync('docs/reference/server.md', 'utf8');

it('runs the vitest suite of the page with the installed package', { timeout: 120_000 }, async () => {
  const [suite = ''] = Array.from(PAGE.matchAll(/^```ts\n(.*?)^```/gms), ([, text = '']) => text).filter((text) =>
    text.includes("from 'vitest'"),
  );
  const folder = mkdtempSync(join(PROJECT, 'server-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'client.test.ts'), suite);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('node_modules/vitest'), join(folder, 'node_modules/vitest'));
  const program = resolve('node_modules/vitest/vitest.mjs');
  const { status, output } = await runTool(process.execPath, [program, 'run', '--root', folder], { cwd: folder });
  expect(status, output).toBe(0);
  expect(output).toMatch(/2 passed/);
});
