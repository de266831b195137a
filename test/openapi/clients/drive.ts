import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

// Calls every operation once, with the types that openapi-typescript generates from the document. Fails at the first response without success.

const [baseUrl = '', key = ''] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const client = createClient<paths>({ baseUrl, headers });
const header = { 'Service-Version': '2' } as const;

type Answer<Data> = { readonly data?: Data; readonly error?: unknown; readonly response: Response };

async function succeed<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  if (!response.ok || data === undefined || data === null)
    throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data;
}

async function succeedEmpty(call: Promise<Answer<unknown>>): Promise<void> {
  const { error, response } = await call;
  if (response.status !== 204) throw new Error(`${response.status} ${JSON.stringify(error)}`);
}

function expect(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
}

const params = { header };
const one = (id: string) => ({ params: { header, path: { id } } });
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

await succeed(client.GET('/openapi.json'));

const backend = await succeed(client.POST('/backends/weighted', { params, body: { backends: { bkdtg_a: 90 } } }));
const changed = await succeed(
  client.PATCH('/backends/weighted/{id}', { ...one(backend.id), body: { backends: { bkdtg_a: 50 } } }),
);
expect(changed.backends['bkdtg_a'] === 50, 'the new weight');
expect((await succeed(client.GET('/backends/weighted/{id}', one(backend.id)))).id === backend.id, 'the same backend');
expect((await succeed(client.GET('/backends/weighted', { params }))).backends.length === 1, 'one backend');

const config = { allow: ['203.0.113.0/24'], enforce: true, ip_policies: ['ipp_office'] };
const inbound = [
  { name: 'office', expressions: [], actions: [{ type: 'restrict-ips', config }, { type: 'log' }] },
  { name: 'others', expressions: [], actions: [{ type: 'log' }, { type: 'deny' }] },
];
const policy = { inbound };
const edge = await succeed(
  client.POST('/edges/tcp', { params, body: { hostports: ['1.tcp.example.net:20001'], policy } }),
);
expect(JSON.stringify(edge.policy?.inbound?.[0]?.actions?.[0]?.config) === JSON.stringify(config), 'the configuration');
expect(
  edge.policy?.inbound?.length === 2 && edge.policy.inbound[1]?.actions[1]?.type === 'deny',
  'two rules of two actions',
);
await succeed(client.PATCH('/edges/tcp/{id}', { ...one(edge.id), body: { description: 'a' } }));
expect((await succeed(client.GET('/edges/tcp/{id}', one(edge.id)))).description === 'a', 'the new description');
expect(
  (await succeed(client.GET('/edges/tcp', { params: { header, query: { limit: 1 } } }))).tcp_edges.length === 1,
  'one edge',
);
await succeed(client.PUT('/edges/tcp/{id}/backend', { ...one(edge.id), body: { backend_id: backend.id } }));
expect((await succeed(client.GET('/edges/tcp/{id}/backend', one(edge.id)))).backend.id === backend.id, 'the backend');
await succeedEmpty(client.DELETE('/edges/tcp/{id}/backend', one(edge.id)));
await succeed(
  client.PUT('/edges/tcp/{id}/ip_restriction', { ...one(edge.id), body: { ip_policy_ids: ['ipp_office'] } }),
);
await succeed(client.GET('/edges/tcp/{id}/ip_restriction', one(edge.id)));
await succeedEmpty(client.DELETE('/edges/tcp/{id}/ip_restriction', one(edge.id)));
await succeedEmpty(client.DELETE('/edges/tcp/{id}', one(edge.id)));
await succeedEmpty(client.DELETE('/backends/weighted/{id}', one(backend.id)));

const restriction = await succeed(
  client.POST('/ip_restrictions', { params, body: { type: 'dashboard', ip_policy_ids: ['ipp_office'] } }),
);
await succeed(client.PATCH('/ip_restrictions/{id}', { ...one(restriction.id), body: { enforced: true } }));
expect((await succeed(client.GET('/ip_restrictions/{id}', one(restriction.id)))).enforced, 'enforced');
await succeed(client.GET('/ip_restrictions', { params }));
await succeedEmpty(client.DELETE('/ip_restrictions/{id}', one(restriction.id)));

const ingress = await succeed(client.POST('/agent_ingresses', { params, body: { domain: 'ingress.example.com' } }));
const certified = { certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' } } as const;
await succeed(client.PATCH('/agent_ingresses/{id}', { ...one(ingress.id), body: certified }));
const read = await succeed(client.GET('/agent_ingresses/{id}', one(ingress.id)));
expect(read.certificate_management_policy?.private_key_type === 'ecdsa', 'the type of the key');
expect((await succeed(client.GET('/agent_ingresses', { params }))).ingresses.length === 1, 'one ingress');
await succeedEmpty(client.DELETE('/agent_ingresses/{id}', one(ingress.id)));

const credential = await succeed(client.POST('/credentials', { params, body: { acl: ['bind:*.example.com'] } }));
expect(typeof credential.token === 'string', 'a token');
await succeed(client.PATCH('/credentials/{id}', { ...one(credential.id), body: { acl: [] } }));
expect((await succeed(client.GET('/credentials/{id}', one(credential.id)))).token === null, 'no token any more');
await succeed(client.GET('/credentials', { params }));
await succeedEmpty(client.DELETE('/credentials/{id}', one(credential.id)));

const certificate = await succeed(
  client.POST('/ssh_user_certificates', {
    params,
    body: {
      ssh_certificate_authority_id: 'sshca_team',
      public_key: PUBLIC_KEY,
      principals: ['deploy'],
      critical_options: { 'source-address': '203.0.113.0/24' },
    },
  }),
);
expect(certificate.certificate.startsWith('ssh-ed25519-cert-v01@openssh.com '), 'a certificate');
await succeed(client.PATCH('/ssh_user_certificates/{id}', { ...one(certificate.id), body: { description: 'b' } }));
await succeed(client.GET('/ssh_user_certificates/{id}', one(certificate.id)));
await succeed(client.GET('/ssh_user_certificates', { params }));
await succeedEmpty(client.DELETE('/ssh_user_certificates/{id}', one(certificate.id)));

const https = one('edghts_shop');
await succeed(
  client.PUT('/edges/https/{id}/mutual_tls', { ...https, body: { certificate_authority_ids: ['ca_team'] } }),
);
await succeed(client.GET('/edges/https/{id}/mutual_tls', https));
await succeedEmpty(client.DELETE('/edges/https/{id}/mutual_tls', https));

const route = { params: { header, path: { edge_id: 'edghts_shop', id: 'edghtsrt_shop' } } };
const breaker = { error_threshold_percentage: 0.25, num_buckets: 10 };
await succeed(client.PUT('/edges/https/{edge_id}/routes/{id}/circuit_breaker', { ...route, body: breaker }));
const shown = await succeed(client.GET('/edges/https/{edge_id}/routes/{id}/circuit_breaker', route));
expect(shown.error_threshold_percentage === 0.25, 'the threshold');
await succeedEmpty(client.DELETE('/edges/https/{edge_id}/routes/{id}/circuit_breaker', route));
const added = { add: { 'x-environment': 'production' }, remove: ['x-debug'] };
await succeed(client.PUT('/edges/https/{edge_id}/routes/{id}/request_headers', { ...route, body: added }));
await succeed(client.GET('/edges/https/{edge_id}/routes/{id}/request_headers', route));
await succeedEmpty(client.DELETE('/edges/https/{edge_id}/routes/{id}/request_headers', route));
await succeed(
  client.PUT('/edges/https/{edge_id}/routes/{id}/user_agent_filter', { ...route, body: { deny: ['bot'] } }),
);
await succeed(client.GET('/edges/https/{edge_id}/routes/{id}/user_agent_filter', route));
await succeedEmpty(client.DELETE('/edges/https/{edge_id}/routes/{id}/user_agent_filter', route));

const report = await succeed(
  client.POST('/abuse_reports', { params, body: { urls: ['https://phishing.example.com/'] } }),
);
expect((await succeed(client.GET('/abuse_reports/{id}', one(report.id)))).status === 'PENDING', 'a pending report');

// The types must reject this: a number is not a description.
// @ts-expect-error
void (() => client.PATCH('/edges/tcp/{id}', { ...one(edge.id), body: { description: 1 } }));
// One rule is no list of rules.
// @ts-expect-error
void (() => client.PATCH('/edges/tcp/{id}', { ...one(edge.id), body: { policy: { inbound: { name: 'a' } } } }));
