import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { PROJECT } from '../installed/sandbox.ts';
import { runTool } from '../pipelines/tools.ts';

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
  for (const [name, program] of Object.entries(PROGRAMS)) writeFileSync(join(folder, name), program);
});

/** The program, and beside it one that reads the field as a property. */
const [NAME = '', MEMBER = ''] = FIELD.split(/\['|'\]/);
const PROGRAMS = { 'program.ts': PROGRAM, 'property.ts': PROGRAM.replace(FIELD, `${NAME}.${MEMBER}`) };

/** The type errors of the programs, each in a line that starts with its file. */
async function listErrors(lib: readonly string[]): Promise<readonly string[]> {
  const compilerOptions = {
    ...{ target: 'es2024', module: 'nodenext', types: ['node'], noEmit: true, strict: true, lib: ['es2024', ...lib] },
    noPropertyAccessFromIndexSignature: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: Object.keys(PROGRAMS) }));
  const compiler = resolve('node_modules/typescript/bin/tsc');
  const { status, output } = await runTool(process.execPath, [compiler, '-p', folder], { cwd: folder });
  expect(status, output).not.toBe(0);
  return output.split('\n').filter((line) => / error TS\d+/.test(line));
}

it('has no type error with the lib that the page names, but for a field that is read as a property', async () => {
  expect(PROGRAMS['property.ts']).not.toBe(PROGRAM);
  expect(await listErrors([LIB])).toEqual([
    expect.stringMatching(/^property\.ts.* error TS4111: Property 'region_domains' comes from an index signature/),
  ]);
});

it('has type errors without that lib', async () => {
  expect((await listErrors([])).join('\n')).toMatch(/node_modules\/.* error TS\d+/);
});

it('finds the resource of a failed write where the page says', async () => {
  const { status, output } = await runTool(process.execPath, [join(folder, 'program.ts')], { cwd: folder });
  expect(status, output).toBe(0);
  expect(output).toContain('failed: WeightedBackend/pool');
});
