import { randomUUID } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTokenSinks, type TokenCredential } from '../../src/apply/token-sinks.ts';
import { NO_TOKEN_SETTINGS, type SinkSettings, type TokenSettings } from '../../src/model/stack.ts';

const AGENT: TokenCredential = {
  address: 'Credential/agent',
  name: 'agent',
  id: 'cr_1',
  stack: 'production',
  isFirst: false,
};

async function createSinks(tokens: Partial<TokenSettings>, env: Readonly<Record<string, string>> = {}, cwd = '.') {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-sinks-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, cwd), { recursive: true });
  const environment = { PATH: process.env['PATH'], EDGEWISE_API_KEY: 'secret-key', ...env };
  const context = { cwd: join(folder, cwd), env: environment, temporaryFolder: folder };
  return { folder, sinks: createTokenSinks({ ...NO_TOKEN_SETTINGS, ...tokens }, context) };
}

/** A command that runs a Node script. */
function toCommand(script: string, more: readonly string[] = []): SinkSettings {
  return { command: [process.execPath, '-e', script, ...more], timeoutMs: 10_000 };
}

describe('a token folder', () => {
  it('is created if it is missing, and gets one file for each credential, readable by its user only', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: 'some/tokens' } });
    const sink = sinks.find('agent');
    await sink?.test();
    expect(await readdir(join(folder, 'some/tokens'))).toEqual([]);
    expect(await sink?.deliver(AGENT, 'first')).toBe('some/tokens/agent.token');
    await sink?.deliver(AGENT, 'second');
    expect(await readdir(join(folder, 'some/tokens'))).toEqual(['agent.token']);
    const file = join(folder, 'some/tokens/agent.token');
    expect(await readFile(file, 'utf8')).toBe('second\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'some/tokens'))).mode & 0o777).toBe(0o700);
  });

  it('keeps files from before the first credential of a name, because they may belong to another stack', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: 'tokens' } });
    const sink = sinks.find('agent');
    await sink?.test();
    const places: (string | undefined)[] = [];
    for (const token of ['of one stack', 'of another', 'of a third'])
      places.push(await sink?.deliver({ ...AGENT, isFirst: true }, token));
    await sink?.deliver(AGENT, 'rotated');
    expect(places).toEqual([
      'tokens/agent.token',
      'tokens/agent.token (its previous content is in tokens/agent.token.1)',
      'tokens/agent.token (its previous content is in tokens/agent.token.2)',
    ]);
    const names = ['agent.token', 'agent.token.1', 'agent.token.2'];
    expect((await readdir(join(folder, 'tokens'))).sort()).toEqual(names);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, 'tokens', name), 'utf8')));
    expect(texts).toEqual(['rotated\n', 'of one stack\n', 'of another\n']);
  });

  it('replaces no file that it cannot keep under another name', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: '.', file: '{name}-{id}.token' } });
    const first = { ...AGENT, name: 'a'.repeat(200), id: 'b'.repeat(48), isFirst: true };
    await sinks.find('a')?.deliver(first, 'of one stack');
    await expect(sinks.find('a')?.deliver(first, 'of another')).rejects.toThrow('cannot be written to');
    const [file = '', ...others] = await readdir(folder);
    expect(others).toEqual([]);
    // No longer name is possible, so not the one with a number either.
    expect(file).toHaveLength(255);
    expect(await readFile(join(folder, file), 'utf8')).toBe('of one stack\n');
  });

  it('keeps every token when the stacks of one run write the same file at once', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: '.' } });
    const tokens = Array.from({ length: 8 }, (_, index) => `token ${index}`);
    await Promise.all(tokens.map((token) => sinks.find('agent')?.deliver({ ...AGENT, isFirst: true }, token)));
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
    expect(texts.sort()).toEqual(tokens.map((token) => `${token}\n`));
  });

  it('loses the temporary files of a killed run, and no file of a running one or of others', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: '.' } });
    const leftOver = `.agent.token.${randomUUID()}`;
    const kept = [
      `.agent.token.${randomUUID()}`,
      `.other.token.${randomUUID()}`,
      '.agent.token.backup',
      'agent.token.old',
    ];
    for (const name of [leftOver, ...kept]) await writeFile(join(folder, name), 'token');
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const name of [leftOver, ...kept.slice(1)]) await utimes(join(folder, name), longAgo, longAgo);
    await sinks.find('agent')?.deliver(AGENT, 'first');
    expect((await readdir(folder)).sort()).toEqual([...kept, 'agent.token'].sort());
  });

  it.each([0o755, 0o750, 0o701, 0o777])('causes a warning if others can enter or read it: mode %o', async (mode) => {
    const { folder, sinks } = await createSinks({ default: { directory: 'tokens' } });
    await mkdir(join(folder, 'tokens'));
    await chmod(join(folder, 'tokens'), mode);
    expect(await sinks.find('agent')?.test()).toEqual([
      `The token folder tokens is open to other users: its mode is 0${mode.toString(8)}. Set it to 0700.`,
    ]);
    expect(await readdir(join(folder, 'tokens'))).toEqual([]);
  });

  it('causes a warning if it is a link out of the working folder, with its target', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: '../tokens' } }, {}, 'repo');
    await mkdir(join(folder, 'elsewhere'), { mode: 0o700 });
    await symlink('elsewhere', join(folder, 'tokens'));
    const warning = 'The token folder ../tokens is a link to elsewhere. Name the folder itself: links can be changed.';
    expect(await sinks.find('agent')?.test()).toEqual([warning]);
    await chmod(join(folder, 'elsewhere'), 0o755);
    expect(await sinks.find('agent')?.test()).toEqual([warning, expect.stringContaining('its mode is 0755')]);
  });

  it.each([
    ['is a link', 'tokens', 'tokens', 'it is a symbolic link'],
    ['is behind a link', 'tokens', 'tokens/of/agents', 'it is reached through the symbolic link tokens'],
    ['is a link to nothing', 'nothing', 'nothing', 'it is a symbolic link'],
  ])('is refused in the checkout if it %s', async (_, name, directory, why) => {
    const { folder, sinks } = await createSinks({ default: { directory } });
    await mkdir(join(folder, 'elsewhere'));
    await symlink(name === 'nothing' ? 'missing' : 'elsewhere', join(folder, name));
    const sink = sinks.find('agent');
    await expect(sink?.test()).rejects.toThrow(`the folder ${directory} cannot be written to: ${why}`);
    await expect(sink?.deliver(AGENT, 'secret')).rejects.toThrow('symbolic link');
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
    expect(await readdir(folder)).not.toContain('missing');
  });

  it('causes a warning if it belongs to another user', async () => {
    const { folder } = await createSinks({});
    await mkdir(join(folder, 'tokens'), { mode: 0o700 });
    // What belongs to root belongs to the system.
    if (process.getuid?.() === 0) await chown(join(folder, 'tokens'), 4243, 4243);
    const context = { cwd: folder, env: {}, temporaryFolder: folder, uid: 4242 };
    const sink = createTokenSinks({ default: { directory: 'tokens' }, credentials: {} }, context).find('agent');
    expect(await sink?.test()).toEqual(['The token folder tokens belongs to another user, who can replace its files.']);
  });

  it('causes no warning if it belongs to its user alone, or is created', async () => {
    const { sinks } = await createSinks({ default: { directory: 'new/tokens' } });
    for (let time = 0; time < 2; time += 1) expect(await sinks.find('agent')?.test()).toEqual([]);
  });

  it('fails its check if nothing can be written to it, whatever the files will be called', async () => {
    const { sinks } = await createSinks({ default: { directory: '/proc', file: '{id}.token' } });
    await expect(sinks.find('agent')?.test([AGENT])).rejects.toThrow('/proc');
  });

  it('fails its check if it is a file, which is not changed', async () => {
    const { folder, sinks } = await createSinks({ default: { directory: 'taken' } });
    await writeFile(join(folder, 'taken'), 'kept');
    await expect(sinks.find('agent')?.test()).rejects.toThrow('it is a file, not a folder');
    expect(await readFile(join(folder, 'taken'), 'utf8')).toBe('kept');
  });

  it.each(['a folder', 'a link', 'a file of another user'])(
    'fails its check if %s has the name of a token to come, and not if it has another name',
    async (what) => {
      const { folder } = await createSinks({});
      const tokens = join(folder, 'tokens');
      const file = join(tokens, 'agent.token');
      await mkdir(tokens);
      const isOthers = what === 'a file of another user';
      // In such a folder, only its user can replace a file.
      if (isOthers) await chmod(tokens, 0o1777);
      if (what === 'a folder') await mkdir(file);
      else if (what === 'a link') await symlink('/dev/null', file);
      else await writeFile(file, 'kept');
      const context = { cwd: tokens, env: {}, temporaryFolder: folder, ...(isOthers && { uid: 4242 }) };
      const sink = createTokenSinks({ default: { directory: '.' }, credentials: {} }, context).find('agent');
      await expect(sink?.test([AGENT])).rejects.toThrow('agent.token cannot be replaced: it ');
      await expect(sink?.test([{ ...AGENT, name: 'other' }])).resolves.toBeDefined();
      expect(await readdir(tokens)).toEqual(['agent.token']);
    },
  );
});

describe('a token command', () => {
  it('gets the token on standard input without a line break, and the address in its words and environment', async () => {
    const script = `
      const { EDGEWISE_NAME, EDGEWISE_ADDRESS, EDGEWISE_ID, EDGEWISE_STACK, EDGEWISE_API_KEY = 'none' } = process.env;
      const token = require('fs').readFileSync(0, 'utf8');
      const seen = [token, ...process.argv.slice(1), EDGEWISE_NAME, EDGEWISE_ADDRESS, EDGEWISE_ID, EDGEWISE_STACK, EDGEWISE_API_KEY];
      require('fs').writeFileSync('seen.json', JSON.stringify(seen));`;
    const { folder, sinks } = await createSinks({
      default: toCommand(script, ['secret/{name}', '{stack}:{id}', '{other} $HOME']),
    });
    const place = await sinks.find('agent')?.deliver(AGENT, 'the-token');
    expect(place).toBe(`the command ${process.execPath}`);
    const seen = JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8'));
    const words = ['secret/agent', 'production:cr_1', '{other} $HOME'];
    expect(seen).toEqual(['the-token', ...words, 'agent', 'Credential/agent', 'cr_1', 'production', 'none']);
  });

  it('succeeds without reading its input', async () => {
    const { sinks } = await createSinks({ default: toCommand('process.exit(0)') });
    await expect(sinks.find('agent')?.deliver(AGENT, 'x'.repeat(1_000_000))).resolves.toContain('the command');
  });

  it('opens its standard input and standard error by name, as in a shell', async () => {
    const { folder, sinks } = await createSinks({
      default: {
        command: ['sh', '-c', 'cat /dev/stdin /dev/stdin >seen; echo refused >/dev/stderr; exit 4'],
        timeoutMs: 10_000,
      },
    });
    await expect(sinks.find('agent')?.deliver(AGENT, 'the-token')).rejects.toThrow(
      /^sh ended with exit code 4: refused$/,
    );
    expect(await readFile(join(folder, 'seen'), 'utf8')).toBe('the-tokenthe-token');
  });

  it('reads the token from a file without a name, which only its user can read', async () => {
    const script = `
      const { nlink, mode } = require('fs').fstatSync(0);
      console.error(nlink, (mode & 0o777).toString(8), require('fs').readdirSync('.'));
      process.exit(1)`;
    const { sinks } = await createSinks({ default: toCommand(script) });
    await expect(sinks.find('agent')?.deliver(AGENT, 'the-token')).rejects.toThrow(/: 0 600 \[\]$/);
  });

  it('fails with its exit code and its last error line, without its output', async () => {
    const script = 'console.log("printed"); console.error("\\x1b[31mno such\\x1b[0m\\nvault"); process.exit(3)';
    const { sinks } = await createSinks({ default: toCommand(script) });
    await expect(sinks.find('agent')?.deliver(AGENT, 'the-token')).rejects.toThrow(
      /ended with exit code 3: no such vault$/,
    );
  });

  it('fails without showing the token, whatever it prints', async () => {
    const token = 'Ab1Cd2Ef3Gh4Ij5_K+l/Mn"Op6Qr7';
    const script = `
      const token = require('fs').readFileSync(0, 'utf8');
      const bytes = Buffer.from(token);
      const say = (text) => process.stderr.write('<' + text + '>\\n');
      say(token);
      say(JSON.stringify({ token }));
      say(encodeURIComponent(token));
      say(bytes.toString('hex'));
      say(bytes.toString('base64'));
      say(Buffer.from('user:' + token).toString('base64url'));
      say(token.match(/.{1,4}/g).join('\\n'));
      process.stderr.write('<' + token.slice(0, 9));
      setTimeout(() => { say(token.slice(9)); process.exit(1); }, 50);`;
    const { sinks } = await createSinks({ default: toCommand(script) });
    const shown = await sinks.find('agent')?.deliver(AGENT, token).catch(String);
    expect(shown?.replace(/^.*?exit code 1: /, '')).toMatchInlineSnapshot(
      `"<[token]> <{"token":"[token]"}> <[token]> <[token]> <[token]c=> <dXNlcjp[token]w> <[token]> <[token]>"`,
    );
  });

  it('fails with the end of its output on one line, however much it prints', async () => {
    const script =
      'for (let i = 0; i < 300; i++) console.error("x".repeat(10_000)); console.error("the end\\u202e"); process.exit(1)';
    const { sinks } = await createSinks({ default: toCommand(script) });
    const shown = String(await sinks.find('agent')?.deliver(AGENT, 'the-token').catch(String));
    expect(shown.length).toBeLessThan(1200);
    expect(shown).toMatch(/x the end\\u202e$/);
  });

  it('ends when its own process ends, although its child processes still run', async () => {
    const script =
      'console.error(require("child_process").spawn("sleep", ["60"], { stdio: "inherit", detached: true }).pid); process.exit(1)';
    const { sinks } = await createSinks({ default: toCommand(script) });
    const shown = String(await sinks.find('agent')?.deliver(AGENT, 'the-token').catch(String));
    process.kill(Number(/exit code 1: (\d+)$/.exec(shown)?.[1]));
  });

  it('is stopped after its time limit', async () => {
    const settings: SinkSettings = {
      command: [process.execPath, '-e', 'setTimeout(() => {}, 60_000)'],
      timeoutMs: 200,
    };
    const { sinks } = await createSinks({ default: settings });
    await expect(sinks.find('agent')?.deliver(AGENT, 't')).rejects.toThrow('was stopped by SIGKILL');
  });

  it('is checked by looking for its program, without a run', async () => {
    const { folder, sinks } = await createSinks({
      credentials: {
        there: toCommand('require("fs").writeFileSync("ran", "")'),
        missing: { command: ['edgewise-no-such-program'], timeoutMs: 1000 },
        inert: { command: ['./inert'], timeoutMs: 1000 },
      },
    });
    await writeFile(join(folder, 'inert'), '');
    await expect(sinks.find('there')?.test()).resolves.toEqual([]);
    await expect(sinks.find('missing')?.test()).rejects.toThrow(
      'edgewise-no-such-program is not an executable program',
    );
    await expect(sinks.find('inert')?.test()).rejects.toThrow('not an executable program');
    await chmod(join(folder, 'inert'), 0o700);
    await expect(sinks.find('inert')?.test()).resolves.toEqual([]);
    expect(await readdir(folder)).toEqual(['inert']);
  });

  it('is not a program in the checkout of its manifests that is named without a path', async () => {
    const { folder } = await createSinks({});
    await writeFile(join(folder, 'store'), '', { mode: 0o700 });
    const tokens = { ...NO_TOKEN_SETTINGS, default: { command: ['store'], timeoutMs: 1000 } };
    const sinks = createTokenSinks(tokens, { cwd: folder, env: { PATH: folder }, temporaryFolder: folder });
    await expect(sinks.find('agent')?.test()).rejects.toThrow('store is not an executable program');
  });

  it('is checked by a command of its own, if there is one', async () => {
    const test = [process.execPath, '-e', 'process.exit(Number(process.env.SEALED))'];
    const settings = { command: [process.execPath], timeoutMs: 10_000, test };
    await expect((await createSinks({ default: settings }, { SEALED: '0' })).sinks.find('a')?.test()).resolves.toEqual(
      [],
    );
    await expect((await createSinks({ default: settings }, { SEALED: '2' })).sinks.find('a')?.test()).rejects.toThrow(
      'exit code 2',
    );
  });

  it('fails with a message if it cannot be started', async () => {
    const { sinks } = await createSinks({ default: { command: ['./nothing'], timeoutMs: 1000 } });
    await expect(sinks.find('agent')?.deliver(AGENT, 't')).rejects.toThrow('./nothing cannot be run');
  });
});

describe('the sinks of a run', () => {
  it('use the sink of the credential, else the default, else none', async () => {
    const { sinks } = await createSinks({ credentials: { agent: { directory: 'own' } } });
    expect(sinks.find('agent')).toBeDefined();
    expect(sinks.find('other')).toBeUndefined();
    expect(sinks.find('toString')).toBeUndefined();
    const { sinks: both } = await createSinks({
      default: { directory: 'all' },
      credentials: { agent: { directory: 'own' } },
    });
    expect(await both.find('other')?.test()).toEqual([]);
    expect(both.find('other')).not.toBe(both.find('agent'));
  });

  it('rescue a token to a new file that only its user can read', async () => {
    const { folder, sinks } = await createSinks({});
    await sinks.rescue.test();
    const file = (await sinks.rescue.deliver(AGENT, 'the-token')) ?? '';
    expect(file.startsWith(folder)).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('the-token\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('rescue no token to another folder if theirs is gone', async () => {
    const { folder, sinks } = await createSinks({});
    await rm(folder, { recursive: true });
    await expect(sinks.rescue.deliver(AGENT, 'the-token')).rejects.toThrow(folder);
  });
});
