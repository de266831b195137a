import { describe, expect, it } from 'vitest';
import { runCommand } from '../cli/fake-context.ts';

/** Listens, if it is allowed to, and stops at once. */
function serve(words: readonly string[]) {
  return runCommand(['serve', '--port', '0', ...words], { cwd: '.', onListen: (interrupt) => setImmediate(interrupt) });
}

describe('a bundled server that other machines can reach', () => {
  it.each(['0.0.0.0', '::', '192.0.2.7', '[::]', '0', '', '::ffff:127.0.0.1', '127.0.0.1.example.com', 'host.lan'])(
    'does not start with the key that everybody knows: --host "%s"',
    async (host) => {
      for (const key of [[], ['--api-key', 'dev'], ['--api-key', 'my-own-key', '--api-key', 'dev:abuse']]) {
        const { exitCode, stdout, stderr } = await serve([`--host=${host}`, ...key]);
        expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 3, stdout: '' });
        expect(stderr).toContain('everyone knows the API key `dev`');
        expect(stderr).toContain('Name a key of your own with --api-key');
      }
    },
  );

  it('starts with a key of its own', async () => {
    const { exitCode, stdout, stderr } = await serve(['--host', '0.0.0.0', '--api-key', 'my-own-key:admin']);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('edgewise server listening on http://');
  });

  it.each(['127.0.0.1', '127.0.0.2', 'localhost'])(
    'needs none where only this machine reaches it: %s',
    async (host) => {
      const { exitCode, stderr } = await serve(['--host', host]);
      expect(exitCode, stderr).toBe(0);
    },
  );
});
