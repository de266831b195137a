import { expect, it } from 'vitest';
import { changeByHand, createWorkspace, STACK, toEdge } from './workspace.ts';

const EDGES = Array.from({ length: 5 }, (_, index) => toEdge(`edge-${index}`, 20001 + index)).join('');

it('shows each resource on one line in a plan, a saved plan, an apply and a comparison', async () => {
  const { edgewise, server } = await createWorkspace({
    'edges.yaml': `${STACK}spec: { lint: { no-backend: "off" } }\n${EDGES}`,
  });
  const listEdges = (text: string) => text.split('\n').filter((line) => line.includes('TCPEdge/'));
  const planned = await edgewise('plan edges.yaml -o plan.json --compact');
  expect(listEdges(planned.stdout)).toEqual([
    ...[0, 1, 2, 3, 4].map((index) => `+ TCPEdge/edge-${index}   create`),
    'Open to everyone, as written: TCPEdge/edge-0, TCPEdge/edge-1, TCPEdge/edge-2 and 2 more',
  ]);
  expect(planned.stdout).not.toContain('hostports');
  expect((await edgewise('show plan.json --compact')).stdout).toBe(planned.stdout);
  const applied = await edgewise('apply edges.yaml --approved plan.json --yes --compact');
  expect(applied.stdout).not.toContain('hostports');
  await changeByHand({ server }, 'TCPEdge/edge-0', { description: 'by hand' });
  const drifted = await edgewise('drift edges.yaml --compact --report text=drift.txt');
  expect(drifted.exitCode).toBe(2);
  expect(listEdges(drifted.stdout)).toEqual([
    expect.stringMatching(/^~ TCPEdge\/edge-\d {2}\(edgtcp_\w+\) {3}description added at the service$/),
    'To keep a change, write it into the manifests: edgewise accept TCPEdge/edge-0:description edges.yaml',
  ]);
});

it('rejects --compact with --verbose', async () => {
  const { edgewise } = await createWorkspace({ 'edges.yaml': STACK });
  const { exitCode, stderr } = await edgewise('plan --compact --verbose');
  expect(exitCode).toBe(3);
  expect(stderr).toContain('--compact');
});
