import { describe, expect, it } from 'vitest';
import { WEIGHTED_BACKEND } from '../../src/kinds/tables/weighted-backend.ts';
import { getText } from './caller.ts';
import { describeKind, type Sample, useCleanCaller } from './contract.ts';
import type { ContractTarget } from './contract-target.ts';

const SAMPLE: Sample = {
  kind: WEIGHTED_BACKEND,
  create: (number, { bkdtg }) => ({ backends: { [bkdtg]: number } }),
  update: ({ bkdtg }) => ({ backends: { [bkdtg]: 10_000 } }),
};

export function describeWeightedBackends(target: ContractTarget): void {
  describeKind(target, SAMPLE);

  describe('weighted backend, its children', () => {
    const call = useCleanCaller(target);
    const { bkdtg, ipp } = target.ids;
    const createBackend = async (): Promise<string> => {
      const { body } = await call('POST', '/backends/weighted', { body: { backends: { [bkdtg]: 5 } } });
      return getText(body['id']);
    };

    it.each([-1, 10_001, 0.5, '5', null])('do not have the weight %s', async (weight) => {
      const body = { backends: { [bkdtg]: weight } };
      expect((await call('POST', '/backends/weighted', { body })).status).toBe(400);
    });

    it('are no weighted backends, and nothing but backends', async () => {
      for (const id of [await createBackend(), ipp]) {
        const { status } = await call('POST', '/backends/weighted', { body: { backends: { [id]: 1 } } });
        expect(status).toBe(400);
      }
    });

    it('are cleared by an empty map', async () => {
      const path = `/backends/weighted/${await createBackend()}`;
      expect((await call('PATCH', path, { body: { backends: {} } })).status).toBe(200);
      expect((await call('GET', path)).body['backends']).toEqual({});
    });

    it('are not shown by a PATCH that leaves them out', async () => {
      const path = `/backends/weighted/${await createBackend()}`;
      const { body } = await call('PATCH', path, { body: { metadata: 'x', description: 'y' } });
      expect(body).toMatchObject({ metadata: 'x', description: 'y', backends: {} });
    });

    it('keep a backend from being deleted while an edge has it', async () => {
      const id = await createBackend();
      const edge = await call('POST', '/edges/tcp', { body: { backend: { backend_id: id } } });
      expect((await call('DELETE', `/backends/weighted/${id}`)).status).toBe(409);
      expect((await call('DELETE', `/edges/tcp/${getText(edge.body['id'])}/backend`)).status).toBe(204);
      expect((await call('DELETE', `/backends/weighted/${id}`)).status).toBe(204);
    });
  });
}
