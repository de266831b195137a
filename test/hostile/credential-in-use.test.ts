import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites } from '../repository/tree.ts';

const TOKENS = ' --token-directory tokens';

/**
 * When a plan file that creates a credential is applied again after an interruption, the credential is replaced only if its token was not
 * delivered.
 */
describe('a plan file that creates a credential replaces none', () => {
  const AGENT = `${STACK}${toManifest('Credential', 'agent', { acl: ['bind:a.example.com'] })}`;
  const APPLY = `apply m --approved plan.json --yes${TOKENS}`;

  const dieAtDelivery: (workspace: Workspace) => Transport = ({ server }) => {
    let isDead = false;
    return async (request) => {
      isDead ||= request.method === 'PATCH';
      if (isDead) throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
      return server.handle(request);
    };
  };

  /** The live credential at the address that the file creates. */
  const THERE: readonly (readonly [string, number, (workspace: Workspace) => Promise<unknown>])[] = [
    ['that was delivered', 0, ({ edgewise }) => edgewise(`apply m --yes${TOKENS}`)],
    [
      'that was delivered, asked for by a flag',
      0,
      ({ edgewise }) => edgewise(`apply m --yes${TOKENS} --rotate Credential/agent`),
    ],
    [
      'that was delivered, beside one that was not',
      6,
      async (workspace) => {
        await workspace.edgewise(`apply m --yes${TOKENS}`);
        await workspace.edgewise(`apply m --yes${TOKENS} --rotate Credential/agent`, {
          transport: dieAtDelivery(workspace),
        });
      },
    ],
    [
      'that is not what the manifests ask for',
      6,
      async (workspace) => {
        await workspace.edgewise(APPLY, { transport: dieAtDelivery(workspace) });
        const [{ id } = { id: '' }] = workspace.server.snapshot().resources['Credential'] ?? [];
        await sendByHand(workspace, 'PATCH', `/credentials/${id}`, { acl: ['bind:b.example.com'] });
      },
    ],
    [
      'whose mark names no values',
      6,
      async (workspace) => {
        await sendByHand(workspace, 'POST', '/credentials', {
          acl: ['bind:a.example.com'],
          metadata: '{"edgewise":{"stack":"test","name":"agent"}}',
        });
      },
    ],
  ];

  it.each(THERE)('%s', async (_, exitCode, prepare) => {
    const workspace = await createWorkspace({ 'm/edgewise.yaml': AGENT });
    await workspace.edgewise(`plan m -o plan.json${TOKENS}`);
    await prepare(workspace);
    const before = workspace.server.snapshot().resources['Credential'] ?? [];
    expect(before.length).toBeGreaterThan(0);
    workspace.recorder.take();
    for (const [line, expected] of [
      [APPLY, exitCode],
      [`${APPLY} --rotate Credential/agent`, 6],
    ] as const)
      expect(await workspace.edgewise(line)).toMatchObject({ exitCode: expected });
    expect(listWrites(workspace)).toEqual([]);
    expect(workspace.server.snapshot().resources['Credential']).toEqual(before);
  });
});
