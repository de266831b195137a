import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK, type Workspace } from '../cli/workspace.ts';
import { selectEvenly } from '../tries.ts';

/** Credentials and certificates that are replaced often. Each replacement leaves one more unless the old one is deleted. */
const SHORT_LIVED = `${STACK}spec:
  tokens: { default: { directory: tokens } }
---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: plain }
spec:
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L
  ssh_certificate_authority_id: sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA
  extensions: {}
  critical_options: { force-command: /bin/true }
  principals: [deploy]
lifecycle: { valid_for: 30d }
---
apiVersion: edgewise/v1
kind: Credential
metadata: { name: agent }
spec:
  description: The agent
  metadata: { team: data }
  acl: ["bind:*.example.com"]
  owner_id: usr_2k9XLTJrEKpUhfwyWqZzQNvMbcA
`;

/** Every kind, with maps and lists that are set, set to empty, and unset. */
const MANIFESTS = `${SHORT_LIVED}---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: postgres }
spec:
  hostports: ["1.tcp.example.net:20001"]
  backend: { backend_id: WeightedBackend/pool }
  ip_restriction: { enabled: false, ip_policy_ids: [ipp_2k9XLTJrEKpUhfwyWqZzQNvMbcA] }
  policy: { inbound: [{ name: log, actions: [{ type: log }] }] }
---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec:
  backends: { bkdhr_2k9XLTJrEKpUhfwyWqZzQNvMbcA: 1 }
---
apiVersion: edgewise/v1
kind: IPRestriction
metadata: { name: endpoints }
spec: { type: endpoints, enforced: true, ip_policy_ids: [ipp_2k9XLTJrEKpUhfwyWqZzQNvMbcA] }
---
apiVersion: edgewise/v1
kind: AgentIngress
metadata: { name: connect }
spec: { domain: connect.example.com, certificate_management_policy: { private_key_type: ecdsa } }
---
apiVersion: edgewise/v1
kind: HTTPSEdgeRoute
metadata: { name: shop }
spec:
  edge_id: edghts_2k9XLTJrEKpUhfwyWqZzQNvMbcA
  id: edghtsrt_2k9XLTJrEKpUhfwyWqZzQNvMbcA
  request_headers: { add: { x-a: b } }
  circuit_breaker: { tripped_duration: 10, rolling_window: 10, num_buckets: 5, volume_threshold: 3, error_threshold_percentage: 0.5 }
`;

const WORN_KINDS: readonly Kind[] = ['SSHUserCertificate', 'Credential'].map(getKind);

/** Changes a value in responses, not at the service. `undefined`: the value is left out. */
type Distortion = (name: string, value: Json) => Json | undefined;
/** The requests whose responses are changed. */
type Where = (request: { readonly method: string; readonly path: string }) => boolean;

const EVERYWHERE: Where = () => true;
const IN_RESPONSES_TO_CREATES: Where = ({ method }) => method === 'POST';
const IN_RESPONSES_TO_CHANGES: Where = ({ method }) => method === 'PATCH';
const IN_LISTS: Where = ({ method }) => method === 'GET';

function createDistortingTransport(handle: Transport, where: Where, distortion: Distortion): Transport {
  return async (request) => {
    const { method, url } = request;
    const response = await handle(request);
    if (!response.ok || response.status === 204 || !where({ method, path: new URL(url).pathname })) return response;
    const json = JSON.parse(await response.text()) as Json; // the bundled server responds with JSON
    return Response.json(distortResponse(json, distortion), response);
  };
}

/** Pages remain pages. */
function distortResponse(json: Json, distortion: Distortion): Json {
  if (isJsonArray(json)) return json.map((member) => distortResponse(member, distortion));
  if (!isJsonObject(json)) return json;
  const isPage = Object.hasOwn(json, 'next_page_uri');
  const entries = Object.entries(json).flatMap(([name, value]): [string, Json][] => {
    const inner = distortResponse(value, distortion);
    const changed = isPage ? inner : distortion(name, inner);
    return changed === undefined ? [] : [[name, changed]];
  });
  return Object.fromEntries(entries);
}

function isEmpty(value: Json): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

function isMap(value: Json): value is JsonObject {
  return isJsonObject(value);
}

interface Outcome {
  readonly exitCodes: readonly number[];
  /** The highest number of live certificates, and of credentials, after an apply. */
  readonly most: readonly number[];
}

async function applyRepeatedly(workspace: Workspace, transport: Transport, times = 5): Promise<Outcome> {
  const exitCodes: number[] = [];
  const most = WORN_KINDS.map(() => 0);
  for (let count = 0; count < times; count += 1) {
    exitCodes.push((await workspace.edgewise('apply stack.yaml --yes --no-rehearsal', { transport })).exitCode);
    for (const [index, { name }] of WORN_KINDS.entries())
      most[index] = Math.max(most[index] ?? 0, workspace.server.snapshot().resources[name]?.length ?? 0);
  }
  return { exitCodes, most };
}

const ALL_WELL: Outcome = { exitCodes: [0, 0, 0, 0, 0], most: [1, 1] };

describe('a service that changes what it stores', () => {
  it.each<[string, Distortion]>([
    ['responds with null for empty maps', (_, value) => (isMap(value) && isEmpty(value) ? null : value)],
    ['leaves empty maps out', (_, value) => (isMap(value) && isEmpty(value) ? undefined : value)],
    ['responds with null for empty lists', (_, value) => (isJsonArray(value) && isEmpty(value) ? null : value)],
    ['leaves out whatever is empty', (_, value) => (isEmpty(value) ? undefined : value)],
    ['leaves out what is false', (name, value) => (value === false && name !== 'enabled' ? undefined : value)],
    ['leaves out what is zero', (_, value) => (value === 0 ? undefined : value)],
    ['adds unknown fields', (name, value) => (name === 'uri' ? `${String(value)}?new` : value)],
  ])('leaves certificates and credentials as they are: %s', async (_, distortion) => {
    const workspace = await createWorkspace({ 'stack.yaml': MANIFESTS });
    const transport = createDistortingTransport(workspace.recorder.transport, EVERYWHERE, distortion);
    expect(await applyRepeatedly(workspace, transport)).toEqual(ALL_WELL);
    const plan = await workspace.edgewise('plan stack.yaml --detailed-exitcode', { transport });
    expect(plan.exitCode, plan.stdout).toBe(0);
  });

  const HIDDEN = [
    ...['extensions', 'critical_options', 'principals', 'public_key', 'ssh_certificate_authority_id', 'valid_until'],
    ...['acl', 'owner_id', 'hostports', 'backend', 'policy', 'inbound', 'actions', 'ip_policies', 'backends', 'domain'],
    ...['private_key_type', 'certificate_management_policy', 'type', 'add', 'tripped_duration'],
  ];

  it.each(HIDDEN)('never shows %s gets it in one request', async (hidden) => {
    const workspace = await createWorkspace({ 'stack.yaml': MANIFESTS });
    const leaveOut: Distortion = (name, value) => (name === hidden ? undefined : value);
    const transport = createDistortingTransport(workspace.recorder.transport, EVERYWHERE, leaveOut);
    expect(await applyRepeatedly(workspace, transport)).toEqual(ALL_WELL);
    const plan = await workspace.edgewise('plan stack.yaml --detailed-exitcode', { transport });
    expect(plan.exitCode, plan.stdout).toBe(0);
  });

  it('gets the extensions of the next manifest if it never shows them', async () => {
    const workspace = await createWorkspace({ 'stack.yaml': MANIFESTS });
    const { edgewise, write, server } = workspace;
    const leaveOut: Distortion = (name, value) => (name === 'extensions' ? undefined : value);
    const transport = createDistortingTransport(workspace.recorder.transport, EVERYWHERE, leaveOut);
    const extensionsOf = () => server.snapshot().resources['SSHUserCertificate']?.map(({ extensions }) => extensions);
    await edgewise('apply stack.yaml --yes', { transport });
    expect(extensionsOf()).toEqual([{}]);
    await write({ 'stack.yaml': MANIFESTS.replace('  extensions: {}\n', '') });
    expect(await applyRepeatedly(workspace, transport)).toEqual(ALL_WELL);
    expect(extensionsOf()).toEqual([{ 'permit-pty': '', 'permit-user-rc': '' }]);
    await write({ 'stack.yaml': MANIFESTS });
    expect(await applyRepeatedly(workspace, transport)).toEqual(ALL_WELL);
    expect(extensionsOf()).toEqual([{}]);
  });
});

describe('certificates and credentials never outnumber their manifests', () => {
  const NAMES = [...new Set(WORN_KINDS.flatMap(({ fields }) => Object.keys(fields)))];
  const WAYS: readonly [string, Distortion][] = NAMES.flatMap((hit): [string, Distortion][] => [
    [`${hit} is left out`, (name, value) => (name === hit ? undefined : value)],
    [`${hit} is null`, (name, value) => (name === hit ? null : value)],
    // A wrong id refers to no resource.
    ...(hit === 'id' ? [] : [createDistortion(hit)]),
  ]);

  it.each([
    ['in responses to creates', IN_RESPONSES_TO_CREATES],
    ['in responses to changes', IN_RESPONSES_TO_CHANGES],
    ['in lists', IN_LISTS],
    ['everywhere', EVERYWHERE],
  ])(
    '%s',
    async (_, where) => {
      const grown: string[] = [];
      for (const [name, distortion] of selectEvenly(WAYS)) {
        const workspace = await createWorkspace({ 'stack.yaml': SHORT_LIVED });
        const transport = createDistortingTransport(workspace.recorder.transport, where, distortion);
        const { most } = await applyRepeatedly(workspace, transport, 3);
        if (most.some((count) => count > 1)) grown.push(`${name}: ${most.join(', ')}`);
      }
      expect(grown).toEqual([]);
    },
    120_000,
  );
});

function createDistortion(hit: string): [string, Distortion] {
  return [`${hit} is another`, (name, value) => (name === hit ? toOther(value) : value)];
}

/** Another value of the same type than the requested one. */
function toOther(value: Json): Json {
  if (typeof value === 'string') return value === '' ? 'other' : `${value}x`;
  if (isJsonArray(value)) return [...value, 'bind:other.example.com'];
  return isJsonObject(value) ? { ...value, other: '' } : value;
}
