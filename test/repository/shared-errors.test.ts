import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NetworkError } from '../../src/model/errors.ts';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { startRawServer } from '../client/raw-server.ts';
import { runEdgewise } from '../end-to-end/processes.ts';
import { toRepository, toStack } from './tree.ts';

/** A repository of three stacks whose Defaults have a mistake. */
async function createRepositoryWithMistake(): Promise<Workspace> {
  const defaults = { tokens: { default: { command: 'sh deliver.sh' } } };
  return createWorkspace({
    ...toRepository(3),
    'live/defaults.yaml': JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Defaults', spec: defaults }),
  });
}

const count = (text: string, part: string): number => text.split(part).length - 1;

describe('an error that several stacks share', () => {
  it.each(['text', 'markdown', 'html', 'github'])('is reported once in %s, with the first of them', async (format) => {
    const { edgewise } = await createRepositoryWithMistake();
    const others = format === 'text' ? ['validate -R live', 'apply -R live --yes', 'drift -R live'] : [];
    for (const command of ['plan -R live', ...others]) {
      const { exitCode, stdout } = await edgewise(`${command} --format ${format}`);
      expect(exitCode).toBe(3);
      // The headline of a failed stack repeats the message of its report.
      expect(count(stdout, 'must be a list, but is text'), command).toBeLessThanOrEqual(2);
      expect(count(stdout, 'It runs without a shell'), command).toBe(1);
      if (format !== 'github') expect(count(stdout, 'the same error as s00'), command).toBe(2);
    }
  });

  it('is in the JSON of each of them', async () => {
    const { edgewise } = await createRepositoryWithMistake();
    const { stacks } = JSON.parse((await edgewise('plan -R live --format json')).stdout);
    const codes = stacks.map(
      ({ failure }: { readonly failure: { readonly diagnostics: readonly { readonly code: string }[] } }) =>
        failure.diagnostics.map(({ code }) => code),
    );
    expect(codes).toEqual([['bad-value'], ['bad-value'], ['bad-value']]);
  });

  it('leaves a stack its own errors', async () => {
    const { edgewise, write } = await createRepositoryWithMistake();
    await write({
      'live/s01/edges/edge.yaml':
        'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: x }\nspec: { colour: red }\n',
    });
    const { stdout } = await edgewise('plan -R live');
    expect(count(stdout, 'spec.colour is not a known field')).toBe(2);
    expect(stdout).toMatch(/^s01 .*✗ 1 error: TCPEdge\/x: spec.colour is not a known field · the same error as s00$/m);
    expect(stdout).toMatch(/^s02 .*✗ the same error as s00$/m);
  });
});

describe('a rejected API key', () => {
  it('is reported once, although other requests are running when the run ends', async () => {
    let requests = 0;
    const server = await startRawServer((_, response) => {
      requests += 1;
      // Only the first request is answered at once. The run ends with that response.
      const answer = () => response.writeHead(401, { 'content-type': 'application/json' }).end('{"msg":"Unknown key"}');
      setTimeout(answer, requests === 1 ? 100 : 5_000).unref();
    });
    const { folder } = await createWorkspace(toRepository(3));
    const env = {
      EDGEWISE_BASE_URL: server.origin,
      EDGEWISE_API_KEY: 'a-key-that-is-wrong',
      PATH: process.env['PATH'],
    };
    const { exitCode, stdout, stderr } = await runEdgewise(['plan', '-R', join(folder, 'live')], env);
    await server.close();
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
    expect(count(stdout, 'Check the API key and its permissions.')).toBe(1);
    expect(count(stdout, 'the same error as s00')).toBe(2);
  });
});

describe('a stack that others refer to and that the run does not have', () => {
  const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 } });
  const toUser = (name: string, port: number) => ({
    [`live/${name}/edgewise.yaml`]: toStack(name),
    [`live/${name}/pool.yaml`]: toManifest('External', 'pool', { stack: 'net', resource: 'WeightedBackend/pool' }),
    [`live/${name}/edge.yaml`]: toManifest('TCPEdge', name, {
      hostports: [`1.tcp.example.net:${port}`],
      backend: { backend_id: 'External/pool' },
    }),
  });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const files = {
    'live/net/edgewise.yaml': toStack('net'),
    'live/net/pool.yaml': pool,
    ...Object.assign({}, ...names.map((name, index) => toUser(name, 20_001 + index))),
  };

  it.each(['plan', 'apply --yes', 'drift'])(
    'is named once by %s of some stacks, with what to apply first',
    async (command) => {
      const { edgewise } = await createWorkspace(files);
      const { stdout, exitCode } = await edgewise(`${command.replace(/^\w+/, '$& -R live')} --stack a --stack b`);
      expect(exitCode).not.toBe(0);
      expect(stdout).toContain('The stack net is not selected: apply it first, in live/net.');
      if (command !== 'drift') expect(count(stdout, 'apply it first')).toBe(1);
      expect(stdout).not.toContain('in one run with -R');
    },
  );

  it('gets advice that depends on the selected stacks', async () => {
    const { edgewise } = await createWorkspace(files);
    const { stdout } = await edgewise('plan -R live --stack a --stack b');
    expect(count(stdout, 'The stack net is not selected: apply it first, in live/net.')).toBe(1);
    const { stdout: below } = await edgewise('plan -R live/a');
    expect(below).toContain('No stack below live/a has the name net');
    expect((await edgewise('plan live/a')).stdout).toContain('or both in one run with -R');
  });

  it('is not reported for a stack with another error', async () => {
    const { edgewise, write } = await createWorkspace(files);
    await write({
      'live/b/edge.yaml': toManifest('TCPEdge', 'b', {
        hostports: ['1.tcp.example.net:20001'],
        backend: { backend_id: 'External/pool' },
      }),
    });
    const { stdout } = await edgewise('plan -R live --stack a --stack b');
    expect(stdout).toContain('duplicate-claim');
  });

  it('is applied by jobs of their own in the order that the advice says', async () => {
    const { edgewise } = await createWorkspace(files);
    expect((await edgewise('apply -R live --stack a --yes')).exitCode).toBe(3);
    expect((await edgewise('apply -R live --stack net --yes')).exitCode).toBe(0);
    expect((await edgewise('apply -R live --stack a --yes')).exitCode).toBe(0);
  });
});

describe('a service that is down', () => {
  it.each(['plan', 'drift', 'apply --yes'])(
    'is reported once by %s, whichever request fails for which stack',
    async (command) => {
      const { edgewise } = await createWorkspace(toRepository(6));
      let requests = 0;
      const transport = async (): Promise<Response> => {
        requests += 1;
        // Another request is the first to fail for each stack.
        await sleep((requests * 7) % 5);
        throw new NetworkError('the connection was refused', { isUnsent: true });
      };
      const { stdout } = await edgewise(`${command.replace(/^\w+/, '$& -R live')} --timeout 1s`, { transport });
      expect(requests).toBeGreaterThan(0);
      expect(count(stdout, 'the same error as s00')).toBe(5);
    },
  );
});
