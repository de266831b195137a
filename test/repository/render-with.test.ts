import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

/** Writes the arguments and environment of the program to a file, and prints the manifest of the folder in its last argument. */
const PRINT = `import { readFileSync, writeFileSync } from 'node:fs';
const args = process.argv.slice(2);
const folder = args.at(-1);
writeFileSync(folder + '/seen.json', JSON.stringify({ env: process.env, cwd: process.cwd(), args }));
process.stdout.write(readFileSync(folder + '/edges.in'));
`;

/** Two stacks whose own command creates a file in its folder. */
const TREE = {
  'print.mjs': PRINT,
  'live/web/edgewise.yaml': toStack('web', { render: ['touch', 'ran'] }),
  'live/web/edges.in': toEdge('web', 20001),
  'live/db/edgewise.yaml': toStack('db', { render: ['touch', 'ran'] }),
  'live/db/edges.in': toEdge('db', 20002),
};

const WITH = '--render-with=["node","print.mjs","$HOME;","*"]';
const SECRETS = {
  EDGEWISE_API_KEY: 'dev',
  EDGEWISE_API_KEY_FILE: '',
  EDGEWISE_GITLAB_TOKEN: 'glpat',
  GITHUB_TOKEN: 'ghs',
};
const ENV = { ...SECRETS, PATH: process.env['PATH'] ?? '', REGION: 'eu' };

describe('--render-with', () => {
  it.each(['plan -R live --untrusted', 'plan -R live', 'validate -R live --untrusted', 'plan -R live --render'])(
    'runs its command for each stack that renders, and never that of a manifest: %s',
    async (line) => {
      const { edgewise, folder } = await createWorkspace(TREE);
      const { exitCode, stdout } = await edgewise(`${line} ${WITH}`, { env: ENV });
      expect(exitCode, stdout).toBe(0);
      if (line.startsWith('plan')) expect(stdout.match(/^\+ TCPEdge\/(web|db)/gm)).toHaveLength(2);
      for (const stack of ['web', 'db']) {
        const seen = JSON.parse(readFileSync(join(folder, `live/${stack}/seen.json`), 'utf8'));
        expect(seen).toMatchObject({ cwd: folder, args: ['$HOME;', '*', `./live/${stack}`], env: { REGION: 'eu' } });
        expect(Object.keys(seen.env).filter((name) => name in SECRETS)).toEqual([]);
        expect(existsSync(join(folder, `live/${stack}/ran`))).toBe(false);
      }
    },
  );

  it('accepts a variable with words, and no setting of the repository', async () => {
    const { edgewise, write } = await createWorkspace(TREE);
    const env = { ...ENV, EDGEWISE_RENDER_WITH: 'node print.mjs' };
    expect((await edgewise('plan live/web --untrusted', { env })).stdout).toContain('+ TCPEdge/web');
    await write({ 'live/web/edgewise.yaml': toStack('web', { render_with: ['node', 'print.mjs'] }) });
    const { stdout, stderr, exitCode } = await edgewise('plan live/web', { env: ENV });
    expect(stdout + stderr).toContain('spec.render_with is not a known field');
    expect(exitCode).toBe(3);
  });

  it('passes the folder so that it is no option', async () => {
    const files = {
      'print.mjs': PRINT,
      '-o/edgewise.yaml': toStack('o', { render: ['x'] }),
      '-o/edges.in': toEdge('o', 1),
    };
    const { edgewise, folder } = await createWorkspace(files);
    const { exitCode, stdout } = await edgewise(`plan -R . --untrusted ${WITH}`, { env: ENV });
    expect(exitCode, stdout).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, '-o/seen.json'), 'utf8')).args.at(-1)).toBe('./-o');
  });

  it.each(['kustomize build | cat', 'sh -c "a"', 'build $(x)', '[]', '["a",1]', '[', ' '])(
    'refuses %j, which is not words',
    async (words) => {
      const { edgewise } = await createWorkspace(TREE);
      const env = { ...ENV, EDGEWISE_RENDER_WITH: words };
      const { stdout, stderr, exitCode } = await edgewise('plan live/web', { env });
      expect(stdout + stderr).toContain('EDGEWISE_RENDER_WITH');
      expect(stdout + stderr).toContain('must be a program and its arguments');
      expect(exitCode).toBe(3);
    },
  );

  it.each([
    ['["no-such-program"]', 'no-such-program ./live/web cannot be run: there is no such program'],
    ['["false"]', 'false ./live/web ended with exit code 1'],
    ['["true"]', 'true ./live/web prints nothing'],
    ['["head","-c","40000000","/dev/zero"]', 'prints something that is larger than 32 MiB'],
  ])('stops the stack if the command fails: %s', async (words, message) => {
    const { edgewise, recorder } = await createWorkspace(TREE);
    recorder.take();
    const { stdout, stderr, exitCode } = await edgewise(`plan live/web --untrusted --render-with=${words}`, {
      env: ENV,
    });
    expect(stdout + stderr).toContain(message);
    expect(stdout + stderr).toContain('--> live/web/edgewise.yaml:1:');
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it('is the option that the error on an untrusted checkout proposes', async () => {
    const { edgewise } = await createWorkspace(TREE);
    const { stdout, stderr, exitCode } = await edgewise('plan -R live --untrusted', { env: ENV });
    expect(stdout + stderr).toContain('name the command yourself: --render-with "kustomize build"');
    expect(exitCode).toBe(3);
    const both = await edgewise('plan -R live --untrusted --render', { env: ENV });
    expect(both.stdout + both.stderr).toContain('such as --render-with "kustomize build"');
    expect(both.exitCode).toBe(3);
  });

  it('is part of the command that applies the plan', async () => {
    const { edgewise, folder } = await createWorkspace(TREE);
    const env = { ...ENV, EDGEWISE_RENDER_WITH: 'node print.mjs' };
    const planned = await edgewise('plan live/web -o plan.json --format markdown', { env });
    expect(planned.stdout + planned.stderr).toContain("--render-with 'node print.mjs'");
    const { exitCode, stdout } = await edgewise('apply plan.json --yes', { env });
    expect(exitCode, stdout).toBe(0);
    expect(existsSync(join(folder, 'live/web/ran'))).toBe(false);
  });

  it('is an option of the library, also for untrusted manifests', async () => {
    const { folder, server } = await createWorkspace(TREE);
    const stack = await openStack({
      cwd: folder,
      paths: ['live/web'],
      untrusted: true,
      renderWith: ['node', 'print.mjs'],
      env: { ...ENV, EDGEWISE_BASE_URL: 'https://api.test' },
      transport: server.handle,
    });
    expect((await stack.plan()).changes.map(({ address }) => address)).toEqual(['TCPEdge/web']);
  });
});
