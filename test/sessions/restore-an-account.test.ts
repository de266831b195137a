import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toManifest } from '../cli/workspace.ts';
import { COMPILED } from '../compiled.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { commitAll, toStack } from '../repository/tree.ts';
import { ED25519_KEY } from '../server/ssh-keys.ts';

/** The section of docs/how-to/day-two.md on an account that is gone, played on one, with git and a service in a file. */

const PAGE = readFileSync('docs/how-to/day-two.md', 'utf8');
const SECTION = PAGE.split('\n## ').find((one) => one.startsWith('Restore an account')) ?? '';
const [, COMMANDS = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(SECTION) ?? [];

const WEB = {
  'live/web/edgewise.yaml': toStack('web'),
  'live/web/pool.yaml': toManifest('External', 'pool', { stack: 'network', resource: 'WeightedBackend/pool' }),
  'live/web/edge.yaml': toManifest('TCPEdge', 'shop', {
    hostports: ['1.tcp.example.net:20001'],
    metadata: 'find me',
    backend: { backend_id: 'External/pool' },
  }),
};
const KEY = { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1', principals: ['alice'] };
const NETWORK = {
  'live/network/edgewise.yaml': toStack('network', { tokens: { default: { directory: '../../tokens' } } }),
  'live/network/all.yaml': [
    toManifest('WeightedBackend', 'pool', { backends: { bkdhr_1: 1 } }),
    toManifest('Credential', 'agent', { acl: ['bind:x.example.com'] }),
    toManifest('Credential', 'build', { acl: ['bind:y.example.com'] }),
    toManifest('AgentIngress', 'agents', { domain: 'agents.example.com' }, { lifecycle: { protect: true } }),
    toManifest('SSHUserCertificate', 'alice', KEY),
    toManifest('TCPEdge', 'redis', { hostports: ['1.tcp.example.net:20002'] }),
  ].join(''),
};

function createRepository() {
  requireProgramOrSkip('git');
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-restore-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const cwd = join(folder, 'repository');
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { mode: 0o755 });
    }
  };
  const inRepository = (files: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`repository/${path}`, text]));
  write({
    ...inRepository({ ...WEB, ...NETWORK, '.gitignore': '/tokens/\n' }),
    // No terminal is there to ask.
    'bin/edgewise': `#!/bin/sh\ncommand=$1\nshift\n[ "$command" != apply ] || set -- "$@" --yes\nexec "${process.execPath}" "${resolve(PROGRAM)}" "$command" "$@"\n`,
  });
  const data = join(folder, 'data.json');
  const env = {
    ...COMPILED,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    EDGEWISE_BASE_URL: `embedded:${data}`,
    NO_COLOR: '1',
  };
  const run = (script: string) => {
    const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], { cwd, env, encoding: 'utf8' });
    return { status, said: `${stdout}${stderr}` };
  };
  /** Each live value of a command, by its address. */
  const get = (field: string) =>
    new Map(
      run(`edgewise get -R live --format value=${field}`)
        .said.match(/^\w+\t.*$/gm)
        ?.map((line) => {
          const [stack = '', address = '', value = ''] = line.split('\t');
          return [`${stack} ${address}`, value] as const;
        }),
    );
  commitAll(cwd);
  const first = run('edgewise apply -R live');
  expect(first.status, first.said).toBe(0);
  return { cwd, run, get, write: (files: Readonly<Record<string, string>>) => write(inRepository(files)), data };
}

it('brings back what manifests have, and says what to hand out', { timeout: 60_000 }, () => {
  const { cwd, run, get, data } = createRepository();
  const token = readFileSync(join(cwd, 'tokens/agent.token'), 'utf8');
  const [ids, hostports, certificates] = [get('id'), get('hostports'), get('certificate')];
  rmSync(data);
  const { status, said } = run(COMMANDS.split('\n')[0] ?? '');
  expect([status, said]).toEqual([0, expect.stringContaining('To hand out after the apply:\n')]);
  expect(said).toContain('  2 tokens to the folder tokens: Credential/agent, Credential/build\n');
  expect(said).toMatch(/1 certificate \(edgewise get .*\): SSHUserCertificate\/alice\n/);
  expect(said).toMatch(/set the NS records of its domain to its ns_targets \(.*\): AgentIngress\/agents\n/);
  expect(existsSync(data)).toBe(false);
  const applied = run(COMMANDS);
  expect([applied.status, applied.said]).toEqual([0, expect.stringContaining('writes applied, 0 failed, 0 skipped')]);
  expect(run('edgewise plan -R live --detailed-exitcode')).toMatchObject({ status: 0 });
  // All that manifests have, also protection, metadata and the reference to the other stack.
  expect(get('hostports')).toEqual(hostports);
  expect(run('edgewise get AgentIngress live/network').said).toContain('protected');
  expect(get('metadata').get('web TCPEdge/shop')).toBe('find me');
  // Tokens, certificates and ids are other ones.
  expect(readFileSync(join(cwd, 'tokens/agent.token'), 'utf8')).not.toBe(token);
  expect([...get('certificate').keys()]).toEqual([...certificates.keys()]);
  expect([...get('certificate').values()]).not.toEqual([...certificates.values()]);
  expect([...get('id').keys()]).toEqual([...ids.keys()]);
  for (const [address, id] of get('id')) expect(id, address).not.toBe(ids.get(address));
  expect(get('ns_targets').size).toBe(1);
});

it('refuses an External with an old id until it has the new one', { timeout: 60_000 }, () => {
  const { run, get, write, data } = createRepository();
  const old = get('id').get('network WeightedBackend/pool');
  const spec = { backends: { bkdhr_1: 1 } };
  const adopting = toManifest('WeightedBackend', 'pool', spec, { lifecycle: { adopt: old } });
  write({
    'live/web/pool.yaml': toManifest('External', 'pool', { id: old }),
    'live/network/all.yaml': NETWORK['live/network/all.yaml'].replace(
      toManifest('WeightedBackend', 'pool', spec),
      adopting,
    ),
  });
  expect(run('edgewise plan -R live --detailed-exitcode')).toMatchObject({ status: 0 });
  rmSync(data);
  const refused = run('edgewise plan live/web');
  expect(refused).toMatchObject({ status: 5, said: expect.stringContaining(`${old} does not exist`) });
  expect(refused.said).toContain(
    `\nTo hand out after the apply:\n  write the new id into live/web/pool.yaml:2: ${old} → WeightedBackend/pool of the stack network\n`,
  );
  const planned = run('edgewise plan live/network').said;
  expect(planned).toContain(
    `  the new ids, where others have the old ones (edgewise get --format value=id): ${old} → WeightedBackend/pool\n`,
  );
  const applied = run('edgewise apply live/network');
  expect(applied.status).toBe(0);
  const id = run('edgewise get WeightedBackend/pool live/network --format value=id 2>/dev/null').said.trim();
  expect(applied.said).toContain(
    `\nNew ids, where others have the old ones:\n  ${old} → ${id}: WeightedBackend/pool\n`,
  );
  write({ 'live/web/pool.yaml': toManifest('External', 'pool', { id }) });
  expect(run('edgewise apply live/web')).toMatchObject({ status: 0 });
});
