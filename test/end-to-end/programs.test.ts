import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import { createServer, listen, parseServerSeed } from '../../src/server/index.ts';
import { listCodeBlocks } from '../docs/documents.ts';

const execute = promisify(execFile);

/** The sources of each entry point of the package. */
const ENTRIES: Readonly<Record<string, string>> = {
  edgewise: 'src/index.ts',
  'edgewise/server': 'src/server/index.ts',
  'edgewise/msw': 'src/server/msw.ts',
};

const PROGRAMS = listCodeBlocks('ts').map(({ place, text }, index) => ({ place, text, file: `program-${index}.ts` }));

/** The values that the examples of exports begin with. */
const GIVEN: Readonly<Record<string, string>> = {
  ...{ apiKey: 'string', baseUrl: 'string', text: 'string', value: 'unknown', error: 'unknown' },
  ...{
    approved: 'Plan',
    client: 'Client',
    context: 'ApplyContext',
    desired: 'DesiredState',
    diagnostic: 'Diagnostic',
    drift: 'Drift',
  },
  ...{ input: 'PlanInput', live: 'LiveState', plan: 'Plan', result: 'ApplyResult' },
};

/** Functions, classes and constants. Types are in the examples of those that take and return them. */
const EXPORTS = Object.keys(library);

/** Finds the example in the comment of an exported value. */
function findExample(name: string, sources: string): string {
  const comment = new RegExp(
    `@example\\n((?: \\*.*\\n)+?) \\*/\\nexport (?:(?:async )?function|class|const) ${name}\\b`,
  ).exec(sources)?.[1];
  return (comment ?? '').replace(/^ \* ?/gm, '  ');
}

/** Writes the examples of all exported values as one program, each in a function that returns what it declares. */
function renderExamplesOfExports(): string {
  const sources = globSync('src/**/*.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const types = [...new Set(Object.values(GIVEN))].filter((type) => /^[A-Z]/.test(type));
  const examples = EXPORTS.map((name) => {
    const code = findExample(name, sources);
    const declared = Array.from(
      code.matchAll(/const (?:\{ ([^}]*) \}|(\w+)) =/g),
      ([, names, one]) => names ?? one ?? '',
    );
    return `export async function try_${name}() {\n${code}  return [${declared.join(', ')}];\n}\n`;
  });
  return [
    "import { readFile, writeFile } from 'node:fs/promises';\nimport { tmpdir } from 'node:os';",
    `import { ${EXPORTS.join(', ')}, ${types.map((type) => `type ${type}`).join(', ')} } from 'edgewise';`,
    ...Object.entries(GIVEN).map(([name, type]) => `declare const ${name}: ${type};`),
    ...examples,
  ].join('\n');
}

describe('programs in documents', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-test-'));
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const compilerOptions = { noPropertyAccessFromIndexSignature: true }; // as the strictest users have it
    const tsconfig = { extends: resolve('tsconfig.json'), compilerOptions, include: ['*.ts'], exclude: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    for (const { file, text } of PROGRAMS) writeFileSync(join(folder, file), withSources(text));
    writeFileSync(join(folder, 'exports.ts'), withSources(renderExamplesOfExports()));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs a program in the folder, and expects exit code 0. */
  async function run(...args: readonly string[]): Promise<string> {
    const child = execute(process.execPath, args, { cwd: folder });
    const { stdout } = await child.catch((error) => expect.fail(`${error.stdout}${error.stderr}`));
    return stdout;
  }

  it('have no type errors, nor have the examples of exported values, of which each has one', {
    timeout: 180_000,
  }, async () => {
    expect(PROGRAMS).toHaveLength(9);
    const sources = globSync('src/**/*.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    expect(EXPORTS.length).toBeGreaterThan(50);
    expect(EXPORTS.filter((name) => findExample(name, sources).trim() === '')).toEqual([]);
    await run(resolve('node_modules/typescript/bin/tsc'), '-p', '.');
  });

  // Vitest runs the other ones (`installed/server-page.test.ts`).
  const alone = PROGRAMS.filter(({ text }) => !text.includes("from 'vitest'"));
  it.each(alone)('runs to its end: $place', async ({ file }) => {
    await run(file);
  });

  it.each(['converge', 'reconcile'])(
    '%s of the library creates what the manifests describe, and then does nothing',
    async (name) => {
      const program = PROGRAMS.find(({ text }) => text.includes(`function ${name}(`));
      const server = createServer({ seed: parseServerSeed(readFileSync('examples/account.json', 'utf8')) });
      const listener = await listen(server, { port: 0 });
      const args = [[resolve('examples/quickstart')], listener.url, 'dev'].map((value) => JSON.stringify(value)).join();
      const script = `import { ${name} } from './${program?.file}'; console.log('done:', await ${name}(${args}));`;
      writeFileSync(join(folder, 'main.ts'), script);
      try {
        expect(await run('main.ts')).toContain('done: true');
        const made = server.snapshot();
        expect(made.resources['TCPEdge']).toHaveLength(1);
        expect(await run('main.ts')).toContain('done: true');
        expect(server.snapshot()).toEqual(made);
      } finally {
        await listener.close();
      }
    },
  );

  it('shows each result in the program with parts of its own', async () => {
    const program = PROGRAMS.find(({ text }) => text.includes('onWait:'));
    const printed = await run(program?.file ?? '');
    expect(printed).toMatch(/^write-started\nwrite-ended\n/);
    expect(printed).toContain("'us.agents.example.com'");
    expect(printed).toMatch(/\[ 'AgentIngress\/agents agin_\w+' \]\n\[ 'in-sync' \]\n/);
  });

  it('reports the differences in the program on drift, as a comment and as metrics', async () => {
    const program = PROGRAMS.find(({ text }) => text.includes('function report('));
    const script = `
      import { openStack } from ${JSON.stringify(resolve('src/index.ts'))};
      import { createServer } from ${JSON.stringify(resolve('src/server/index.ts'))};
      import { report } from './${program?.file}';
      const text = 'apiVersion: edgewise/v1\\nkind: Stack\\nmetadata: { name: test }\\n---\\n' +
        'apiVersion: edgewise/v1\\nkind: TCPEdge\\nmetadata: { name: a }\\nspec: { hostports: ["1.tcp.example.net:20001"] }\\n';
      const service = { transport: createServer().handle, baseUrl: 'https://api.example.com', apiKey: 'dev' };
      const stack = await openStack({ manifests: [{ file: 'a.yaml', text }], ...service });
      console.log('differs:', await report(await stack.drift()));`;
    writeFileSync(join(folder, 'drift.ts'), script);
    expect(await run('drift.ts')).toContain('differs: true');
    expect(readFileSync(join(folder, 'drift.md'), 'utf8')).toContain('TCPEdge/a');
    expect(readFileSync(join(folder, 'edgewise.prom'), 'utf8')).toContain('state="missing"');
  });
});

function withSources(text: string): string {
  return text.replace(/(?<=from ')edgewise[^']*(?=')/g, (entry) => resolve(ENTRIES[entry] ?? entry));
}
