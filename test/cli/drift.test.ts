import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { NOW } from './fake-context.ts';
import { createDriftedWorkspace, createWorkspace, STACK, toEdge, toManifest, withoutReads } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const RESTRICTED = toManifest('TCPEdge', 'a', {
  hostports: ['1.tcp.example.net:20001'],
  ip_restriction: { ip_policy_ids: ['ipp_office'] },
});
const BY_HAND = { 'TCPEdge/a': { description: 'by hand' } };

describe('drift', () => {
  it('is empty after an apply, and sends only reads', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    recorder.take();
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('No drift: 2 resources are as they should be.');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('differs from changes that are not applied yet, and from unmanaged resources', async () => {
    const { edgewise, server, write } = await createDriftedWorkspace({ 'edgewise.yaml': TWO }, BY_HAND);
    await sendByHand({ server }, 'POST', '/edges/tcp', { description: 'nobody’s', hostports: ['9.tcp.example.net:9'] });
    await write({ 'edgewise.yaml': `${TWO.replace('20002"]', '20003"]')}${toEdge('c', 20004)}` });
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(exitCode).toBe(2);
    await expect(withoutReads(stdout)).toMatchFileSnapshot('goldens/drift.txt');
    const json = readOnlyStack((await edgewise('drift edgewise.yaml --format json')).stdout);
    expect(json).toMatchObject({ command: 'drift', ok: true, drifted: true, coverage: { owned: 2, unmanaged: 1 } });
    expect(json.counts).toMatchObject({ drifted: 1, pending: 1, missing: 1, 'in-sync': 0 });
  });

  it('reports a value that another resource took, and fails for a target that names nothing', async () => {
    const { edgewise, server, recorder, folder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    const [lost] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${lost?.['id']}`);
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: lost?.['hostports'] });
    recorder.take();
    const taken = await edgewise('drift edgewise.yaml --report metrics=taken.prom --report json=taken.json');
    const refused =
      'The next apply would be refused: TCPEdge/a: hostports 1.tcp.example.net:20001 is claimed by TCPEdge';
    expect(taken).toMatchObject({ exitCode: 2, stdout: expect.stringContaining(refused) });
    expect(await readFile(join(folder, 'taken.prom'), 'utf8')).toContain('edgewise_run_success{stack="test"} 1\n');
    const json = readOnlyStack(await readFile(join(folder, 'taken.json'), 'utf8'));
    expect(json).toMatchObject({ ok: true, drifted: true });
    const nothing = await edgewise('drift edgewise.yaml --target TCPEdge/nothing --report metrics=nothing.prom');
    expect(nothing).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('error[unknown-target]') });
    expect(await readFile(join(folder, 'nothing.prom'), 'utf8')).toContain('edgewise_run_success{stack="test"} 0\n');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is exported as metrics, and so is a failure', async () => {
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
      stdout: expect.stringContaining('edgewise_run_success{stack="test"} 0\n'),
    });
    expect(await edgewise('plan edgewise.yaml --format metrics')).toMatchObject({ exitCode: 3 });
  });

  it('shows the dangers of what happened, in every format', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await edgewise('apply --yes');
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${String(id)}/ip_restriction`);
    const forms = ['json', 'markdown', 'html', 'github', 'sarif', 'junit', 'metrics'];
    const reports = forms.map((form) => ` --report ${form}=drift.${form}`).join('');
    const { exitCode, stdout } = await edgewise(`drift${reports}`);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/\n~ TCPEdge\/a [^\n]*\n {4}! access: is no longer restricted: ip_restriction/);
    expect(stdout).toMatch(/^Drift of .*\n.*\n! 1 danger \(1 access\)\.\n\n/);
    const said = /TCPEdge\/a[^\n]{0,20} is no longer restricted:/;
    const read = async (form: string) => readFile(join(folder, `drift.${form}`), 'utf8');
    for (const form of ['github', 'sarif', 'junit']) expect(await read(form), form).toMatch(said);
    expect(await read('html')).toMatch(/<code>TCPEdge\/a<\/code><\/a> is no longer restricted:/);
    expect(await read('markdown')).toMatch(
      /> \[!CAUTION\][\s\S]*is no longer restricted:[\s\S]*### Changed at the service/,
    );
    // The most severe danger is first, and its values are shown only there.
    const markdown = await read('markdown');
    expect(markdown).toMatch(
      /^## ⚠ 1 danger \(1 access\) · 1 drifted\n\nDrift of stack test on [^\n]*\n\n> \[!CAUTION\]/m,
    );
    expect(markdown).toMatch(/Reading took \d+ requests\.\n\n<sub>[^\n]*<\/sub>\n$/);
    // The team follows the danger.
    expect(markdown).toMatch(/\| `TCPEdge\/a`[\s\S]*\n- It is unknown who made these changes/);
    expect(markdown).toMatch(/`ip_restriction`: \[access danger above\]\(#danger-[\w-]+\) \(removed at the service\)/);
    expect(markdown.split('```')[0]?.split('ipp_office')).toHaveLength(2);
    expect(await read('metrics')).toContain('edgewise_drift_dangers{stack="test",group="access"} 1\n');
    expect(await read('metrics')).toContain('edgewise_drift_dangers{stack="test",group="traffic"} 0\n');
    const danger = { group: 'access', danger: 'restriction-removed', path: 'ip_restriction' };
    const json = readOnlyStack(await read('json'));
    expect(json).toMatchObject({
      dangers: { access: 1, traffic: 0 },
      changes: [{ driftDangers: [danger], action: 'update' }],
    });
  });

  it('shows teams, and links to the line of each field, in every format', async () => {
    const text = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: test }
spec: { team_label: team }
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
    const { edgewise, server, folder } = await createDriftedWorkspace({ 'edgewise.yaml': text }, BY_HAND);
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${String(id)}/ip_restriction`);
    const forms = ['markdown', 'html', 'json', 'github'];
    const { stdout } = await edgewise(`drift${forms.map((form) => ` --report ${form}=drift.${form}`).join('')}`);
    const read = async (form: string) => readFile(join(folder, `drift.${form}`), 'utf8');
    const [description, restriction] = ['  description', '  ip_restriction'].map((start) => {
      return `edgewise.yaml:${text.split('\n').findIndex((line) => line.startsWith(start)) + 1}`;
    });
    expect(stdout).toMatch(
      /\n~ TCPEdge\/a {2}\S+\n {4}! access: is no longer restricted:[^\n]*\n {4}team: billing\n {4}description: "ours" → "by hand"/,
    );
    const markdown = await read('markdown');
    expect(markdown).toMatch(
      /> - \*\*access\*\* `TCPEdge\/a` \(billing\) is no longer restricted: `[^`]*` `edgewise.yaml:\d+`</,
    );
    expect(markdown).toContain(`→ (none)\` \`${restriction}\`<a`);
    expect(markdown).toContain(`<br>\`${description}\` | \`description: `);
    expect(markdown).toMatch(/\n\| `TCPEdge\/a`[^\n]* \| reverts this \| billing \|\n/);
    const html = await read('html');
    expect(html).toContain('<span class="detail">team: billing</span>');
    expect(html).toContain('data-team="billing"');
    expect(html).toMatch(new RegExp(`<li>[^\\n]*no longer restricted:[^\\n]*<code>${restriction}</code></li>`));
    expect(html).toContain(`<p><code>${description}</code></p>`);
    expect(html).toMatch(new RegExp(`<th scope="row">ip_restriction[^\\n]*<code>${restriction}</code>`));
    expect(readOnlyStack(await read('json')).changes).toMatchObject([{ address: 'TCPEdge/a', team: 'billing' }]);
    expect(await read('github')).toMatch(/file=edgewise.yaml,line=14,[^:]*drift-danger::TCPEdge/);
  });

  it('says whether the value before a danger is known', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await edgewise('apply --yes');
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${String(id)}/ip_restriction`);
    const doubt = 'the earlier value is unknown';
    expect((await edgewise('drift')).stdout).not.toContain(doubt);
    await write({ 'edgewise.yaml': STACK + RESTRICTED.replace('ipp_office', 'ipp_home') });
    expect((await edgewise('drift')).stdout).toMatch(new RegExp(`! access: is no longer restricted.*${doubt}`));
  });

  it('lists unmanaged resources in every format', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
    await edgewise('apply --yes');
    for (let index = 0; index < 25; index += 1)
      await sendByHand({ server }, 'POST', '/edges/tcp', { description: 'somebody’s' });
    const edges = server.snapshot().resources['TCPEdge'] ?? [];
    const unmanaged = edges.filter(({ description }) => description === 'somebody’s').map(({ id }) => String(id));
    expect(unmanaged).toHaveLength(25);
    const forms = ['json', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const reports = forms.map((form) => ` --report ${form}=drift.${form}`).join('');
    const { exitCode, stdout } = await edgewise(`drift${reports}`);
    expect(exitCode).toBe(0);
    for (const text of [
      stdout,
      ...(await Promise.all(forms.map((form) => readFile(join(folder, `drift.${form}`), 'utf8')))),
    ])
      expect(unmanaged.filter((id) => !text.includes(id))).toEqual([]);
    expect(stdout).toContain('edgewise export');
    expect(await readFile(join(folder, 'drift.junit'), 'utf8')).toMatch(
      /tests="26" failures="0" errors="0" skipped="25"/,
    );
  });

  it('says in every format that a policy refuses the next apply, with the exit code of drift', async () => {
    const { edgewise, folder, write } = await createDriftedWorkspace({ 'edgewise.yaml': TWO }, BY_HAND);
    await write({
      'edgewise.yaml': TWO.replace('\n---', '\nspec: { policies: [freeze] }\n---'),
      'freeze/policy.yaml': toManifest('Policy', 'freeze', {
        require: 'false',
        message: 'Nothing changes in December',
      }),
    });
    const forms = ['json', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const reports = forms.map((form) => ` --report ${form}=drift.${form}`).join('');
    const { exitCode, stdout } = await edgewise(`drift edgewise.yaml${reports}`);
    expect(exitCode).toBe(2);
    expect(stdout).toContain('next apply: is refused\n');
    expect(stdout).toContain('The next apply would be refused: TCPEdge/');
    const texts = await Promise.all(forms.map((form) => readFile(join(folder, `drift.${form}`), 'utf8')));
    const silent = forms.filter((_, index) => !texts[index]?.includes('Nothing changes in December'));
    expect(silent).toEqual([]);
  });

  it('counts a resource once, and does not call a proposed adoption missing', async () => {
    const { edgewise, server, write } = await createDriftedWorkspace({ 'edgewise.yaml': TWO }, BY_HAND);
    const [first, second] = server.snapshot().resources['TCPEdge'] ?? [];
    const port = (edge: typeof first) => String(edge?.['hostports']);
    const more = { metadata: '', hostports: [port(second), '1.tcp.example.net:20009'] };
    await sendByHand({ server }, 'PATCH', `/edges/tcp/${second?.id}`, more);
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

  it('is dangerous if a resource was recreated by hand without its restriction, in every format', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await edgewise('apply --yes');
    const [lost] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${lost?.['id']}`);
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: lost?.['hostports'] });
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    const forms = ['json', 'markdown', 'html', 'github', 'sarif', 'junit', 'metrics'];
    const { exitCode, stdout } = await edgewise(
      `drift${forms.map((form) => ` --report ${form}=drift.${form}`).join('')}`,
    );
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/TCPEdge\/a .*\n {4}! access: is no longer restricted: ip_restriction/);
    expect(stdout).toMatch(/^! 1 danger \(1 access\)/m);
    expect(stdout).toContain(`TCPEdge/a  (${id})`);
    expect(stdout).toContain('the earlier value is unknown');
    const read = async (form: string) => readFile(join(folder, `drift.${form}`), 'utf8');
    for (const form of ['markdown', 'html', 'github', 'sarif', 'junit'])
      expect(await read(form), form).toContain('is no longer restricted:');
    expect(await read('metrics')).toContain('edgewise_drift_dangers{stack="test",group="access"} 1\n');
    const found = { state: 'unowned', besideId: id, driftDangers: [{ danger: 'restriction-removed' }] };
    expect(readOnlyStack(await read('json'))).toMatchObject({ dangers: { access: 1 }, changes: [found] });
  });

  it('is not dangerous if a resource was recreated by hand with the same values', async () => {
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await edgewise('apply --yes');
    const [lost] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${lost?.['id']}`);
    const policies = { ip_policy_ids: ['ipp_office'] };
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: lost?.['hostports'], ip_restriction: policies });
    const { exitCode, stdout } = await edgewise('drift');
    expect(exitCode).toBe(2);
    expect(stdout).toContain('Unowned: without the mark of this stack');
    expect(stdout).not.toContain('danger');
  });

  it.each(['json', 'markdown', 'html', 'github', 'sarif', 'junit'])(
    'names the safety rule that blocks the next apply: %s',
    async (form) => {
      const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': TWO });
      await edgewise('apply --yes');
      const [lost] = server.snapshot().resources['TCPEdge'] ?? [];
      await sendByHand({ server }, 'DELETE', `/edges/tcp/${lost?.['id']}`);
      await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: lost?.['hostports'] });
      const { stdout } = await edgewise(`drift --format ${form}`);
      expect(stdout.replaceAll(/<[^>]*>/g, '')).toMatch(/hostports [^"\n]* is claimed by|claimed-elsewhere/);
    },
  );

  it.each(['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'])(
    'shows a change that is not applied yet as the plan does, with dangers and notes: %s',
    async (form) => {
      const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
      await edgewise('apply --yes');
      const open = toManifest('TCPEdge', 'a', {
        hostports: ['1.tcp.example.net:20001'],
        ip_restriction: { enabled: false, ip_policy_ids: ['ipp_office'] },
      });
      const kept = `${STACK}spec:\n  tokens: { default: { directory: tokens } }\n`;
      await write({ 'edgewise.yaml': kept + open + toManifest('Credential', 'agent', {}) });
      const plain = (printed: string) => printed.replaceAll(/<[^>]*>/g, '').replaceAll(/[`\\]/g, '');
      const plan = await edgewise('plan');
      const drift = plain((await edgewise(`drift --format ${form}`)).stdout);
      expect(plan.stdout).toMatch(/have this disabled: ip_restriction/);
      expect(plan.stdout).toMatch(/get its first token/);
      if (form.startsWith('json')) {
        expect(drift).toMatch(/"danger": ?"restriction-disabled"/);
        expect(drift).toMatch(/"danger": ?"token"/);
      } else {
        expect(drift).toMatch(/will have this disabled: ip_restriction/);
        expect(drift).toMatch(/will get its first token/);
      }
    },
  );

  it('is dangerous if a certificate has expired', async () => {
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
    expect(ended.stdout).toMatch(/SSHUserCertificate\/alice.*\n {4}! \w+: is no longer valid since 2026-03-02/);
  });
});
