import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, parseJson } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createServer } from '../../src/server/index.ts';
import { createRequest, sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { ED25519_KEY } from '../server/ssh-keys.ts';
import { NOW } from './fake-context.ts';
import {
  createWorkspace,
  openWorkspace,
  STACK,
  toCredential,
  toEdge,
  toTranscript,
  type Workspace,
} from './workspace.ts';

const TOKENS = 'spec: { tokens: { default: { directory: tokens } } }\n';

const ALL = `${STACK}${TOKENS}${toEdge('postgres', 20001)}lifecycle: { protect: true }
${toCredential('agent')}---
apiVersion: edgewise/v1
kind: AgentIngress
metadata: { name: agents }
spec: { domain: agents.example.com, description: "a \\e[2J b", certificate_management_policy: { authority: letsencrypt } }
---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: ci }
spec: { public_key: "${ED25519_KEY}", ssh_certificate_authority_id: sshca_1, principals: [deploy] }
---
apiVersion: edgewise/v1
kind: HTTPSEdge
metadata: { name: web }
spec: { id: edghts_1, mutual_tls: { certificate_authority_ids: [ca_1] } }
`;

const OTHERS = `${STACK.replace('test', 'other')}${toEdge('theirs', 20002)}`;

const FILES = { 'edgewise.yaml': ALL, 'other.yaml': OTHERS };

/** An applied stack with a resource of each sort, beside another stack. */
async function createApplied(): Promise<Workspace> {
  return applyBoth(await createWorkspace(FILES));
}

async function applyBoth(workspace: Workspace): Promise<Workspace> {
  for (const file of ['edgewise.yaml', 'other.yaml'])
    expect(await workspace.edgewise(`apply ${file} --yes`)).toMatchObject({ exitCode: 0 });
  workspace.recorder.take();
  return workspace;
}

/** A resource in two documents. */
interface Owned {
  readonly address: string;
  readonly computed?: Json;
}

const listPaths = ({ recorder }: Workspace): readonly string[] =>
  recorder
    .take()
    .map(({ method, path }) => `${method} ${path}`)
    .sort();

describe('get', () => {
  it('shows the modules that are set, and which are off', async () => {
    const edge = toEdge('postgres', 20001).replace(/\n$/, '');
    const workspace = await createWorkspace({
      'edgewise.yaml': `${STACK}${TOKENS}${edge}
  backend: { backend_id: bkdhr_1 }
  ip_restriction: { enabled: false, ip_policy_ids: [ipp_1] }
---
apiVersion: edgewise/v1
kind: HTTPSEdge
metadata: { name: web }
spec: { id: edghts_1, mutual_tls: { certificate_authority_ids: [ca_1] } }
`,
    });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const { stdout } = await workspace.edgewise('get');
    expect(stdout).toMatch(/^ +modules +backend, ip_restriction \(off\)$/m);
    expect(stdout).toMatch(/^ +modules +mutual_tls$/m);
  });

  it('has no column in which no row has a value', async () => {
    const workspace = await createWorkspace({ 'm.yaml': STACK + toEdge('a', 20_001) + toEdge('b', 20_002) });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect((await workspace.edgewise('get')).stdout).toMatch(/^ADDRESS +ID +CREATED\n/);
    await workspace.write({
      'm.yaml': `${STACK}${toEdge('a', 20_001)}lifecycle: { protect: true }\n${toEdge('b', 20_002)}`,
    });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect((await workspace.edgewise('get')).stdout).toMatch(/^ADDRESS +ID +CREATED +STATE\n/);
  });

  let applied: Workspace;
  beforeAll(async () => {
    const opened = await openWorkspace(FILES);
    applied = await applyBoth(opened);
    return opened.remove;
  });

  it.each([
    ['table', 'edgewise.yaml'],
    ['verbose', 'edgewise.yaml --verbose'],
    ['json', 'edgewise.yaml --format json'],
    ['yaml', 'edgewise.yaml --format yaml'],
    ['name', 'edgewise.yaml --format name'],
  ])('shows what the stack owns and nothing else: %s', async (name, words) => {
    const result = await applied.edgewise(`get ${words}`);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(result.stdout).not.toContain('theirs');
    const shown = result.stdout.replace(/ssh-ed25519-cert-v01@openssh.com \S+/g, 'CERTIFICATE');
    await expect(shown).toMatchFileSnapshot(`goldens/get-${name}.txt`);
  });

  describe('by id', () => {
    /** An account with an ingress of no stack, and the ids of the credential of this stack and of the edge of another. */
    async function createForeign() {
      const workspace = await createApplied();
      const ids = new Map<string, string>();
      for (const file of ['edgewise.yaml', 'other.yaml'])
        for (const { address, id } of readOnlyStack((await workspace.edgewise(`get ${file} --format json`)).stdout)
          .resources)
          ids.set(address, id);
      const found = await sendByHand(workspace, 'POST', '/agent_ingresses', { domain: 'clicked.example.com' });
      workspace.recorder.take();
      return {
        ...workspace,
        clicked: String(found['id']),
        theirs: ids.get('TCPEdge/theirs'),
        own: ids.get('Credential/agent'),
      };
    }

    it('shows any resource of the account, and says whose it is', async () => {
      const { edgewise, clicked, theirs, own, recorder } = await createForeign();
      const { exitCode, stdout } = await edgewise(`get edgewise.yaml ${clicked} ${theirs} ${own}`);
      expect(exitCode).toBe(0);
      expect(
        recorder
          .take()
          .map(({ method, path }) => `${method} ${path}`)
          .sort(),
      ).toEqual(['GET /agent_ingresses?limit=100', 'GET /credentials?limit=100', 'GET /edges/tcp?limit=100']);
      expect(stdout).toMatch(new RegExp(`^AgentIngress/${clicked} .* no stack manages it$`, 'm'));
      expect(stdout).toMatch(/^ {2}ns_targets +\S+/m);
      expect(stdout).toMatch(new RegExp(`^TCPEdge/theirs +${theirs} .* of the stack other$`, 'm'));
      expect(stdout).toMatch(new RegExp(`^Credential/agent +${own} +\\S+ *$`, 'm'));
      expect(stdout).toContain('1 resource of stack test on https://api.test, and 2 that it does not own.');
      const json = await edgewise(`get edgewise.yaml ${clicked} ${theirs} ${own} --format json`);
      const owners = readOnlyStack(json.stdout).resources.map(
        ({ owner, ...one }: { readonly owner?: Json; readonly id: string }) => [one.id, owner],
      );
      expect(new Map(owners)).toEqual(
        new Map([
          [clicked, null],
          [theirs, 'other'],
          [own, undefined],
        ]),
      );
    });

    it('prints one value of it for a script', async () => {
      const { edgewise, clicked } = await createForeign();
      const { exitCode, stdout } = await edgewise(`get ${clicked} edgewise.yaml --format value=domain`);
      expect([exitCode, stdout]).toEqual([0, 'clicked.example.com\n']);
    });

    it('fails if no resource has the id', async () => {
      const { edgewise } = await createForeign();
      const { exitCode, stderr } = await edgewise('get edgewise.yaml agin_2k9XLSSJ0VYBkAfVwYyJYvXz5wC');
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining('There is no AgentIngress agin_2k9XLSSJ0VYBkAfVwYyJYvXz5wC at https://api.test.'),
      ]);
    });
  });

  it('prints the same values as JSON and as YAML, for any text', async () => {
    const { edgewise } = applied;
    const [json, yaml] = [
      await edgewise('get edgewise.yaml --format json'),
      await edgewise('get edgewise.yaml --format yaml'),
    ];
    expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout));
    expect(json.stdout).toContain('a \\u001b[2J b');
  });

  it.each([
    [
      'AgentIngress/agents --format value=region_domains',
      'us.agents.example.com\neu.agents.example.com\nap.agents.example.com\n',
    ],
    ['--format value=region_domains', /^(AgentIngress\/agents\t(us|eu|ap)\.agents\.example\.com\n){3}$/],
    ['AgentIngress/agents --format value=region_domains[1]', 'eu.agents.example.com\n'],
    ['AgentIngress/agents --format value=ns_targets', /^(\S+\n)+$/],
    ['AgentIngress/agents --format value=uri', /^\/agent_ingresses\/agin_\S+\n$/],
    ['AgentIngress/agents --format value=certificate_management_status.provisioning_job.msg', /provisioned/],
    ['AgentIngress/agents --format value=description', 'a \\u001b[2J b\n'],
    ['SSHUserCertificate/ci --format value=valid_until', '2026-03-02T12:00:00Z\n'],
    ['SSHUserCertificate/ci --format value=certificate', /^ssh-ed25519-cert-v01@openssh\.com \S+ \S+\n$/],
    ['HTTPSEdge/web --format value=mutual_tls', '{"certificate_authority_ids":["ca_1"],"enabled":true}\n'],
    ['TCPEdge --format value=hostports', 'TCPEdge/postgres\t1.tcp.example.net:20001\n'],
    ['TCPEdge/postgres --format value=name', 'postgres\n'],
    ['SSHUserCertificate/ci --format value=extensions.permit-pty', '\n'],
    ['--format value=certificate_management_status.renews_at', ''],
  ])('prints one value: %s', async (words, expected) => {
    const { exitCode, stdout, stderr } = await applied.edgewise(`get edgewise.yaml ${words}`);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    if (typeof expected === 'string') expect(stdout).toBe(expected);
    else expect(stdout).toMatch(expected);
  });

  it.each([
    [
      'edgewise.yaml',
      [...OWNED_KINDS.map(({ path }) => `GET ${path}?limit=100`), 'GET /edges/https/edghts_1/mutual_tls'],
    ],
    ['edgewise.yaml AgentIngress/agents', ['GET /agent_ingresses?limit=100']],
    ['edgewise.yaml TCPEdge/postgres TCPEdge Credential', ['GET /credentials?limit=100', 'GET /edges/tcp?limit=100']],
    ['edgewise.yaml HTTPSEdge/web', ['GET /edges/https/edghts_1/mutual_tls']],
    ['edgewise.yaml --format value=region_domains', ['GET /agent_ingresses?limit=100']],
    ['edgewise.yaml --format value=token', []],
    ['edgewise.yaml TCPEdge/postgres --format value=region_domains', []],
  ])('reads only what it needs: get %s', async (words, expected) => {
    applied.recorder.take();
    await applied.edgewise(`get ${words}`);
    expect(listPaths(applied)).toEqual([...expected].sort());
  });

  it('prints the same resources as apply --format json, without tokens', async () => {
    const { edgewise, write, folder } = await createWorkspace({ 'edgewise.yaml': ALL });
    const read = async () => {
      const { resources } = readOnlyStack((await edgewise('get edgewise.yaml --format json')).stdout);
      return new Map<string, Json>(resources.map((one: Owned) => [one.address, one.computed]));
    };
    const made = await edgewise('apply edgewise.yaml --yes --format json');
    const live = await read();
    const outcomes: readonly Owned[] = readOnlyStack(made.stdout).outcomes;
    const shown = outcomes.filter(({ computed }) => computed !== undefined);
    expect(shown.map(({ address }) => address).sort()).toEqual([
      'AgentIngress/agents',
      'Credential/agent',
      'SSHUserCertificate/ci',
      'TCPEdge/postgres',
    ]);
    for (const { address, computed } of shown) expect(computed, address).toEqual(live.get(address));
    const token = readFileSync(join(folder, 'tokens/agent.token'), 'utf8').trim();
    expect(token).not.toBe('');
    expect(toTranscript(made)).not.toContain(token);
    await write({ 'edgewise.yaml': ALL.replace('authority: letsencrypt', 'private_key_type: ecdsa') });
    const changed = await edgewise('apply edgewise.yaml --yes --format json');
    expect(readOnlyStack(changed.stdout).outcomes).toMatchObject([
      { address: 'AgentIngress/agents', outcome: 'applied', computed: (await read()).get('AgentIngress/agents') },
    ]);
  });

  it('never shows a token, whatever the service returns', async () => {
    const workspace = await createApplied();
    const transport: Transport = async (request) => {
      const response = await workspace.server.handle(request);
      return Response.json(withTokens(parseJson(await response.text()) ?? null), response);
    };
    const [{ id } = { id: '' }] = workspace.server.snapshot().resources['Credential'] ?? [];
    for (const form of ['table --verbose', 'json', 'yaml', 'name', 'value=id', 'value=acl', 'value=token']) {
      const result = await workspace.edgewise(`get edgewise.yaml Credential/agent --format ${form}`, { transport });
      expect(toTranscript(result), form).not.toContain('SECRET');
      if (form === 'value=id') expect(result.stdout).toBe(`${id}\n`);
    }
    const answer = await transport(createRequest('GET', '/credentials'));
    expect(await answer.text()).toContain('SECRET');
  });

  it('distinguishes resources with the same mark', async () => {
    const { edgewise, server } = await createApplied();
    const [edge] = (server.snapshot().resources['TCPEdge'] ?? []).filter(({ metadata }) =>
      String(metadata).includes('"test"'),
    );
    const copy = { metadata: edge?.['metadata'], hostports: ['1.tcp.example.net:1'] };
    await sendByHand({ server }, 'POST', '/edges/tcp', copy);
    const { stdout } = await edgewise('get edgewise.yaml TCPEdge/postgres --format name');
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^TCPEdge\/postgres@edgtcp_/),
      expect.stringMatching(/^TCPEdge\/postgres@edgtcp_/),
    ]);
    expect((await edgewise('get edgewise.yaml TCPEdge')).stdout).toContain('protected, shares its mark');
    const [first = '', second = ''] = stdout.trimEnd().split('\n');
    expect(await edgewise('get edgewise.yaml TCPEdge/postgres --format value=id')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`TCPEdge/postgres is the mark of ${first} and ${second}: name one.`),
    });
    const named = await edgewise(`get edgewise.yaml ${second} --format value=id`);
    expect(named).toMatchObject({ exitCode: 0, stdout: `${second.split('@')[1]}\n` });
  });

  it('shows first what a resource serves, by names of the manifests, in a terminal of 80 columns', async () => {
    const pool = `---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec: { backends: { External/blue: 1 } }
---
apiVersion: edgewise/v1
kind: External
metadata: { name: blue }
spec: { id: bkdhr_1 }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: redis }
spec: { hostports: ["1.tcp.example.net:20009"], backend: { backend_id: WeightedBackend/pool } }
`;
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': `${ALL}${pool}` });
    await edgewise('apply edgewise.yaml --yes');
    const { stdout } = await edgewise('get edgewise.yaml', { terminal: 80 });
    expect(stdout).toMatch(/^ {2}backend.backend_id {2}bkdwd_\w+ \(WeightedBackend\/pool\)$/m);
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    await expect(stdout).toMatchFileSnapshot('goldens/get-narrow.txt');
  });

  it('shows the NS records that a new domain needs, as apply does, and nothing after its update', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': ALL });
    const step =
      'AgentIngress/agents: set the NS records of its domain to ns1.ingress.example.net, ns2.ingress.example.net (ns_targets).';
    const made = await edgewise('apply edgewise.yaml --yes --report markdown=made.md --report html=made.html');
    expect(made.stdout).toContain(`Next:\n  ${step}\n`);
    await write({ 'edgewise.yaml': ALL.replace('authority: letsencrypt', 'private_key_type: ecdsa') });
    const changed = await edgewise('apply edgewise.yaml --yes');
    expect(changed.stdout).toContain('1 write applied');
    expect(changed.stdout).not.toContain('NS records');
  });

  it.each([
    [{ renews_at: '2026-04-30T12:00:00Z', provisioning_job: null }, 'certificate renews in 60 days'],
    [{ renews_at: '2026-02-28T12:00:00Z', provisioning_job: null }, 'certificate is due for renewal'],
    [{ renews_at: null, provisioning_job: { error_code: 'DNS_ERROR', msg: 'no NS' } }, 'certificate fails'],
    [{ renews_at: null, provisioning_job: { error_code: null, msg: 'soon' } }, 'certificate is being provisioned'],
  ])('shows the state of a certificate in its row: %j', (status, expected) => {
    const { describeState } = getKind('AgentIngress');
    expect(describeState({ certificate_management_status: status }, NOW)).toEqual([expected]);
  });

  it('shows the state of a certificate and the remedy', async () => {
    const { edgewise, server } = await createApplied();
    const job = {
      error_code: 'DNS_ERROR',
      msg: 'There are no NS records.',
      started_at: '2026-03-01T12:00:00Z',
      retries_at: '2026-03-01T13:00:00Z',
    };
    const transport: Transport = async (request) => {
      const text = await (await server.handle(request)).text();
      return new Response(
        text.replace(/"provisioning_job":\{[^}]*\}/, () => `"provisioning_job":${JSON.stringify(job)}`),
        {
          headers: { 'content-type': 'application/json' },
        },
      );
    };
    const { stdout } = await edgewise('get edgewise.yaml AgentIngress', { transport, terminal: 100 });
    expect(stdout).toContain(
      '! its certificate cannot be provisioned: DNS_ERROR: There are no NS records. Set the NS records',
    );
    const later = createServer({ now: () => new Date('2026-03-03T13:00:00Z'), seed: server.snapshot() });
    const late = await edgewise('get edgewise.yaml SSHUserCertificate', {
      now: () => new Date('2026-03-03T13:00:00Z'),
      transport: later.handle,
    });
    expect(late.stdout).toContain('expired 25 hours ago');
  });

  it.each([
    [
      'TCPEdge/postgers',
      1,
      'The stack test owns no TCPEdge/postgers at https://api.test. Did you mean TCPEdge/postgres?',
    ],
    ['TCPEdge/theirs', 1, 'The stack test owns no TCPEdge/theirs'],
    ['TCPEgde/postgres', 3, 'Did you mean TCPEdge/postgres? To name a path, write ./TCPEgde/postgres.'],
    ['AgentIngres', 3, 'Did you mean AgentIngress?'],
    ['--format result.json', 3, 'Use one of the formats table, json, yaml, name, or value=FIELD'],
    ['-o json', 3, '--format sets the format of the result.'],
    ['--format value=', 3, 'value=FIELD'],
    ['--format value=region_domain', 3, 'Did you mean `region_domains`?'],
    ['Credential/agent --format value=token', 3, 'is shown only once'],
    [
      'AgentIngress --format value=certificate_management_status.renews',
      3,
      'has no field certificate_management_status.renews',
    ],
    ['TCPEdge --format value=hostports.first', 3, 'has no field hostports.first'],
  ])('refuses an unknown resource: get %s', async (words, exitCode, message) => {
    const result = await applied.edgewise(`get edgewise.yaml ${words}`);
    expect(result).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
  });

  it.each([
    ['AgentIngress/agents', 'certificate_management_status.renews_at', 'has no value'],
    ['AgentIngress/agents', 'region_domains[9]', 'has no value'],
    ['Credential/agent', 'acl', 'has no value'],
  ])('ends with 1 and prints nothing if %s has no %s', async (address, field, why) => {
    const { exitCode, stdout, stderr } = await applied.edgewise(`get edgewise.yaml ${address} --format value=${field}`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(`${address}: ${field} ${why}.`);
  });

  it('prints the value of a new certificate while the old one is kept', async () => {
    const kept = (days: number) =>
      ALL.replace(
        'principals: [deploy] }\n',
        `principals: [deploy] }\nlifecycle: { valid_for: ${days}d, keep_old_for: 1h }\n`,
      );
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': kept(30) });
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': kept(60) });
    expect(await edgewise('apply edgewise.yaml --yes')).toMatchObject({ exitCode: 0 });
    const { resources } = readOnlyStack((await edgewise('get edgewise.yaml SSHUserCertificate --format json')).stdout);
    expect(resources).toHaveLength(2);
    const [newer] = resources.filter(({ retiresAt }: { readonly retiresAt?: string }) => retiresAt === undefined);
    const { stdout } = await edgewise('get edgewise.yaml SSHUserCertificate/ci --format value=certificate');
    expect(stdout).toBe(`${newer.computed.certificate}\n`);
  });

  it('says that apply creates a resource that has a manifest and is not live', async () => {
    const { edgewise, write } = await createApplied();
    await write({ 'edgewise.yaml': `${ALL}${toEdge('new', 20009)}` });
    const result = await edgewise('get edgewise.yaml TCPEdge/new --format json');
    expect(result.exitCode).toBe(1);
    expect(readOnlyStack(result.stdout)).toMatchObject({ command: 'get', ok: false, stack: 'test' });
    expect(result.stderr).toContain('TCPEdge/new is in the manifests and does not exist yet: apply creates it.');
  });

  it('leaves out the least important columns in a narrow terminal', async () => {
    const { edgewise } = applied;
    const wide = (await edgewise('get edgewise.yaml', { terminal: 120 })).stdout;
    const narrow = (await edgewise('get edgewise.yaml --no-color', { terminal: 80 })).stdout;
    expect([wide.includes('CREATED'), narrow.includes('CREATED')]).toEqual([true, false]);
    expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(narrow).toContain('expires in 24 hours');
  });

  it.each(['get --format json --frobnicate', 'get --format=json --frobnicate', 'get --format json -o=json'])(
    'prints one JSON document also if its arguments are wrong: %s',
    async (line) => {
      const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK });
      const { exitCode, stdout } = await edgewise(line);
      expect([exitCode, readOnlyStack(stdout)]).toMatchObject([
        3,
        { ok: false, error: { message: expect.any(String) } },
      ]);
    },
  );

  it('reports a stack that owns nothing', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK });
    expect(await edgewise('get')).toMatchObject({
      exitCode: 0,
      stdout: '0 resources of stack test on https://api.test.\n',
    });
    expect(await edgewise('get --format name')).toMatchObject({ exitCode: 0, stdout: '' });
  });
});

/** Adds tokens to responses that must not contain them. */
function withTokens(json: Json): Json {
  if (isJsonArray(json)) return json.map(withTokens);
  if (!isJsonObject(json)) return json;
  const inner = Object.fromEntries(Object.entries(json).map(([key, value]) => [key, withTokens(value)]));
  return 'id' in json ? { ...inner, token: 'SECRET' } : inner;
}
