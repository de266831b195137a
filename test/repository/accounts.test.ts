import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { createRequest } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, toCredential, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

const KEYS = { EDGEWISE_API_KEY_ONE: 'key-of-one', EDGEWISE_API_KEY_TWO: 'key-of-two' };

const toStackOfAccount = (name: string, account: string, spec: object = {}) =>
  toStack(name, { api: { key_env: `EDGEWISE_API_KEY_${account}` }, ...spec });

interface Accounts extends Workspace {
  /** Descriptions of the edges in an account. */
  readonly listNames: (key: string) => Promise<readonly string[]>;
  /** The requests since the last call, by their key. */
  readonly takeKeys: () => readonly string[];
}

/** One service with two accounts, each with its key. */
async function createAccounts(files: Readonly<Record<string, string>>): Promise<Accounts> {
  const servers = new Map(
    Object.values(KEYS).map((key) => [
      key,
      createServer({ now: () => NOW, idSeed: key, apiKeys: [parseApiKey(`${key}:admin`)] }),
    ]),
  );
  const keys: string[] = [];
  const transport = async (request: Request): Promise<Response> => {
    const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
    keys.push(key);
    return servers.get(key)?.handle(request) ?? new Response('{}', { status: 401 });
  };
  const workspace = await createWorkspace(files);
  return {
    ...workspace,
    edgewise: (line, more = {}) =>
      workspace.edgewise(line, { transport, ...more, env: { EDGEWISE_API_KEY: '', ...KEYS, ...more.env } }),
    listNames: async (key) => {
      const answer = await servers.get(key)?.handle(createRequest('GET', '/edges/tcp', undefined, { key }));
      const { tcp_edges: edges } = JSON.parse((await answer?.text()) ?? '{}');
      return edges.map(({ metadata }: { readonly metadata: string }) => JSON.parse(metadata).edgewise.name).sort();
    },
    takeKeys: () => keys.splice(0),
  };
}

describe('stacks in several accounts of one service', () => {
  it('use the key that each names, and an account is read once', async () => {
    const accounts = await createAccounts({
      'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toEdge('first', 20_001)}`,
      'live/b/edgewise.yaml': `${toStackOfAccount('b', 'TWO')}${toEdge('second', 20_001)}`,
      // Another variable with the same key.
      'live/c/edgewise.yaml': `${toStackOfAccount('c', 'ALSO_ONE')}${toEdge('third', 20_003)}`,
    });
    const env = { EDGEWISE_API_KEY_ALSO_ONE: KEYS.EDGEWISE_API_KEY_ONE };
    await accounts.edgewise('plan live/a', { env });
    const alone = accounts.takeKeys().length;
    const { stdout, stderr, exitCode } = await accounts.edgewise('plan -R live', { env });
    expect(exitCode).toBe(0);
    const reads = accounts.takeKeys();
    expect(reads).toHaveLength(2 * alone);
    expect(reads.filter((key) => key === KEYS.EDGEWISE_API_KEY_ONE)).toHaveLength(alone);
    // Accounts are read side by side.
    expect(reads.indexOf(KEYS.EDGEWISE_API_KEY_TWO)).toBeLessThan(reads.lastIndexOf(KEYS.EDGEWISE_API_KEY_ONE));
    expect((await accounts.edgewise('apply -R live --yes', { env })).exitCode).toBe(0);
    expect(await accounts.listNames(KEYS.EDGEWISE_API_KEY_ONE)).toEqual(['first', 'third']);
    expect(await accounts.listNames(KEYS.EDGEWISE_API_KEY_TWO)).toEqual(['second']);
    for (const key of Object.values(KEYS)) expect(`${stdout}${stderr}`).not.toContain(key);
    expect((await accounts.edgewise('stacks live', { env })).stdout).toContain('EDGEWISE_API_KEY_ALSO_ONE');
    const { stdout: metrics } = await accounts.edgewise('drift -R live --format metrics', { env });
    expect(metrics).toContain('{stack="b",base_url="https://api.test",key_env="EDGEWISE_API_KEY_TWO"');
    const { stdout: ofOne } = await accounts.edgewise('drift live/b --format metrics', { env });
    expect(ofOne).toContain('{stack="b",base_url="https://api.test",key_env="EDGEWISE_API_KEY_TWO"');
    await accounts.write({ 'live/c/edgewise.yaml': `${toStackOfAccount('c', 'ALSO_ONE')}${toEdge('third', 20_001)}` });
    const { stdout: contested } = await accounts.edgewise('validate -R live', { env });
    expect(contested).toContain('and so does TCPEdge/third of the stack c');
    expect(contested).not.toContain('TCPEdge/second of the stack b');
  });

  it('stop if a key is missing, and use no other one', async () => {
    const accounts = await createAccounts({
      'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toEdge('first', 20_001)}`,
      'live/b/edgewise.yaml': `${toStackOfAccount('b', 'THREE')}${toEdge('second', 20_002)}`,
    });
    const env = { EDGEWISE_API_KEY: KEYS.EDGEWISE_API_KEY_TWO };
    const { stdout, exitCode } = await accounts.edgewise('apply -R live --yes', { env });
    expect(exitCode).toBe(4);
    expect(stdout).toContain(
      'There is no API key: EDGEWISE_API_KEY_THREE, which spec.api.key_env or --key-env names, is',
    );
    expect(new Set(accounts.takeKeys())).toEqual(new Set([KEYS.EDGEWISE_API_KEY_ONE]));
    await accounts.write({ key: `${KEYS.EDGEWISE_API_KEY_TWO}\n` });
    const fromFile = { EDGEWISE_API_KEY_THREE_FILE: 'key' };
    expect((await accounts.edgewise('apply live/b --yes', { env: fromFile })).exitCode).toBe(0);
    expect(await accounts.listNames(KEYS.EDGEWISE_API_KEY_TWO)).toEqual(['second']);
    const { stderr } = await accounts.edgewise('plan live/b -o key', { env: fromFile });
    expect(stderr).toContain('key is a file that this run reads, and would be overwritten.');
  });

  it('have different names, do not refer to each other, and keep what the other one takes over', async () => {
    const accounts = await createAccounts({
      'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toManifest('WeightedBackend', 'pool', { backends: {} })}`,
      'live/b/edgewise.yaml': `${toStackOfAccount('b', 'TWO')}${toManifest('External', 'pool', { stack: 'a', resource: 'WeightedBackend/pool' })}${toManifest('TCPEdge', 'y', { backend: { backend_id: 'External/pool' } })}`,
    });
    const { stdout, exitCode } = await accounts.edgewise('plan -R live');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('bad-reference');
    await accounts.write({ 'live/b/edgewise.yaml': toStackOfAccount('a', 'TWO') });
    expect((await accounts.edgewise('plan -R live')).stderr).toContain('duplicate-stack');
    await accounts.write({
      'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStackOfAccount('b', 'TWO'),
    });
    await accounts.edgewise('apply -R live --yes');
    await accounts.write({
      'live/a/edgewise.yaml': toStackOfAccount('a', 'ONE'),
      'live/b/edgewise.yaml': `${toStackOfAccount('b', 'TWO')}${toEdge('y', 20_001)}lifecycle: { renamed_from: { stack: a, name: x } }\n`,
    });
    const { stacks } = JSON.parse((await accounts.edgewise('plan -R live --format json')).stdout);
    expect(stacks[0].plan.changes).toEqual([]);
    expect(stacks[0].plan.diagnostics).toMatchObject([
      {
        code: 'kept-for-hand-over',
        message: expect.stringContaining('is kept: the stack b takes it over as TCPEdge/y'),
      },
    ]);
  });

  it('hand over to a stack with another key of the same account', async () => {
    const apiKeys = Object.values(KEYS).map((key) => parseApiKey(`${key}:admin`));
    const server = createServer({ now: () => NOW, apiKeys });
    const methods: string[] = [];
    const transport = (request: Request): Promise<Response> => {
      methods.push(request.method);
      return server.handle(request);
    };
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toEdge('x', 20_001)}`,
    });
    const run = { transport, env: { EDGEWISE_API_KEY: '', ...KEYS } };
    expect((await edgewise('apply live/a --yes', run)).exitCode).toBe(0);
    await write({
      'live/a/edgewise.yaml': toStackOfAccount('a', 'ONE'),
      'live/b/edgewise.yaml': `${toStackOfAccount('b', 'TWO')}${toEdge('x', 20_001)}lifecycle: { renamed_from: { stack: a, name: x } }\n`,
    });
    expect((await edgewise('apply -R live --yes --allow-deletes', run)).exitCode).toBe(0);
    expect(methods).not.toContain('DELETE');
    expect((await edgewise('plan -R live --detailed-exitcode', run)).exitCode).toBe(0);
  });

  it('have plan files that do not choose a key', async () => {
    const accounts = await createAccounts({
      'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toEdge('first', 20_001)}`,
    });
    await accounts.edgewise('plan live/a -o plan.json');
    await accounts.write({ 'live/a/edgewise.yaml': `${toStackOfAccount('a', 'TWO')}${toEdge('first', 20_001)}` });
    accounts.takeKeys();
    for (const line of ['apply live/a --approved plan.json --yes']) {
      const { stderr, exitCode } = await accounts.edgewise(line);
      expect(exitCode).toBe(6);
      expect(stderr).toContain(
        'the variable of the API key: approved for EDGEWISE_API_KEY_ONE, now EDGEWISE_API_KEY_TWO',
      );
    }
    expect(accounts.takeKeys()).toEqual([]);
    await accounts.write({ 'live/a/edgewise.yaml': `${toStackOfAccount('a', 'ONE')}${toEdge('first', 20_001)}` });
    const env = { EDGEWISE_API_KEY: KEYS.EDGEWISE_API_KEY_TWO };
    expect((await accounts.edgewise('apply live/a --approved plan.json --yes', { env })).exitCode).toBe(0);
    expect(new Set(accounts.takeKeys())).toEqual(new Set([KEYS.EDGEWISE_API_KEY_ONE]));
  });

  it('pass no key to a program that they start, and none to a manifest', async () => {
    const write = 'require("fs").writeFileSync(process.argv[1], Object.keys(process.env).join(" "))';
    const tokens = { tokens: { default: { command: [process.execPath, '-e', write, 'seen'] } } };
    const accounts = await createAccounts({
      'edgewise.yaml': `${toStackOfAccount('a', 'ONE', tokens)}${toCredential('ci')}`,
    });
    const { exitCode } = await accounts.edgewise('apply --yes', { env: { EDGEWISE_API_KEY_TWO_FILE: 'x', SEEN: '1' } });
    expect(exitCode).toBe(0);
    const seen = readFileSync(`${accounts.folder}/seen`, 'utf8');
    expect(seen).toContain('SEEN');
    expect(seen).not.toContain('EDGEWISE_API_KEY');
    const text = `\${env:EDGEWISE_API_KEY_TWO} \${env:EDGEWISE_API_KEY:-none}`;
    await accounts.write({ 'b.yaml': toManifest('TCPEdge', 'b', { description: text }) });
    const { stdout } = await accounts.edgewise('validate');
    expect(stdout).toContain('EDGEWISE_API_KEY_TWO is for an API key, which no manifest can have');
    expect(stdout).toContain('EDGEWISE_API_KEY is for an API key, which no manifest can have');
    expect(stdout).not.toContain(KEYS.EDGEWISE_API_KEY_TWO);
  });

  it.each(['PATH', 'AWS_SECRET_ACCESS_KEY', 'EDGEWISE_API_KEY_', 'EDGEWISE_API_KEY_FILE', 'EDGEWISE_API_KEY_A_FILE'])(
    'have no key in %s',
    async (name) => {
      const { edgewise } = await createWorkspace({ 'edgewise.yaml': toStack('a', { api: { key_env: name } }) });
      const { stdout, exitCode } = await edgewise('validate');
      expect(exitCode).toBe(3);
      expect(stdout).toContain('must be the name of a variable such as EDGEWISE_API_KEY_PROD');
    },
  );
});
