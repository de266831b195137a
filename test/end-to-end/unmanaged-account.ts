import type { JsonObject } from '../../src/model/json.ts';

/** Usual descriptions, and hostile ones. */
const DESCRIPTIONS = [
  'Postgres for the data team',
  'Größe & Übermaß — naïve café',
  '',
  'no',
  '1e3',
  '# not a comment: at all',
  '---',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that looks like a variable
  'from ${env:HOME}',
  'two\nlines',
  '日本語',
  '\u202eright to left\u202c',
  'tab\tand unit separator \u001f',
];

const METADATA = [
  '',
  '{"team":"data","on":"yes","port":22}',
  'free text\n  of two lines',
  '{"a": 1, "a": 2}',
  '~',
  `{"long":"${'é'.repeat(1700)}"}`,
];

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C';

/** The number of resources of each kind. There is one IP restriction of each type. */
const COUNTS = {
  TCPEdge: 120,
  WeightedBackend: 60,
  IPRestriction: 4,
  AgentIngress: 36,
  Credential: 60,
  SSHUserCertificate: 20,
};

/** An account of 300 unmanaged resources of every kind that the API lists, as a seed of the bundled server. */
export function createUnmanagedAccount(): { readonly resources: Readonly<Record<string, readonly JsonObject[]>> } {
  const resources = Object.entries(COUNTS).map(([kind, count]) => {
    const members = Array.from({ length: count }, (_, index) => ({ ...toCommon(index), ...FIELDS[kind]?.(index) }));
    return [kind, members] as const;
  });
  return { resources: Object.fromEntries(resources) };
}

function toCommon(index: number): JsonObject {
  return {
    description: DESCRIPTIONS[index % DESCRIPTIONS.length] ?? '',
    metadata: METADATA[index % METADATA.length] ?? '',
    created_at: new Date(Date.UTC(2025, 0, 1) + index * 3_600_000).toISOString().replace('.000Z', 'Z'),
  };
}

const FIELDS: Readonly<Record<string, (index: number) => JsonObject>> = {
  TCPEdge: (index) => ({
    id: toId('edgtcp', index),
    hostports: [`1.tcp.example.net:${20_000 + index}`, `2.tcp.example.net:${20_000 + index}`].slice(index % 2),
    ...(index % 3 > 0 && {
      backend: { backend_id: index % 3 === 1 ? toId('bkdwd', index % 60) : toId('bkdhr', index) },
    }),
    ...(index % 4 === 0 && {
      ip_restriction: { enabled: index % 8 === 0, ip_policy_ids: [toId('ipp', index % 5), toId('ipp', 9)] },
    }),
    ...(index % 5 === 0 && { policy: toPolicy(index) }),
  }),
  WeightedBackend: (index) => ({
    id: toId('bkdwd', index),
    backends: { [toId('bkdhr', index)]: index, [toId('bkdtg', index % 7)]: 100 - index },
  }),
  IPRestriction: (index) => ({
    id: toId('ipx', index),
    type: ['dashboard', 'api', 'agent', 'endpoints'][index] ?? '',
    ip_policy_ids: [toId('ipp', index), toId('ipp', 9)],
  }),
  AgentIngress: (index) => ({
    id: toId('agin', index),
    domain: `in-${index}.example.com`,
    ...(index % 2 === 0 && { certificate_management_policy: index % 4 === 0 ? {} : { private_key_type: 'ecdsa' } }),
  }),
  Credential: (index) => ({
    id: toId('cr', index),
    acl: index % 3 === 0 ? [] : [`bind:*.team-${index}.example.com`, 'bind:app=*'],
    ...(index % 4 === 0 && { owner_id: toId('bot', index) }),
  }),
  SSHUserCertificate: (index) => ({
    id: toId('sucrt', index),
    public_key: PUBLIC_KEY,
    ssh_certificate_authority_id: toId('sshca', index % 2),
    principals: index % 2 === 0 ? ['root', 'deploy'] : [],
    ...(index % 3 === 0 && { extensions: {}, critical_options: { 'force-command': 'echo "# no"' } }),
    valid_after: '2025-01-01T00:00:00Z',
    valid_until: `20${26 + index}-01-01T00:00:00Z`,
  }),
};

function toPolicy(index: number): JsonObject {
  const rule = {
    name: `rule ${index}`,
    expressions: ['conn.client_ip in [\n  "192.0.2.1", // office\n]'],
    actions: [
      { type: 'log', config: { metadata: { note: 'yes', count: index, big: 12_345_678_901_234_567_000 } } },
      { type: 'restrict-ips', config: { enforce: true, ip_policies: [toId('ipp', index % 5)] } },
    ],
  };
  return { inbound: [rule], ...(index % 2 === 0 && { enabled: false }) };
}

/** An id in the format of the service: ids of one kind sort by creation. */
function toId(prefix: string, index: number): string {
  return `${prefix}_2${(index * 7919).toString(36).padStart(26, '0')}`;
}
