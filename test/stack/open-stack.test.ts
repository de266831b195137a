import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ApplyEvent,
  InvalidManifests,
  openStack,
  parsePlan,
  renderPlanJson,
  renderSingleFile,
  type StackError,
  type StackOptions,
} from '../../src/index.ts';
import { createInventoryEntry } from '../../src/report/machine/inventory.ts';
import { renderResultJson } from '../../src/report/machine/json.ts';
import { BASE_URL, NOW } from '../cli/fake-context.ts';
import { changeByHand, createWorkspace, STACK, toCredential, toEdge, type Workspace } from '../cli/workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const WITH_TOKEN = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n${toCredential('agent')}`;
const ENV = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };

/** The options of a program that uses the service of a workspace. */
function toOptions({ folder, recorder }: Workspace, more: StackOptions = {}): StackOptions {
  return { transport: recorder.transport, cwd: folder, env: ENV, now: () => NOW, ...more };
}

const listMethods = ({ recorder }: Workspace): readonly string[] => recorder.take().map(({ method }) => method);

describe('a stack of the library', () => {
  it('plans, applies, and then has nothing to do', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const stack = await openStack(toOptions(workspace, { paths: ['edgewise.yaml'], baseUrl: BASE_URL, apiKey: 'dev' }));
    const plan = await stack.plan();
    expect(plan.writes.map(({ id }) => id)).toEqual(['create TCPEdge/a', 'create TCPEdge/b']);
    expect(listMethods(workspace).filter((method) => method !== 'GET')).toEqual([]);
    const { outcomes } = await stack.apply(plan);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
    expect(listMethods(workspace)).toEqual(['POST', 'POST']);
    expect((await stack.plan()).writes).toEqual([]);
  });

  it('has every default of the command line: the folder, the environment, the Stack, the limits', async () => {
    const spec =
      'spec: { api: { concurrency: 3, page_size: 50, timeouts: { headers: 6s, request: 7s } }, guard: { max_deletes: 1 } }\n';
    const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${spec}${toEdge('a', 20001)}` });
    const env = { ...ENV, EDGEWISE_TIMEOUT: '4s' };
    const stack = await openStack(toOptions(workspace, { env, connectTimeout: '2s' }));
    expect(stack.settings).toEqual({
      baseUrl: BASE_URL,
      versionHeader: 'Service-Version',
      pageSize: 50,
      concurrency: 3,
      rateLimit: '120/60s',
      ...{ connectTimeout: 2000, headersTimeout: 6000, bodyTimeout: 30_000, timeout: 4000, conflictTimeout: 60_000 },
      caFile: undefined,
    });
    const shown = await workspace.edgewise('plan --format json', { env });
    const withoutSummary = shown.stdout.replace(/,\n {2}"summary": .*/, '');
    expect(renderPlanJson(await stack.plan(), { folder: '.' })).toBe(withoutSummary);
    const inventory = await workspace.edgewise('get --format json', { env });
    const entry = { ...createInventoryEntry(await stack.get()), folder: '.' };
    expect(renderResultJson('get', [entry])).toBe(inventory.stdout);
  });

  it('removes what a killed run left in a token folder, with a warning', async () => {
    const sink = 'spec: { tokens: { default: { directory: . } } }\n';
    const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${sink}` });
    const left = join(workspace.folder, '.agent.token.00000000-0000-4000-8000-000000000000');
    writeFileSync(left, 'token');
    utimesSync(left, 0, 0);
    const stack = await openStack(toOptions(workspace));
    const warnings: string[] = [];
    await stack.apply(await stack.plan(), { onWarning: (message) => warnings.push(message) });
    expect(warnings).toEqual([`A killed run left ${basename(left)}, perhaps with a token. It is removed.`]);
    expect(existsSync(left)).toBe(false);
  });

  it('accepts manifests as text', async () => {
    const workspace = await createWorkspace();
    const stack = await openStack(toOptions(workspace, { manifests: [{ file: 'made.yaml', text: TWO }] }));
    expect((await stack.plan()).changes).toHaveLength(2);
    const wrong = openStack(toOptions(workspace, { manifests: [{ file: 'made.yaml', text: `${TWO}colour: red\n` }] }));
    await expect(wrong).rejects.toMatchObject({
      name: 'InvalidManifests',
      diagnostics: [{ code: 'bad-field', place: { file: 'made.yaml', line: 19 } }],
    });
  });

  it('reports every mistake in manifests, and sends nothing', async () => {
    const workspace = await createWorkspace({ 'a.yaml': `${TWO}x: 1\n`, 'b.yaml': 'kind: [' });
    const error = await openStack(toOptions(workspace)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidManifests);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^The manifests are invalid: a\.yaml:19:1: .+, and 1 more error$/),
      diagnostics: [{ place: { file: 'a.yaml' } }, { place: { file: 'b.yaml' } }],
    });
    expect(listMethods(workspace)).toEqual([]);
  });

  it.each<readonly [string, StackOptions, Partial<StackError>]>([
    ['no base URL', { env: { EDGEWISE_API_KEY: 'dev' } }, { reason: 'invalid' }],
    ['a page size that is none', { pageSize: 1.5 }, { reason: 'invalid' }],
    ['a rate limit that is none', { rateLimit: 'fast' }, { reason: 'invalid' }],
  ])('refuses %s', async (_, more, expected) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    await expect(openStack(toOptions(workspace, more))).rejects.toMatchObject({ name: 'StackError', ...expected });
  });

  it('uses only the key that it is given', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const stack = await openStack(toOptions(workspace, { env: { EDGEWISE_BASE_URL: BASE_URL } }));
    await expect(stack.plan()).rejects.toMatchObject({ name: 'StackError', reason: 'authentication' });
    expect(listMethods(workspace)).toEqual([]);
  });

  it('reports drift, and sends only GETs', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    await workspace.edgewise('apply --yes');
    workspace.recorder.take();
    const stack = await openStack(toOptions(workspace));
    const { changes } = await stack.drift();
    expect(changes.map(({ state }) => state)).toEqual(['in-sync', 'in-sync']);
    await workspace.write({ 'edgewise.yaml': `${TWO}${toEdge('c', 20003)}` });
    const later = await openStack(toOptions(workspace));
    expect((await later.drift({ targets: ['TCPEdge/c'] })).changes).toMatchObject([
      { address: 'TCPEdge/c', state: 'missing' },
    ]);
    expect(new Set(listMethods(workspace))).toEqual(new Set(['GET']));
  });

  it('returns what an accept would write, with its dangers, and writes no file', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const stack = await openStack(toOptions(workspace, { paths: ['edgewise.yaml'] }));
    await stack.apply(await stack.plan());
    const [before = '', live = ''] = [/hostports: (.*20001.*)/.exec(TWO)?.[1], '1.tcp.example.net:20009'];
    await changeByHand(workspace, 'TCPEdge/a', { hostports: [live], description: 'by hand' });
    workspace.recorder.take();
    const all = await stack.accept({ all: true });
    expect(all.accepted.map(({ address, field }) => `${address}:${field}`)).toEqual(['TCPEdge/a:description']);
    expect(all.leftOut).toMatchObject([{ address: 'TCPEdge/a', field: 'hostports', dangers: [{ group: 'traffic' }] }]);
    const { files, accepted, refused } = await stack.accept({ names: ['TCPEdge/a:hostports'] });
    expect(files).toEqual([
      {
        file: 'edgewise.yaml',
        before: TWO,
        after: TWO.replace(before, before.replace('1.tcp.example.net:20001', live)),
      },
    ]);
    expect(accepted).toMatchObject([{ field: 'hostports', dangers: [{ group: 'traffic' }] }]);
    expect(refused).toEqual([]);
    expect(new Set(listMethods(workspace))).toEqual(new Set(['GET']));
    expect(readFileSync(join(workspace.folder, 'edgewise.yaml'), 'utf8')).toBe(TWO);
  });

  it('exports modules of a resource that is named by its id', async () => {
    const stack = await openStack(toOptions(await createWorkspace({ 'edgewise.yaml': TWO })));
    const exported = await stack.export({ modulesOf: ['edghts_2ab'] });
    expect(exported.documents.map(({ kind }) => kind)).toEqual(['HTTPSEdge']);
    const wrong = stack.export({ modulesOf: ['edgtcp_2ab'] });
    await expect(wrong).rejects.toMatchObject({ reason: 'invalid', remedy: expect.stringContaining('edghts_…') });
  });

  it('exports what it owns and no manifest describes as manifests whose plan is empty', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    await workspace.edgewise('apply --yes');
    expect(await (await openStack(toOptions(workspace))).export()).toMatchObject({ documents: [], described: 2 });
    const empty = [{ file: 'edgewise.yaml', text: STACK }];
    const open = (manifests: typeof empty) => openStack(toOptions(workspace, { paths: [], manifests }));
    const exported = await (await open(empty)).export({ names: ['TCPEdge'] });
    const plan = await (await open([...empty, { file: 'exported.yaml', text: renderSingleFile(exported) }])).plan();
    expect(plan.changes.map(({ action }) => action)).toEqual(['no-op', 'no-op']);
    const wrong = (await openStack(toOptions(workspace))).export({ names: ['Widget'] });
    await expect(wrong).rejects.toMatchObject({ name: 'StackError', reason: 'invalid' });
  });

  it('sends events while it applies, and stops at its signal', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO + toEdge('c', 20003) + toEdge('d', 20004) });
    const stack = await openStack(toOptions(workspace, { concurrency: 1 }));
    const abort = new AbortController();
    const events: ApplyEvent[] = [];
    const result = await stack.apply(await stack.plan(), {
      signal: abort.signal,
      onEvent: (event) => {
        events.push(event);
        if (event.event === 'write-ended') abort.abort(new Error('enough'));
      },
    });
    expect(events.map(({ event }) => event)).toContain('write-ended');
    expect(result.interrupted).toBe(true);
    expect(new Set(result.outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['applied', 'skipped']));
    await expect(stack.plan({ signal: abort.signal })).rejects.toThrow('enough');
  });

  it('says what was deleted if it is stopped while the check of that waits for the rate limit', async () => {
    const kinds = `${STACK}spec: { kinds: [TCPEdge] }\n`;
    const workspace = await createWorkspace({ 'edgewise.yaml': kinds + toEdge('c', 20003) + toEdge('d', 20004) });
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': kinds + toEdge('c', 20003) });
    const abort = new AbortController();
    const transport = async (request: Request): Promise<Response> => {
      if (request.method === 'DELETE') setTimeout(() => abort.abort(), 20);
      return workspace.recorder.transport(request);
    };
    // One request reads, and one deletes.
    const stack = await openStack(toOptions(workspace, { transport, rateLimit: '2/60s' }));
    const { outcomes, interrupted } = await stack.apply(await stack.plan(), {
      allowDeletes: true,
      signal: abort.signal,
    });
    expect({ ends: outcomes.map(({ outcome }) => outcome), interrupted }).toEqual({
      ends: ['applied'],
      interrupted: true,
    });
  });

  it('rejects with an error of what listens to the events', async () => {
    const stack = await openStack(toOptions(await createWorkspace({ 'edgewise.yaml': STACK + toEdge('c', 20003) })));
    const onEvent = (): void => {
      throw new Error('a mistake of the program');
    };
    await expect(stack.apply(await stack.plan(), { onEvent })).rejects.toThrow('a mistake of the program');
  });

  it('applies a saved plan if nothing changed, and refuses it otherwise', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const stack = await openStack(toOptions(workspace));
    const saved = parsePlan(renderPlanJson(await stack.plan()));
    await stack.apply(saved);
    expect(await stack.apply(saved)).toMatchObject({ outcomes: [] });
    const update = { manifests: [{ file: 'a.yaml', text: TWO.replace(':20001', ':20009') }] };
    const changed = await openStack(toOptions(workspace, update));
    const text = renderPlanJson(await changed.plan());
    await workspace.write({ 'edgewise.yaml': TWO.replace(':20001', ':20005') });
    await workspace.edgewise('apply --yes');
    workspace.recorder.take();
    await expect(changed.apply(parsePlan(text))).rejects.toMatchObject({ name: 'NotApproved', reason: 'stale' });
    expect(new Set(listMethods(workspace))).toEqual(new Set(['GET']));
  });

  it('refuses a plan of another stack or service', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': TWO,
      'other.yaml': TWO.replace('name: test', 'name: other'),
    });
    const stack = await openStack(toOptions(workspace, { paths: ['edgewise.yaml'] }));
    const plan = await stack.plan();
    expect(() => parsePlan('{}')).toThrow('The text is not a plan file');
    const other = await openStack(toOptions(workspace, { paths: ['other.yaml'] }));
    await expect(other.apply(plan)).rejects.toMatchObject({ reason: 'stale' });
    const elsewhere = await openStack(
      toOptions(workspace, { paths: ['edgewise.yaml'], baseUrl: 'https://other.test' }),
    );
    await expect(elsewhere.apply(plan)).rejects.toMatchObject({ reason: 'stale' });
    expect(new Set(listMethods(workspace))).toEqual(new Set(['GET']));
  });

  it('obeys the safety rules without consent', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': `${TWO}lifecycle: { protect: true }\n` });
    await workspace.edgewise('apply --yes');
    workspace.recorder.take();
    await workspace.write({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}` });
    const stack = await openStack(toOptions(workspace));
    const plan = await stack.plan();
    await expect(stack.apply(plan)).rejects.toMatchObject({
      reason: 'refused',
      remedy: expect.stringContaining('--allow-protected'),
    });
    expect(new Set(listMethods(workspace))).toEqual(new Set(['GET']));
    const { outcomes } = await stack.apply(plan, { allowProtected: ['TCPEdge/b'] });
    expect(outcomes).toMatchObject([{ outcome: 'applied', write: { purpose: 'delete' } }]);
  });

  it('asks before the first write with a callback', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const stack = await openStack(toOptions(workspace));
    const asked: number[] = [];
    const confirm = async (writes: number): Promise<boolean> => {
      asked.push(writes);
      return false;
    };
    await expect(stack.apply(await stack.plan(), { confirm })).rejects.toMatchObject({ reason: 'interrupted' });
    expect(asked).toEqual([2]);
    expect(new Set(listMethods(workspace))).toEqual(new Set(['GET']));
  });

  it('delivers tokens by the Stack, by other settings, or to a sink of the program', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': WITH_TOKEN,
      'other.yaml': `${STACK.replace('name: test', 'name: other')}${toCredential('agent')}`,
    });
    const stack = await openStack(toOptions(workspace, { paths: ['edgewise.yaml'] }));
    const { tokens } = await stack.apply(await stack.plan());
    expect(tokens).toMatchObject([{ address: 'Credential/agent', deliveredTo: 'tokens/agent.token', rescued: false }]);
    expect(readFileSync(join(workspace.folder, 'tokens/agent.token'), 'utf8').trim()).not.toBe('');
    const delivered: string[] = [];
    const sink = {
      test: async () => [],
      deliver: async (_: unknown, token: string) => {
        delivered.push(token);
        return 'a variable';
      },
    };
    const own = await openStack(
      toOptions(workspace, { paths: ['other.yaml'], sinks: { find: () => sink, rescue: sink } }),
    );
    const result = await own.apply(await own.plan());
    expect(result.tokens).toMatchObject([{ deliveredTo: 'a variable' }]);
    expect(delivered).toHaveLength(1);
    expect(JSON.stringify([result, await own.get(), renderPlanJson(await own.plan())])).not.toContain(delivered[0]);
  });

  it('of the embedded server keeps its data while it is open, and in a file for longer', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const { transport: _, ...options } = toOptions(workspace, { env: {} });
    const stack = await openStack({ ...options, baseUrl: 'embedded:' });
    await stack.apply(await stack.plan());
    expect((await stack.get()).resources).toHaveLength(2);
    const kept = await openStack({ ...options, baseUrl: 'embedded:account.json' });
    await kept.apply(await kept.plan());
    // As `await using` does, which Node 22 does not know.
    await kept[Symbol.asyncDispose]();
    const again = await openStack({ ...options, baseUrl: 'embedded:account.json' });
    expect((await again.plan()).writes).toEqual([]);
    await again[Symbol.asyncDispose]();
  });

  it('leaves a resource to the stack of the repository that takes it over', async () => {
    const workspace = await createWorkspace({ 'live/a/edgewise.yaml': `${STACK}${toEdge('x', 20_001)}` });
    const open = () => openStack(toOptions(workspace, { paths: ['live/a'] }));
    const first = await open();
    await first.apply(await first.plan());
    const other = `${STACK.replace('name: test', 'name: b')}${toEdge('y', 20_001)}lifecycle: { renamed_from: { stack: test, name: x } }\n`;
    await workspace.write({ 'live/a/edgewise.yaml': STACK, 'live/b/edgewise.yaml': other });
    expect((await (await open()).plan()).writes).toEqual([]);
  });

  it('shares one rate limit for everything that it does', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': TWO });
    const waits: string[] = [];
    const options = { rateLimit: '8/1s', onWait: ({ reason }: { readonly reason: string }) => waits.push(reason) };
    const { now: _, ...real } = toOptions(workspace, options);
    const stack = await openStack(real);
    await stack.plan();
    expect(waits).toEqual([]);
    await stack.plan();
    expect(waits.length).toBeGreaterThan(0);
  });

  it('reads files that its manifests name, below its folder', async () => {
    const workspace = await createWorkspace();
    const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUoPzRJWuvSBQPtIqRxZ2ps5bJ0c0uWEb2Pb0xXqWQd';
    writeFileSync(join(workspace.folder, 'alice.pub'), key);
    const spec = '{ public_key: { file: alice.pub }, ssh_certificate_authority_id: sshca_1, principals: [alice] }';
    const text = `${STACK}---\napiVersion: edgewise/v1\nkind: SSHUserCertificate\nmetadata: { name: alice }\nspec: ${spec}\n`;
    const stack = await openStack(toOptions(workspace, { manifests: [{ file: 'made.yaml', text }] }));
    const { outcomes } = await stack.apply(await stack.plan());
    expect(outcomes).toMatchObject([{ computed: { certificate: expect.stringContaining('ssh-ed25519-cert') } }]);
  });
});
