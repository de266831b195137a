import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findStateResources } from '../../src/export/state-resources.ts';
import { parseTerraformState, TerraformStateError } from '../../src/export/terraform-state.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';

const SECRET = 'hunter2-and-more';
const ID = `edgtcp_${'a'.repeat(27)}`;

function parse(document: Json | string) {
  return parseTerraformState(Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)));
}

/** A state file with one resource. `more` is added to the resource, `instance` to its instance. */
function createStateFile(more: JsonObject = {}, instance: JsonObject = {}): JsonObject {
  const attributes = { id: ID, token: SECRET };
  const resource = {
    mode: 'managed',
    type: 'example_tcp_edge',
    name: 'web',
    provider: 'x',
    instances: [{ attributes, ...instance }],
  };
  return { version: 4, terraform_version: '1.11.4', resources: [{ ...resource, ...more }] };
}

describe('a Terraform state', () => {
  it('lists the same resources as a file and as the output of terraform show', () => {
    const [file, shown] = ['infra/terraform.tfstate', 'show.json'].map((name) =>
      parseTerraformState(readFileSync(`test/terraform/${name}`)).instances.toSorted((left, right) =>
        left.address < right.address ? -1 : 1,
      ),
    );
    expect(file).toEqual(shown);
    expect(file?.map(({ address }) => address)).toEqual([
      'example_agent_ingress.connect["eu"]',
      'example_agent_ingress.connect["us"]',
      'example_credential.build[0]',
      'example_credential.build[1]',
      'example_ip_policy.office',
      'example_ip_restriction.endpoints',
      'example_reserved_domain.web',
      'example_tunnel_group_backend.postgres',
      'module.site["Berlin"].example_credential.agent',
      'module.site["oslo"].example_credential.agent',
    ]);
  });

  it('is read for addresses and ids, and for no other value', () => {
    const { instances } = parse(createStateFile({ module: 'module.a.module.b["x.y\\"z"]' }, { index_key: 7 }));
    expect(instances).toEqual([
      {
        address: 'module.a.module.b["x.y\\"z"].example_tcp_edge.web[7]',
        type: 'example_tcp_edge',
        words: ['a', 'b', 'x.y"z', 'web', '7'],
        ids: { id: ID },
        sensitive: [],
        isTainted: false,
        isDeposed: false,
      },
    ]);
  });

  it('says which attributes it calls sensitive, as a file and as the output of terraform show', () => {
    const index = (value: Json) => ({ type: 'index', value: { value, type: typeof value } });
    const paths = [
      [{ type: 'get_attr', value: 'token' }],
      [{ type: 'get_attr', value: 'headers' }, index(0), { type: 'get_attr', value: 'add' }, index('x-key')],
    ];
    const file = parse(createStateFile({}, { sensitive_attributes: paths }));
    const resource = { mode: 'managed', type: 'example_tcp_edge', name: 'web', values: { id: ID, token: SECRET } };
    const sensitive = { token: true, tags: [false], headers: [{ add: { 'x-key': true } }], acl: {} };
    const shown = parse({
      format_version: '1.0',
      values: { root_module: { resources: [{ ...resource, sensitive_values: sensitive }] } },
    });
    for (const { instances } of [file, shown])
      expect(instances[0]?.sensitive).toEqual([['token'], ['headers', 0, 'add', 'x-key']]);
    const whole = { ...resource, sensitive_values: true };
    expect(
      parse({ format_version: '1.0', values: { root_module: { resources: [whole] } } }).instances[0]?.sensitive,
    ).toEqual([[]]);
    const later = parse(
      createStateFile({}, { sensitive_attributes: [[{ type: 'get_attr', value: 'acl' }, { type: 'splat' }]] }),
    );
    expect(later.instances[0]?.sensitive).toEqual([['acl']]);
  });

  it('contains no data sources', () => {
    expect(() => parse(createStateFile({ mode: 'data' }))).toThrow('contains no resources');
  });

  it('is read with flat attributes, and with a byte order mark', () => {
    const text = `\ufeff${JSON.stringify(createStateFile({}, { attributes: null, attributes_flat: { id: ID, token: SECRET } }))}`;
    expect(parse(text).instances[0]?.ids).toEqual({ id: ID });
  });

  it('has no id if the provider stored another text as id', () => {
    expect(parse(createStateFile({}, { attributes: { id: `${SECRET}!` } })).instances[0]?.ids).toEqual({});
  });

  it.each<readonly [string, string | Json, string]>([
    ['empty', ' \n', 'is empty'],
    ['cut off', JSON.stringify(createStateFile()).slice(0, -9), 'is not a JSON object: it is damaged, or not a state'],
    [
      'the text of terraform show',
      `# example_tcp_edge.web:\nresource "x" "y" { token = "${SECRET}" }`,
      'is not a JSON object',
    ],
    ['a list', [SECRET], 'is not a JSON object'],
    ['another JSON document', { token: SECRET }, 'is not a Terraform state'],
    [
      'encrypted',
      { serial: 1, lineage: 'x', meta: {}, encrypted_data: SECRET, encryption_version: 'v0' },
      'is encrypted',
    ],
    [
      'of Terraform 0.11',
      { version: 3, modules: [{ path: ['root'], outputs: { token: SECRET } }] },
      'has the format 3, which is older',
    ],
    [
      'where a backend is configured',
      { version: 3, backend: { type: 's3', config: { key: SECRET } } },
      'says only where',
    ],
    ['of a later version', { ...createStateFile(), version: 5 }, 'has the format 5, which is newer'],
    ['of a later show', { format_version: '2.0', values: { token: SECRET } }, 'has a format that is newer'],
    ['a plan', { format_version: '1.2', planned_values: {}, prior_state: { token: SECRET } }, 'is a plan'],
    ['a plan file', `PK\u0003\u0004${SECRET}`, 'is a plan'],
    [
      'without resources',
      { version: 4, resources: [], outputs: { token: { value: SECRET } } },
      'contains no resources',
    ],
    ['of an empty workspace', { format_version: '1.0' }, 'contains no resources'],
    ['nested deeply', `${'['.repeat(300)}"${SECRET}"`, 'is nested more than'],
    ['version', { version: SECRET }, 'is damaged: version is not a number'],
    ['resources', { version: 4, resources: { token: SECRET } }, 'is damaged: resources is not a list'],
    ['resource', { version: 4, resources: [SECRET] }, 'is damaged: resources[0] is not an object'],
    ['instances', createStateFile({ instances: SECRET }), 'resources[0].instances is not a list'],
    [
      'attributes',
      createStateFile({}, { attributes: SECRET }),
      'resources[0].instances[0].attributes is not an object',
    ],
    [
      'key',
      createStateFile({}, { index_key: { token: SECRET } }),
      'resources[0].instances[0].index_key is not a text or a number',
    ],
    [
      'sensitive attributes',
      createStateFile({}, { sensitive_attributes: { token: SECRET } }),
      'resources[0].instances[0].sensitive_attributes is not a list',
    ],
    [
      'path of a sensitive attribute',
      createStateFile({}, { sensitive_attributes: [SECRET] }),
      'resources[0].instances[0].sensitive_attributes[0] is not a list',
    ],
    ['type', createStateFile({ type: [SECRET] }), 'resources[0].type is not a text'],
    ['values', { format_version: '1.0', values: SECRET }, 'values is not an object'],
    [
      'module',
      { format_version: '1.0', values: { root_module: { child_modules: [{ resources: SECRET }] } } },
      'values.root_module.child_modules[0].resources is not a list',
    ],
  ])('is refused if it is invalid (%s), without showing its content', (_, document, finding) => {
    const error = catchError(() => parse(document));
    expect(error.finding).toContain(finding);
    expect(error.remedy).toMatch(/^[A-Z].*\w/);
    expect(JSON.stringify([error.message, error.finding, error.remedy, error.stack])).not.toContain('hunter2');
  });

  it('is refused if it is not UTF-8, with how PowerShell writes it', () => {
    const bytes = Buffer.from(`\ufeff${JSON.stringify(createStateFile())}`, 'utf16le');
    expect(catchError(() => parseTerraformState(bytes)).remedy).toContain('Out-File');
  });
});

describe('the kind of a resource', () => {
  const find = (type: string, id: string) => {
    const state = createStateFile({ type }, { attributes: { id } });
    return [...findStateResources(parse(state)).managed.values()].map(({ kind }) => kind.name);
  };

  it.each([
    ['example_tcp_edge', 'edgtcp_1', 'TCPEdge'],
    ['other_weighted_backend', 'bkdwd_1', 'WeightedBackend'],
    ['x_ssh_user_certificate', 'sucrt_1', 'SSHUserCertificate'],
    ['x_agent_ingress', 'agin_1', 'AgentIngress'],
  ])('is read from what follows the prefix of the provider: %s', (type, id, kind) => {
    expect(find(type, id)).toEqual([kind]);
  });

  it.each([
    ['example_credential', 'cred-1'],
    ['example_credential', 'edgtcp_1'],
    ['tcp_edge', 'edgtcp_1'],
    ['example_tcp_edges', 'edgtcp_1'],
    ['example_my_tcp_edge', 'edgtcp_1'],
  ])('is unknown for another type or id: %s %s', (type, id) => {
    expect(find(type, id)).toEqual([]);
  });
});

function catchError(act: () => unknown): TerraformStateError {
  try {
    act();
  } catch (error) {
    if (error instanceof TerraformStateError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}
