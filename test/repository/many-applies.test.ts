import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { createWorkspace, toCredential, toEdge, toManifest, toTranscript } from '../cli/workspace.ts';
import { listWrites, toRepository, toStack } from './tree.ts';

/** A stack with a credential that has no token sink. */
const toStackWithoutSink = (spec = {}) => `${toStack('broken', spec)}${toManifest('Credential', 'agent', {})}`;

const toPool = (name: string) => toManifest('WeightedBackend', name, { backends: { bkdhr_1: 1 } });

describe('applies of many stacks', () => {
  it('show every plan, ask once, and apply all of them with the reads of one', async () => {
    const workspace = await createWorkspace({ ...toRepository(2), 'live/empty/edgewise.yaml': toStack('empty') });
    const result = await workspace.edgewise('apply -R live', { answers: ['yes'] });
    await expect(toTranscript(result)).toMatchFileSnapshot('goldens/apply.txt');
    const sent = workspace.recorder.take();
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(2);
    expect(new Set(sent.map(({ path, method }) => `${method} ${path}`)).size).toBe(7);
    const again = await workspace.edgewise('apply -R live --yes');
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toMatch(
      /^s00 {4}live\/s00 {4}✓ Nothing to do: 1 resource matches the manifests · 1 warning$/m,
    );
    expect(listWrites(workspace)).toEqual([]);
  });

  it('show a stack that has nothing to do as its plan, not as an apply that is over', async () => {
    const { edgewise, write } = await createWorkspace(toRepository(2));
    await edgewise('apply -R live --yes');
    await write({ 'live/s00/edges/more.yaml': toEdge('more', 20_100) });
    const { stdout } = await edgewise('apply -R live', { answers: ['no'] });
    expect(stdout).toContain('── s00\nPlan for stack s00');
    expect(stdout).not.toContain('── s01');
    expect(stdout).not.toContain('writes applied');
  });

  it('look for duplicates once for each stack that creates something without a unique value', async () => {
    const names = Array.from({ length: 3 }, (_, index) => `pool-${index}`);
    const { edgewise, recorder } = await createWorkspace(
      Object.fromEntries(names.map((name) => [`live/${name}/edgewise.yaml`, `${toStack(name)}${toPool(name)}`])),
    );
    await edgewise('plan -R live');
    const planning = recorder.take();
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    const sent = recorder.take().slice(planning.length);
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual(
      names.flatMap(() => ['POST /backends/weighted', 'GET /backends/weighted?limit=100']),
    );
  });

  it('write nothing without a yes', async () => {
    const workspace = await createWorkspace(toRepository(2));
    const declined = await workspace.edgewise('apply -R live', { answers: ['no'] });
    expect(declined).toMatchObject({
      exitCode: 130,
      stderr: expect.stringContaining('Declined: nothing was written.'),
    });
    expect(await workspace.edgewise('apply -R live')).toMatchObject({ exitCode: 3 });
    expect(listWrites(workspace)).toEqual([]);
  });

  it('continue if one stack cannot be planned, is refused, or fails', async () => {
    const workspace = await createWorkspace({
      ...toRepository(2),
      'live/broken/edgewise.yaml': toStackWithoutSink(),
      'live/guarded/edgewise.yaml': `${toStack('guarded')}${toEdge('kept', 25_000)}lifecycle: { protect: true }\n`,
      'live/invalid/edgewise.yaml': `${toStack('invalid')}${toEdge('a', 1)}  colour: red\n`,
    });
    await workspace.edgewise('apply live/guarded --yes');
    await workspace.write({ 'live/guarded/edgewise.yaml': toStack('guarded') });
    workspace.recorder.take();
    const transport = async (request: Request): Promise<Response> =>
      request.method === 'POST' && (await request.clone().text()).includes('20001')
        ? new Response(JSON.stringify({ msg: 'no' }), { status: 400 })
        : workspace.recorder.transport(request);
    const { stdout, exitCode } = await workspace.edgewise('apply -R live --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout.slice(stdout.lastIndexOf('\nSTACK'))).toMatchInlineSnapshot(`
      "
      STACK    FOLDER        RESULT
      broken   live/broken   ✗ This plan cannot be applied: 1 error, 1 warning
      guarded  live/guarded  ⛔ refused by 2 safety rules · ⚠ 2 dangers (1 traffic, 1 protection) · 1 delete
      invalid  live/invalid  ✗ 1 error: TCPEdge/a: spec.colour is not a known field
      s00      live/s00      1 write applied
      s01      live/s01      1 failed

      5 stacks below live. 1 with changes, 4 failed or refused.
      "
    `);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
  });

  it('continue in the other accounts if the data file of one cannot be locked', async () => {
    const toFiles = (name: string, data: string, edges: string): Readonly<Record<string, string>> => ({
      [`live/${name}/edgewise.yaml`]: toStack(name, { api: { base_url: `embedded:${data}` } }) + edges,
    });
    const { edgewise } = await createWorkspace({
      ...toFiles('a', 'nowhere/account.json', toEdge('x', 20_001)),
      ...toFiles('b', 'account.json', toEdge('y', 20_002) + toEdge('z', 20_003)),
      ...toFiles('c', 'nowhere/account.json', toEdge('w', 20_004)),
    });
    const at = { env: { EDGEWISE_BASE_URL: '' } };
    const { exitCode, stdout } = await edgewise('apply -R live --yes', at);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^── a\n.*nowhere\/account.json does not exist/m);
    expect(stdout).toMatch(/^c +live\/c +✗ the same error as a$/m);
    expect(stdout).toMatch(/^3 stacks below live\. .*2 failed or refused\.$/m);
    expect((await edgewise('plan live/b --detailed-exitcode', at)).exitCode).toBe(0);
    expect((await edgewise('apply live/a --yes', at)).stderr).toContain('nowhere/account.json does not exist');
  });

  it('name the variables that token commands get for each stack, on a line of its own', async () => {
    const tokens = { default: { command: ['/bin/sh', '-c', 'cat > /dev/null'] } };
    const files = ['a', 'b'].map((name) => [
      `live/${name}/edgewise.yaml`,
      `${toStack(name, { tokens })}${toCredential(name)}`,
    ]);
    const { edgewise } = await createWorkspace(Object.fromEntries(files));
    const { exitCode, stderr } = await edgewise('apply -R live --yes', { env: { 'AZURE_DEFAULTS_\u001b': 'x' } });
    expect(exitCode).toBe(0);
    expect(stderr.match(/^The token commands get .*$/gm)).toEqual(
      Array(2).fill(
        String.raw`The token commands get AZURE_DEFAULTS_\u001b from the environment, which may decide where a token goes.`,
      ),
    );
  });

  it('do not destroy what a stack refers to whose destroy has failed, and destroy all others', async () => {
    const workspace = await createWorkspace({
      'live/bar/edgewise.yaml': `${toStack('bar')}${toPool('own')}`,
      'live/net/edgewise.yaml': `${toStack('net')}${toPool('pool')}`,
      'live/ops/edgewise.yaml': `${toStack('ops')}${toManifest('External', 'net', { stack: 'net', resource: 'WeightedBackend/pool' })}${toManifest('TCPEdge', 'user', { backend: { backend_id: 'External/net' } })}`,
      'live/shop/edgewise.yaml': `${toStack('shop')}${toPool('own')}`,
    });
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    const { stdout } = await workspace.edgewise(
      'destroy -R live --stack bar --stack net --stack ops --stack shop --yes',
      {
        transport: async (request) =>
          request.method === 'DELETE' && request.url.includes('/edges/tcp/')
            ? new Response(JSON.stringify({ msg: 'no' }), { status: 400 })
            : workspace.recorder.transport(request),
      },
    );
    expect(stdout).toMatch(/^ops .* 1 failed$/m);
    expect(stdout).toMatch(/^net .* Not applied: it depends on ops, which did not succeed$/m);
    for (const other of ['bar', 'shop']) expect(stdout).toMatch(new RegExp(`^${other} .* 1 write applied$`, 'm'));
  });

  it.each(['create', 'delete'])('show the error of a stack that is no failure of the service: %s', async (action) => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a') + toEdge('gone', 20_001) + toEdge('stays', 20_002),
    });
    await edgewise('apply live/a --yes');
    await write({
      'live/a/edgewise.yaml': toStack('a') + toEdge('stays', 20_002),
      'live/b/edgewise.yaml': toStack('b') + toEdge('new', 20_003),
    });
    const { stdout, exitCode } = await edgewise('apply -R live --yes', {
      onWrite: (text) => {
        if (/^\[\d/.test(text) && text.includes(action)) throw new Error('no space left for the progress');
      },
    });
    expect(exitCode).toBe(EXIT.bug);
    expect(stdout).toContain('no space left for the progress');
  });

  it('destroy the named stacks, and no others', async () => {
    const workspace = await createWorkspace(toRepository(3));
    await workspace.edgewise('apply -R live --yes');
    workspace.recorder.take();
    expect(await workspace.edgewise('destroy -R live --yes')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('destroy --recursive needs the names of the stacks.'),
    });
    expect((await workspace.edgewise('destroy -R live --stack s00 --stack s02 --yes')).exitCode).toBe(0);
    expect(listWrites(workspace)).toHaveLength(2);
    const { stdout } = await workspace.edgewise('plan -R live');
    expect(stdout).toMatch(/^s01 .* ✓ Nothing to do/m);
    expect(stdout).toMatch(/^s00 .* 1 create/m);
  });

  it('show the least time of each plan if the rate limit delays its apply', async () => {
    const edges = Array.from({ length: 12 }, (_, index) => toEdge(`e${index}`, 21_000 + index)).join('');
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a'),
      'live/b/edgewise.yaml': `${toStack('b')}${edges}`,
    });
    const { stdout } = await workspace.edgewise('plan -R live --rate-limit 10/60s', { sleep: async () => {} });
    expect(stdout).toMatch(/^STACK +FOLDER +RESULT +MINIMUM TIME$/m);
    expect(stdout).toMatch(/^b +live\/b +12 creates .*1 min 0 s$/m);
  });

  it('share one rate limit', async () => {
    const workspace = await createWorkspace(toRepository(12));
    const started: number[] = [];
    let clock = 0;
    const { exitCode } = await workspace.edgewise('apply -R live --yes --rate-limit 10/60s', {
      now: () => new Date(Date.UTC(2026, 2, 1) + clock),
      sleep: async (ms) => {
        clock += ms;
      },
      transport: async (request) => {
        started.push(clock);
        return workspace.recorder.transport(request);
      },
    });
    expect(exitCode).toBe(0);
    for (const at of started)
      expect(started.filter((one) => one >= at && one < at + 60_000).length).toBeLessThanOrEqual(10);
    expect(started.length).toBeGreaterThanOrEqual(18);
  });

  it('refuse options that are for one stack', async () => {
    const { edgewise } = await createWorkspace(toRepository(2));
    expect((await edgewise('apply -R live --approved plan.json')).stderr).toContain(
      'plan.json is not a folder of plans',
    );
    expect((await edgewise('apply -R live --allow-protected TCPEdge/a')).stderr).toContain('--allow-protected');
  });

  it('apply what the plan of each approves, and nothing to a stack without one', async () => {
    const workspace = await createWorkspace(toRepository(3));
    const { edgewise, folder } = workspace;
    await edgewise('plan -R live --stack s00 --stack s01 -o plans');
    writeFileSync(join(folder, 'live/s01/edges/edge.yaml'), toEdge('s01-edge', 20_009));
    workspace.recorder.take();
    const { exitCode, stdout } = await edgewise('apply -R live --approved plans --yes');
    expect(exitCode).toBe(6);
    expect(stdout).toMatch(/^s00 +live\/s00 +1 write applied/m);
    expect(stdout).toMatch(/^s01 +live\/s01 +✗ The plan is not the same as plans\/s01\.json: 1 difference/m);
    expect(stdout).toMatch(/^s02 +live\/s02 +✗ The plan is not the same as an empty plan, because plans has none/m);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
  });

  it('accept an address if one stack is named', async () => {
    const workspace = await createWorkspace({
      ...toRepository(2),
      'live/s00/more.yaml': `${toEdge('more', 25_000)}lifecycle: { protect: true }\n`,
    });
    const { edgewise } = workspace;
    expect((await edgewise('apply -R live --stack s00 --target TCPEdge/more --yes')).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
    const drift = await edgewise('drift -R live --stack s00 --target TCPEdge/more');
    expect(drift).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('No drift: 1 resource is as it should be'),
    });
    await workspace.write({ 'live/s00/more.yaml': '' });
    expect((await edgewise('apply -R live --stack s00 --yes --allow-deletes')).exitCode).toBe(5);
    const allowed = 'apply -R live --stack s00 --yes --allow-deletes --allow-protected TCPEdge/more';
    expect((await edgewise(allowed)).exitCode).toBe(0);
    expect((await edgewise('plan -R live --stack s00 --stack s01 --target TCPEdge/a')).exitCode).toBe(3);
  });
});
