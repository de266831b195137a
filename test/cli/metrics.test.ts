import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GAUGES, renderDriftMetrics } from '../../src/report/machine/metrics.ts';
import { sendByHand } from '../by-hand.ts';
import { createDrift, createDriftedChange } from '../report/sample-reports.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from './workspace.ts';

const CERTIFICATE = `---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUoPzRJWuvSBQPtIqRxZ2ps5bJ0c0uWEb2Pb0xXqWQd
  principals: [alice]
  valid_until: "2027-01-01T00:00:00Z"
`;

const toStack = (name: string, ...more: readonly string[]): string =>
  `${STACK.replace('name: test', `name: ${name}`)}${more.join('')}`;

/** The samples of a file, without its comments. */
function listSeries(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** The series of several files, as a collector of text files sees them: without values. */
function listNames(...texts: readonly string[]): readonly string[] {
  return texts.flatMap(listSeries).map((line) => line.replace(/ \S+$/, ''));
}

async function readMetrics({ edgewise, folder }: Workspace, file: string): Promise<string> {
  await edgewise(`drift ${file} --report metrics=stack.prom`);
  return readFile(join(folder, 'stack.prom'), 'utf8');
}

/** The series about the account, without the stack that read it. */
function listAccount(text: string): readonly string[] {
  const series = listSeries(text).filter((line) => line.startsWith('edgewise_account_'));
  return series.map((line) => line.replace(/stack="\w+",/, ''));
}

/** Gives a file another group of this user, if there is one, and returns the id of its group. */
async function changeGroup(file: string): Promise<number> {
  const { gid } = await stat(file);
  const groups = process.getuid?.() === 0 ? [gid + 1] : (process.getgroups?.() ?? []);
  const other = groups.find((one) => one !== gid) ?? gid;
  await chown(file, -1, other);
  return other;
}

describe('metrics', () => {
  it('of two stacks share no series, whether they failed or not', async () => {
    const workspace = await createWorkspace({
      'a.yaml': toStack('a', toEdge('a', 20001)),
      'b.yaml': toStack('b', toEdge('b', 20002)),
      'c.yaml': toStack('c', toEdge('c', 20003).replace('hostports', 'hostport')),
      'd.yaml': toStack('d', '---\nnonsense\n'),
    });
    const texts: string[] = [];
    for (const file of ['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml']) texts.push(await readMetrics(workspace, file));
    const names = listNames(...texts);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !name.includes('stack="'))).toEqual([]);
    expect(listNames(...texts.slice(2))).toEqual([
      'edgewise_run_success{stack="c"}',
      'edgewise_last_run_timestamp_seconds{stack="c"}',
      'edgewise_run_success{stack="d"}',
      'edgewise_last_run_timestamp_seconds{stack="d"}',
    ]);
  });

  it('have the labels of the table, and no other', async () => {
    const { edgewise } = await createWorkspace({
      'a/edgewise.yaml': toStack('a', toEdge('a', 20001), CERTIFICATE),
      'b/edgewise.yaml': toStack('b', '\n---\nnonsense\n'),
    });
    await edgewise('apply a --yes');
    const { stdout } = await edgewise('drift -R . --format metrics');
    const found = listNames(stdout).map((line) => {
      const [, name = '', labels = ''] = /^(\w+)\{(.*)\}$/.exec(line) ?? [];
      return { name, labels: Array.from(labels.matchAll(/(\w+)="/g), ([, label = '']) => label) };
    });
    const table: Readonly<Record<string, { readonly labels: readonly string[] }>> = GAUGES;
    expect(new Set(found.map(({ name }) => name)).size).toBeGreaterThan(8);
    const toUsual = (name: string) => table[name]?.labels.filter((label) => label !== 'key_env');
    for (const { name, labels } of found) expect(labels, name).toEqual(toUsual(name));
  });

  it('of a run that failed at the service have the stack', async () => {
    const { edgewise } = await createWorkspace({ 'a.yaml': toStack('a', toEdge('a', 20001)) });
    const transport = async () => Response.json({ msg: 'no' }, { status: 401 });
    const now = () => new Date('2026-07-01T12:00:00Z');
    const { exitCode, stdout } = await edgewise('drift a.yaml --format metrics', { transport, now });
    expect(exitCode).toBe(4);
    expect(listSeries(stdout)).toEqual([
      'edgewise_run_success{stack="a"} 0',
      `edgewise_last_run_timestamp_seconds{stack="a"} ${now().getTime() / 1000}`,
    ]);
  });

  it('of a stack that failed beside others have the time of the run', async () => {
    const { edgewise } = await createWorkspace({
      'a/edgewise.yaml': toStack('a', toEdge('a', 20001)),
      'b/edgewise.yaml': toStack('b', toEdge('b', 20002).replace('hostports', 'hostport')),
    });
    const now = () => new Date('2026-07-01T12:00:00Z');
    const { stdout } = await edgewise('drift -R . --format metrics', { now });
    const ofRuns = listSeries(stdout).filter((line) => /^edgewise_(run|last_run)_/.test(line));
    expect(ofRuns).toEqual([
      'edgewise_run_success{stack="a"} 1',
      'edgewise_run_success{stack="b"} 0',
      `edgewise_last_run_timestamp_seconds{stack="a"} ${now().getTime() / 1000}`,
      `edgewise_last_run_timestamp_seconds{stack="b"} ${now().getTime() / 1000}`,
    ]);
  });

  it('go into a file that exists while the next run reads, and keeps its permissions and group', async () => {
    const { edgewise, folder, server } = await createWorkspace({ 'a.yaml': toStack('a', toEdge('a', 20001)) });
    const file = join(folder, 'stack.prom');
    await edgewise('drift a.yaml --report metrics=stack.prom', { now: () => new Date('2026-07-01T12:00:00Z') });
    await chmod(file, 0o664);
    const group = await changeGroup(file);
    const before = await readFile(file, 'utf8');
    const during: string[] = [];
    await edgewise('drift a.yaml --report metrics=stack.prom', {
      now: () => new Date('2026-07-01T13:00:00Z'),
      transport: async (request) => {
        during.push(await readFile(file, 'utf8'));
        return server.handle(request);
      },
    });
    expect(new Set(during)).toEqual(new Set([before]));
    const { mode, gid } = await stat(file);
    expect({ mode: mode & 0o777, gid }).toEqual({ mode: 0o664, gid: group });
    expect(await readFile(file, 'utf8')).not.toBe(before);
  });

  it('of the account count everything live, and are the same for every reader', async () => {
    const workspace = await createWorkspace({
      'a.yaml': toStack('a', toEdge('a', 20001), toEdge('b', 20002)),
      'b.yaml': toStack('b', toEdge('c', 20003)),
    });
    for (const file of ['a.yaml', 'b.yaml']) await workspace.edgewise(`apply ${file} --yes`);
    await sendByHand(workspace, 'POST', '/edges/tcp', {});
    const account = listAccount(await readMetrics(workspace, 'a.yaml'));
    const url = 'base_url="https://api.test"';
    expect(account).toContain(`edgewise_account_resources{${url},kind="TCPEdge",managed="yes"} 3`);
    expect(account).toContain(`edgewise_account_resources{${url},kind="TCPEdge",managed="no"} 1`);
    expect(account).toContain(`edgewise_account_managed_ratio{${url}} 0.75`);
    expect(listAccount(await readMetrics(workspace, 'b.yaml'))).toEqual(account);
  });

  it('have the time at which each certificate ends', async () => {
    const { edgewise } = await createWorkspace({ 'a.yaml': toStack('a', CERTIFICATE) });
    await edgewise('apply a.yaml --yes');
    const { stdout } = await edgewise('drift a.yaml --format metrics');
    const end = Date.parse('2027-01-01T00:00:00Z') / 1000;
    expect(listSeries(stdout)).toContain(
      `edgewise_certificate_end_timestamp_seconds{stack="a",address="SSHUserCertificate/alice"} ${end}`,
    );
  });
});

it('metrics state the earliest end of the certificates that have one address', () => {
  const ends = ['2027-03-01T00:00:00Z', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z'];
  const changes = ends.map((validUntil) => createDriftedChange('alice', 'in-sync', { validUntil }));
  const text = renderDriftMetrics({ about: 'drift', drift: createDrift(changes) }, {});
  expect(listSeries(text).filter((line) => line.includes('certificate_end'))).toEqual([
    expect.stringMatching(new RegExp(` ${Date.parse('2027-01-01T00:00:00Z') / 1000}$`)),
  ]);
});
