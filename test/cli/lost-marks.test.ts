import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

const POOL = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
const toStack = (text: string): string =>
  [
    `${STACK}spec: { api: { concurrency: 1 } }\n`,
    ...['a', 'b', 'c'].map((name, index) =>
      toEdge(name, 20_001 + index).replace('spec:', `spec:\n  description: ${text}`),
    ),
    toManifest('WeightedBackend', 'pool', { description: text, backends: { [POOL]: 1 } }),
  ].join('');

async function createStack(): Promise<Workspace> {
  const workspace = await createWorkspace({ 'm.yaml': toStack('one') });
  expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
  await workspace.write({ 'm.yaml': toStack('two') });
  workspace.recorder.take();
  return workspace;
}

/** A service whose answers to a PATCH of an edge have no metadata. `act`: what it does in addition. */
function withoutMetadata({ recorder }: Workspace, act: (path: string) => Promise<unknown>): Transport {
  return async (request) => {
    const { pathname } = new URL(request.url);
    const isUpdate = request.method === 'PATCH' && pathname.startsWith('/edges/tcp/');
    const response = await recorder.transport(request);
    if (!isUpdate) return response;
    await act(pathname);
    const { metadata: _, ...body } = (await response.json()) as Record<string, unknown>;
    return Response.json({ ...body, metadata: '' });
  };
}

describe('a response to an update without the mark', () => {
  it('is confirmed by a GET of the resource', async () => {
    const workspace = await createStack();
    const transport = withoutMetadata(workspace, async () => undefined);
    expect(await workspace.edgewise('apply --yes', { transport })).toMatchObject({ exitCode: 0 });
    const sent = workspace.recorder.take();
    const updates = sent.filter(({ method, path }) => method === 'PATCH' && path.startsWith('/edges/tcp/'));
    const reads = sent.filter(({ method, path }) => method === 'GET' && /^\/edges\/tcp\/edgtcp_/.test(path));
    expect(reads.map(({ path }) => path).sort()).toEqual(updates.map(({ path }) => path).sort());
    expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('is confirmed by a GET of its own resource, also if it shows another one', async () => {
    const workspace = await createStack();
    const other = await sendByHand(workspace, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20009'] });
    const { recorder } = workspace;
    const transport: Transport = async (request) => {
      const response = await recorder.transport(request);
      return request.method === 'PATCH' && request.url.includes('/edges/tcp/') ? Response.json(other) : response;
    };
    expect(await workspace.edgewise('apply --yes', { transport })).toMatchObject({ exitCode: 0 });
    const read = recorder.take().flatMap(({ method, path }) => (method === 'GET' ? [path] : []));
    expect(read.filter((path) => path.startsWith('/edges/tcp/'))).toHaveLength(3);
    expect(read).not.toContain(`/edges/tcp/${other['id']}`);
  });

  it('stops the writes to the kind if the mark is gone, and no others', async () => {
    const workspace = await createStack();
    const transport = withoutMetadata(workspace, (path) => sendByHand(workspace, 'PATCH', path, { metadata: '' }));
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('the update removed the mark of edgtcp_');
    expect(stdout).toContain('Nothing more is sent to TCPEdge in this run');
    expect(stdout).toMatch(/the service removed the mark of TCPEdge\/a when it was updated/);
    const paths = workspace.recorder.take().flatMap(({ method, path }) => (method === 'PATCH' ? [path] : []));
    expect(paths.filter((path) => path.startsWith('/edges/tcp/'))).toHaveLength(1);
    expect(paths.filter((path) => path.startsWith('/backends/weighted/'))).toHaveLength(1);
  });

  it('stops the writes to the kind also after an update that does not send the mark: a revert of drift', async () => {
    const workspace = await createWorkspace({ 'm.yaml': toStack('one') });
    await workspace.edgewise('apply --yes');
    for (const { id } of workspace.server.snapshot().resources['TCPEdge'] ?? [])
      await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { description: 'by hand' });
    workspace.recorder.take();
    const transport = withoutMetadata(workspace, (path) => sendByHand(workspace, 'PATCH', path, { metadata: '' }));
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('the update removed the mark of edgtcp_');
    const updates = workspace.recorder.take().filter(({ method, body }) => method === 'PATCH' && body.includes('one'));
    expect(updates.map(({ body }) => body)).toEqual(['{"description":"one"}']);
  });
});
