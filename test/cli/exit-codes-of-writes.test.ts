import { describe, expect, it } from 'vitest';
import { listWrites, toStack } from '../repository/tree.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

/**
 * The exit codes of plans that an apply performs only in part: an apply ends with 1, and `plan --detailed-exitcode` with 2 if
 * an apply would send something.
 */

const CERTIFICATE = toManifest(
  'SSHUserCertificate',
  'alice',
  {
    ssh_certificate_authority_id: 'sshca_one',
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsVlX9GQUzyN4gkGYyKEnCKnhlEOUWNvaiQNcoI0DSW',
    principals: ['alice'],
  },
  { lifecycle: { valid_for: '30d' } },
);

/** Runs a command at a service that grants at most one day. */
function runAtCappingService({ recorder, edgewise }: Workspace) {
  const transport = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return recorder.transport(request);
    const body = (await request.clone().text()).replace(
      /"valid_until":"[^"]*"/,
      '"valid_until":"2026-03-02T00:00:00Z"',
    );
    return recorder.transport(new Request(request, { body }));
  };
  return (line: string) => edgewise(line, { transport });
}

describe('a plan with a withheld replacement', () => {
  it('ends like its apply or, with --detailed-exitcode, with 2 if an apply would write', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + CERTIFICATE });
    const edgewise = runAtCappingService(workspace);
    expect((await edgewise('apply --yes')).exitCode).toBe(1);
    expect((await edgewise('plan')).exitCode).toBe(1);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(1);
    await workspace.write({ 'edgewise.yaml': STACK + CERTIFICATE + toEdge('a', 20_001) });
    expect((await edgewise('plan')).exitCode).toBe(1);
    const { exitCode, stdout } = await edgewise('plan --detailed-exitcode');
    expect(exitCode).toBe(2);
    expect(stdout.trimEnd()).toMatch(/^edgewise apply would end with exit code 1\.$/m);
    expect((await edgewise('drift')).exitCode).toBe(2);
    expect((await edgewise('apply --yes')).exitCode).toBe(1);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(1);
  });

  it('stops no other stack of a run, also not one that depends on it', async () => {
    const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_blue: 1 } });
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a') + CERTIFICATE + pool,
      'live/b/edgewise.yaml': `${toStack('b')}${toManifest('External', 'pool', { stack: 'a', resource: 'WeightedBackend/pool' })}`,
    });
    const edgewise = runAtCappingService(workspace);
    await edgewise('apply -R live --yes');
    await workspace.write({
      'live/b/edge.yaml': toManifest('TCPEdge', 'web', { backend: { backend_id: 'External/pool' } }),
    });
    listWrites(workspace);
    expect((await edgewise('plan -R live')).exitCode).toBe(1);
    const planned = await edgewise('plan -R live --detailed-exitcode');
    expect(planned.exitCode).toBe(2);
    expect(planned.stdout).not.toContain('dependency-blocked');
    expect(planned.stdout).toContain('edgewise apply would end with exit code 1.');
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(1);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(1);
  });
});
