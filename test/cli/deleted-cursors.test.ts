import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { parseServerFaults, type Server, withFaults } from '../../src/server/index.ts';
import { createWorkspace, STACK, toCredential, type Workspace } from './workspace.ts';

const TOKENS = `${STACK}spec: { api: { page_size: 1 }, tokens: { default: { directory: tokens } } }\n`;

/** A service that does not continue a list at a deleted resource. */
function withDeletedCursors(server: Server, code: number): Server {
  return withFaults(server, parseServerFaults(`{ rules: [{ on: "GET *", fault: gone_cursor, code: ${code} }] }`));
}

/** After the first create, deletes a resource before a list continues at it. */
function withDeleteBetweenPages({ handle }: Server, inner: Transport, id: string): Transport {
  let isCreating = false;
  return async (request) => {
    const { method, url, headers } = request;
    isCreating ||= method === 'POST';
    if (isCreating && url.includes(`before_id=${id}`))
      await handle(new Request(new URL(`/credentials/${id}`, url), { method: 'DELETE', headers }));
    return inner(request);
  };
}

function listIds({ server }: Workspace): readonly string[] {
  return (server.snapshot().resources['Credential'] ?? []).map(({ id }) => String(id));
}

describe.each([400, 404])('with %i for a page that begins at a deleted resource', (code) => {
  it('apply delivers as usual if it happens during the check for a concurrent apply', async () => {
    const before = TOKENS + ['a', 'b', 'c'].map(toCredential).join('');
    const workspace = await createWorkspace({ 'stack.yaml': before });
    const { edgewise, write, folder, server } = workspace;
    expect((await edgewise('apply stack.yaml --yes')).exitCode).toBe(0);
    await write({ 'stack.yaml': before + toCredential('new') });
    const middle = listIds(workspace)[1] ?? '';
    const transport = withDeleteBetweenPages(server, withDeletedCursors(server, code).handle, middle);
    const applied = await edgewise('apply stack.yaml --yes', { transport });
    expect(applied.stdout + applied.stderr).not.toContain('the check for a concurrent apply failed');
    expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
    expect(listIds(workspace)).toHaveLength(3);
    expect(await readdir(join(folder, 'tokens'))).toContain('new.token');
  });
});
