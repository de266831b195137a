import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, toTranscript, type Workspace } from './workspace.ts';

/** `infra` and `show.json` were written by the public provider against the bundled server, with other values. */
const FIXTURE = 'test/terraform';
const { resources: RESOURCES } = JSON.parse(await readFile(join(FIXTURE, 'account.json'), 'utf8'));
const STATE: JsonObject = JSON.parse(await readFile(join(FIXTURE, 'infra/terraform.tfstate'), 'utf8'));

async function createAccount(resources: object = RESOURCES): Promise<Workspace> {
  const workspace = await createWorkspace({}, { seed: { resources: { ...resources } } });
  await cp(FIXTURE, workspace.folder, { recursive: true });
  return workspace;
}

const EXPORT = 'export -o ingress --owner production --names';

describe('export --names', () => {
  it('writes manifests with the names of the state, and lists what differs', async () => {
    const { edgewise, folder } = await createAccount();
    const result = await edgewise(`${EXPORT} infra/terraform.tfstate`);
    const files = Object.entries(await readAll(join(folder, 'ingress'))).filter(([name]) => !name.endsWith('.json'));
    const texts = files.map(([name, text]) => `--- ${name}\n${text}`);
    await expect(`${toTranscript(result)}${texts.join('')}`).toMatchFileSnapshot('goldens/export-names.txt');
  });

  it('writes manifests whose first plan only adopts, and whose second plan is empty', async () => {
    const { edgewise, recorder } = await createAccount();
    await edgewise(`${EXPORT} infra/terraform.tfstate`);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    const plan = readOnlyStack((await edgewise('plan ingress --format json')).stdout);
    const changes: readonly JsonObject[] = plan.changes;
    expect(changes.map(({ action }) => action)).toEqual(Array.from({ length: 7 }, () => 'adopt'));
    expect(changes.flatMap(({ differences }) => differences)).toEqual([]);
    expect(await edgewise('apply ingress --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan ingress --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('writes the same manifests for the output of terraform show, and again after an apply', async () => {
    const { edgewise, folder } = await createAccount();
    await edgewise(`${EXPORT} infra/terraform.tfstate`);
    const first = await readAll(join(folder, 'ingress'));
    const stdin = await readFile(join(folder, 'show.json'), 'utf8');
    const piped = await edgewise(`${EXPORT} - --force`, { stdin, cwd: join(folder, 'infra') });
    expect(piped.exitCode).toBe(0);
    expect(await readAll(join(folder, 'infra/ingress'))).toEqual(first);
    await edgewise('apply ingress --yes');
    await edgewise(`${EXPORT} infra/terraform.tfstate --force`);
    expect(await readAll(join(folder, 'ingress'))).toEqual(first);
  });

  it('writes one text to stdout, and the notes to stderr', async () => {
    const { edgewise } = await createAccount();
    const { stdout, stderr } = await edgewise('export --names infra/terraform.tfstate Credential');
    expect(stdout.match(/^ {2}name: .*$/gm)).toEqual(
      ['usr-000000', 'build-0', 'build-1', 'site-berlin-agent', 'site-oslo-agent'].map((name) => `  name: ${name}`),
    );
    expect(stderr).toContain(
      'In the account, and not in the state. They are not exported:\n  Credential cr_2k9XLTgkzKpiZ6nEoVzVn5e1wqR, made-by-hand\n',
    );
    expect(stderr).not.toContain('not in the account');
  });

  it('prints each External ready to paste', async () => {
    const { edgewise, folder, write } = await createAccount();
    const { stdout } = await edgewise(`${EXPORT} infra/terraform.tfstate`);
    const [, external = ''] = /^ {2}example_tunnel_group_backend\.postgres: (.*)$/m.exec(stdout) ?? [];
    await write({
      'ingress/pool.yaml': `${external}\n---\n${JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'WeightedBackend', metadata: { name: 'pool' }, spec: { backends: { 'External/postgres': 1 } } })}\n`,
    });
    expect(await edgewise('plan ingress')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('7 to adopt, 1 to create'),
    });
    expect(await readdir(join(folder, 'ingress/external'))).toEqual(['office.yaml', 'usr-000000.yaml']);
  });

  it('exports what the stack already owns, although the state does not contain it', async () => {
    const owned = { id: 'edgtcp_1', metadata: '{"edgewise":{"stack":"production","name":"by-hand","protect":true}}' };
    const { edgewise, folder } = await createAccount({ ...RESOURCES, TCPEdge: [owned, { id: 'edgtcp_2' }] });
    const { stdout } = await edgewise(`${EXPORT} infra/terraform.tfstate`);
    expect(await readFile(join(folder, 'ingress/tcp-edge/by-hand.yaml'), 'utf8')).toContain('protect: true');
    expect(stdout).toContain('TCPEdge edgtcp_2,');
    const plan = readOnlyStack((await edgewise('plan ingress --format json')).stdout);
    expect(plan.changes.map(({ action }: JsonObject) => action).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'adopt'),
      'no-op',
    ]);
  });

  it('lists what the account lacks, what is tainted, what occurs twice, and what Terraform still has to delete', async () => {
    const { edgewise, write } = await createAccount();
    const [ingress, credential] = ['agin_2k9X19RBOShUjdA30hT8W0A1ed7', 'cr_2k9XLTgkzKpiZ6nEoVzVn5e1wqR'];
    const create = (kind: string, name: string, id: string, more: JsonObject = {}) => ({
      mode: 'managed',
      type: `example_${kind}`,
      name,
      instances: [{ attributes: { id }, ...more }],
    });
    const listed = STATE['resources'];
    const resources = [
      ...(isJsonArray(listed) ? listed : []),
      create('tcp_edge', 'gone', 'edgtcp_gone'),
      create('agent_ingress', 'twice', ingress, { status: 'tainted' }),
      create('credential', 'build', credential, { deposed: '00000000' }),
      create('https_edge', 'web', 'edghts_1'),
      {
        ...create('https_edge_route', 'web', 'edghtsrt_1'),
        instances: [{ attributes: { id: 'edghtsrt_1', edge_id: 'edghts_1' } }],
      },
      { ...create('x', 'y', 'ipp_1'), type: 'aws_instance' },
    ];
    await write({ 'state.json': JSON.stringify({ ...STATE, resources }) });
    const { stdout } = await edgewise(`${EXPORT} state.json`);
    expect(stdout).toContain('not in the account. They may have been deleted:\n  example_tcp_edge.gone: edgtcp_gone\n');
    expect(stdout).toContain(
      `Twice in the state. Each has the name of its first address:\n  example_agent_ingress.twice: ${ingress}\n`,
    );
    expect(stdout).toContain(
      `${credential}, made-by-hand: Terraform has replaced it, and still has to delete it (example_credential.build)`,
    );
    expect(stdout).toContain('example_https_edge.web: only its modules, with --modules-of edghts_1\n');
    expect(stdout).toContain('example_https_edge_route.web: only its modules, with --modules-of edghts_1/edghtsrt_1\n');
    expect(stdout).not.toContain('aws_instance');
    const modules = await edgewise('export --names state.json --modules-of edghts_1');
    expect(modules.stdout).toContain('kind: HTTPSEdge\nmetadata:\n  name: web\n');
  });

  it('shows no secret of the state', async () => {
    const { edgewise, folder, write } = await createAccount();
    await write({ 'infra/terraform.tfstate': JSON.stringify(hideSecrets(STATE)) });
    const { exitCode, stdout, stderr } = await edgewise(`${EXPORT} infra/terraform.tfstate`, {
      env: { EDGEWISE_LOG_LEVEL: 'debug' },
    });
    expect(exitCode).toBe(0);
    expect(JSON.stringify([stdout, stderr, await readAll(join(folder, 'ingress'))])).not.toContain('hunter2');
    await write({ 'infra/terraform.tfstate': JSON.stringify(hideSecrets(STATE)).slice(0, -20) });
    const damaged = await edgewise(`${EXPORT} infra/terraform.tfstate --force`, {
      env: { EDGEWISE_LOG_LEVEL: 'debug' },
    });
    expect(damaged).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.not.stringContaining('hunter2') });
  });

  it('escapes keys of the state, so that none forges a line', async () => {
    const { edgewise, folder, write } = await createAccount();
    const key = 'x\n  forged: yes\u001b[2J';
    const listed = STATE['resources'];
    const resources = [
      ...(isJsonArray(listed) ? listed : []),
      {
        mode: 'managed',
        type: 'example_api_key',
        name: 'x',
        module: `module.a["${key}"]`,
        instances: [{ index_key: key, attributes: {} }],
      },
    ];
    await write({ 'infra/terraform.tfstate': JSON.stringify({ ...STATE, resources }) });
    const { stdout } = await edgewise(`${EXPORT} infra/terraform.tfstate`);
    const texts = [stdout, await readFile(join(folder, 'ingress/edgewise.yaml'), 'utf8')];
    for (const text of texts) {
      expect(text).toContain('example_api_key.x');
      expect(text).not.toMatch(/^[# ]*forged/m);
      expect(text).not.toContain('\u001b');
    }
  });

  it('refuses the state of another account, and writes nothing', async () => {
    const { edgewise, folder } = await createAccount({ Credential: [{ id: 'cr_other' }] });
    const result = await edgewise(`${EXPORT} infra/terraform.tfstate`);
    expect(result).toMatchObject({ exitCode: 3, stdout: '' });
    expect(result.stderr).toContain(
      'The state is of another account: none of its 7 resources exists at https://api.test',
    );
    expect(await readdir(folder)).not.toContain('ingress');
  });

  it.each([
    [
      'of other providers',
      '{"version":4,"resources":[{"mode":"managed","type":"aws_x","name":"y","instances":[{"attributes":{"id":"i-1"}}]}]}',
      '…_tcp_edge',
    ],
    [
      'that is encrypted',
      '{"encrypted_data":"x","encryption_version":"v0"}',
      'tofu show -json | edgewise export --names -',
    ],
    ['of an older format', '{"version":3,"modules":[]}', 'terraform apply -refresh-only'],
    ['that is damaged', '{"version":4,', 'terraform state pull'],
  ])('refuses a state %s, and sends nothing', async (_, text, remedy) => {
    const { edgewise, recorder, write } = await createWorkspace();
    await write({ 'terraform.tfstate': text });
    for (const [name, stdin] of [['terraform.tfstate'], ['-', text]] as const) {
      const result = await edgewise(`${EXPORT} ${name}`, stdin === undefined ? {} : { stdin });
      expect(result).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining(remedy) });
      expect(recorder.take()).toEqual([]);
    }
  });

  it.each([
    ['nothing.tfstate', 'nothing.tfstate does not exist.'],
    ['infra', 'infra is a folder, not a file.'],
  ])('refuses %s', async (name, finding) => {
    const { edgewise } = await createAccount();
    expect(await edgewise(`${EXPORT} ${name}`)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(finding),
    });
  });
});

/** Calls attributes of the resources with this type and name sensitive. */
function withSensitive(type: string, name: string, ...paths: readonly JsonObject[][]): JsonObject {
  const listed = STATE['resources'];
  const resources = (isJsonArray(listed) ? listed : []).filter(isJsonObject).map((resource) => {
    if (resource['type'] !== type || resource['name'] !== name) return resource;
    const instances = isJsonArray(resource['instances']) ? resource['instances'] : [];
    const marked = instances.filter(isJsonObject).map((one) => ({ ...one, sensitive_attributes: paths }));
    return { ...resource, instances: marked };
  });
  return { ...STATE, resources };
}

const attribute = (value: string): JsonObject => ({ type: 'get_attr', value });

describe('a value that the state calls sensitive', () => {
  const STATE_FILE = 'infra/terraform.tfstate';
  const MARKED = withSensitive(
    'example_credential',
    'build',
    [attribute('token')],
    [attribute('acl'), { type: 'index', value: { value: 0, type: 'number' } }],
    [attribute('metadata')],
  );
  const NAMED = [
    'Credential/build-0: spec.acl (example_credential.build[0])',
    'Credential/build-0: spec.metadata (example_credential.build[0])',
    'Credential/build-1: spec.acl (example_credential.build[1])',
    'Credential/build-1: spec.metadata (example_credential.build[1])',
  ];

  it('is a warning that names the resource and the field, if a manifest has it', async () => {
    const { edgewise, write } = await createAccount();
    expect((await edgewise(`${EXPORT} ${STATE_FILE} --strict`)).stdout).not.toContain('sensitive');
    await write({ [STATE_FILE]: JSON.stringify(MARKED) });
    const { exitCode, stdout } = await edgewise(`${EXPORT.replace('ingress', 'again')} ${STATE_FILE}`);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      `Warning: sensitive in the state, and now in plain text in a manifest. Look at each before you commit it:\n${NAMED.map((line) => `  ${line}\n`).join('')}`,
    );
    expect(stdout).not.toContain('token (');
  });

  it('is refused with --strict, and nothing is written', async () => {
    const { edgewise, write, folder } = await createAccount();
    await write({ [STATE_FILE]: JSON.stringify(MARKED) });
    for (const line of [`${EXPORT} ${STATE_FILE} --strict`, `export --names ${STATE_FILE} --strict`]) {
      const { exitCode, stdout, stderr } = await edgewise(line);
      expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
      expect(stderr).toContain(
        'Credential/build-1: spec.metadata is sensitive in the state (example_credential.build[1])',
      );
      expect(stderr).toContain('Nothing was written.');
    }
    expect(await readdir(folder)).not.toContain('ingress');
  });

  it('counts in the output of terraform show too, and if it is an id', async () => {
    const { edgewise, folder } = await createAccount();
    const shown = JSON.parse(await readFile(join(folder, 'show.json'), 'utf8'));
    for (const resource of shown.values.root_module.resources) {
      if (resource.type === 'example_agent_ingress') resource.sensitive_values = { id: true, domain: true };
      if (resource.type === 'example_ip_policy') resource.sensitive_values = { id: true };
      if (resource.type === 'example_ip_restriction') resource.sensitive_values = true;
    }
    const { stderr } = await edgewise('export --owner production --names -', { stdin: JSON.stringify(shown) });
    for (const line of [
      'AgentIngress/connect-eu: lifecycle.adopt (example_agent_ingress.connect["eu"])',
      'AgentIngress/connect-eu: spec.domain (example_agent_ingress.connect["eu"])',
      'External/office: spec.id (example_ip_policy.office)',
      'IPRestriction/endpoints: spec.ip_policy_ids (example_ip_restriction.endpoints)',
    ])
      expect(stderr).toContain(`  ${line}\n`);
    expect(stderr).not.toContain('External/usr-000000');
  });

  it('is found below a block, and is none if the manifest has a variable in its place', async () => {
    const route = { id: 'edghtsrt_1', edge_id: 'edghts_1' };
    const add = { 'x-key': 'live-value', authorization: 'Bearer live-value' };
    const { edgewise, write, server } = await createAccount();
    const path = '/edges/https/edghts_1/routes/edghtsrt_1/request_headers';
    await sendByHand({ server }, 'PUT', path, { add, remove: ['x-internal-name'] });
    const listed = STATE['resources'];
    const block = [attribute('request_headers'), { type: 'index', value: { value: 0, type: 'number' } }];
    const resource = {
      mode: 'managed',
      type: 'example_https_edge_route',
      name: 'web',
      instances: [
        {
          attributes: route,
          sensitive_attributes: [
            [...block, attribute('add'), { type: 'index', value: { value: 'x-key', type: 'string' } }],
            [...block, attribute('remove')],
          ],
        },
      ],
    };
    const resources = [...(isJsonArray(listed) ? listed : []), resource];
    await write({ 'state.json': JSON.stringify({ ...STATE, resources }) });
    const { stdout, stderr } = await edgewise('export --names state.json --modules-of edghts_1/edghtsrt_1');
    expect(stdout).toContain(`$\{secret:WEB_X_KEY}`);
    expect(stderr).toContain('  HTTPSEdgeRoute/web: spec.request_headers.remove (example_https_edge_route.web)\n');
    expect(stderr).not.toContain('request_headers.add');
  });

  it('needs a state', async () => {
    const { edgewise } = await createAccount();
    expect(await edgewise('export --strict')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('--strict works only with --names.'),
    });
  });
});

/** Returns the state with a secret in place of each text that is neither an address nor an id. */
function hideSecrets(value: Json, key = ''): Json {
  if (isJsonArray(value)) return value.map((member) => hideSecrets(member, key));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hideSecrets(member, name)]));
  const isRead = ['mode', 'type', 'name', 'module', 'index_key', 'id'].includes(key);
  return typeof value === 'string' && !isRead ? 'hunter2' : value;
}

async function readAll(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')]),
  );
  return Object.fromEntries(texts);
}
