import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { createWorkspace, STACK, toEdge, toManifest, withoutReads } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const AUTHORIZED = { authorization: 'Bearer dev', 'service-version': '2', 'content-type': 'application/json' };

describe('drift', () => {
  it('is none after an apply, and sends reads only', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    recorder.take();
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('No drift: 2 resources are as they should be.');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is told from what was not applied yet, and from what nobody manages', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    const call = async (method: string, path: string, body: object) =>
      server.handle(
        new Request(`https://api.test${path}`, { method, headers: AUTHORIZED, body: JSON.stringify(body) }),
      );
    for (const { id, hostports } of server.snapshot().resources['TCPEdge'] ?? [])
      if (String(hostports).endsWith(':20001')) await call('PATCH', `/edges/tcp/${id}`, { description: 'by hand' });
    await call('POST', '/edges/tcp', { description: 'nobody’s', hostports: ['9.tcp.example.net:9'] });
    await write({ 'edgewise.yaml': `${TWO.replace('20002"]', '20003"]')}${toEdge('c', 20004)}` });
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(exitCode).toBe(2);
    await expect(withoutReads(stdout)).toMatchFileSnapshot('goldens/drift.txt');
    const json = JSON.parse((await edgewise('drift edgewise.yaml --format json')).stdout);
    expect(json).toMatchObject({ command: 'drift', ok: true, drifted: true, coverage: { owned: 2, unmanaged: 1 } });
    expect(json.counts).toMatchObject({ drifted: 1, pending: 1, missing: 1, 'in-sync': 0 });
  });

  it('is known from a saved plan alone, whether or not it was applied', async () => {
    const { edgewise, server, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('plan edgewise.yaml -o first.json');
    const before = await edgewise('drift --against first.json --format json');
    expect(before.exitCode).toBe(2);
    expect(JSON.parse(before.stdout).counts).toMatchObject({ missing: 2, 'in-sync': 0 });
    await edgewise('apply first.json --yes');
    await edgewise('plan edgewise.yaml -o second.json');
    for (const plan of ['first.json', 'second.json'])
      expect(await edgewise(`drift --against ${plan}`), plan).toMatchObject({ exitCode: 0 });
    recorder.take();
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    await server.handle(
      new Request(`https://api.test/edges/tcp/${edge?.['id']}`, {
        method: 'PATCH',
        headers: AUTHORIZED,
        body: JSON.stringify({ description: 'by hand' }),
      }),
    );
    const [whole, digests] = [
      await edgewise('drift --against first.json'),
      await edgewise('drift --against second.json'),
    ];
    expect([whole.exitCode, digests.exitCode]).toEqual([2, 2]);
    await expect(withoutReads(`${whole.stdout}\n${digests.stdout}`)).toMatchFileSnapshot('goldens/drift-against.txt');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is a result where somebody else took a value meanwhile, and none where a target names nothing', async () => {
    const { edgewise, server, recorder, folder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    const call = (method: string, path: string, body?: object) =>
      server.handle(
        new Request(`https://api.test${path}`, {
          method,
          headers: AUTHORIZED,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      );
    const [lost] = server.snapshot().resources['TCPEdge'] ?? [];
    await call('DELETE', `/edges/tcp/${lost?.['id']}`);
    await call('POST', '/edges/tcp', { hostports: lost?.['hostports'] });
    recorder.take();
    const taken = await edgewise('drift edgewise.yaml --report metrics=taken.prom --report json=taken.json');
    expect(taken).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('error[claimed-elsewhere]') });
    expect(await readFile(join(folder, 'taken.prom'), 'utf8')).toContain('edgewise_run_success{stack="test"} 1\n');
    const json = JSON.parse(await readFile(join(folder, 'taken.json'), 'utf8'));
    expect(json).toMatchObject({ ok: true, drifted: true });
    const nothing = await edgewise('drift edgewise.yaml --target TCPEdge/nothing --report metrics=nothing.prom');
    expect(nothing).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('error[unknown-target]') });
    expect(await readFile(join(folder, 'nothing.prom'), 'utf8')).toContain('edgewise_run_success{stack="test"} 0\n');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('of a saved plan needs the service to be named, and no manifests', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('plan edgewise.yaml -o plan.json');
    recorder.take();
    expect(await edgewise('drift edgewise.yaml --against plan.json')).toMatchObject({ exitCode: 3 });
    expect(await edgewise('drift --against edgewise.yaml')).toMatchObject({ exitCode: 3 });
    const env = { EDGEWISE_BASE_URL: 'https://elsewhere.test' };
    expect(await edgewise('drift --against plan.json', { env })).toMatchObject({ exitCode: 6 });
    expect(recorder.take()).toEqual([]);
  });

  it('is shown as gauges, and a failure as one that says so', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml --format metrics');
    expect(exitCode).toBe(0);
    const lines = stdout.split('\n');
    const listOf = (kind: string) => lines.filter((line) => line.includes(`kind="${kind}"`));
    const others = OWNED_KINDS.map(({ name }) => name).filter((name) => name !== 'TCPEdge');
    const nothing = listOf('TCPEdge').map((line) => line.replace(/\d+$/, '0'));
    for (const kind of others) expect(listOf(kind)).toEqual(nothing.map((line) => line.replace('TCPEdge', kind)));
    const shown = lines.filter((line) => !others.some((kind) => line.includes(`kind="${kind}"`)));
    await expect(withoutReads(shown.join('\n'))).toMatchFileSnapshot('goldens/drift-metrics.txt');
    await write({ 'edgewise.yaml': `${TWO}colour: red\n` });
    const failed = await edgewise('drift edgewise.yaml --format metrics');
    expect(failed).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('edgewise_run_success{stack="test"} 0\n# EOF\n'),
    });
    expect(await edgewise('plan edgewise.yaml --format metrics')).toMatchObject({ exitCode: 3 });
  });

  it('from a plan names the right fields of what that left alone, though a later apply wrote its mark anew', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    await edgewise('plan edgewise.yaml -o old.json');
    await write({ 'edgewise.yaml': TWO.replace('spec:\n', 'spec:\n  description: later\n') });
    await edgewise('apply --yes');
    const { exitCode, stdout } = await edgewise('drift --against old.json');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('    description: changed; the plan does not store the old value');
  });

  it('from a plan tells of what bears no mark any more, and of a file that is not as it was written', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
    const spec = { public_key: key, ssh_certificate_authority_id: 'sshca_main', principals: ['alice'] };
    const lifecycle = { valid_for: '90d', write_to: 'alice-cert.pub' };
    const certificate = toManifest('SSHUserCertificate', 'alice', spec, { lifecycle });
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': TWO + certificate });
    await edgewise('plan edgewise.yaml -o plan.json');
    await edgewise('apply plan.json --yes');
    await edgewise('plan edgewise.yaml -o later.json');
    for (const plan of ['plan.json', 'later.json'])
      expect(await edgewise(`drift --against ${plan}`)).toMatchObject({ exitCode: 0 });
    await writeFile(join(folder, 'alice-cert.pub'), 'another\n');
    const [live] = server.snapshot().resources['TCPEdge'] ?? [];
    const request = { method: 'PATCH', headers: AUTHORIZED, body: '{"metadata":""}' };
    await server.handle(new Request(`https://api.test/edges/tcp/${live?.id}`, request));
    const later = await edgewise('drift --against later.json');
    expect(later.stdout).toMatch(/Not ours: [\s\S]*TCPEdge\/[ab] [\s\S]*it carries no mark/);
    expect(later.stdout).toContain('2 ours, 1 unmanaged (TCPEdge 1)');
    const { exitCode, stdout } = await edgewise('drift --against plan.json');
    expect([exitCode, later.exitCode]).toEqual([2, 2]);
    expect(stdout).toMatch(/SSHUserCertificate\/alice[\s\S]*alice-cert\.pub has other content/);
  });
});
