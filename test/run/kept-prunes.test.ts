import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from '../repository/tree.ts';

const A = { 'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}${toEdge('gone', 20_002)}` };
/** The edge gone has no manifest any more, the edge y claims its port, and x and z are created. */
const NEXT = {
  'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_003)}${toEdge('y', 20_002)}${toEdge('z', 20_004)}`,
};

function listIds({ server }: Workspace, kind: string): readonly unknown[] {
  return (server.snapshot().resources[kind] ?? []).map(({ id }) => id);
}

describe('a run in which a stack cannot be read', () => {
  it('keeps the resources that the others would prune and their dependents, and does everything else', async () => {
    const workspace = await createWorkspace({ ...A, 'live/b/edgewise.yaml': toStack('b') });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({ ...NEXT, 'live/b/pool.yaml': '}{' });
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^warning\[kept-prune\]: TCPEdge\/gone \(\w+\) is in no manifest, and is kept in this run: live\/b cannot be read, and might take it over\n +help: .* edgewise apply live\/a$/m,
    );
    expect(stdout).toMatch(/TCPEdge\/y .*1.tcp.example.net:20002 is claimed by/);
    expect(listWrites(workspace).map((one) => one.replace(/_\w+/, ''))).toEqual([
      'PATCH /edges/tcp/edgtcp',
      'POST /edges/tcp',
    ]);
    await workspace.write({ 'live/b/pool.yaml': toEdge('other', 20_009) });
    expect((await workspace.edgewise('apply -R live --yes --allow-deletes')).exitCode).toBe(0);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('leaves out what waits for a value of a change that a kept resource blocks', async () => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('moves', 20_005)}${toEdge('gone', 20_002)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('moves', 20_002)}${toEdge('waits', 20_005)}`,
      'live/b/pool.yaml': '}{',
    });
    workspace.recorder.take();
    const { stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes');
    for (const name of ['moves', 'waits']) expect(stdout).toContain(`TCPEdge/${name} is left out: `);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('applies nothing of a stack that claims the value of another, although its plan is as approved with what it keeps', async () => {
    const workspace = await createWorkspace({
      ...A,
      'live/b/edgewise.yaml': toStack('b'),
      'live/c/edgewise.yaml': toStack('c'),
    });
    const { edgewise, write } = workspace;
    await edgewise('apply -R live --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_003), 'live/c/pool.yaml': '}{' });
    await edgewise('plan -R live -o plans');
    await write({ 'live/b/edgewise.yaml': toStack('b') + toEdge('y', 20_003) });
    workspace.recorder.take();
    const { stdout } = await edgewise('apply -R live --approved plans --yes');
    expect(stdout).toContain('so does TCPEdge/y of the stack b');
    expect(listWrites(workspace)).toEqual([]);
  });

  it('writes nothing of a stack that is not as approved, whatever it keeps', async () => {
    const workspace = await createWorkspace({ ...A, 'live/c/edgewise.yaml': toStack('c') });
    const { edgewise, write } = workspace;
    await edgewise('apply -R live --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001) });
    await edgewise('plan -R live -o plans');
    await write({ 'live/a/more.yaml': toEdge('y', 20_003), 'live/c/pool.yaml': '}{' });
    workspace.recorder.take();
    const { stdout } = await edgewise('apply -R live --approved plans --yes');
    expect(stdout).toMatch(/^The plan is not the same as plans\/a\.json: /m);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('says what of an approved plan it leaves out, beside which stack, and what to do', async () => {
    const workspace = await createWorkspace({ ...A, 'live/c/edgewise.yaml': toStack('c') });
    const { edgewise, write } = workspace;
    await edgewise('apply -R live --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001) + toEdge('y', 20_002) });
    await edgewise('plan -R live -o plans');
    await write({ 'live/a/more.yaml': toEdge('z', 20_003), 'live/c/pool.yaml': '}{' });
    const why = /TCPEdge\/gone \(\w+\) is in no manifest, and is kept in this run: live\/c cannot be read, and might/;
    const remedy = /Correct that stack and run again\. To delete it now, [^\n]* edgewise apply live\/a/;
    const line = 'apply -R live --approved plans --yes';
    const { stdout: text } = await edgewise(line);
    const { stdout: markdown } = await edgewise(`${line} --format markdown`);
    for (const report of [text, markdown]) {
      for (const said of [why, remedy, 'now: left out', 'the manifests (1), what the run leaves out (2)'])
        expect(report).toMatch(said);
      expect(report).not.toMatch(/changed at the service|what is live/);
    }
    const { stacks } = JSON.parse((await edgewise(`${line} --format json`)).stdout);
    expect(stacks[0].comparison.less).toMatchObject([
      { address: 'TCPEdge/gone', action: 'delete', changed: 'run' },
      { address: 'TCPEdge/y', action: 'create', changed: 'run' },
    ]);
    expect(stacks[0].comparison.diagnostics).toMatchObject([
      { code: 'kept-prune', message: expect.stringMatching(why), remedy: expect.stringMatching(remedy) },
      { code: 'left-out', address: 'TCPEdge/y' },
    ]);
  });

  it('says of a delete that is not approved that the approved plan left it out', async () => {
    const workspace = await createWorkspace({ ...A, 'live/c/edgewise.yaml': toStack('c') });
    const { edgewise, write } = workspace;
    await edgewise('apply -R live --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_003), 'live/c/pool.yaml': '}{' });
    await edgewise('plan -R live -o plans');
    await write({ 'live/c/pool.yaml': '' });
    const { stdout } = await edgewise('apply live/a --approved plans/a.json --yes --allow-deletes');
    expect(stdout).toMatch(/^Not approved:\n\n- TCPEdge\/gone [^+~]*\n {4}approved: left out$/m);
    expect(stdout).toContain('Changed since then: what the run leaves out (1).');
    expect(stdout).not.toContain('kept-prune');
  });

  it('asks nothing after an interrupt while it plans a stack again', async () => {
    const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });
    const user = toManifest('TCPEdge', 'user', { backend: { backend_id: 'WeightedBackend/pool' } });
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a') + pool + user + toEdge('gone', 20_002),
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({ 'live/a/edgewise.yaml': toStack('a') + pool + user, 'live/b/pool.yaml': '}{' });
    let interrupt = (): void => undefined;
    // No list has the pool, so that it is read for each plan.
    let plans = 0;
    const transport: Transport = async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/backends/weighted') return Response.json({ backends: [], next_page_uri: null });
      if (pathname.startsWith('/backends/weighted/')) plans += 1;
      if (plans === 2) interrupt();
      return workspace.recorder.transport(request);
    };
    const { exitCode, stdout, stderr } = await workspace.edgewise('apply -R live --allow-deletes', {
      transport,
      answers: ['yes'],
      onListen: (listener) => {
        interrupt = listener;
      },
    });
    expect({ exitCode, stdout, plans }).toEqual({ exitCode: 130, stdout: '', plans: 2 });
    expect(stderr).not.toContain('yes');
  });

  it('refuses what depends on a stack that is not as approved at first, and is with what it keeps', async () => {
    const workspace = await createWorkspace({
      ...A,
      'live/b/edgewise.yaml': toStack('b') + toManifest('External', 'x', { stack: 'a', resource: 'TCPEdge/x' }),
      'live/c/edgewise.yaml': toStack('c'),
    });
    const { edgewise, write } = workspace;
    await edgewise('apply -R live --yes');
    await write({ 'live/b/edge.yaml': toEdge('y', 20_003) });
    await edgewise('plan -R live -o plans');
    await write({ 'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001), 'live/c/pool.yaml': '}{' });
    workspace.recorder.take();
    const { stdout } = await edgewise('apply -R live --approved plans --yes');
    expect(stdout).toMatch(/^3 stacks below live\. 3 failed or refused\.$/m);
    expect(listWrites(workspace)).toEqual([]);
  });

  describe('and the service fails when one that would prune is planned again', () => {
    const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });
    const used = `${toStack('a')}${pool}${toManifest('TCPEdge', 'x', { backend: { backend_id: 'WeightedBackend/pool' } })}`;

    /** Runs a command on the stack that would prune, one that cannot be read, and the stack c. */
    async function runBeside(c: string, line: string) {
      const workspace = await createWorkspace({
        'live/a/edgewise.yaml': used + toEdge('gone', 20_002),
        'live/b/edgewise.yaml': toStack('b'),
      });
      await workspace.edgewise('apply -R live --yes');
      await workspace.write({
        'live/a/edgewise.yaml': used,
        'live/b/pool.yaml': '}{',
        'live/c/edgewise.yaml': toStack('c') + c,
      });
      // No list has the pool, so that it is read for each plan: of a, of c, and of a once more.
      let plans = 0;
      const transport = async (request: Request): Promise<Response> => {
        const { pathname } = new URL(request.url);
        if (pathname === '/backends/weighted') return Response.json({ backends: [], next_page_uri: null });
        if (pathname.startsWith('/backends/weighted/')) plans += 1;
        if (plans > 2 && pathname.startsWith('/backends/weighted/'))
          return Response.json({ msg: 'no more pools' }, { status: 400 });
        return workspace.recorder.transport(request);
      };
      workspace.recorder.take();
      const { exitCode, stdout } = await workspace.edgewise(`${line} -R live --allow-deletes`, { transport });
      return { exitCode, stdout, writes: listWrites(workspace) };
    }

    it('goes on with the others', async () => {
      const { exitCode, stdout, writes } = await runBeside(toEdge('new', 20_005), 'apply --yes');
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/^── a\n.*no more pools/m);
      expect(stdout).toMatch(/^3 stacks below live\. .*2 failed or refused\.$/m);
      expect(writes).toEqual(['POST /edges/tcp']);
    });

    it('says that what depends on it is not applied', async () => {
      const external = toManifest('External', 'pool', { stack: 'a', resource: 'WeightedBackend/pool' });
      const user = toManifest('TCPEdge', 'user', { backend: { backend_id: 'External/pool' } });
      const { stdout } = await runBeside(external + user, 'plan');
      expect(stdout).toContain('The stack c is not applied in this run: it depends on live/a, which cannot be planned');
    });
  });

  it('prunes if that stack is at another service', async () => {
    const workspace = await createWorkspace({ ...A, 'live/b/edgewise.yaml': toStack('b') });
    const at = { env: { EDGEWISE_BASE_URL: '' } };
    const api = { api: { base_url: 'https://api.test' } };
    await workspace.write({ 'live/a/edgewise.yaml': A['live/a/edgewise.yaml'].replace('{}', JSON.stringify(api)) });
    await workspace.edgewise('apply live/a --yes', at);
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a', api)}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b', { api: { base_url: 'https://other.test' } }),
      'live/b/pool.yaml': '}{',
    });
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes --allow-deletes', at);
    expect(listWrites(workspace)).toEqual([expect.stringContaining('DELETE /edges/tcp/')]);
  });

  it('prunes if that stack is at another service, after the writes of the other stacks of its own', async () => {
    const at = { env: { EDGEWISE_BASE_URL: '' } };
    const [own, other] = ['https://api.test', 'https://other.test'].map((url) => ({ api: { base_url: url } }));
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a', own)}${toEdge('x', 20_001)}${toEdge('gone', 20_002)}`,
    });
    await workspace.edgewise('apply live/a --yes', at);
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a', own)}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b', other),
      'live/b/pool.yaml': '}{',
      'live/c/edgewise.yaml': `${toStack('c', own)}${toEdge('new', 20_005)}`,
    });
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes --allow-deletes', at);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp', expect.stringContaining('DELETE /edges/tcp/')]);
  });

  it('still deletes replaced resources: a credential with another user, and an ingress with another domain', async () => {
    const sink = { tokens: { default: { directory: 'tokens/{stack}' } } };
    const toStackA = (domain: string, owner: string): string =>
      `${toStack('a', sink)}${toManifest('Credential', 'agent', { owner_id: owner })}${toManifest('AgentIngress', 'connect', { domain })}`;
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStackA('a.example.com', 'usr_a'),
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    const [credential] = listIds(workspace, 'Credential');
    const [ingress] = listIds(workspace, 'AgentIngress');
    await workspace.write({ 'live/a/edgewise.yaml': toStackA('b.example.com', 'usr_b'), 'live/b/pool.yaml': '}{' });
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes');
    const deletes = listWrites(workspace).filter((one) => one.startsWith('DELETE'));
    expect(deletes.toSorted()).toEqual([`DELETE /agent_ingresses/${ingress}`, `DELETE /credentials/${credential}`]);
    expect((await workspace.edgewise('plan live/a --detailed-exitcode')).exitCode).toBe(0);
  });

  it('still deletes a duplicate', async () => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } })}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    const [original] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
    const { metadata } = original ?? {};
    await sendByHand(workspace, 'POST', '/backends/weighted', { backends: { bkdhr_a: 1 }, metadata });
    const [, copy] = listIds(workspace, 'WeightedBackend');
    await workspace.write({ 'live/b/pool.yaml': '}{' });
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes');
    expect(listWrites(workspace)).toEqual([`DELETE /backends/weighted/${copy}`]);
  });
});

/** A service that rejects each request of this method whose path ends so. */
function refuse({ recorder }: Workspace, method: string, path: string): Transport {
  return async (request) =>
    request.method === method && new URL(request.url).pathname.endsWith(path)
      ? new Response('{}', { status: 400 })
      : recorder.transport(request);
}

describe('a run in which a stack fails', () => {
  it('keeps the resources that the others would prune in the last pass, and names the stack and the command', async () => {
    const workspace = await createWorkspace({ ...A, 'live/b/edgewise.yaml': toStack('b') });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${toEdge('new', 20_005)}`,
    });
    const transport = async (request: Request): Promise<Response> =>
      request.method === 'POST' ? new Response('{}', { status: 403 }) : workspace.recorder.transport(request);
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'kept in this run: live/b failed, and might take it over. To delete it now: edgewise apply live/a',
    );
    expect(listWrites(workspace)).toEqual([]);
  });

  it('keeps an old credential that is due with the one that replaced it', async () => {
    const sink = { tokens: { default: { directory: 'tokens/{stack}' } } };
    const agent = toManifest('Credential', 'agent', {}, { lifecycle: { keep_old_for: '1h' } });
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a', sink) + agent,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    await workspace.edgewise('apply live/a --yes --rotate Credential/agent');
    expect(listIds(workspace, 'Credential')).toHaveLength(2);
    await workspace.write({ 'live/a/edgewise.yaml': toStack('a', sink), 'live/b/edge.yaml': toEdge('new', 20_005) });
    workspace.recorder.take();
    const { stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes', {
      transport: refuse(workspace, 'POST', '/edges/tcp'),
      now: () => new Date(NOW.getTime() + 7_200_000),
    });
    expect(stdout.match(/kept in this run: live\/b failed/g)).toHaveLength(2);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('still deletes a duplicate of what is kept', async () => {
    const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a') + pool,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await workspace.edgewise('apply -R live --yes');
    const [{ metadata } = {}] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
    await sendByHand(workspace, 'POST', '/backends/weighted', { backends: { bkdhr_a: 1 }, metadata });
    const [, copy] = listIds(workspace, 'WeightedBackend');
    await workspace.write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edge.yaml': toEdge('new', 20_005) });
    workspace.recorder.take();
    await workspace.edgewise('apply -R live --yes --allow-deletes', {
      transport: refuse(workspace, 'POST', '/edges/tcp'),
    });
    expect(listWrites(workspace)).toEqual([`DELETE /backends/weighted/${copy}`]);
  });

  it('still prunes beside a delete that failed, because that takes nothing over', async () => {
    const workspace = await createWorkspace({
      ...A,
      'live/b/edgewise.yaml': toStack('b') + toEdge('y', 20_003),
    });
    await workspace.edgewise('apply -R live --yes');
    const live = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    const [gone, y] = [20_002, 20_003].map(
      (port) => live.find((one) => JSON.stringify(one).includes(`${port}`))?.['id'],
    );
    await workspace.write({
      'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001),
      'live/b/edgewise.yaml': toStack('b'),
    });
    workspace.recorder.take();
    const { exitCode } = await workspace.edgewise('apply -R live --yes --allow-deletes', {
      transport: refuse(workspace, 'DELETE', `/${gone}`),
    });
    expect(exitCode).toBe(1);
    expect(listWrites(workspace)).toEqual([`DELETE /edges/tcp/${y}`]);
  });

  it('prunes nothing and applies no dependent beside a stack that lacks a secret', async () => {
    const toPool = (weight: number): string => toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: weight } });
    const external = toManifest('External', 'y', { stack: 'b', resource: 'TCPEdge/y' });
    const workspace = await createWorkspace({
      ...A,
      'live/b/edgewise.yaml': toStack('b') + toManifest('TCPEdge', 'y', {}),
      'live/c/edgewise.yaml': toStack('c') + external + toPool(1),
    });
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    const action = { type: 'add-headers', config: { token: '$' + '{secret:TOKEN}' } };
    await workspace.write({
      'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001),
      'live/b/edgewise.yaml': toStack('b') + toManifest('TCPEdge', 'y', { policy: { inbound: { actions: [action] } } }),
      'live/c/edgewise.yaml': toStack('c') + external + toPool(2),
    });
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('TCPEdge/y needs the value of TOKEN');
    expect(stdout).toContain('Not applied: it depends on b, which did not succeed.');
    expect(stdout).toContain('kept in this run: live/b failed, and might take it over.');
    expect(listWrites(workspace)).toEqual([]);
  });

  it('says that the run was interrupted, and not that a stack failed, if that is why nothing is sent', async () => {
    const workspace = await createWorkspace({ ...A, 'live/b/edgewise.yaml': toStack('b') });
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_003)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${toEdge('new', 20_005)}`,
    });
    let interrupt = (): void => undefined;
    const transport = async (request: Request): Promise<Response> => {
      if (request.method === 'PATCH') interrupt();
      return workspace.recorder.transport(request);
    };
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes --allow-deletes', {
      transport,
      onListen: (listener) => {
        interrupt = listener;
      },
    });
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/^ {2}delete TCPEdge\/gone was not started, because the run was interrupted\.$/m);
    expect(stdout).toMatch(/^── b\nedgewise: Interrupted\.\nNo write of this stack was sent\.$/m);
    expect(listWrites(workspace)).toEqual([expect.stringContaining('PATCH /edges/tcp/')]);
  });
});
