import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

const CA = 'ca_one';
/** Modules of HTTPS edges have no mark. */
const COMPARED = 'compared with the manifest, because the earlier value is unknown';
const EDGE = 'edghts_2k9XLUhBqWbMnPyKzXvCdRtEfGa';
const ROUTE = 'edghtsrt_2k9XLVcDeFgHjKmNpQrStUvWxYz';
const toTls = (...certificate_authority_ids: readonly string[]): string =>
  toManifest('HTTPSEdge', 'shop', { id: EDGE, mutual_tls: { certificate_authority_ids } });
const toFilter = (filter: object): string =>
  toManifest('HTTPSEdgeRoute', 'cart', { edge_id: EDGE, id: ROUTE, user_agent_filter: filter });

/** Creates what the manifests describe. */
async function createApplied(manifests: string): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + manifests });
  expect(await workspace.edgewise('apply --yes --token-directory tokens')).toMatchObject({ exitCode: 0 });
  return workspace;
}

/** The lines with dangers of a command. */
async function listDangers({ edgewise }: Workspace, line: string): Promise<readonly string[]> {
  const { stdout } = await edgewise(line);
  return Array.from(stdout.matchAll(/^ +! (.*)$/gm), ([, danger = '']) => danger);
}

describe('a restriction that is emptied, and then removed', () => {
  it.each([
    {
      full: toTls(CA),
      empty: toTls(),
      without: toManifest('HTTPSEdge', 'shop', { id: EDGE }),
      module: 'mutual_tls',
    },
    {
      full: toFilter({ deny: ['curl'] }),
      empty: toFilter({ deny: [] }),
      without: toManifest('HTTPSEdgeRoute', 'cart', { edge_id: EDGE, id: ROUTE }),
      module: 'user_agent_filter',
    },
  ])('is a danger at both steps: $module', async ({ full, empty, without, module }) => {
    const workspace = await createApplied(full);
    await workspace.write({ 'edgewise.yaml': STACK + empty });
    expect(await listDangers(workspace, 'plan')).toEqual([expect.stringContaining(`will admit everyone: ${module}`)]);
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': STACK + without });
    expect(await listDangers(workspace, 'plan')).toEqual([
      expect.stringMatching(`^access: will no longer be restricted: ${module}: it restricted nothing before`),
    ]);
  });
});

describe('drift shows as a danger', () => {
  it('authorities that are emptied at the service, and a module that is gone', async () => {
    const workspace = await createApplied(toTls(CA));
    const path = `/edges/https/${EDGE}/mutual_tls`;
    await sendByHand(workspace, 'PUT', path, { enabled: true, certificate_authority_ids: [] });
    const emptied = `access: admits everyone: mutual_tls.certificate_authority_ids ${CA} → (none)`;
    expect(await listDangers(workspace, 'drift')).toEqual([`${emptied}: ${COMPARED}`]);
    await sendByHand(workspace, 'DELETE', path);
    expect(await listDangers(workspace, 'drift')).toEqual([
      `access: is no longer restricted: mutual_tls ${CA} → (none): ${COMPARED}`,
    ]);
  });

  it('a restriction of the account that is gone', async () => {
    const restriction = toManifest('IPRestriction', 'all', {
      type: 'endpoints',
      enforced: true,
      ip_policy_ids: ['ipp_one'],
    });
    const workspace = await createApplied(restriction);
    expect(await listDangers(workspace, 'drift')).toEqual([]);
    const { ip_restrictions: found } = await sendByHand(workspace, 'GET', '/ip_restrictions');
    const [id] = JSON.stringify(found).match(/ipx_\w+/) ?? [];
    await sendByHand(workspace, 'DELETE', `/ip_restrictions/${id}`);
    expect(await listDangers(workspace, 'drift')).toEqual([
      'access: no longer restricts access: the service does not have it',
    ]);
  });

  it('a backend that is gone while the module that leads to it stays', async () => {
    const edge = toManifest('TCPEdge', 'shop', {
      backend: { backend_id: 'WeightedBackend/pool' },
      ip_restriction: { ip_policy_ids: ['ipp_one'] },
    });
    const workspace = await createApplied(toManifest('WeightedBackend', 'pool', { backends: { bkdhr_one: 1 } }) + edge);
    const transport = async (request: Request): Promise<Response> => {
      const response = await workspace.recorder.transport(request);
      const [, id] = /\/backends\/weighted(\/.*)?$/.exec(new URL(request.url).pathname) ?? [undefined, ''];
      if (id === '') return response;
      if (id === undefined) return Response.json({ backends: [], uri: request.url, next_page_uri: null });
      return Response.json({ error_code: 'ERR_1', status_code: 404, msg: 'gone', details: {} }, { status: 404 });
    };
    const { stdout, stderr } = await workspace.edgewise('drift', { transport });
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      / ! traffic: no longer has a backend: backend.backend_id .* → \(none\): the service does not have it/,
    );
  });
});

describe('a new resource', () => {
  const toPolicy = (allow: readonly string[]): object => ({
    inbound: [{ actions: [{ type: 'restrict-ips', config: { enforce: true, allow } }] }],
  });

  it('that its restriction leaves open is a danger, unless another module restricts', async () => {
    const open = { policy: toPolicy(['0.0.0.0/0']) };
    const closed = { ...open, ip_restriction: { ip_policy_ids: ['ipp_one'] } };
    const workspace = await createWorkspace({
      'edgewise.yaml': STACK + toManifest('TCPEdge', 'open', open) + toManifest('TCPEdge', 'closed', closed),
    });
    expect(await listDangers(workspace, 'plan')).toEqual([
      'access: will admit everyone: policy.inbound[0].actions[0].config.allow: 0.0.0.0/0 covers every IPv4 address',
    ]);
  });

  it('that is open on purpose is listed once, in every format for people, without alarm', async () => {
    const { edgewise } = await createWorkspace({
      'edgewise.yaml': STACK + toManifest('Credential', 'agent', {}) + toManifest('TCPEdge', 'shop', {}),
    });
    const plan = async (format: string) => (await edgewise(`plan --token-directory tokens --format ${format}`)).stdout;
    expect(await plan('text')).toContain(
      '\nOpen to everyone, as written:\n  Credential/agent: may bind anything\n  TCPEdge/shop\n',
    );
    expect(await plan('markdown')).toMatch(/Open to everyone, as written[\s\S]*`Credential\/agent`: may bind anything/);
    expect(await plan('html')).toMatch(/Open to everyone, as written[\s\S]*TCPEdge\/shop/);
    const { changes, dangers } = readOnlyStack(await plan('json'));
    expect(changes.map(({ isOpenToEveryone }: { isOpenToEveryone?: true }) => isOpenToEveryone)).toEqual([true, true]);
    expect(dangers).toMatchObject({ access: 0 });
  });
});
