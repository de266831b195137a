import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { removeTokenLeftovers } from '../../src/apply/token-leftovers.ts';
import { createTokenSinks } from '../../src/apply/token-sinks.ts';
import { NO_TOKEN_SETTINGS, type SinkSettings, type TokenSettings } from '../../src/model/stack.ts';

const HOUR_MS = 3_600_000;

async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-leftovers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files with a token, and gives them an age. */
async function writeTokens(folder: string, names: readonly string[], ageMs: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const then = new Date(Date.now() - ageMs);
  for (const name of names) {
    await writeFile(join(folder, name), 'token');
    await utimes(join(folder, name), then, then);
  }
}

/** Root can remove every file: a test that runs as root becomes an ordinary user until it ends. */
function becomeOrdinaryUser(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.(65_534);
  onTestFinished(() => process.seteuid?.(0));
}

function toSettings(sink: SinkSettings, credentials: TokenSettings['credentials'] = {}): TokenSettings {
  return { ...NO_TOKEN_SETTINGS, default: sink, credentials };
}

describe('the start of an apply', () => {
  it('removes what a killed run left in each token folder, and names it', async () => {
    const cwd = await createFolder();
    const [one, other] = [`.agent.token.${randomUUID()}`, `.x.gone.token.${randomUUID()}`];
    await writeTokens(join(cwd, 'tokens'), [one, 'agent.token'], HOUR_MS);
    await writeTokens(join(cwd, 'apart'), [other], HOUR_MS);
    const settings = toSettings({ directory: 'tokens' }, { ci: { directory: 'apart' }, more: { directory: 'apart' } });
    expect(await removeTokenLeftovers(settings, 'shop', { cwd })).toEqual([
      `A killed run left tokens/${one}, perhaps with a token. It is removed.`,
      `A killed run left apart/${other}, perhaps with a token. It is removed.`,
    ]);
    expect(await readdir(join(cwd, 'tokens'))).toEqual(['agent.token']);
    expect(await readdir(join(cwd, 'apart'))).toEqual([]);
    expect(await removeTokenLeftovers(settings, 'shop', { cwd })).toEqual([]);
  });

  it('keeps a younger file, which a running apply may still write', async () => {
    const cwd = await createFolder();
    const young = [`.agent.token.${randomUUID()}`, `.b.token.${randomUUID()}`];
    await writeTokens(cwd, young.slice(0, 1), 0);
    await writeTokens(cwd, young.slice(1), 50_000);
    expect(await removeTokenLeftovers(toSettings({ directory: '.' }), 'shop', { cwd })).toEqual([]);
    expect((await readdir(cwd)).sort()).toEqual(young.toSorted());
  });

  it.each([
    ['an hour ahead', HOUR_MS],
    ['an hour behind', -HOUR_MS],
  ])('measures the age by the clock of the file system, if that of this machine is %s', async (_, skewMs) => {
    const cwd = await createFolder();
    const [old, young] = [`.old.token.${randomUUID()}`, `.young.token.${randomUUID()}`];
    await writeTokens(cwd, [old], 120_000);
    await writeTokens(cwd, [young], 0);
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + skewMs);
    onTestFinished(() => now.mockRestore());
    expect(await removeTokenLeftovers(toSettings({ directory: '.' }), 'shop', { cwd })).toHaveLength(1);
    expect(await readdir(cwd)).toEqual([young]);
  });

  it.each([
    ['of the default name', undefined, '.agent.token', ['.agent.txt', '.Agent.token', '.-.token', '.token', '.tokens']],
    ['with the stack', '{stack}-{name}.txt', '.shop-agent.txt', ['.web-agent.txt', '.agent.txt', '.shop-agent.token']],
    ['with the id', '{name}.{id}.token', '.agent..token', ['.agent.token', '.agent.cr_1.token']],
    ['with all', '{stack}.{id}{name}', '.shop.agent', ['.shop.', '.shopxagent', '.web.agent']],
    ['with the name twice', '{name}-{name}.token', '.agent-agent.token', ['.agent-other.token']],
  ])('keeps files of others beside those %s', async (_, file, own, others) => {
    const cwd = await createFolder();
    const foreign = [
      ...others.map((name) => `${name}.${randomUUID()}`),
      ...[`${own}.backup`, own, own.slice(1), `${own.slice(1)}.${randomUUID()}`, `${own}.${randomUUID()}.old`],
    ];
    await writeTokens(cwd, [`${own}.${randomUUID()}`, ...foreign], HOUR_MS);
    expect(await removeTokenLeftovers(toSettings({ directory: '.', file }), 'shop', { cwd })).toHaveLength(1);
    expect((await readdir(cwd)).sort()).toEqual(foreign.toSorted());
  });

  it.each([undefined, '{stack}-{name}.txt', '{name}.{id}.token', '{id}{name}'])(
    'knows the names of the files that a delivery writes, with the file name %s',
    async (file) => {
      const cwd = await createFolder();
      const written = new Set<string>();
      const watcher = watch(cwd, (_, name) => written.add(name ?? ''));
      onTestFinished(() => watcher.close());
      const settings = toSettings({ directory: '.', file });
      const sinks = createTokenSinks(settings, { cwd, env: {}, temporaryFolder: cwd });
      const recipient = { address: 'Credential/agent', name: 'agent', id: 'cr_1', stack: 'shop', isFirst: true };
      await sinks.find('agent')?.deliver(recipient, 'token');
      const [delivered = ''] = await readdir(cwd);
      await vi.waitFor(() => expect(written).toContain(delivered));
      const temporary = [...written].filter((name) => name !== delivered);
      expect(temporary).toHaveLength(1);
      await writeTokens(cwd, temporary, HOUR_MS);
      await removeTokenLeftovers(settings, 'shop', { cwd });
      expect(await readdir(cwd)).toEqual([delivered]);
    },
  );

  it('follows no link, and removes neither a link nor a folder', async () => {
    const cwd = await createFolder();
    await writeTokens(cwd, ['kept'], HOUR_MS);
    await mkdir(join(cwd, 'tokens'));
    const [linked, folder] = [`.agent.token.${randomUUID()}`, `.b.token.${randomUUID()}`];
    await symlink('../kept', join(cwd, 'tokens', linked));
    await mkdir(join(cwd, 'tokens', folder));
    expect(await removeTokenLeftovers(toSettings({ directory: 'tokens' }), 'shop', { cwd })).toEqual([]);
    expect((await readdir(join(cwd, 'tokens'))).sort()).toEqual([linked, folder].sort());
    expect(await readFile(join(cwd, 'kept'), 'utf8')).toBe('token');
  });

  it('keeps the other name of a file that has two', async () => {
    const cwd = await createFolder();
    const name = `.agent.token.${randomUUID()}`;
    await writeTokens(cwd, ['kept'], HOUR_MS);
    await link(join(cwd, 'kept'), join(cwd, name));
    await removeTokenLeftovers(toSettings({ directory: '.' }), 'shop', { cwd });
    expect(await readdir(cwd)).toEqual(['kept']);
  });

  it('touches nothing behind a link of the checkout, or outside of the folders of the manifests', async () => {
    const cwd = await createFolder();
    const name = `.agent.token.${randomUUID()}`;
    await writeTokens(join(cwd, 'elsewhere'), [name], HOUR_MS);
    await mkdir(join(cwd, 'repository'));
    await symlink('elsewhere', join(cwd, 'tokens'));
    const within = [join(cwd, 'repository')];
    for (const sink of [{ directory: 'tokens' }, { directory: 'elsewhere', within }])
      expect(await removeTokenLeftovers(toSettings(sink), 'shop', { cwd })).toEqual([]);
    expect(await readdir(join(cwd, 'elsewhere'))).toEqual([name]);
  });

  it('creates no folder, and writes nothing into one without such files', async () => {
    const cwd = await createFolder();
    await mkdir(join(cwd, 'empty'), { mode: 0o500 });
    const settings = toSettings({ directory: 'missing' }, { ci: { directory: 'empty' } });
    expect(await removeTokenLeftovers(settings, 'shop', { cwd })).toEqual([]);
    expect(await readdir(cwd)).toEqual(['empty']);
  });

  it('says what cannot be removed', async () => {
    const cwd = await createFolder();
    const name = `.agent.token.${randomUUID()}`;
    await writeTokens(join(cwd, 'tokens'), [name], HOUR_MS);
    await chmod(cwd, 0o755);
    await chmod(join(cwd, 'tokens'), 0o555);
    onTestFinished(() => chmod(join(cwd, 'tokens'), 0o700));
    becomeOrdinaryUser();
    const [warning, ...more] = await removeTokenLeftovers(toSettings({ directory: 'tokens' }), 'shop', { cwd });
    expect(more).toEqual([]);
    expect(warning).toMatch(/tokens.* EACCES/);
  });

  it('has nothing to look for with a token command', async () => {
    const settings = toSettings({ command: ['vault'], timeoutMs: 1 });
    expect(await removeTokenLeftovers(settings, 'shop', { cwd: await createFolder() })).toEqual([]);
  });
});
