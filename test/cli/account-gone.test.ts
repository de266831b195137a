import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { ED25519_KEY } from '../server/ssh-keys.ts';
import { createWorkspace, STACK, toEdge, toManifest } from './workspace.ts';

const toId = (prefix: string, index: number) => `${prefix}_${String(index).padStart(27, '0')}`;

/** The manifests of an account that was clicked and adopted: a credential, a certificate, an ingress and edges. */
function createManifests(edges: number): string {
  const adopt = (prefix: string, index: number) => ({ lifecycle: { adopt: toId(prefix, index) } });
  return [
    `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`,
    toManifest('Credential', 'agent', { acl: ['bind:x.example.com'] }, adopt('cr', 1)),
    toManifest('AgentIngress', 'agents', { domain: 'agents.example.com' }, adopt('agin', 1)),
    toManifest(
      'SSHUserCertificate',
      'alice',
      { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1', principals: ['alice'] },
      adopt('sucrt', 1),
    ),
    ...Array.from({ length: edges }, (_, index) =>
      toManifest(
        'TCPEdge',
        `e${index}`,
        { hostports: [`1.tcp.example.net:${20_000 + index}`] },
        adopt('edgtcp', index),
      ),
    ),
  ].join('');
}

const listWarnings = (stdout: string): readonly string[] =>
  readOnlyStack(stdout)
    .diagnostics.filter(({ code }: JsonObject) => code === 'predecessor-unclear')
    .map(({ message }: JsonObject) => String(message));

describe('an account that is gone', () => {
  it('is one line for all ids to adopt, and a list of what has to be handed out', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': createManifests(485) });
    const { exitCode, stdout } = await edgewise('plan');
    expect(exitCode).toBe(0);
    expect(stdout.match(/predecessor-unclear/g)).toHaveLength(1);
    expect(stdout).toContain(
      `None of the 488 ids to adopt exists, such as ${toId('agin', 1)} of AgentIngress/agents: another account?`,
    );
    expect(stdout).toContain('edgewise explain settings');
    expect(stdout).toContain(`
To hand out after the apply:
  1 token to the folder tokens: Credential/agent
  1 certificate (edgewise get SSHUserCertificate --format value=certificate): SSHUserCertificate/alice
  set the NS records of its domain to its ns_targets (edgewise get AgentIngress --format value=ns_targets): AgentIngress/agents
`);
    const markdown = await edgewise('plan --format markdown');
    expect(markdown.stdout).toContain('To hand out after the apply');
  });

  it('has its list also while a reference leads nowhere', async () => {
    const broken = toManifest('TCPEdge', 'broken', { backend: { backend_id: toId('bkdwd', 1) } });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': `${createManifests(4)}${broken}` });
    const { exitCode, stdout } = await edgewise('plan');
    expect([exitCode, stdout]).toEqual([5, expect.stringContaining('To hand out after the apply:\n')]);
    expect(stdout).toContain(`${toId('bkdwd', 1)} does not exist`);
  });

  it('comes back with one apply, and then has nothing to do', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': createManifests(4) });
    expect((await edgewise('apply --yes')).exitCode).toBe(0);
    const { exitCode, stdout } = await edgewise('plan --detailed-exitcode');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('Nothing to do: 7 resources match')]);
    expect(stdout).not.toMatch(/another account|To hand out/);
    expect((await edgewise('get AgentIngress --format value=ns_targets')).stdout).not.toBe('');
    expect(existsSync(join(folder, 'tokens/agent.token'))).toBe(true);
  });

  it.each([
    ['a few ids, which may be mistakes', createManifests(2), 5],
    ['many ids beside one that exists', createManifests(8).replace(toId('edgtcp', 3), 'EXISTS'), 10],
  ])('is not suspected for %s', async (_, text, missing) => {
    const { edgewise, write, server } = await createWorkspace();
    const { id } = await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20003'] });
    await write({ 'edgewise.yaml': text.replace('EXISTS', String(id)) });
    const warnings = listWarnings((await edgewise('plan --format json')).stdout);
    expect(warnings).toHaveLength(missing);
    for (const warning of warnings) expect(warning).toContain('to adopt, so an apply creates a new one');
  });

  it('has no list beside what is there, or for a plan of few creations', async () => {
    const few = await createWorkspace({ 'edgewise.yaml': createManifests(2) });
    expect((await few.edgewise('plan')).stdout).not.toContain('To hand out');
    const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('first', 21_000)}` });
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': `${createManifests(8)}${toEdge('first', 21_000)}` });
    expect((await workspace.edgewise('plan')).stdout).not.toContain('To hand out');
  });
});

describe('adopting a resource with metadata', () => {
  it.each([
    ['a text', 'find me', 'the text in its metadata is kept as edgewise.text of a JSON object: '],
    ['a JSON object', '{"owned-by":"shop-operator"}', 'its metadata gets one more key, edgewise: '],
  ])('says what becomes of %s', async (_, metadata, note) => {
    const { edgewise, server } = await createWorkspace();
    const body = { hostports: ['1.tcp.example.net:20001'], metadata };
    const { id } = await sendByHand({ server }, 'POST', '/edges/tcp', body);
    await edgewise('export -o manifests --owner test');
    const { stdout } = await edgewise('plan manifests');
    expect(stdout).toContain(`    ${note}what finds it by its exact metadata has to know\n`);
    await edgewise('apply manifests --yes');
    const after = await sendByHand({ server }, 'GET', `/edges/tcp/${id}`);
    const stored = JSON.parse(String(after['metadata']));
    expect(metadata.startsWith('{') ? stored['owned-by'] : stored.edgewise.text).toBe(
      metadata.startsWith('{') ? 'shop-operator' : metadata,
    );
  });

  it('says nothing of metadata that is empty', async () => {
    const { edgewise, server } = await createWorkspace();
    await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
    await edgewise('export -o manifests --owner test');
    expect((await edgewise('plan manifests')).stdout).not.toContain('metadata');
  });
});
