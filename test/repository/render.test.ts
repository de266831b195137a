import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { createWorkspace, toEdge, toManifest, toTranscript, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
import { toRendered, WEB } from './rendered.ts';
import { toStack } from './tree.ts';

async function listPlanned({ edgewise }: Workspace, line: string): Promise<readonly string[]> {
  const { stdout, stderr, exitCode } = await edgewise(`plan ${line} --format json`);
  expect(exitCode, stdout + stderr).toBe(0);
  return readOnlyStack(stdout).changes.map(
    ({ action, address }: Readonly<Record<string, string>>) => `${action} ${address}`,
  );
}

describe('a stack with spec.render', () => {
  it('consists of the output of its command and the file of the Stack', async () => {
    const workspace = await createWorkspace({
      ...WEB,
      'web/edgewise.yaml': `${WEB['web/edgewise.yaml']}${toEdge('beside', 20002)}`,
    });
    for (const paths of ['web', './web', 'web/edgewise.yaml', '.', 'web web'])
      expect(await listPlanned(workspace, `${paths} --render`)).toEqual([
        'create TCPEdge/beside',
        'create TCPEdge/shop',
      ]);
  });

  it('runs its command in its folder, without a shell and without the secrets of edgewise', async () => {
    const { folder, edgewise } = await createWorkspace({
      'web/edgewise.yaml': toStack('web', { render: ['node', 'print.mjs', '$HOME; *'] }),
      'web/print.mjs': [
        "import { readFileSync, writeFileSync } from 'node:fs';",
        "const input = readFileSync(0, 'utf8');",
        "writeFileSync('seen.json', JSON.stringify({ env: process.env, args: process.argv.slice(2), input }));",
        `console.log(${JSON.stringify(toEdge('shop', 20001))});`,
      ].join('\n'),
    });
    const secrets = { EDGEWISE_API_KEY: 'dev', EDGEWISE_API_KEY_FILE: 'key', EDGEWISE_GITLAB_TOKEN: 'glpat' };
    const env = { ...secrets, PATH: process.env['PATH'] ?? '', REGION: 'eu' };
    expect(await edgewise('validate web --render', { env, stdin: 'nothing' })).toMatchObject({ exitCode: 0 });
    const seen = JSON.parse(readFileSync(join(folder, 'web/seen.json'), 'utf8'));
    expect(seen).toMatchObject({ args: ['$HOME; *'], input: '', env: { REGION: 'eu' } });
    expect(Object.keys(seen.env).filter((name) => name in secrets)).toEqual([]);
  });

  it.each([
    'validate web',
    'plan web',
    'plan .',
    'apply web --yes --allow-deletes',
    'drift web',
    'get web',
    'destroy web --yes',
    'release TCPEdge/shop web --yes',
    'plan -R .',
    'apply -R . --yes --allow-deletes',
    'drift -R .',
  ])('is an error without --render, and never an empty stack: %s', async (line) => {
    const { edgewise, recorder } = await createWorkspace(WEB);
    expect((await edgewise('apply web --render --yes')).exitCode).toBe(0);
    recorder.take();
    const { exitCode, stdout, stderr } = await edgewise(line);
    expect(`${stdout}${stderr}`).toContain('error[render-failed]: cat edges.in prints the manifests of this stack');
    expect(`${stdout}${stderr}`).toContain('--> web/edgewise.yaml:1:78');
    expect(`${stdout}${stderr}`).toContain('help: Add --render if you trust the command in web/edgewise.yaml');
    expect(exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });

  it.each(['validate web', 'drift web', 'get web', 'plan -R .', 'apply -R . --yes', 'release TCPEdge/shop web --yes'])(
    'is rendered by every command that reads manifests: %s',
    async (line) => {
      const { edgewise } = await createWorkspace(WEB);
      await edgewise('apply web --render --yes');
      const { exitCode, stdout } = await edgewise(`${line} --render`);
      expect(stdout).toMatch(/shop|0 to create|No drift|1 resource/);
      expect(exitCode, stdout).toBe(0);
    },
  );

  it('names the command, its place and the line for a mistake in its output', async () => {
    const { edgewise, write } = await createWorkspace({
      ...WEB,
      'web/edges.in': toEdge('shop', 20001).replace('spec:', 'spec:\n  descriptoin: x'),
    });
    expect(toTranscript(await edgewise('validate web --render'))).toMatchInlineSnapshot(`
      "exit code 3
      --- stdout
      error[bad-field]: TCPEdge/shop: spec.descriptoin is not a known field
        --> cat edges.in (web/edgewise.yaml:1):7:3
        6 | spec:
        7 |   descriptoin: x
          |   ^^^^^^^^^^^
        8 |   hostports: ["1.tcp.example.net:20001"]
        help: Did you mean \`description\`?

      1 error.
      "
    `);
    // If there is no other position, it is that of the command: no line of a file is known.
    const { stdout } = await edgewise('validate web --render --format github');
    expect(stdout).toContain('::error file=web/edgewise.yaml,line=1,col=1,title=edgewise%3A bad-field::');
    const origin =
      'metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      path: patches/patch.yaml\n  name';
    await write({ 'web/edges.in': toEdge('shop', 20001).replace('metadata:\n  name', origin) });
    expect((await edgewise('validate web --render --format github')).stdout).toContain(
      '::warning file=web/patches/patch.yaml,line=1,col=1,',
    );
  });

  it('shows its lint rules without a run of its command', async () => {
    const { edgewise } = await createWorkspace(WEB);
    expect((await edgewise('validate web --list-rules')).exitCode).toBe(0);
  });

  it('resolves paths in the output from the folder of the Stack', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKrGPT0ByzwnxzB2lJvnR1TPb6WTiZ6GIyFlGkIvtSH0 ci';
    const { edgewise } = await createWorkspace({
      'web/edgewise.yaml': toStack('web', { render: ['cat', 'edges.in'] }),
      'web/edges.in': toManifest('SSHUserCertificate', 'ci', {
        ssh_certificate_authority_id: 'sshca_1',
        public_key: { file: 'ci.pub' },
        principals: ['ci'],
      }),
      'web/ci.pub': `${key}\n`,
    });
    const { stdout } = await edgewise('plan web --render --format json');
    expect(stdout).toContain(key.slice(0, 60));
  });

  it('consists of standard input, if that is given', async () => {
    const workspace = await createWorkspace({ ...WEB, 'web/edgewise.yaml': toRendered('web', 'exit 1') });
    const stdin = toEdge('piped', 20003);
    const { stdout } = await workspace.edgewise('plan web - --format json', { stdin });
    expect(readOnlyStack(stdout).changes).toMatchObject([{ action: 'create', address: 'TCPEdge/piped' }]);
    // A tool that prints the Stack again: its spec.render has already run.
    const whole = `${WEB['web/edgewise.yaml']}${stdin}`;
    expect((await workspace.edgewise('validate -', { stdin: whole })).exitCode).toBe(0);
    expect((await workspace.edgewise('plan web -', { stdin: ' ' })).stderr).toContain('<stdin> is empty');
  });

  it('is refused if its command changes the Stack', async () => {
    const passing = toRendered('web', 'cat edgewise.yaml edges.in');
    const workspace = await createWorkspace({ ...WEB, 'web/edgewise.yaml': passing });
    expect(await listPlanned(workspace, 'web --render')).toEqual(['create TCPEdge/shop']);
    for (const edit of ['s/"name":"web"/"name":"other"/', 's/"spec":{/"spec":{"owner_label":"team",/']) {
      await workspace.write({ 'web/edgewise.yaml': toRendered('web', `sed '${edit}' edgewise.yaml; cat edges.in`) });
      const { exitCode, stdout } = await workspace.edgewise('validate web --render');
      expect(stdout).toContain('error[duplicate-settings]: Stack/');
      expect(stdout).toContain(
        'the command of spec.render prints a Stack that differs from the Stack that names the command',
      );
      expect(exitCode).toBe(3);
    }
  });

  it('has no effect on another stack', async () => {
    const { edgewise } = await createWorkspace({
      ...WEB,
      'web/inner/edgewise.yaml': toStack('inner'),
      'web/inner/edge.yaml': toEdge('inner', 20002),
      'a/edgewise.yaml': toRendered('a', 'echo oh >&2; exit 7'),
      'b/edgewise.yaml': toStack('b'),
      'b/edge.yaml': toEdge('b', 20003),
    });
    const { exitCode, stdout } = await edgewise('plan -R . --render');
    expect(stdout).toContain('error[render-failed]: sh -c echo oh >&2; exit 7 ended with exit code 7: oh');
    expect(stdout).toMatch(
      /^a +a +✗ 1 error: .+\nb +b +1 create.*\nweb +web +1 create.*\ninner +web\/inner +1 create/m,
    );
    expect(exitCode).toBe(3);
    expect((await edgewise('validate web b --render')).stdout).toContain('error[duplicate-settings]');
  });
});

describe('the library', () => {
  it('renders on request', async () => {
    const { folder } = await createWorkspace(WEB);
    const options = { cwd: folder, paths: ['web'], baseUrl: 'embedded:' };
    await expect(openStack(options)).rejects.toMatchObject({ diagnostics: [{ code: 'render-failed' }] });
    await using stack = await openStack({ ...options, render: true });
    expect([...stack.desired.resources.keys()]).toEqual(['TCPEdge/shop']);
  });
});
