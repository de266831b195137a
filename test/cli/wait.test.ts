import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { type FakeOptions, NOW } from './fake-context.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

const POLICY = { certificate_management_policy: {} };

function toIngress(name: string, domain: string): string {
  return toManifest('AgentIngress', name, { domain, ...POLICY });
}

/** A workspace with one clock for commands and server. It advances while a command sleeps. */
async function createClockedWorkspace(manifests: string): Promise<Workspace & { readonly slept: readonly number[] }> {
  let time = NOW.getTime();
  const now = (): Date => new Date(time);
  const slept: number[] = [];
  const sleep: FakeOptions['sleep'] = async (ms) => {
    slept.push(ms / 1000);
    time += ms;
  };
  const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${manifests}` }, { now });
  const edgewise: Workspace['edgewise'] = (line, more) => workspace.edgewise(line, { now, sleep, ...more });
  return { ...workspace, edgewise, slept };
}

async function readReport({
  folder,
}: Workspace): Promise<{ readonly stacks: readonly { readonly stack: string; readonly exitCode: number }[] }> {
  return JSON.parse(await readFile(join(folder, 'a.json'), 'utf8'));
}

describe('apply --wait', () => {
  it('ends when the certificate is provisioned, and shows what is left to do', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'agents.example.com') + toEdge('e', 20_001));
    const { exitCode, stdout, stderr } = await workspace.edgewise(
      'apply --wait edgewise.yaml --yes --report json=a.json',
    );
    expect(stderr).toContain('left at most: AgentIngress/a: its certificate is being provisioned');
    expect(stderr).toContain('0 of 1 ready, 10 min 0 s left at most: ');
    expect(workspace.slept).toEqual([5, 10, 20, 30]);
    expect(stdout).toContain('2 writes applied, 0 failed, 0 skipped, 1 of 1 ready');
    expect(stdout).toContain('set the NS records of its domain to ns1.ingress.example.net, ns2.ingress.example.net');
    expect(exitCode).toBe(0);
    expect(await readReport(workspace)).toMatchObject({
      ok: true,
      waited: [{ address: 'AgentIngress/a', state: 'ready', computed: { ns_targets: expect.anything() } }],
      next: [expect.stringContaining('ns1.ingress.example.net')],
    });
  });

  it('fails with the message of the service if its job failed', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'agents.invalid'));
    const { exitCode, stdout } = await workspace.edgewise('apply edgewise.yaml --yes --wait=5m --report json=a.json');
    expect(exitCode).toBe(1);
    const said = stdout.replaceAll(/\s+/g, ' ');
    expect(said).toContain(
      'AgentIngress/a: its certificate fails with DNS_ERROR: The NS records of the domain do not point',
    );
    expect(said).toContain('Set the NS records of the domain to its ns_targets (ns1.');
    expect(workspace.slept).toEqual([]);
    expect(await readReport(workspace)).toMatchObject({ ok: false, waited: [{ state: 'failed' }] });
  });

  it('continues while the service shows no state of the certificate yet', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'agents.example.com'));
    let shown = 0;
    const hideFirstStates = (key: string, value: unknown) =>
      key === 'certificate_management_status' && ++shown <= 3 ? null : value;
    const transport: Transport = async (request) => {
      const response = await workspace.recorder.transport(request);
      return Response.json(JSON.parse(await response.text(), hideFirstStates), { status: response.status });
    };
    const { exitCode, stderr } = await workspace.edgewise('apply edgewise.yaml --yes --wait', { transport });
    expect(stderr).toContain('AgentIngress/a: its certificate is not being provisioned yet');
    expect(exitCode).toBe(0);
  });

  it('continues over a temporary failure', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'retried.example.com'));
    const { exitCode, stderr } = await workspace.edgewise('apply edgewise.yaml --yes --wait');
    expect(stderr).toContain('its certificate fails with INTERNAL_ERROR: The certificate authority did not answer');
    expect(exitCode).toBe(0);
  });

  it('ends at its time limit', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'agents.example.com'));
    const { exitCode, stdout } = await workspace.edgewise('apply edgewise.yaml --yes --wait=20s');
    expect(exitCode).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('To wait again: edgewise get --wait AgentIngress/a');
    expect(workspace.slept.reduce((sum, one) => sum + one, 0)).toBe(20);
  });

  it('reads nothing if the service has nothing left to do', async () => {
    const workspace = await createClockedWorkspace(toEdge('e', 20_001));
    const plain = await workspace.edgewise('apply edgewise.yaml --yes --wait');
    expect(plain.exitCode).toBe(0);
    expect(workspace.slept).toEqual([]);
    expect(plain.stdout).not.toContain('ready');
  });

  it('waits for every stack of a run, each with its own end', async () => {
    const workspace = await createClockedWorkspace('');
    const files = {
      'live/a/edgewise.yaml': `${STACK.replace('test', 'a')}${toIngress('x', 'one.example.com')}`,
      'live/b/edgewise.yaml': `${STACK.replace('test', 'b')}${toIngress('x', 'two.invalid')}`,
    };
    await workspace.write(files);
    const { exitCode, stdout, stderr } = await workspace.edgewise('apply -R live --wait --yes --report json=a.json');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('AgentIngress/x: its certificate is being provisioned');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('its certificate fails with DNS_ERROR');
    const { stacks } = await readReport(workspace);
    const ends = stacks.map(({ stack, exitCode: code }) => [stack, code]);
    expect(ends).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
  });

  it('is for one stack with get', async () => {
    const workspace = await createClockedWorkspace(toEdge('e', 20_001));
    const { exitCode, stderr } = await workspace.edgewise('get -R . --wait');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('edgewise apply -R --wait');
  });
});

describe('get --wait', () => {
  it('shows the resource when it is ready', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'agents.example.com'));
    await workspace.edgewise('apply edgewise.yaml --yes');
    const { exitCode, stdout, stderr } = await workspace.edgewise('get --wait AgentIngress/a edgewise.yaml');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('left at most: AgentIngress/a: its certificate is being provisioned');
    expect(stdout).toContain('certificate renews in 59 days');
  });

  it('fails with the message of the service, and shows the resource', async () => {
    const workspace = await createClockedWorkspace(toIngress('a', 'agents.invalid'));
    await workspace.edgewise('apply edgewise.yaml --yes');
    const { exitCode, stdout, stderr } = await workspace.edgewise('get AgentIngress/a edgewise.yaml --wait=1m');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('AgentIngress/a');
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain('fails with DNS_ERROR: The NS records of the domain do not point');
  });
});
