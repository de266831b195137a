import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, type Workspace } from '../cli/workspace.ts';
import { startRawServer } from '../client/raw-server.ts';
import { runEdgewise } from '../end-to-end/processes.ts';
import { toRepository } from './tree.ts';

/** A repository of three stacks whose Defaults have a mistake. */
async function createMistaken(): Promise<Workspace> {
  const defaults = { tokens: { default: { command: 'sh deliver.sh' } } };
  return createWorkspace({
    ...toRepository(3),
    'live/defaults.yaml': JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Defaults', spec: defaults }),
  });
}

const count = (text: string, part: string): number => text.split(part).length - 1;

describe('an error that several stacks share', () => {
  it.each(['text', 'markdown', 'html', 'github'])('is reported once in %s, with the first of them', async (format) => {
    const { edgewise } = await createMistaken();
    for (const command of ['plan -R live', 'validate -R live', 'apply -R live --yes', 'drift -R live']) {
      const { exitCode, stdout } = await edgewise(`${command} --format ${format}`);
      expect(exitCode).toBe(3);
      // The headline of a failed stack repeats the message of its report.
      expect(count(stdout, 'must be a list, but is text'), command).toBeLessThanOrEqual(2);
      expect(count(stdout, 'It runs without a shell'), command).toBe(1);
      if (format !== 'github') expect(count(stdout, 'the same error as s00'), command).toBe(2);
    }
  });

  it('is in the JSON of each of them', async () => {
    const { edgewise } = await createMistaken();
    const { stacks } = JSON.parse((await edgewise('plan -R live --format json')).stdout);
    const codes = stacks.map(
      ({ report }: { readonly report: { readonly diagnostics: readonly { readonly code: string }[] } }) =>
        report.diagnostics.map(({ code }) => code),
    );
    expect(codes).toEqual([['bad-value'], ['bad-value'], ['bad-value']]);
  });

  it('leaves a stack its own errors', async () => {
    const { edgewise, write } = await createMistaken();
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
  it.each(['plan', 'drift', 'apply --yes'])(
    'is reported once by %s, although other requests are running when the run ends',
    async (command) => {
      let requests = 0;
      const server = await startRawServer((_, response) => {
        requests += 1;
        // Only the first request is answered at once. The run ends with that answer.
        const answer = () =>
          response.writeHead(401, { 'content-type': 'application/json' }).end('{"msg":"Unknown key"}');
        setTimeout(answer, requests === 1 ? 100 : 5_000).unref();
      });
      const { folder } = await createWorkspace(toRepository(3));
      const env = {
        EDGEWISE_BASE_URL: server.origin,
        EDGEWISE_API_KEY: 'a-key-that-is-wrong',
        PATH: process.env['PATH'],
      };
      const words = [...command.split(' '), '-R', join(folder, 'live')];
      const { exitCode, stdout, stderr } = await runEdgewise(words, env);
      await server.close();
      expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: '' });
      expect(count(stdout, 'Check the API key and its permissions.')).toBe(1);
      expect(count(stdout, 'the same error as s00')).toBe(2);
    },
  );
});
