import { describe, expect, it } from 'vitest';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';
import type { Json } from '../../src/model/json.ts';
import { getList, getObject, getText } from './caller.ts';
import { describeKind, expectSpec, RUN, type Sample, useCleanCaller } from './contract.ts';
import type { ContractTarget } from './contract-target.ts';

const HOSTPORT = `${RUN}.tcp.example.com:20001`;
const POLICY = {
  enabled: true,
  inbound: [
    {
      name: 'by address',
      expressions: ["conn.client_ip == '192.0.2.1'"],
      actions: [{ type: 'restrict-ips', config: { enforce: true, allow: ['192.0.2.0/24'] } }, { type: 'deny' }],
    },
  ],
  outbound: [],
};

const SAMPLE: Sample = {
  kind: TCP_EDGE,
  create: (number, { bkdtg, ipp }) => ({
    hostports: [`${RUN}.tcp.example.com:${30_000 + number}`],
    backend: { enabled: false, backend_id: bkdtg },
    ip_restriction: { ip_policy_ids: [ipp] },
    policy: POLICY,
  }),
  update: ({ bkdtg }) => ({ hostports: [HOSTPORT], backend: { backend_id: bkdtg } }),
};

export function describeTcpEdges(target: ContractTarget): void {
  describeKind(target, SAMPLE);

  describe('TCP edge, its modules', () => {
    const call = useCleanCaller(target);
    const { bkdtg, ipp } = target.ids;
    const createEdge = async (body: Record<string, Json> = {}): Promise<string> => {
      const { body: edge } = await call('POST', '/edges/tcp', { body });
      return `/edges/tcp/${getText(edge['id'])}`;
    };

    it('are not there unless they are asked for', async () => {
      const { body } = await call('POST', '/edges/tcp', { body: {} });
      expect(body).toMatchObject({ backend: null, ip_restriction: null, policy: null, hostports: null });
    });

    it('show references as an id and a URI, and are enabled unless something else is said', async () => {
      const path = await createEdge({ backend: { backend_id: bkdtg }, ip_restriction: { ip_policy_ids: [ipp] } });
      const { body } = await call('GET', path);
      const backend = { enabled: true, backend: { id: bkdtg, uri: expect.any(String) } };
      const restriction = { enabled: true, ip_policies: [{ id: ipp, uri: expect.any(String) }] };
      expect(body).toMatchObject({ backend, ip_restriction: restriction });
    });

    it('are replaced as a whole by a PATCH that gives them, and kept by one that does not', async () => {
      const path = await createEdge({ backend: { enabled: false, backend_id: bkdtg }, policy: POLICY });
      const { status } = await call('PATCH', path, { body: { backend: { backend_id: bkdtg } } });
      expect(status).toBe(200);
      const { body } = await call('GET', path);
      expectSpec(TCP_EDGE, body, { backend: { enabled: true, backend_id: bkdtg }, policy: POLICY });
    });

    it('are kept by a PATCH with null', async () => {
      const path = await createEdge({ backend: { backend_id: bkdtg } });
      await call('PATCH', path, { body: { description: 'x', backend: null } });
      expect((await call('GET', path)).body['backend']).not.toBeNull();
    });

    it.each([
      ['backend', { backend_id: bkdtg }],
      ['ip_restriction', { ip_policy_ids: [ipp] }],
    ])('%s is set, read and removed on its own path', async (name, module) => {
      const path = await createEdge();
      const put = await call('PUT', `${path}/${name}`, { body: { enabled: false, ...module } });
      expect(put.status).toBe(200);
      expect(put.body).toMatchObject({ enabled: false });
      expect((await call('GET', `${path}/${name}`)).body).toEqual(put.body);
      expectSpec(TCP_EDGE, (await call('GET', path)).body, { [name]: { enabled: false, ...module } });

      expect((await call('PUT', `${path}/${name}`, { body: module })).body).toMatchObject({ enabled: true });
      expect((await call('DELETE', `${path}/${name}`)).status).toBe(204);
      expect((await call('GET', path)).body[name]).toBeNull();
      expect((await call('DELETE', `${path}/${name}`)).status).toBe(204);
    });

    it('need an edge that exists', async () => {
      const path = '/edges/tcp/edgtcp_nobody/backend';
      expect((await call('PUT', path, { body: { backend_id: bkdtg } })).status).toBe(404);
      expect((await call('GET', path)).status).toBe(404);
      expect((await call('DELETE', path)).status).toBe(404);
    });

    it('a policy may have one rule and one action where lists may stand', async () => {
      const rule = { name: 'one', actions: { type: 'deny' } };
      const path = await createEdge({ policy: { inbound: rule } });
      const { body } = await call('GET', path);
      expectSpec(TCP_EDGE, body, { policy: { inbound: [{ ...rule, actions: [rule.actions] }] } });
    });

    it('a policy of any action is kept to the letter', async () => {
      const config = { some_key: { anotherKey: [1, 'two', null, { three: false }] } };
      const action = { type: 'custom-action', config };
      const path = await createEdge({ policy: { outbound: [{ actions: [action] }] } });
      const policy = getObject((await call('GET', path)).body['policy']);
      expect(getList(getList(policy['outbound'])[0]?.['actions'])).toEqual([action]);
    });

    it('a policy is as good as none when it is disabled and has no rules', async () => {
      const path = await createEdge({ policy: POLICY });
      expect((await call('PATCH', path, { body: { policy: { enabled: false } } })).status).toBe(200);
      expectSpec(TCP_EDGE, (await call('GET', path)).body, { policy: null });
    });

    it.each([
      ['no port', 'tcp.example.com'],
      ['port 0', 'tcp.example.com:0'],
      ['port 65536', 'tcp.example.com:65536'],
      ['no host', ':20001'],
    ])('a hostport with %s is refused', async (_, hostport) => {
      expect((await call('POST', '/edges/tcp', { body: { hostports: [hostport] } })).status).toBe(400);
    });

    it('hostports are cleared by an empty list', async () => {
      const path = await createEdge({ hostports: [HOSTPORT] });
      await call('PATCH', path, { body: { hostports: [] } });
      expectSpec(TCP_EDGE, (await call('GET', path)).body, { hostports: [] });
    });

    it('a hostport belongs to one edge, until that one gives it away', async () => {
      const first = await createEdge({ hostports: [HOSTPORT] });
      const second = await createEdge();
      const taken = { body: { hostports: [HOSTPORT.toUpperCase().replace('.COM', '.com')] } };
      expect((await call('POST', '/edges/tcp', taken)).status).toBe(409);
      expect((await call('PATCH', second, taken)).status).toBe(409);
      await call('PATCH', first, { body: { hostports: [] } });
      expect((await call('PATCH', second, taken)).status).toBe(200);
    });

    it('a reference with the wrong prefix is refused', async () => {
      const wrong = [
        { backend: { backend_id: ipp } },
        { ip_restriction: { ip_policy_ids: [bkdtg] } },
        { backend: { backend_id: 'bkdwd_nobody' } },
      ];
      for (const body of wrong) expect((await call('POST', '/edges/tcp', { body })).status).toBe(400);
    });

    it('an IP restriction module needs a policy', async () => {
      const body = { ip_restriction: { ip_policy_ids: [] } };
      expect((await call('POST', '/edges/tcp', { body })).status).toBe(400);
    });
  });
}
