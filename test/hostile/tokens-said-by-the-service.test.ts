import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';

/** A service says the token that it has just created in other places than the field of the token. */

const TOKENS = 'spec: { tokens: { default: { directory: tokens } } }\n';
const MANIFEST = `${STACK}${TOKENS}${toManifest('Credential', 'agent', { description: 'Agent', acl: ['bind:a.example.com'] })}`;

/** Changes what the service says, given the token. */
type Echo = (json: JsonObject, token: string, method: string) => JsonObject | Response;

function withEcho({ recorder }: Workspace, echo: Echo): Transport {
  let token = '';
  return async (request) => {
    const { method } = request;
    const response = await recorder.transport(request);
    const text = await response.text();
    if (!request.url.includes('/credentials') || text === '') return new Response(text, response);
    const json: JsonObject = JSON.parse(text);
    if (method === 'POST') token = String(json['token']);
    if (token === '') return new Response(text, response);
    const changed = echo(json, token, method);
    return changed instanceof Response ? changed : new Response(JSON.stringify(changed), response);
  };
}

describe('a token that the service says elsewhere', () => {
  it.each<[string, Echo]>([
    ['in the description of the response', (json, token) => ({ ...json, description: `Agent ${token}` })],
    [
      'in another field of the creation',
      (json, token, method) => (method === 'POST' ? { ...json, acl: [`bind:${token}.example.com`] } : json),
    ],
    [
      'in the message of a later error',
      (json, token, method) =>
        method === 'PATCH'
          ? Response.json({ msg: `x ${token}`, details: { operation_id: token } }, { status: 422 })
          : json,
    ],
    [
      'in the id of an operation',
      (json, token, method) =>
        method === 'PATCH' ? Response.json({ msg: 'x' }, { status: 422, headers: { 'operation-id': token } }) : json,
    ],
  ])('is in no output: %s', async (_, echo) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': MANIFEST });
    let token = '';
    const transport = withEcho(workspace, (json, said, method) => {
      token = said;
      return echo(json, said, method);
    });
    const { exitCode, stdout, stderr } = await workspace.edgewise('apply --yes --report json=result.json', {
      transport,
      env: { EDGEWISE_API_KEY: 'dev', EDGEWISE_LOG_LEVEL: 'debug' },
    });
    expect(exitCode).toBe(1);
    expect(token).not.toBe('');
    expect(stdout + stderr).toContain('[token]');
    for (const output of [stdout, stderr, await readFile(join(workspace.folder, 'result.json'), 'utf8')])
      expect(output).not.toContain(token);
  });

  it('is delivered all the same', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': MANIFEST });
    let token = '';
    const transport = withEcho(workspace, (json, said) => {
      token = said;
      return { ...json, description: `Agent ${said}` };
    });
    await workspace.edgewise('apply --yes', { transport });
    expect((await readFile(join(workspace.folder, 'tokens/agent.token'), 'utf8')).trim()).toBe(token);
  });
});
