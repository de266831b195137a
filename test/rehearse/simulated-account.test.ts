import { expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { createSimulatedAccount } from '../../src/rehearse/simulated-account.ts';

it('yields between its writes, so that an interrupt is handled', async () => {
  const live = { resources: new Map(), attachments: new Map(), requests: 0 };
  const { client } = createSimulatedAccount({ live, now: () => new Date(0), onWrite: async () => undefined });
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  for (let index = 0; index < 250; index += 1) await client.send('POST', '/backends/weighted', { backends: {} });
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(2);
  expect(turns).toBeLessThan(10);
});

it('lists new resources as the service shows them, with and without unique values', async () => {
  const live = { resources: new Map(), attachments: new Map(), requests: 0 };
  const { client } = createSimulatedAccount({ live, now: () => new Date(0), onWrite: async () => undefined });
  const first = await client.send('POST', '/edges/tcp', { hostports: ['one.example.net:5432'] });
  const second = await client.send('POST', '/edges/tcp', { description: 'none' });
  expect(await client.list(getKind('TCPEdge'))).toEqual([second, first]);
});
