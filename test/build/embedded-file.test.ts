import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { STACK, toEdge } from '../cli/workspace.ts';
import { runEdgewise } from '../end-to-end/processes.ts';

/** The package that locks files is bundled for the command, and imported by the library. */

const BUILT = process.env['EDGEWISE_BIN']?.endsWith('cli.js') === true;

let folder = '';
let env: NodeJS.ProcessEnv = {};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgewise-built-'));
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  await writeFile(join(folder, 'edgewise.yaml'), `${STACK}${toEdge('a', 20_001)}`);
  env = { EDGEWISE_BASE_URL: `embedded:${join(folder, 'account.json')}`, FOLDER: folder };
});

describe.runIf(BUILT)(`the data file of the embedded server${BUILT ? '' : ' (needs npm run build)'}`, () => {
  it('is read and written by the built program, which leaves no lock', async () => {
    for (const [words, shown] of [
      [['plan'], '1 to create'],
      [['apply', '--yes'], '1 write applied'],
      [['plan'], 'Nothing to do'],
    ] as const) {
      const { exitCode, stdout, stderr } = await runEdgewise([...words, folder], env);
      expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: expect.stringContaining(shown) });
    }
    expect((await readdir(folder)).sort()).toEqual(['account.json', 'edgewise.yaml']);
  });

  it('is written by the built library', async () => {
    const program = join(folder, 'program.mjs');
    await writeFile(program, PROGRAM_OF_A_USER);
    const { exitCode, stdout, stderr } = await runEdgewise([], env, program);
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: '1 applied\n' });
    expect((await readdir(folder)).sort()).toEqual(['account.json', 'edgewise.yaml', 'program.mjs']);
  });
});

const PROGRAM_OF_A_USER = `import { openStack } from ${JSON.stringify(pathToFileURL(resolve('dist/lib/index.js')))};
const stack = await openStack({ paths: [process.env.FOLDER] });
const { outcomes } = await stack.apply(await stack.plan());
await stack.close();
console.log(outcomes.length + ' applied');
`;
