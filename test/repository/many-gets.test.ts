import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { toRepository } from './tree.ts';

describe('the resources of many stacks', () => {
  it('are shown with one reading, in every format, with what cannot be read', async () => {
    const { edgewise, recorder, write } = await createWorkspace(toRepository(3));
    await edgewise('apply -R live --yes');
    recorder.take();
    const table = await edgewise('get -R live TCPEdge');
    expect(table.exitCode).toBe(0);
    expect(table.stdout).toMatch(/^── s00 \(live\/s00\)\nADDRESS +ID +CREATED\nTCPEdge\/s00-edge /m);
    expect(recorder.take()).toHaveLength(1);
    expect((await edgewise('get -R live --format name')).stdout).toBe(
      's00\tTCPEdge/s00-edge\ns01\tTCPEdge/s01-edge\ns02\tTCPEdge/s02-edge\n',
    );
    const values = await edgewise('get -R live TCPEdge --stack s01 --format value=hostports');
    expect(values.stdout).toBe('s01\tTCPEdge/s01-edge\t1.tcp.example.net:20001\n');
    const { stacks } = JSON.parse((await edgewise('get -R live --format json')).stdout);
    expect(stacks).toMatchObject([
      { folder: 'live/s00', stack: 's00', inventory: { resources: [{ address: 'TCPEdge/s00-edge' }] } },
      { stack: 's01' },
      { stack: 's02' },
    ]);
    expect((await edgewise('get -R live --format yaml')).stdout).toContain('address: TCPEdge/s02-edge');
    await write({ 'live/s01/edges/edge.yaml': `${toEdge('s01-edge', 1)}  colour: red\n` });
    const broken = await edgewise('get -R live --format name');
    expect(broken.exitCode).toBe(3);
    expect(broken.stdout).toBe('s00\tTCPEdge/s00-edge\ns02\tTCPEdge/s02-edge\n');
    expect(broken.stderr).toContain('spec.colour is not a known field');
    const { ok, stacks: all } = JSON.parse((await edgewise('get -R live --format json')).stdout);
    expect(ok).toBe(false);
    expect(all).toMatchObject([
      { stack: 's00', ok: true, inventory: {} },
      { stack: 's01', ok: false, failure: { diagnostics: [{ code: 'bad-field' }] } },
      { stack: 's02', ok: true, inventory: {} },
    ]);
  });
});
