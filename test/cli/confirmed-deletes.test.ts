import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Transport } from '../../src/model/transport.ts';
import { toStack } from '../repository/tree.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

const toId = (prefix: string) => `${prefix}_${'a'.repeat(27)}`;
const MARK = JSON.stringify({ edgewise: { stack: 'test', name: 'one' } });
const SPECS: Readonly<Record<string, object>> = {
  WeightedBackend: { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 } },
  IPRestriction: { type: 'agent', ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'], enforced: false },
  AgentIngress: { domain: 'in.example.com' },
  SSHUserCertificate: {
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C alice',
    ssh_certificate_authority_id: toId('sshca'),
    valid_after: '2026-02-01T00:00:00Z',
    valid_until: '2026-04-02T00:00:00Z',
  },
};

/** A stack that owns a resource of the kind, and has no manifest for it. */
async function createStackToEmpty(name: string, prefix: string): Promise<Workspace> {
  const resource = { id: toId(prefix), metadata: MARK, ...SPECS[name] };
  return createWorkspace({ 'm.yaml': STACK }, { seed: { resources: { [name]: [resource] } } });
}

/** A service that answers each DELETE with success, and does what `act` does instead. */
function withoutDeletes(
  inner: Transport,
  act: (request: Request) => Promise<unknown> = async () => undefined,
): Transport {
  return async (request) => {
    if (request.method !== 'DELETE') return inner(request);
    await act(request);
    return new Response(null, { status: 204 });
  };
}

/** The requests after the last write. */
function listChecks({ recorder }: Workspace): readonly string[] {
  const sent = recorder.take();
  return sent
    .slice(sent.findLastIndex(({ method }) => method !== 'GET') + 1)
    .map(({ path }) => path.replace(/\?.*/, ''));
}

describe('a delete that the service answers with success', () => {
  it.each(OWNED_KINDS.map((kind) => [kind.name, kind] as const))(
    'fails if the service deletes nothing, in each apply: %s',
    async (name, kind) => {
      const workspace = await createStackToEmpty(name, kind.idPrefix);
      const transport = withoutDeletes(workspace.recorder.transport);
      for (const run of [1, 2]) {
        const { exitCode, stdout } = await workspace.edgewise('apply --yes --allow-deletes', { transport });
        expect({ run, exitCode }).toEqual({ run, exitCode: 1 });
        expect(stdout).toContain(
          'the service answered the DELETE with success, and still lists the resource, 60 s later',
        );
      }
      expect(await workspace.edgewise('plan --detailed-exitcode --allow-deletes')).toMatchObject({ exitCode: 2 });
    },
  );

  it.each(OWNED_KINDS.map((kind) => [kind.name, kind] as const))(
    'is confirmed by one list of its kind: %s',
    async (name, kind) => {
      const workspace = await createStackToEmpty(name, kind.idPrefix);
      expect(await workspace.edgewise('apply --yes --allow-deletes')).toMatchObject({ exitCode: 0 });
      expect(listChecks(workspace)).toEqual([kind.path]);
    },
  );

  it('succeeds if the service takes some seconds', async () => {
    const workspace = await createStackToEmpty('TCPEdge', 'edgtcp');
    const deleted: Request[] = [];
    let lists = 0;
    const transport: Transport = async (request) => {
      if (request.method === 'DELETE') {
        deleted.push(request.clone());
        return new Response(null, { status: 204 });
      }
      const isList = deleted.length > 0 && new URL(request.url).pathname === '/edges/tcp';
      if (isList) lists += 1;
      const [first] = deleted;
      if (isList && lists === 3 && first !== undefined) await workspace.recorder.transport(first);
      return workspace.recorder.transport(request);
    };
    expect(await workspace.edgewise('apply --yes --allow-deletes', { transport })).toMatchObject({ exitCode: 0 });
    expect(lists).toBe(3);
  });

  it('fails if the service cannot be asked afterwards', async () => {
    const workspace = await createStackToEmpty('TCPEdge', 'edgtcp');
    let isDeleted = false;
    const transport: Transport = async (request) => {
      isDeleted ||= request.method === 'DELETE';
      if (isDeleted && request.method === 'GET') return new Response('{}', { status: 403 });
      return workspace.recorder.transport(request);
    };
    const { exitCode, stdout } = await workspace.edgewise('apply --yes --allow-deletes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('it is unknown whether it took effect');
  });

  it('is confirmed by one list for all stacks of an account', async () => {
    const edges = (stack: string, port: number) => ({
      [`live/${stack}/edgewise.yaml`]: toStack(stack) + toEdge('kept', port) + toEdge('gone', port + 1),
    });
    const workspace = await createWorkspace({ ...edges('a', 20_001), ...edges('b', 20_003) });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({
      'live/a/edgewise.yaml': toStack('a') + toEdge('kept', 20_001),
      'live/b/edgewise.yaml': toStack('b') + toEdge('kept', 20_003),
    });
    workspace.recorder.take();
    expect(await workspace.edgewise('apply -R live --yes')).toMatchObject({ exitCode: 0 });
    expect(listChecks(workspace)).toEqual(['/edges/tcp']);
  });
});

const EDGE = toId('edghts');
const ROUTE = toId('edghtsrt');

/** Modules, with manifests that have them and that do not. */
const MODULES: readonly (readonly [string, string, object, object])[] = [
  ['backend', 'TCPEdge', { backend: { backend_id: 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt' } }, {}],
  ['ip_restriction', 'TCPEdge', { ip_restriction: { ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'] } }, {}],
  [
    'mutual_tls',
    'HTTPSEdge',
    { id: EDGE, mutual_tls: { certificate_authority_ids: ['ca_2k9XLN4QSRa2CXSGdTMwZDWQXjk'] } },
    { id: EDGE },
  ],
  [
    'user_agent_filter',
    'HTTPSEdgeRoute',
    { edge_id: EDGE, id: ROUTE, user_agent_filter: { deny: ['bot'] } },
    { edge_id: EDGE, id: ROUTE },
  ],
];

describe('the removal of a module that the service answers with success', () => {
  it.each(MODULES)('is confirmed by one GET of it: %s', async (module, kind, spec, without) => {
    const workspace = await createWorkspace({ 'm.yaml': STACK + toManifest(kind, 'one', spec) });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'm.yaml': STACK + toManifest(kind, 'one', without) });
    workspace.recorder.take();
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(listChecks(workspace)).toEqual([expect.stringMatching(new RegExp(`/${module}$`))]);
  });

  it.each(MODULES)('fails if the service only disables it, in each apply: %s', async (module, kind, spec, without) => {
    const workspace = await createWorkspace({ 'm.yaml': STACK + toManifest(kind, 'one', spec) });
    expect(await workspace.edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'm.yaml': STACK + toManifest(kind, 'one', without) });
    const value = Object.entries(spec).find(([name]) => name === module)?.[1];
    const transport = withoutDeletes(workspace.recorder.transport, async ({ url, headers }) =>
      workspace.server.handle(
        new Request(url, {
          method: 'PUT',
          headers: withType(headers),
          body: JSON.stringify({ ...value, enabled: false }),
        }),
      ),
    );
    for (const run of [1, 2]) {
      const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
      expect({ run, exitCode }).toEqual({ run, exitCode: 1 });
      expect(stdout).toContain('the service answered the DELETE with success, and only disabled the module');
    }
  });
});

function withType(headers: Headers): Headers {
  const all = new Headers(headers);
  all.set('content-type', 'application/json');
  return all;
}
