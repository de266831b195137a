import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { runTool } from '../pipelines/tools.ts';
import { PROJECT } from './sandbox.ts';

/** What the page on the library says of types, type-checked and run with the installed package. */

const PAGE = readFileSync('docs/reference/library.md', 'utf8');

function findWord(sentence: RegExp): string {
  return sentence.exec(PAGE)?.[1] ?? expect.fail(`the page does not say ${sentence}`);
}

const FAILED = findWord(/A failed write does not reject: it is in the result, with its resource in `(.+?)`/);
const FIELD = findWord(/Fields of a resource are index signatures: `(.+?)`/);
const LIB = findWord(/Beside `edgewise\/msw`, install `msw`, and have `(.+?)` in the `lib` of your `tsconfig.json`/);

const PROGRAM = `
import { type LiveState, openStack } from 'edgewise';
import { createMswHandlers } from 'edgewise/msw';
import { createServer } from 'edgewise/server';
import { setupServer } from 'msw/node';

const baseUrl = 'https://api.example.com';
const service = setupServer(...createMswHandlers(createServer({ seed: { externals: [] } }), baseUrl));
service.listen();
const text = \`
apiVersion: edgewise/v1
kind: Stack
metadata: { name: shop }
---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec: { backends: { bkdhr_gone: 1 } }
\`;
const stack = await openStack({ manifests: [{ file: 'm.yaml', text }], baseUrl, apiKey: 'dev', transport: fetch });
const { outcomes } = await stack.apply(await stack.plan());
for (const outcome of outcomes) if (outcome.outcome === 'failed') console.log('failed:', ${FAILED});
service.close();

export function list({ resources }: LiveState): readonly unknown[] {
  return (resources.get('AgentIngress') ?? []).map(({ computed }) => ${FIELD});
}
`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(PROJECT, 'types-'));
  mkdirSync(join(folder, 'node_modules'));
  cpSync(join(PROJECT, 'node_modules/edgewise'), join(folder, 'node_modules/edgewise'), { recursive: true });
  for (const name of ['msw', '@types']) symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

async function check(program: string, lib: readonly string[]): Promise<{ status: number | null; output: string }> {
  const compilerOptions = {
    ...{ target: 'es2024', module: 'nodenext', types: ['node'], noEmit: true, strict: true, lib: ['es2024', ...lib] },
    noPropertyAccessFromIndexSignature: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['program.ts'] }));
  writeFileSync(join(folder, 'program.ts'), program);
  return runTool(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder });
}

it('has no type error with the lib that the page names, and has some without it', { timeout: 120_000 }, async () => {
  const { status, output } = await check(PROGRAM, [LIB]);
  expect(status, output).toBe(0);
  expect((await check(PROGRAM, [])).output).toMatch(/node_modules\/.* error TS\d+/);
});

it('reads a field of a resource as the page says, and not as a property', { timeout: 120_000 }, async () => {
  const [name = '', field = ''] = FIELD.split(/\['|'\]/);
  const { output } = await check(PROGRAM.replace(FIELD, `${name}.${field}`), [LIB]);
  expect(output).toMatch(/error TS4111: Property 'region_domains' comes from an index signature/);
});

it('finds the resource of a failed write where the page says', { timeout: 120_000 }, async () => {
  await check(PROGRAM, [LIB]);
  const { status, output } = await runTool(process.execPath, [join(folder, 'program.ts')], { cwd: folder });
  expect(status, output).toBe(0);
  expect(output).toContain('failed: WeightedBackend/pool');
});
