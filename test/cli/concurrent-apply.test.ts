import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describePipeline, readCiJobLinks } from '../../src/model/pipeline.ts';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import type { CommandResult } from './fake-context.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

const EDGES = Array.from({ length: 40 }, (_, index) =>
  toEdge(`e${String(index).padStart(2, '0')}`, 20_000 + index),
).join('');

/** The variables of a job at GitHub. */
const JOB = {
  GITHUB_SHA: '1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'o/r',
  GITHUB_RUN_ID: '7',
};
const BY = 'commit 1a2b3c4d5e6f, https://github.com/o/r/actions/runs/7';

/** A service on which something else is done, completely, before it gets the first create. */
function withActionBeforeFirstCreate(transport: Transport, act: () => Promise<CommandResult>): Transport {
  let other: Promise<CommandResult> | undefined;
  return async (request) => {
    if (request.method === 'POST') {
      other ??= act();
      expect(await other).toMatchObject({ exitCode: 0 });
    }
    return transport(request);
  };
}

describe('an apply beside another apply of the same stack', () => {
  it('reports the other one once, with its commit and run', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': `${STACK}${EDGES}` });
    const transport = withActionBeforeFirstCreate(recorder.transport, () => edgewise('apply --yes', { env: JOB }));
    const { exitCode, stderr } = await edgewise('apply --yes', { transport });
    expect(exitCode).toBe(1);
    const said = stderr.split('warning[concurrent-change]');
    expect(said).toHaveLength(2);
    expect(said[1]).toContain(`another apply of the stack (${BY}) created this resource`);
    expect(said[0]?.match(/^\[\d+\/40\]/gm)?.length ?? 0).toBeLessThan(20);
    expect(
      recorder.take().filter(({ method, path }) => method === 'GET' && path.startsWith('/edges/tcp')),
    ).toHaveLength(3);
  });

  it('reports no concurrent apply if the value belongs to another stack', async () => {
    const files = {
      'edgewise.yaml': `${STACK}${EDGES}`,
      'other.yaml': `${STACK.replace('test', 'other')}${toEdge('x', 20_000)}`,
    };
    const { edgewise, recorder } = await createWorkspace(files);
    const transport = withActionBeforeFirstCreate(recorder.transport, () => edgewise('apply other.yaml --yes'));
    const { exitCode, stderr } = await edgewise('apply edgewise.yaml --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('409 already_taken');
    expect(stderr).not.toContain('concurrent-change');
  });

  it('leaves nothing to do for another pipeline, whose saved plans stay valid', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': `${STACK}${EDGES}` });
    expect(await edgewise('apply --yes', { env: JOB })).toMatchObject({ exitCode: 0 });
    const metadata = server.snapshot().resources['TCPEdge']?.map((edge) => JSON.stringify(edge)) ?? [];
    expect(metadata.filter((text) => text.includes(BY))).toHaveLength(40);
    const env = { ...JOB, GITHUB_RUN_ID: '8' };
    expect(await edgewise('plan --detailed-exitcode -o plan.json', { env })).toMatchObject({ exitCode: 0 });
    const plan = readOnlyStack(await readFile(join(folder, 'plan.json'), 'utf8'));
    expect(plan.made.commit).toBe(JOB.GITHUB_SHA);
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

describe('an update of an edge with a secret in its policy', () => {
  const toShop = (description: string): string => {
    const action = { type: 'forward-auth', config: { authorization: `Bearer \${secret:SHOP_KEY}`, plain: 'one' } };
    const spec = { description, policy: { inbound: [{ actions: [action] }] } };
    return `${STACK}${toManifest('TCPEdge', 'shop', spec)}`;
  };
  const OFFERED = { env: { EDGEWISE_SECRETS: 'SHOP_KEY', SHOP_KEY: 'the-key-of-the-shop' } };

  async function createShop(): Promise<Workspace> {
    const workspace = await createWorkspace({ 'm.yaml': toShop('one') });
    expect(await workspace.edgewise('apply --yes', OFFERED)).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'm.yaml': toShop('two') });
    return workspace;
  }

  it.each([
    ['with its value', OFFERED],
    ['without its value', {}],
  ])('reports no change that no one made, %s', async (_, more) => {
    const { edgewise } = await createShop();
    const { exitCode, stdout, stderr } = await edgewise('apply --yes', more);
    expect({ exitCode, said: `${stdout}${stderr}`.match(/concurrent-change.*/g) }).toEqual({ exitCode: 0, said: null });
  });

  it.each([
    ['the secret', { authorization: 'Bearer another', plain: 'one' }],
    ['what is beside it', { authorization: 'Bearer the-key-of-the-shop', plain: 'two' }],
  ])('reports that %s changed after the plan was made', async (_, config) => {
    const workspace = await createShop();
    const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    const policy = { enabled: true, inbound: [{ actions: [{ type: 'forward-auth', config }] }] };
    const { exitCode, stderr } = await workspace.edgewise('apply --yes', {
      ...OFFERED,
      transport: async (request) => {
        if (request.method === 'PATCH') await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.['id']}`, { policy });
        return workspace.recorder.transport(request);
      },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('TCPEdge/shop: policy changed at the service after the plan was made');
  });
});

it('describes a pipeline in a few words, and leaves out what is longer or unknown', () => {
  expect(describePipeline(readCiJobLinks(JOB))).toBe(BY);
  expect(describePipeline(readCiJobLinks({ EDGEWISE_COMMIT: '1a2b3c4d5e6f7a8b' }))).toBe('commit 1a2b3c4d5e6f');
  expect(describePipeline(readCiJobLinks({}))).toBeUndefined();
  expect(describePipeline({ runUrl: `https://x/${'y'.repeat(200)}` })).toBeUndefined();
});
