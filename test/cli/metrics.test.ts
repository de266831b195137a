import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeWith, runTool } from '../pipelines/tools.ts';
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

/** The samples of a file: all but its comments. */
function listSeries(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** The series of several files, as a collector of text files sees them: without their values. */
function listNames(...texts: readonly string[]): readonly string[] {
  return texts.flatMap(listSeries).map((line) => line.replace(/ \S+$/, ''));
}

async function readMetrics({ edgewise, folder }: Workspace, file: string): Promise<string> {
  await edgewise(`drift ${file} --report metrics=stack.prom`);
  return readFile(join(folder, 'stack.prom'), 'utf8');
}

/** What they say of the account, without the stack that read it. */
function listAccount(text: string): readonly string[] {
  const series = listSeries(text).filter((line) => line.startsWith('edgewise_account_'));
  return series.map((line) => line.replace(/stack="\w+",/, ''));
}

describe('metrics', () => {
  it('of two stacks have no series in common, whether they failed or not', async () => {
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
    expect(texts.slice(2).map(listSeries)).toEqual([
      ['edgewise_run_success{stack="c"} 0'],
      ['edgewise_run_success{stack="d"} 0'],
    ]);
  });

  it('of a run that the service failed bear the stack too', async () => {
    const { edgewise } = await createWorkspace({ 'a.yaml': toStack('a', toEdge('a', 20001)) });
    const transport = async () => Response.json({ msg: 'no' }, { status: 401 });
    const { exitCode, stdout } = await edgewise('drift a.yaml --format metrics', { transport });
    expect(exitCode).toBe(4);
    expect(listSeries(stdout)).toEqual(['edgewise_run_success{stack="a"} 0']);
  });

  it('of the account count all that is live, and are the same whoever reads them', async () => {
    const workspace = await createWorkspace({
      'a.yaml': toStack('a', toEdge('a', 20001), toEdge('b', 20002)),
      'b.yaml': toStack('b', toEdge('c', 20003)),
    });
    for (const file of ['a.yaml', 'b.yaml']) await workspace.edgewise(`apply ${file} --yes`);
    await workspace.server.handle(
      new Request('https://api.test/edges/tcp', {
        method: 'POST',
        headers: { authorization: 'Bearer dev', 'content-type': 'application/json', 'service-version': '2' },
        body: '{}',
      }),
    );
    const account = listAccount(await readMetrics(workspace, 'a.yaml'));
    const url = 'base_url="https://api.test"';
    expect(account).toContain(`edgewise_account_resources{${url},kind="TCPEdge",managed="yes"} 3`);
    expect(account).toContain(`edgewise_account_resources{${url},kind="TCPEdge",managed="no"} 1`);
    expect(account).toContain(`edgewise_account_managed_ratio{${url}} 0.75`);
    expect(listAccount(await readMetrics(workspace, 'b.yaml'))).toEqual(account);
  });

  it('say when each certificate ends, as a time', async () => {
    const { edgewise } = await createWorkspace({ 'a.yaml': toStack('a', CERTIFICATE) });
    await edgewise('apply a.yaml --yes');
    const { stdout } = await edgewise('drift a.yaml --format metrics');
    const end = Date.parse('2027-01-01T00:00:00Z') / 1000;
    expect(listSeries(stdout)).toContain(
      `edgewise_certificate_end_timestamp_seconds{stack="a",address="SSHUserCertificate/alice"} ${end}`,
    );
  });
});

describeWith(['promtool'], 'metrics, read by Prometheus', () => {
  it('are what its own checker wants', async () => {
    const { edgewise, folder } = await createWorkspace({ 'a.yaml': toStack('a', toEdge('a', 20001), CERTIFICATE) });
    await edgewise('apply a.yaml --yes');
    await edgewise('drift a.yaml --report metrics=a.prom');
    const checked = await runTool('sh', ['-c', `promtool check metrics < ${join(folder, 'a.prom')}`]);
    expect(checked).toEqual({ status: 0, output: '' });
  });
});
