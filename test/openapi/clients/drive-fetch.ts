import {
  AgentIngressApi,
  Configuration,
  IPRestrictionApi,
  TCPEdgeApi,
  TunnelCredentialApi,
  WeightedBackendApi,
} from './client/index.js';

// Creates, reads, updates, lists and deletes resources of five kinds, with the client that the generator typescript-fetch makes.

const [basePath = '', accessToken = ''] = process.argv.slice(2);
const configuration = new Configuration({ basePath, accessToken });
const serviceVersion = '2' as const;

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
}

const backends = new WeightedBackendApi(configuration);
const backend = await backends.createWeightedBackend({
  serviceVersion,
  weightedBackendCreate: { backends: { bkdtg_a: 90 } },
});
const weights = { backends: { bkdtg_a: 50 } };
await backends.updateWeightedBackend({ serviceVersion, id: backend.id, weightedBackendUpdate: weights });
const weighted = await backends.getWeightedBackend({ serviceVersion, id: backend.id });
expect(weighted.backends['bkdtg_a'] === 50, 'the new weight');
expect((await backends.listWeightedBackends({ serviceVersion })).backends.length === 1, 'one backend');

const edges = new TCPEdgeApi(configuration);
const config = { allow: ['203.0.113.0/24'], enforce: true, ip_policies: ['ipp_office'] };
const inbound = [
  { name: 'office', actions: [{ type: 'restrict-ips', config }, { type: 'log' }] },
  { name: 'others', actions: [{ type: 'log' }, { type: 'deny' }] },
];
const edge = await edges.createTCPEdge({
  serviceVersion,
  tCPEdgeCreate: { hostports: ['1.tcp.example.net:20001'], policy: { inbound } },
});
await edges.updateTCPEdge({ serviceVersion, id: edge.id, tCPEdgeUpdate: { description: 'a' } });
const { description, policy } = await edges.getTCPEdge({ serviceVersion, id: edge.id });
expect(description === 'a', 'the new description');
const actions = policy?.inbound.map((rule) => rule.actions.map(({ type }) => type).join()).join(';');
expect(actions === 'restrict-ips,log;log,deny', 'two rules of two actions');
expect(JSON.stringify(policy?.inbound[0]?.actions[0]?.config) === JSON.stringify(config), 'the configuration');
expect((await edges.listTCPEdges({ serviceVersion, limit: 1 })).tcpEdges.length === 1, 'one edge');
await edges.deleteTCPEdge({ serviceVersion, id: edge.id });
await backends.deleteWeightedBackend({ serviceVersion, id: backend.id });

const restrictions = new IPRestrictionApi(configuration);
const restriction = await restrictions.createIPRestriction({
  serviceVersion,
  iPRestrictionCreate: { type: 'dashboard', ipPolicyIds: ['ipp_office'] },
});
await restrictions.updateIPRestriction({
  serviceVersion,
  id: restriction.id,
  iPRestrictionUpdate: { enforced: true },
});
expect((await restrictions.getIPRestriction({ serviceVersion, id: restriction.id })).enforced, 'enforced');
expect((await restrictions.listIPRestrictions({ serviceVersion })).ipRestrictions.length === 1, 'one restriction');
await restrictions.deleteIPRestriction({ serviceVersion, id: restriction.id });

const ingresses = new AgentIngressApi(configuration);
const ingress = await ingresses.createAgentIngress({
  serviceVersion,
  agentIngressCreate: { domain: 'ingress.example.com' },
});
const certificateManagementPolicy = { authority: 'letsencrypt', privateKeyType: 'ecdsa' } as const;
await ingresses.updateAgentIngress({
  serviceVersion,
  id: ingress.id,
  agentIngressUpdate: { certificateManagementPolicy },
});
const managed = await ingresses.getAgentIngress({ serviceVersion, id: ingress.id });
expect(managed.certificateManagementPolicy?.privateKeyType === 'ecdsa', 'the type of the key');
expect((await ingresses.listAgentIngresses({ serviceVersion })).ingresses.length === 1, 'one ingress');
await ingresses.deleteAgentIngress({ serviceVersion, id: ingress.id });

const credentials = new TunnelCredentialApi(configuration);
const credential = await credentials.createCredential({
  serviceVersion,
  credentialCreate: { acl: ['bind:*.example.com'] },
});
expect(typeof credential.token === 'string', 'a token');
await credentials.updateCredential({ serviceVersion, id: credential.id, credentialUpdate: { acl: [] } });
const shown = await credentials.getCredential({ serviceVersion, id: credential.id });
expect(shown.token === null && shown.acl.length === 0, 'no token and no rule any more');
expect((await credentials.listCredentials({ serviceVersion })).credentials.length === 1, 'one credential');
await credentials.deleteCredential({ serviceVersion, id: credential.id });
