import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { NOW } from './fake-context.ts';
import { createWorkspace, STACK, toEdge, toManifest, withoutReads } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const RESTRICTED = toManifest('TCPEdge', 'a', {
  hostports: ['1.tcp.example.net:20001'],
  ip_restriction: { ip_policy_ids: ['ipp_office'] },
});
const AUTHORIZED = { authorization: 'Bearer dev', 'service-version': '2', 'content-type': 'application/json' };

function toRequest(method: string, path: string, body?: object): Request {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  return new Request(`https://api.test${path}`, { method, headers: AUTHORIZED, ...content });
}

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
    await edgewise('apply first.json --no-manifests --yes');
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
    const refused =
      'The next apply would be refused: TCPEdge/a: hostports 1.tcp.example.net:20001 is claimed by TCPEdge';
    expect(taken).toMatchObject({ exitCode: 2, stdout: expect.stringContaining(refused) });
    expect(await readFile(join(folder, 'taken.prom'), 'utf8')).toContain('edgewise_run_success{stack="test"} 1\n');
    const json = JSON.parse(await readFile(join(folder, 'taken.json'), 'utf8'));
    expect(json).toMatchObject({ ok: true, drifted: true });
    const nothing = await edgewise('drift edgewise.yaml --target TCPEdge/nothing --report metrics=nothing.prom');
    expect(nothing).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('error[unknown-target]') });
    expect(await readFile(join(folder, 'nothing.prom'), 'utf8')).toContain('edgewise_run_success{stack="test"} 0\n');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('of a saved plan needs the service to be named, and no manifests', async () => {
    const other = TWO.replace('name: test', 'name: other');
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO, 'other/edgewise.yaml': other });
    await edgewise('plan edgewise.yaml -o plan.json');
    recorder.take();
    const { exitCode, stderr } = await edgewise('drift --against plan.json --manifests other');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('of the stack other') });
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

  it('begins with what is dangerous in what happened, in every format', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await edgewise('apply --yes');
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await server.handle(toRequest('DELETE', `/edges/tcp/${String(id)}/ip_restriction`));
    const forms = ['json', 'json-lines', 'markdown', 'html', 'github', 'sarif', 'junit', 'metrics'];
    const reports = forms.map((form) => ` --report ${form}=drift.${form}`).join('');
    const { exitCode, stdout } = await edgewise(`drift${reports}`);
    expect(exitCode).toBe(2);
    expect(stdout.split('\n').slice(1, 4)).toEqual([
      '',
      '1 danger (1 access):',
      expect.stringContaining('TCPEdge/a is no longer restricted: ip_restriction'),
    ]);
    const said = /TCPEdge\/a[^\n]{0,20} is no longer restricted:/;
    const read = async (form: string) => readFile(join(folder, `drift.${form}`), 'utf8');
    for (const form of ['github', 'sarif', 'junit']) expect(await read(form), form).toMatch(said);
    expect(await read('html')).toMatch(/<code>TCPEdge\/a<\/code><\/a> is no longer restricted:/);
    expect(await read('markdown')).toMatch(
      /> \[!CAUTION\][\s\S]*is no longer restricted:[\s\S]*### Changed at the service/,
    );
    // The worst stands first, and its values stand there only.
    const markdown = await read('markdown');
    expect(markdown).toMatch(
      /^## ⚠ 1 danger \(1 access\) · 1 drifted\n\nDrift of stack test on [^\n]*\n\n> \[!CAUTION\]/m,
    );
    // Who it was follows what happened.
    expect(markdown).toMatch(/\| `TCPEdge\/a`[\s\S]*\nIt is unknown who made these changes[\s\S]*\nLive resources of /);
    expect(markdown).toMatch(/`ip_restriction`: \[access danger above\]\(#danger-[\w-]+\) \(removed at the service\)/);
    expect(markdown.split('<details>')[0]?.split('ipp_office')).toHaveLength(2);
    expect(await read('metrics')).toContain('edgewise_drift_dangers{stack="test",group="access"} 1\n');
    expect(await read('metrics')).toContain('edgewise_drift_dangers{stack="test",group="traffic"} 0\n');
    const danger = { group: 'access', danger: 'restriction-removed', path: 'ip_restriction' };
    const json = JSON.parse(await read('json'));
    expect(json).toMatchObject({
      dangers: { access: 1, traffic: 0 },
      resources: [{ dangers: [danger], next: 'update' }],
    });
    const [first = '', summary = ''] = (await read('json-lines')).trimEnd().split('\n');
    expect(JSON.parse(first)).toMatchObject({ event: 'drift', resource: { dangers: [danger] } });
    expect(JSON.parse(summary)).toMatchObject({ event: 'summary', dangers: { access: 1 } });
  });

  it('says whose each resource is, and leads to the line of each field, in every form', async () => {
    const text = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: test }
spec: { owner_label: team }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: a
  labels: { team: billing }
spec:
  description: ours
  hostports: ["1.tcp.example.net:20001"]
  ip_restriction: { ip_policy_ids: [ipp_office] }
`;
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': text });
    await edgewise('apply --yes');
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await server.handle(toRequest('DELETE', `/edges/tcp/${String(id)}/ip_restriction`));
    await server.handle(toRequest('PATCH', `/edges/tcp/${String(id)}`, { description: 'by hand' }));
    const forms = ['markdown', 'html', 'json', 'github'];
    const { stdout } = await edgewise(`drift${forms.map((form) => ` --report ${form}=drift.${form}`).join('')}`);
    const read = async (form: string) => readFile(join(folder, `drift.${form}`), 'utf8');
    const [description, restriction] = ['  description', '  ip_restriction'].map((start) => {
      return `edgewise.yaml:${text.split('\n').findIndex((line) => line.startsWith(start)) + 1}`;
    });
    expect(stdout).toContain('  ! access: TCPEdge/a (owner: billing) is no longer restricted:');
    expect(stdout).toMatch(/\n {2}TCPEdge\/a {2}\S+\n {4}owner: billing\n {4}description: "ours" → "by hand"/);
    const markdown = await read('markdown');
    expect(markdown).toMatch(
      /> - \*\*access\*\* `TCPEdge\/a` \(billing\) is no longer restricted: `[^`]*` `edgewise.yaml:\d+`</,
    );
    expect(markdown).toContain(`→ (none)\` \`${restriction}\`<a`);
    expect(markdown).toContain(`<br>\`${description}\` | \`description: `);
    expect(markdown).toMatch(/\n\| `TCPEdge\/a`[^\n]* \| reverts this \| billing \|\n/);
    const html = await read('html');
    expect(html).toContain('<span class="detail">owner: billing</span>');
    expect(html).toContain('data-owner="billing"');
    expect(html).toMatch(new RegExp(`<li>[^\\n]*no longer restricted:[^\\n]*<code>${restriction}</code></li>`));
    expect(html).toContain(`<p><code>${description}</code></p>`);
    expect(html).toMatch(new RegExp(`<th scope="row">ip_restriction[^\\n]*<code>${restriction}</code>`));
    expect(JSON.parse(await read('json')).resources).toMatchObject([{ address: 'TCPEdge/a', owner: 'billing' }]);
    expect(await read('github')).toMatch(/file=edgewise.yaml,line=14,[^:]*drift-danger::TCPEdge/);
    // What a saved plan leaves alone has no manifest in it: its mark says whose it was.
    await edgewise('apply --yes');
    await edgewise('plan -o plan.json');
    await server.handle(toRequest('DELETE', `/edges/tcp/${String(id)}`));
    const { resources } = JSON.parse((await edgewise('drift --against plan.json --format json')).stdout);
    expect(resources).toMatchObject([{ state: 'missing', owner: 'billing' }]);
  });

  it('says of a danger whether what was before is known', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await edgewise('apply --yes');
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await server.handle(toRequest('DELETE', `/edges/tcp/${String(id)}/ip_restriction`));
    const doubt = 'its earlier value is unknown';
    expect((await edgewise('drift')).stdout).not.toContain(doubt);
    await write({ 'edgewise.yaml': STACK + RESTRICTED.replace('ipp_office', 'ipp_home') });
    expect((await edgewise('drift')).stdout).toMatch(
      new RegExp(`! access: TCPEdge/a is no longer restricted.*${doubt}`),
    );
  });

  it.each(['first', 'again'])(
    'knows of lost protection from a plan (%s), and without one says that it cannot',
    async (which) => {
      const text = `${toEdge('a', 20001)}lifecycle: { protect: true }\n`;
      const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': `${STACK}${text}` });
      await edgewise('plan edgewise.yaml -o first.json');
      expect((await edgewise('drift --against first.json')).stdout).not.toContain('protect');
      await edgewise('apply --yes');
      await edgewise('plan edgewise.yaml -o again.json');
      expect(await edgewise(`drift --against ${which}.json`)).toMatchObject({ exitCode: 0 });
      const [{ id = '', metadata = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
      const without = String(metadata).replace('"protect":true,', '');
      expect(without).not.toBe(metadata);
      await server.handle(toRequest('PATCH', `/edges/tcp/${String(id)}`, { metadata: without }));
      const { exitCode, stdout } = await edgewise(`drift --against ${which}.json`);
      expect(exitCode).toBe(2);
      expect(stdout).toContain('1 danger (1 protection):\n  ! protection: TCPEdge/a is no longer protected\n');
      expect(stdout).toMatch(/Changed at the service:\n {2}TCPEdge\/a .*\n {4}lifecycle[.]protect: true → false {2}\(/);
      const json = JSON.parse((await edgewise(`drift --against ${which}.json --format json`)).stdout);
      expect(json).toMatchObject({ dangers: { protection: 1 }, resources: [{ state: 'drifted' }] });
      // Without a plan nobody knows, and nobody says otherwise.
      expect((await edgewise('drift')).stdout).toMatch(
        /lifecycle[.]protect: false → true {2}\(or removed at the service: the mark does not tell which\)/,
      );
    },
  );

  it('of protection is pending in a plan that was not applied', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}lifecycle: { protect: true }\n` });
    await edgewise('plan edgewise.yaml -o plan.json');
    const { stdout } = await edgewise('drift --against plan.json');
    expect(stdout).toContain('0 drifted, 1 pending');
    expect(stdout).not.toContain('danger');
  });

  it('names what nobody manages, in every format', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
    await edgewise('apply --yes');
    await server.handle(toRequest('POST', '/edges/tcp', { description: 'somebody’s' }));
    const stranger = server.snapshot().resources['TCPEdge']?.find(({ description }) => description === 'somebody’s');
    const forms = ['json', 'json-lines', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const reports = forms.map((form) => ` --report ${form}=drift.${form}`).join('');
    const { exitCode, stdout } = await edgewise(`drift${reports}`);
    expect(exitCode).toBe(0);
    for (const text of [
      stdout,
      ...(await Promise.all(forms.map((form) => readFile(join(folder, `drift.${form}`), 'utf8')))),
    ])
      expect(text).toContain(String(stranger?.['id']));
    expect(stdout).toContain('edgewise export');
    expect(await readFile(join(folder, 'drift.junit'), 'utf8')).toMatch(
      /tests="2" failures="0" errors="0" skipped="1"/,
    );
  });

  it('counts a resource once, and does not call missing what is offered for adoption', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    const [first, second] = server.snapshot().resources['TCPEdge'] ?? [];
    const port = (edge: typeof first) => String(edge?.['hostports']);
    await server.handle(toRequest('PATCH', `/edges/tcp/${first?.id}`, { description: 'by hand' }));
    const more = { metadata: '', hostports: [port(second), '1.tcp.example.net:20009'] };
    await server.handle(toRequest('PATCH', `/edges/tcp/${second?.id}`, more));
    const old = port(first).split(':')[1] ?? '';
    await write({ 'edgewise.yaml': TWO.replace(`${old}"]`, `${old}"]\n  description: in git`) });
    const { stdout } = await edgewise('drift');
    expect(stdout).toContain(
      '0 missing, 0 drifted, 1 drifted and pending, 1 unowned, 0 pending, 0 to prune; 0 in sync.',
    );
    expect(stdout).toContain(`adopt: ${second?.id}`);
    expect(stdout).not.toContain('Missing');
    expect(stdout).not.toContain('Unmanaged');
  });

  it('knows of a resource that a saved plan found that it was deleted, and what that ends', async () => {
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    await edgewise('plan -o plan.json');
    const [lost] = server.snapshot().resources['TCPEdge'] ?? [];
    await server.handle(toRequest('DELETE', `/edges/tcp/${lost?.id}`));
    const { stdout } = await edgewise('drift --against plan.json');
    expect(stdout).toContain(`deleted at the service: the plan found it there as ${lost?.id}`);
    const unknown = await edgewise('drift');
    expect(unknown.stdout).toContain('Missing: never applied, or deleted at the service:');
    expect(unknown.stdout).not.toContain('danger');
  });

  it('of a saved plan has the dangers of a deletion where the plan was to change the resource', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': TWO.replace('20001"]', '20003"]') });
    await edgewise('plan -o plan.json');
    const lost = server.snapshot().resources['TCPEdge']?.find(({ hostports }) => String(hostports).endsWith('20001'));
    await server.handle(toRequest('DELETE', `/edges/tcp/${lost?.id}`));
    expect((await edgewise('drift --against plan.json')).stdout).toContain(
      '  ! traffic: TCPEdge/a is no longer reached at hostports 1.tcp.example.net:20001',
    );
  });

  it('of a certificate that has ended is dangerous', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
    const spec = { public_key: key, ssh_certificate_authority_id: 'sshca_main', principals: ['alice'] };
    let hours = 0;
    const now = () => new Date(NOW.getTime() + hours * 3_600_000);
    const files = { 'edgewise.yaml': STACK + toManifest('SSHUserCertificate', 'alice', spec) };
    const { edgewise } = await createWorkspace(files, { now });
    await edgewise('apply --yes');
    const at = (later: number) => {
      hours = later;
      return { now };
    };
    expect((await edgewise('drift', at(23))).stdout).not.toContain('danger');
    const ended = await edgewise('drift', at(25));
    expect(ended.stdout).toContain('SSHUserCertificate/alice is no longer valid since 2026-03-02');
  });

  it('from a plan tells of what bears no mark any more, and of a file that is not as it was written', async () => {
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
    const spec = { public_key: key, ssh_certificate_authority_id: 'sshca_main', principals: ['alice'] };
    const lifecycle = { valid_for: '90d', write_to: 'alice-cert.pub' };
    const certificate = toManifest('SSHUserCertificate', 'alice', spec, { lifecycle });
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': TWO + certificate });
    await edgewise('plan edgewise.yaml -o plan.json');
    await edgewise('apply plan.json --no-manifests --yes');
    await edgewise('plan edgewise.yaml -o later.json');
    for (const plan of ['plan.json', 'later.json'])
      expect(await edgewise(`drift --against ${plan}`)).toMatchObject({ exitCode: 0 });
    await writeFile(join(folder, 'alice-cert.pub'), 'another\n');
    const [live] = server.snapshot().resources['TCPEdge'] ?? [];
    const request = { method: 'PATCH', headers: AUTHORIZED, body: '{"metadata":""}' };
    await server.handle(new Request(`https://api.test/edges/tcp/${live?.id}`, request));
    const later = await edgewise('drift --against later.json');
    expect(later.stdout).toMatch(/Unowned: [\s\S]*TCPEdge\/[ab] [\s\S]*it has no mark/);
    expect(later.stdout).toContain('2 of this stack, 1 unmanaged (TCPEdge 1)');
    const { exitCode, stdout } = await edgewise('drift --against plan.json');
    expect([exitCode, later.exitCode]).toEqual([2, 2]);
    expect(stdout).toMatch(/SSHUserCertificate\/alice[\s\S]*alice-cert\.pub has other content/);
  });
});
