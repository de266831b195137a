import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';

/** A secret beside the checkout, where a pipeline keeps its keys. The author of a pull request must not see it. */
const SECRET = 'the-key-of-somebody-else-0123456789';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

/** A checkout in `repo`, with secrets beside it and in its `.git`. */
async function createCheckout(files: Readonly<Record<string, string>>): Promise<Workspace> {
  const workspace = await createWorkspace({
    'key.txt': `${SECRET}\n`,
    'rules.yaml': `kind: ${SECRET}\nrule: [\n`,
    'outside/m.yaml': `password: ${SECRET}\n`,
    'home/.bashrc': '# mine\n',
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`repo/${name}`, text])),
  });
  const repository = join(workspace.folder, 'repo');
  execFileSync('git', ['init', '--quiet', repository]);
  await writeFile(join(repository, '.git/token.yaml'), `token: ${SECRET}\n`);
  return workspace;
}

/** Runs a command in the checkout. */
function createCheckoutRunner({ edgewise, folder }: Workspace): Workspace['edgewise'] {
  return (line, more) => edgewise(line, { cwd: join(folder, 'repo'), ...more });
}

it('does not reveal a file outside in the origin of an annotation', async () => {
  const said = await Promise.all(
    ['key.txt', 'no-such.txt'].map(async (name) => {
      const origin = `annotations: { config.kubernetes.io/origin: "path: ../${name}\\n" }`;
      const edge = `---\napiVersion: edgewise/v1\nkind: TCPEdge\nmetadata:\n  name: a\n  ${origin}\nsepc: {}\n`;
      const workspace = await createCheckout({ 'm.yaml': STACK + edge, [name]: '' });
      const { stdout } = await createCheckoutRunner(workspace)('validate . --format github');
      return stdout.replaceAll(name, 'NAME');
    }),
  );
  expect(said[0]).toContain('NAME');
  expect(said[0]).toBe(said[1]);
});

function toStack(spec: string): string {
  return `${STACK}spec: ${spec}\n`;
}

function toCertificate(more: string, key: string = KEY): string {
  return `---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec: { ssh_certificate_authority_id: sshca_1, principals: [alice], public_key: ${key} }
lifecycle: ${more}
`;
}

const PLACE = /--> \S*m\.yaml:\d+:\d+/;

describe('a file outside of the repository that a pull request names', () => {
  it.each([
    ['spec.policies[0]', toStack('{ policies: [../key.txt] }')],
    ['spec.policies[0]', toStack('{ policies: [../rules.yaml] }')],
    ['spec.policies[0]', toStack('{ policies: [/etc/passwd] }')],
    ['spec.policies[0]', toStack('{ policies: [/proc/self/environ] }')],
    ['spec.policies[0]', toStack('{ policies: [.git/token.yaml] }')],
    ['spec.policies[0]', toStack('{ policies: [.GIT] }')],
    ['spec.policies[0]', toStack('{ policies: [../no-such-file] }')],
    ['spec.api.ca_file', toStack('{ api: { ca_file: ../key.txt } }')],
    ['spec.api.base_url', toStack('{ api: { base_url: "embedded:../key.txt" } }')],
    ['spec.inputs[0]', toStack('{ inputs: ["../outside/**"] }')],
    ['spec.tokens.default.directory', toStack('{ tokens: { default: { directory: ../home } } }')],
    ['spec.tokens.credentials.ci.directory', toStack('{ tokens: { credentials: { ci: { directory: /tmp/t } } } }')],
    ['spec.tokens.default.directory', toStack('{ tokens: { default: { directory: .git/hooks } } }')],
    // Names that the file systems of Windows and macOS resolve to .git.
    ...[
      '.GIT',
      '.git.',
      '.git ',
      '.git . ',
      'git~1',
      'GIT~2',
      '.git::$INDEX_ALLOCATION',
      '.g\u200cit',
      '.git\ufeff',
    ].map((name): [string, string] => [
      'spec.tokens.default.directory',
      toStack(`{ tokens: { default: { directory: ${JSON.stringify(`${name}/hooks`)} } } }`),
    ]),
    ['spec.public_key', STACK + toCertificate('{}', '{ file: ../key.txt }')],
    ['spec.public_key', STACK + toCertificate('{}', '{ file: .git/token.yaml }')],
  ])('is refused at the line of %s, without its content and without a request', async (field, manifest) => {
    const workspace = await createCheckout({ 'm.yaml': manifest });
    for (const command of ['validate .', 'plan .', 'apply . --yes', 'plan . --format json']) {
      const { exitCode, stdout, stderr } = await createCheckoutRunner(workspace)(command);
      const said = stdout + stderr;
      expect(exitCode).toBe(3);
      expect(said).toContain('path-refused');
      expect(said).toContain(field);
      expect(said).not.toContain(SECRET);
      expect(said).not.toMatch(/root:|does not exist|ENOENT/);
      if (!command.includes('json')) expect(said).toMatch(PLACE);
    }
    expect(workspace.recorder.take()).toEqual([]);
    expect(await readFile(join(workspace.folder, 'home/.bashrc'), 'utf8')).toBe('# mine\n');
    expect(await readdir(join(workspace.folder, 'home'))).toEqual(['.bashrc']);
  });

  it.each([
    ['a manifest', 'stolen.yaml', '../outside/m.yaml'],
    ['a folder', 'more', '../outside'],
    ['a file of /proc', 'environ.yaml', '/proc/self/environ'],
    ['/proc', 'proc', '/proc'],
    ['/dev', 'dev', '/dev'],
    ['a file of .git', 'token.yaml', '.git/token.yaml'],
    ['.git', 'objects', '.git'],
    ['nothing', 'gone.yaml', '../no-such-file'],
    ['nothing behind a folder that is not there', 'gone.yaml', '../no-such-folder/x'],
    ['itself by way of the folder above', 'up', '..'],
  ])('is refused by a link to %s, without its content and without a plan', async (_, name, target) => {
    const workspace = await createCheckout({ 'm.yaml': STACK + toEdge('a', 20_001) });
    await symlink(target, join(workspace.folder, 'repo', name));
    for (const command of ['plan .', 'validate -R .', 'stacks .']) {
      const { exitCode, stdout, stderr } = await createCheckoutRunner(workspace)(command);
      if (command !== 'stacks .') expect(exitCode).toBe(3);
      if (command !== 'stacks .') expect(stdout + stderr).toContain(`path-refused]: ${name} is `);
      expect(stdout + stderr).not.toContain(SECRET);
    }
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('is refused by a link in place of the folder that the pipeline names', async () => {
    const workspace = await createCheckout({ 'README.md': 'hello\n' });
    await symlink('../outside', join(workspace.folder, 'repo/live'));
    for (const command of ['plan live', 'plan -R live', 'validate --policies live m.yaml', 'stacks live']) {
      const { exitCode, stdout, stderr } = await createCheckoutRunner(workspace)(command);
      expect(exitCode).toBe(3);
      expect(stdout + stderr).toContain('live is outside the repository');
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });

  it('is refused by a link on the way, in a file that a field names', async () => {
    const workspace = await createCheckout({ 'm.yaml': STACK + toCertificate('{}', '{ file: keys/key.txt }') });
    await symlink('..', join(workspace.folder, 'repo/keys'));
    const { exitCode, stdout } = await createCheckoutRunner(workspace)('validate m.yaml');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('spec.public_key names keys/key.txt, which is outside the repository');
  });
});

describe('the allowed paths', () => {
  it('include the target of a link in the repository if it is in the repository too', async () => {
    const workspace = await createCheckout({
      'live/m.yaml': STACK + toCertificate('{}', '{ file: ../keys/alice.pub }'),
      'shared/edge.yaml': toEdge('a', 20_001),
      'real/alice.pub': KEY,
    });
    await symlink('real', join(workspace.folder, 'repo/keys'));
    await symlink('../shared', join(workspace.folder, 'repo/live/shared'));
    expect(await createCheckoutRunner(workspace)('plan live')).toMatchObject({ exitCode: 0 });
    expect(await createCheckoutRunner(workspace)('plan live')).toMatchObject({
      stdout: expect.stringContaining('TCPEdge/a'),
    });
  });

  it('include no virtual file of the system, also with --root /', async () => {
    const workspace = await createCheckout({ 'm.yaml': STACK });
    await symlink('/proc/self/environ', join(workspace.folder, 'repo/more.yaml'));
    for (const command of ['validate .', 'plan .', 'validate more.yaml']) {
      const { exitCode, stdout, stderr } = await createCheckoutRunner(workspace)(`${command} --root /`);
      expect({ exitCode, said: stdout + stderr }).toMatchObject({
        exitCode: 3,
        said: expect.stringContaining('more.yaml is outside the repository'),
      });
    }
  });

  it('include the files below --root or EDGEWISE_ROOT, and no others', async () => {
    const workspace = await createCheckout({ 'm.yaml': toStack('{ policies: [../policies] }') });
    await workspace.write({
      'policies/p.yaml':
        'apiVersion: edgewise/v1\nkind: Policy\nmetadata: { name: p }\nspec: { require: "true", message: No. }\n',
    });
    const edgewise = createCheckoutRunner(workspace);
    expect(await edgewise('validate .')).toMatchObject({ exitCode: 3 });
    expect(await edgewise('validate . --root ..')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('validate .', { env: { EDGEWISE_ROOT: '..' } })).toMatchObject({ exitCode: 0 });
    expect(await edgewise('validate . --root .')).toMatchObject({ exitCode: 3 });
  });

  it('include the files that a flag names, in any folder', async () => {
    const workspace = await createCheckout({ 'm.yaml': STACK + toCredential() });
    const folder = join(workspace.folder, 'tokens-of-the-pipeline');
    await mkdir(folder, { mode: 0o700 });
    const line = `apply . --yes --token-directory ${folder}`;
    expect(await createCheckoutRunner(workspace)(line)).toMatchObject({ exitCode: 0 });
    expect(await readdir(folder)).toEqual(['ci.token']);
  });
});

function toCredential(): string {
  return '---\napiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: ci }\nspec: { acl: ["bind:*.example.net"] }\n';
}

describe('a folder that becomes a link between plan and apply', () => {
  it('gets no token', async () => {
    const workspace = await createCheckout({
      'm.yaml': toStack('{ tokens: { default: { directory: tokens } } }') + toCredential(),
      '.gitignore': '/tokens/\n',
    });
    const edgewise = createCheckoutRunner(workspace);
    expect(await edgewise('plan . -o plan.json')).toMatchObject({ exitCode: 0 });
    await symlink('../home', join(workspace.folder, 'repo/tokens'));
    for (const line of ['apply . --approved plan.json --yes', 'apply . --yes']) {
      const { exitCode, stderr } = await edgewise(line);
      expect(exitCode).toBe(3);
      expect(stderr).toContain('spec.tokens.default.directory names tokens, which is outside the repository');
    }
    expect(await readdir(join(workspace.folder, 'home'))).toEqual(['.bashrc']);
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
