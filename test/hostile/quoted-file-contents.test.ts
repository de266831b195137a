import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../cli/fake-context.ts';
import { runEdgewise } from '../end-to-end/processes.ts';
import { createCheckout } from './listener.ts';

/** The author of a pull request names files of other owners, so that a diagnostic quotes them in a public comment. */

const SECRET = 'hunter2-of-somebody-else';

const FILES: readonly (readonly [string, string])[] = [
  ['a key', `${SECRET}\n`],
  ['a netrc', `machine example.net login me password ${SECRET}\n`],
  ['credentials of a cloud', `[default]\naws_secret_access_key = ${SECRET}\n`],
  ['credentials in JSON', `{"type":"service_account","private_key":"${SECRET}","kind":"${SECRET}"}\n`],
  ['the settings of a registry', `//registry.example.net/:_authToken=${SECRET}\n`],
  ['a configuration of git', `[http]\n\textraheader = AUTHORIZATION: basic ${SECRET}\n`],
  ['YAML of another tool', `apiVersion: v1\nkind: Secret\ndata: { password: ${SECRET} }\nkind: ${SECRET}\n`],
  ['an unknown tag', `password: !${SECRET} x\n`],
  ['an environment', `HOME=/root\0API=${SECRET}\0apiVersion: edgewise/v1\0`],
  ['a variable in a text', `password: "\${env:${SECRET}}"\n`],
  ['text that is not UTF-8', `\u00ff${SECRET}\n`],
];

/** Files in which the names of members may be the secret. */
const NAMED: readonly (readonly [string, string])[] = [
  ['tokens by name', JSON.stringify({ [SECRET]: { host: 'example.net' } })],
  ['a number', '704225991'],
  ['several members', JSON.stringify({ resources: {}, [SECRET]: SECRET })],
];

const STACK = { apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'shop' } };
const ENV = { EDGEWISE_BASE_URL: 'embedded:' };

describe('the content of a file that is no manifest is not shown', () => {
  it.each(FILES)('if spec.policies names it: %s', async (_, text) => {
    const stack = { ...STACK, spec: { policies: ['other/secret.yaml'] } };
    const folder = await createCheckout({
      'live/edgewise.yaml': JSON.stringify(stack),
      'live/other/secret.yaml': text,
    });
    const { exitCode, stdout, stderr } = await runEdgewise(['plan', join(folder, 'live/edgewise.yaml')], ENV);
    expect(exitCode).toBe(3);
    expect(`${stdout}${stderr}`).toContain('secret.yaml');
    expect(`${stdout}${stderr}`).not.toContain(SECRET);
  });

  it.each(FILES)('if it is named as the data of an embedded server: %s', async (_, text) => {
    const folder = await createCheckout({
      'live/edgewise.yaml': JSON.stringify(STACK),
      'live/other/secret.json': text,
    });
    const file = join(folder, 'live/other/secret.json');
    const { exitCode, stdout, stderr } = await runEdgewise([
      'plan',
      join(folder, 'live/edgewise.yaml'),
      '--base-url',
      `embedded:${file}`,
    ]);
    expect(exitCode).toBe(3);
    expect(`${stdout}${stderr}`).toContain('secret.json');
    expect(`${stdout}${stderr}`).not.toContain(SECRET.slice(0, 7));
  });

  it.each(FILES)('if it is committed or linked as a manifest: %s', async (_, text) => {
    const folder = await createCheckout({ 'edgewise.yaml': JSON.stringify(STACK), 'secret.txt': text });
    await symlink('secret.txt', join(folder, 'manifest.yaml'));
    const { stdout, stderr } = await runEdgewise(['validate', folder, '--format', 'json'], ENV);
    expect(`${stdout}${stderr}`).not.toContain(SECRET);
  });

  it('if it is named on the command line, and the line is', async () => {
    const folder = await createCheckout({ 'key.txt': `first: line\n${SECRET}: [\n` });
    const { exitCode, stdout } = await runEdgewise(['validate', join(folder, 'key.txt')], ENV);
    expect(exitCode).toBe(3);
    expect(stdout).toContain('key.txt is not a manifest');
    expect(stdout).not.toContain(SECRET);
  });
});

describe('the content of a file that is read when a program starts is not shown if it is invalid', () => {
  it.each(
    ['--snapshot', '--seed', '--faults'].flatMap((flag) =>
      [...FILES, ...NAMED].map(([what, text]) => [flag, what, text] as const),
    ),
  )('%s names %s', async (flag, _, text) => {
    const folder = await createCheckout({ 'secret.json': text });
    const { exitCode, stdout, stderr } = await runCommand(['serve', '--port', '0', flag, 'secret.json'], {
      cwd: folder,
    });
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain('secret.json');
    expect(stderr).not.toContain(SECRET.slice(0, 7));
    expect(stderr).not.toContain('704225991');
  });

  it.each(FILES)('GITHUB_EVENT_PATH names %s', async (_, text) => {
    const folder = await createCheckout({ 'report.md': '<!-- edgewise:drift stack=test -->\n', 'secret.json': text });
    const env = { GITHUB_REPOSITORY: 'a/b', GITHUB_TOKEN: 'token-of-a-job-1', GITHUB_EVENT_PATH: 'secret.json' };
    const more = { cwd: folder, env: { ...env, GITHUB_API_URL: 'http://127.0.0.1:9' } };
    const { exitCode, stdout, stderr } = await runCommand(['post', 'report.md'], more);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).not.toContain(SECRET.slice(0, 7));
  });
});

it('shows the content of a manifest', async () => {
  const folder = await createCheckout({ 'a.yaml': 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { nam: x }\n' });
  const { stdout } = await runEdgewise(['validate', folder], ENV);
  expect(stdout).toContain('3 | metadata: { nam: x }');
});
