import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { commitAll, toStack } from '../repository/tree.ts';
import { readOnlyStack } from '../results.ts';

const EDGE = toEdge('b', 20_002);
const WARNING = /^warning\[manifest-not-read\]: (.*)$/m;

/** Validates a stack with these files beside it. Returns the warning about files that are not read. */
async function findWarning(files: Readonly<Record<string, string>>): Promise<string | undefined> {
  const { edgewise } = await createWorkspace({ 'm/edgewise.yaml': toStack('a'), ...files });
  const { stdout } = await edgewise('validate m');
  return WARNING.exec(stdout)?.[1];
}

describe('file extensions in upper case', () => {
  it.each(['b.YAML', 'b.Yml', 'b.YML', 'b.yAmL', 'b.JSON'])('are read: %s', async (name) => {
    const text = name.endsWith('JSON')
      ? '{"apiVersion":"edgewise/v1","kind":"TCPEdge","metadata":{"name":"b"},"spec":{"hostports":["1.tcp.example.net:20002"]}}'
      : EDGE;
    const { edgewise } = await createWorkspace({ 'm/edgewise.yaml': toStack('a'), [`m/${name}`]: text });
    const { stdout } = await edgewise('plan m --format json');
    expect(readOnlyStack(stdout).changes).toMatchObject([{ address: 'TCPEdge/b', action: 'create' }]);
    expect(stdout).not.toContain('manifest-not-read');
  });

  it('make a change of a stack that --changed-since finds', async () => {
    const { edgewise, folder, write } = await createWorkspace({ 'm/edgewise.yaml': toStack('a'), 'm/b.YAML': EDGE });
    await commitAll(folder);
    await write({ 'm/b.YAML': toEdge('b', 20_003) });
    expect((await edgewise('stacks --changed-since HEAD --format folder')).stdout).toBe('m\n');
  });
});

describe('a file that looks like a manifest and is not read', () => {
  it.each([
    ['another extension', 'b.yaml.disabled'],
    ['no extension', 'b'],
    ['an extension of another text format', 'b.txt'],
    ['a template', 'b.yaml.tpl'],
    ['a hidden file', '.b.yaml'],
    ['a hidden folder', '.old/b.yaml'],
    ['a folder in a hidden folder', '.old/deep/b.yml'],
    ['a package', 'node_modules/edges/b.yaml'],
    ['a file below', 'edges/b.yaml~1'],
  ])('is reported for %s', async (_, path) => {
    expect(await findWarning({ [`m/${path}`]: EDGE })).toBe(`1 file looks like a manifest and is not read: m/${path}`);
  });

  it('is reported with others on one line, with their number', async () => {
    const names = ['b1.txt', 'b2.txt', 'b3.txt', '.old/b4.yaml', '.old/b5.yaml'];
    expect(await findWarning(Object.fromEntries(names.map((name) => [`m/${name}`, EDGE])))).toBe(
      '5 files look like manifests and are not read: m/.old/b4.yaml, m/.old/b5.yaml, m/b1.txt and 2 more',
    );
  });

  it.each([
    ['a comment first', `# of the data team\n---\n${EDGE}`],
    ['JSON', '{\n  "apiVersion": "edgewise/v1",\n  "kind": "TCPEdge"\n}'],
    ['a list', `apiVersion: v1\nkind: List\nitems:\n  - apiVersion: edgewise/v1\n    kind: TCPEdge\n`],
    ['fields in another order', 'kind: TCPEdge\nmetadata: { name: b }\napiVersion: edgewise/v1\n'],
  ])('is recognised with %s', async (_, text) => {
    expect(await findWarning({ 'm/b.txt': text })).toContain('m/b.txt');
  });

  it.each([
    ['a page with an example', 'm/README.md', `# Edges\n\nWrite:\n\n\`\`\`yaml\n${EDGE}\`\`\`\n`],
    ['a file of another tool', 'm/.github/ci.yaml', 'on: push\njobs: {}\n'],
    ['a document of another tool', 'm/.old/app.yaml', 'apiVersion: apps/v1\nkind: Deployment\n'],
    ['a binary file', 'm/b.bin', `\u0000${EDGE}`],
    ['the files of git', 'm/.git/b.yaml', EDGE],
    ['a copy beside the file that is read', 'm/edgewise.yaml.bak', toStack('a')],
    ['a backup of an editor', 'm/edgewise.yaml~', toStack('a')],
    ['the file of another stack', 'm/inner/.old/b.yaml', EDGE],
  ])('is not reported for %s', async (_, path, text) => {
    const inner = path.startsWith('m/inner') ? { 'm/inner/edgewise.yaml': toStack('inner') } : {};
    expect(await findWarning({ [path]: text, ...inner })).toBeUndefined();
  });

  it('is not reported if it is read through a link, as in a volume of Kubernetes', async () => {
    const { edgewise, folder } = await createWorkspace({
      'm/..2026/edgewise.yaml': toStack('a'),
      'm/..2026/b.yaml': EDGE,
    });
    symlinkSync('..2026', join(folder, 'm/..data'));
    for (const name of ['edgewise.yaml', 'b.yaml']) symlinkSync(join('..data', name), join(folder, 'm', name));
    const { stdout, exitCode } = await edgewise('validate m');
    expect(stdout).not.toContain('manifest-not-read');
    expect(stdout).toContain('1 resource in');
    expect(exitCode).toBe(0);
  });

  it('does not stop a run if it cannot be opened, is too large or is endless', async () => {
    const { edgewise, folder } = await createWorkspace({
      'm/edgewise.yaml': toStack('a'),
      'm/.shut/b.yaml': EDGE,
      'm/large.txt': `${EDGE}#${' '.repeat(1024 * 1024)}`,
    });
    mkdirSync(join(folder, 'm/.loop'));
    symlinkSync('..', join(folder, 'm/.loop/up'));
    symlinkSync('/dev/zero', join(folder, 'm/.loop/zero.yaml'));
    chmodSync(join(folder, 'm/.shut'), 0o000);
    expect((await edgewise('validate m')).exitCode).toBe(0);
    chmodSync(join(folder, 'm/.shut'), 0o700);
  });

  it('is counted in one line if it is in the folder of no stack', async () => {
    const { edgewise } = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a'),
      'live/.old/edgewise.yaml': toStack('old'),
      'live/.old/b.yaml': EDGE,
      'live/b.yaml.disabled': EDGE,
      'live/a/b.txt': EDGE,
      'live/node_modules/edgewise/b.yaml': EDGE,
      'live/.github/workflow.yaml': 'on: push\n',
    });
    for (const command of ['plan -R live', 'stacks live', 'validate -R live']) {
      const { stdout, stderr } = await edgewise(command);
      expect(stdout + stderr).toContain(
        '3 files look like manifests and are not read: live/.old/b.yaml, live/.old/edgewise.yaml, live/b.yaml.disabled.',
      );
      expect(stderr).not.toContain('b.txt');
    }
  });

  it('is reported in each format, for each stack of a run', async () => {
    const { edgewise } = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a'),
      'live/a/b.txt': EDGE,
      'live/c/edgewise.yaml': toStack('c'),
      'live/c/.old/b.yaml': EDGE,
    });
    for (const format of ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit']) {
      const { stdout } = await edgewise(`plan -R live --format ${format}`);
      expect([format, stdout.includes('live/a/b.txt'), stdout.includes('live/c/.old/b.yaml')]).toEqual([
        format,
        true,
        true,
      ]);
    }
  });
});
