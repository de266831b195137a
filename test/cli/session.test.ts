import { expect, it } from 'vitest';
import { withReadSession } from '../../src/cli/connection/session.ts';
import { createServer } from '../../src/server/index.ts';
import { resolveSettings } from '../../src/stack/settings.ts';

it('a command that only looks gets no function that writes, from a service as from the embedded server', async () => {
  const server = createServer();
  const silent = { write: () => undefined, isTerminal: false, columns: () => 0 };
  const context = {
    stdout: silent,
    stderr: silent,
    env: { EDGEWISE_API_KEY: 'dev' },
    cwd: '/',
    now: () => new Date(0),
    sleep: async () => undefined,
    readStdin: async () => new Uint8Array(),
    ask: async () => undefined,
    onInterrupt: () => () => undefined,
    exitNow: () => undefined,
    after: () => () => undefined,
    openTransport: async () => Object.assign(server.handle, { close: async () => undefined }),
  };
  for (const baseUrl of ['https://api.test', 'embedded:']) {
    const settings = resolveSettings({ baseUrl }, context.env, {});
    const names = await withReadSession(settings, context, async ({ client }) => Object.keys(client));
    expect(names.sort()).toEqual(['excerpt', 'get', 'limit', 'list', 'readModule', 'requestCount']);
  }
});
