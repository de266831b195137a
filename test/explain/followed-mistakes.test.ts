import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sshpk from 'sshpk';
import { describe, expect, it } from 'vitest';
import { readExample, runExample } from '../../.ci/run-example.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { toStack } from '../repository/tree.ts';

/** Mistakes that are no example of a page: what their remedies say is done, with the words that are printed. */

const D = '$';
const HEAD = 'apiVersion: edgewise/v1\nkind: ';

/** Mistakes that no page has as an example: the manifest before and after its remedy. */
const MISTAKES: readonly (readonly [mistake: string, wrong: string, says: string, right: string])[] = [
  [
    'a field that lost its indentation',
    '  backend:\n  backend_id: bkdhr_blue\n',
    'It is a field of `backend`: write it below that, with more indentation.',
    '  backend:\n    backend_id: bkdhr_blue\n',
  ],
  [
    'a field of several modules that lost its indentation',
    '  backend:\n    backend_id: bkdhr_blue\n  enabled: true\n',
    'write it below the one that is meant, with more indentation.',
    '  backend:\n    backend_id: bkdhr_blue\n    enabled: true\n',
  ],
  [
    'a tab',
    '\tbackend: { backend_id: bkdhr_blue }\n',
    'Indent with spaces.',
    '  backend: { backend_id: bkdhr_blue }\n',
  ],
  [
    'a forgotten ---',
    `  backend: { backend_id: bkdhr_blue }\n${HEAD}TCPEdge\nmetadata: { name: b }\nspec: {}\n`,
    'Put a line `---` above it.',
    `  backend: { backend_id: bkdhr_blue }\n---\n${HEAD}TCPEdge\nmetadata: { name: b }\nspec: {}\n`,
  ],
  [
    'a forgotten ---, if it is the same document',
    `  backend: { backend_id: bkdhr_blue }\n${HEAD}TCPEdge\nmetadata: { name: a }\n`,
    'Or, if it is the same document, keep one of the lines of each name.',
    '  backend: { backend_id: bkdhr_blue }\n',
  ],
  [
    'a line that is indented too far',
    '  backend:\n  backend_id: bkdhr_blue\n    enabled: true\n',
    'Indent it like the line above.',
    '  backend:\n    backend_id: bkdhr_blue\n    enabled: true\n',
  ],
  [
    'a value beside what belongs to it',
    '  backend: blue\n    backend_id: bkdhr_blue\n',
    'if it belongs to the line above, remove the value there.',
    '  backend:\n    backend_id: bkdhr_blue\n',
  ],
  [
    'a forgotten colon',
    '  backend\n    backend_id: bkdhr_blue\n',
    'End it with a colon.',
    '  backend:\n    backend_id: bkdhr_blue\n',
  ],
  [
    'a text that goes on too far left',
    '  description: Pool of\n  backends\n    in Bern\n  backend: { backend_id: bkdhr_blue }\n',
    'if it is text of the line above, indent it more than that line.',
    '  description: Pool of\n    backends\n    in Bern\n  backend: { backend_id: bkdhr_blue }\n',
  ],
];

/** What a command prints of a mistake, and the words of its remedy that are followed. */
async function findWords({ edgewise }: Workspace, line: string, says: RegExp): Promise<string> {
  const { exitCode, stdout, stderr } = await edgewise(line);
  expect({ exitCode, printed: stdout + stderr }).toEqual({ exitCode: 3, printed: expect.stringMatching(says) });
  return says.exec(stdout + stderr)?.[1] ?? '';
}

describe('a remedy that is followed', () => {
  it.each(MISTAKES)('ends %s', async (_, wrong, says, right) => {
    const files = (spec: string): ReadonlyMap<string, Buffer> =>
      new Map([['manifest.yaml', Buffer.from(`${HEAD}TCPEdge\nmetadata: { name: a }\nspec:\n${spec}`)]]);
    const example = { ...readExample(''), command: 'validate manifest.yaml' };
    const before = await runExample({ ...example, files: files(wrong) });
    expect(before.output).toContain(says);
    const after = await runExample({ ...example, files: files(right) });
    expect(after.output).not.toContain('error[');
  });

  it('makes a plan that was cut again, with the command that it names', async () => {
    const stack = `${HEAD}Stack\nmetadata: { name: shop }\n`;
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': stack });
    await edgewise('plan . -o plan.json');
    const whole = readFileSync(join(folder, 'plan.json'), 'utf8');
    writeFileSync(join(folder, 'plan.json'), whole.slice(0, whole.length / 2));
    const cut = await edgewise('apply . --approved plan.json --yes');
    expect(cut).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Make one with edgewise plan -o FILE.') });
    await edgewise('plan . -o plan.json');
    expect(await edgewise('apply . --approved plan.json --yes')).toMatchObject({ exitCode: 0 });
  });

  it('writes a number that a variable cannot give', async () => {
    const pool = (share: string) =>
      `${HEAD}Stack\nmetadata: { name: shop }\n---\n${HEAD}WeightedBackend\nmetadata: { name: w }\nspec:\n  backends: { bkdhr_blue: ${share} }\n`;
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': pool(`"${D}{env:SHARE}"`) });
    const { exitCode, stdout, stderr } = await edgewise('validate --env SHARE', { env: { SHARE: '3' } });
    expect(exitCode).toBe(3);
    const [, said = ''] = /Write the number itself, without quotes: (\d+)\./.exec(stdout + stderr) ?? [];
    expect(said).toBe('3');
    writeFileSync(join(folder, 'edgewise.yaml'), pool(said));
    expect(await edgewise('validate')).toMatchObject({ exitCode: 0 });
  });

  it('writes a variable of Terraform as one of edgewise, and leaves those of traffic policies alone', async () => {
    const pool = (text: string) =>
      STACK + toManifest('WeightedBackend', 'w', { backends: { bkdhr_a: 1 }, description: text });
    const { edgewise, write } = await createWorkspace({ 'm.yaml': pool(`in ${D}{var.REGION} ${D}{conn.client_ip}`) });
    const { stdout } = await edgewise('validate');
    const [, meant = '', said = ''] =
      /contains `(.+?)`.*\n(?:.*\n)+?.*For the value of a variable, write `(.+?)`/.exec(stdout) ?? [];
    expect({ meant, said }).toEqual({ meant: `${D}{var.REGION}`, said: `${D}{env:REGION}` });
    await write({ 'm.yaml': pool(`in ${said} ${D}{conn.client_ip}`) });
    const { exitCode, stdout: after } = await edgewise('validate --strict --env REGION', { env: { REGION: 'eu' } });
    expect({ exitCode, after }).toEqual({ exitCode: 0, after: expect.not.stringContaining('unknown-placeholder') });
  });

  const TWO: Readonly<Record<string, string>> = {
    'a/edgewise.yaml': toStack('a') + toEdge('web', 20_001),
    'b/edgewise.yaml': toStack('b') + toEdge('web', 20_002),
  };

  /** Two stacks that are applied. */
  async function createTwo(): Promise<Workspace> {
    const workspace = await createWorkspace(TWO);
    expect(await workspace.edgewise('apply -R --yes')).toMatchObject({ exitCode: 0 });
    return workspace;
  }

  it.each(['plan', 'drift', 'get', 'validate', 'destroy --yes', 'release TCPEdge/web --yes'])(
    'gives %s the path of one of two stacks',
    async (line) => {
      const workspace = await createTwo();
      const path = await findWords(workspace, line, /Give the path of one, such as (\S+)\./);
      expect(await workspace.edgewise(`${line} ${path}`)).toMatchObject({ exitCode: 0 });
    },
  );

  it.each(['plan', 'drift', 'get', 'validate'])('gives %s the option for both', async (line) => {
    const workspace = await createTwo();
    const option = await findWords(workspace, line, /With (-R) \(--recursive\), the commands that have it/);
    const { exitCode, stdout } = await workspace.edgewise(`${line} ${option}`);
    expect(exitCode).toBe(0);
    for (const stack of 'ab') expect(stdout).toMatch(new RegExp(`\\b${stack}\\b`));
  });

  it('names each stack for destroy, as it asks', async () => {
    const workspace = await createTwo();
    const says = /Name each stack with (--stack) NAME\. The command edgewise (stacks) lists all of them/;
    const option = await findWords(workspace, 'destroy -R --yes', says);
    const { stdout } = await workspace.edgewise('stacks');
    const names = 'ab'.split('').filter((name) => new RegExp(`\\b${name}\\b`).test(stdout));
    const line = `destroy -R --yes ${names.map((name) => `${option} ${name}`).join(' ')}`;
    expect(await workspace.edgewise(line)).toMatchObject({ exitCode: 0 });
    expect(workspace.server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
  });

  it('names a folder for release, without -R', async () => {
    const workspace = await createTwo();
    const says = /edgewise (release) is for one stack: name its folder, without this option/;
    const command = await findWords(workspace, 'release -R TCPEdge/web --yes', says);
    const { exitCode, stdout } = await workspace.edgewise(`${command} TCPEdge/web a --yes`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('stack a') });
  });

  it('shows with get the values that a module leaves to the service', async () => {
    const route = (values: object) =>
      STACK + toManifest('HTTPSEdgeRoute', 'shop', { edge_id: 'edghts_a', id: 'edghtsrt_a', circuit_breaker: values });
    const { edgewise, write } = await createWorkspace({ 'm.yaml': route({ num_buckets: 6 }) });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const { stdout: found } = await edgewise('validate');
    const [, fields = '', command = ''] =
      /leaves (.+) to the service[\s\S]*Set all of them\. `(.+?)`/.exec(found) ?? [];
    const { stdout } = await edgewise(command);
    const values = fields.split(', ').map((name): [string, number] => {
      const [, value] = new RegExp(`circuit_breaker\\.${name} +(\\d+)$`, 'm').exec(stdout) ?? [];
      return [name, Number(value)];
    });
    await write({ 'm.yaml': route({ num_buckets: 6, ...Object.fromEntries(values) }) });
    const { exitCode, stdout: after, stderr: warnings } = await edgewise('plan --detailed-exitcode');
    expect({ exitCode, warned: (after + warnings).includes('left-to-service') }).toEqual({
      exitCode: 0,
      warned: false,
    });
  });

  const toCertificate = (file: string) =>
    STACK +
    toManifest('SSHUserCertificate', 'ada', {
      ssh_certificate_authority_id: 'sshca_1',
      principals: ['ada'],
      public_key: { file },
    });

  it('names the file with .pub that is beside a private key', async () => {
    const key = sshpk.generatePrivateKey('ed25519');
    const workspace = await createWorkspace({
      'm.yaml': toCertificate('k'),
      k: key.toString('ssh'),
      'k.pub': key.toPublic().toString('ssh'),
    });
    const end = await findWords(
      workspace,
      'validate',
      /Name the file of the public key, which usually ends with (\.\w+)/,
    );
    await workspace.write({ 'm.yaml': toCertificate(`k${end}`) });
    expect(await workspace.edgewise('validate')).toMatchObject({ exitCode: 0 });
  });

  it('prints the public key of a private one', async () => {
    requireProgramOrSkip('ssh-keygen', ['-?']);
    const workspace = await createWorkspace({ 'm.yaml': toCertificate('k') });
    const { folder } = workspace;
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'k')]);
    const command = await findWords(workspace, 'validate', /`(ssh-keygen .+?)` and this file print it/);
    const [program = '', ...words] = command.split(' ');
    await workspace.write({
      'm.yaml': toCertificate('of-k'),
      'of-k': execFileSync(program, [...words, 'k'], { cwd: folder, encoding: 'utf8' }),
    });
    expect(await workspace.edgewise('validate')).toMatchObject({ exitCode: 0 });
  });
});
