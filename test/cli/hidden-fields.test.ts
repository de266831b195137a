import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../src/model/server-faults.ts';
import { toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_blue: 1 } });
const toUser = (description: string): string =>
  toManifest('TCPEdge', 'shop', { description, backend: { backend_id: 'WeightedBackend/pool' } });

const ACL = { acl: ['bind:a.example.com'] };
const RESTRICTED = toManifest('Credential', 'agent', ACL);
const LEFT_TO_OTHERS = toManifest('Credential', 'agent', ACL, { lifecycle: { ignore: ['acl'] } });

/** A transport to a service that leaves out some fields. */
function createOmittingTransport({ server, recorder }: Workspace, more: object = {}) {
  const rule: FaultRule = { on: '*', fault: 'left_out', ...more };
  const recorded = server.behind(() => toSend(recorder.transport));
  return { transport: withFaults(recorded, { seed: 1, rules: [rule] }).handle };
}

const SAID = /^warning\[shown-otherwise\]: TCPEdge: the service does not show backend/gm;

describe('a field that no response shows', () => {
  it('is reported once by plan and drift, which find nothing to do', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + POOL + toUser('a') });
    const { edgewise } = workspace;
    expect(await edgewise('plan -o plan.json')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply --approved plan.json --yes')).toMatchObject({ exitCode: 0 });
    const hidden = createOmittingTransport(workspace, { fields: ['backend'] });
    for (const line of ['plan --detailed-exitcode', 'drift']) {
      const { exitCode, stdout } = await edgewise(line, hidden);
      expect(exitCode, line).toBe(0);
      expect(stdout.match(SAID), line).toHaveLength(1);
    }
    expect(await edgewise('get', hidden)).toMatchObject({ exitCode: 0 });
  });

  it('causes no finding of the rehearsal, and is left out of no write', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + POOL + toUser('a') });
    const { edgewise, write } = workspace;
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK + POOL + toUser('b') });
    const hidden = createOmittingTransport(workspace, { fields: ['backend'] });
    expect((await edgewise('plan', hidden)).stdout).toContain(
      'the write succeeded there, and a plan made afterwards would be empty.',
    );
    expect(await edgewise('apply --yes', hidden)).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('is no difference of an adoption while the manifest does not set it', async () => {
    const workspace = await createWorkspace({});
    const { id } = await sendByHand(workspace, 'POST', '/edges/tcp', { description: 'a' });
    await workspace.write({
      'edgewise.yaml': STACK + toManifest('TCPEdge', 'shop', { description: 'a' }, { lifecycle: { adopt: id } }),
    });
    const hidden = createOmittingTransport(workspace, { fields: ['backend'] });
    const { exitCode, stdout } = await workspace.edgewise('plan --format json', hidden);
    expect(exitCode).toBe(0);
    expect(readOnlyStack(stdout).changes).toMatchObject([{ action: 'adopt', differences: [] }]);
  });

  it('is in no exported manifest, unlike a field that is shown', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + POOL + toUser('a') });
    const { edgewise } = workspace;
    await edgewise('apply --yes');
    const { stdout: text, exitCode } = await edgewise(
      'export TCPEdge --owner test',
      createOmittingTransport(workspace, { fields: ['backend'] }),
    );
    expect(exitCode).toBe(0);
    expect(text).toContain('description: a');
    expect(text).not.toContain('backend');
  });
});

describe('a restriction that no response shows', () => {
  const SAID = '! secrets: Credential/agent may admit everyone: acl: the service does not show it';

  it('is a danger of an unchanged resource, in a plan and in drift, which still find nothing to do', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    const { edgewise } = workspace;
    expect(await edgewise('apply --yes --token-directory tokens')).toMatchObject({ exitCode: 0 });
    const hidden = createOmittingTransport(workspace, { fields: ['acl'] });
    for (const line of ['plan --detailed-exitcode', 'drift']) {
      expect((await edgewise(line)).stdout, line).not.toContain('may admit everyone');
      const { exitCode, stdout } = await edgewise(line, hidden);
      expect(exitCode, line).toBe(0);
      expect(stdout, line).toContain(SAID);
      expect(stdout, line).toContain('1 danger (1 secret)');
    }
    expect((await edgewise('plan --format markdown', hidden)).stdout).toContain(
      '## ⚠ 1 danger (1 secret) · Nothing to do: 1 resource matches the manifests',
    );
    const { changes } = readOnlyStack((await edgewise('plan --format json', hidden)).stdout);
    expect(changes).toMatchObject([
      { action: 'no-op', dangers: [{ group: 'secrets', danger: 'restriction-unknown', path: 'acl' }] },
    ]);
  });

  it('is none if the manifest asks for no restriction, or leaves it to others', async () => {
    for (const manifest of [toManifest('Credential', 'agent', {}), LEFT_TO_OTHERS]) {
      const workspace = await createWorkspace({ 'edgewise.yaml': STACK + manifest });
      const { edgewise } = workspace;
      expect(await edgewise('apply --yes --token-directory tokens')).toMatchObject({ exitCode: 0 });
      const hidden = createOmittingTransport(workspace, { fields: ['acl'] });
      for (const line of ['plan', 'drift']) expect((await edgewise(line, hidden)).stdout).not.toContain('may admit');
    }
  });
});

describe('a service that returns null once and leaves the field out another time', () => {
  it('keeps an approved plan approved', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + POOL + toUser('a') });
    const { edgewise, write } = workspace;
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': STACK + POOL + toUser('b') });
    expect(await edgewise('plan -o plan.json')).toMatchObject({ exitCode: 0 });
    const approved = await edgewise('apply --yes --approved plan.json', createOmittingTransport(workspace));
    expect(approved).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});
