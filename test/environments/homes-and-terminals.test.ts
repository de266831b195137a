import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { toEdge } from '../cli/workspace.ts';
import { describeAtTerminal, selectPossible } from '../installed/requirements.ts';
import {
  asUserOfFiles,
  copyProgram,
  createSandbox,
  IS_ROOT,
  listChanged,
  listFiles,
  NOBODY,
  ROOT,
  runAtTerminal,
  runLine,
  type Sandbox,
  type StartOptions,
  type Step,
} from '../installed/sandbox.ts';
import { toStack } from '../repository/tree.ts';

/** The installed program in the homes, file systems and terminals of its users: it does the same in each of them. */

/** How a run starts in an environment. */
interface Start extends StartOptions {
  /** Wraps a line of bash in the environment. */
  readonly wrap?: (line: string) => string;
  readonly columns?: number;
}

/** Changes a sandbox, and returns how a run starts in it. */
type Environment = (sandbox: Sandbox) => Start;

function withHome(mode: number): Environment {
  return (sandbox) => {
    chmodSync(sandbox.home, mode);
    return asUserOfFiles(sandbox);
  };
}

/** The base directories of XDG, each in its own folder. */
function toXdg(folder: string): NodeJS.ProcessEnv {
  const names = ['CACHE', 'CONFIG', 'DATA', 'STATE', 'RUNTIME'];
  return Object.fromEntries(names.map((name) => [`XDG_${name}_HOME`, join(folder, name)]));
}

/** With `plan` and with the question of `apply`. */
const HOMES: Readonly<Record<string, Environment>> = {
  'an ordinary home with .cache': () => ({}),
  'no HOME': () => ({ env: { HOME: undefined } }),
  'an empty HOME': () => ({ env: { HOME: '' } }),
  'a HOME that does not exist': () => ({ env: { HOME: '/does/not/exist' } }),
  'a HOME that cannot be read': withHome(0o000),
  'a HOME that cannot be written to': withHome(0o555),
  'XDG folders of their own': (sandbox) => {
    const env = toXdg(join(sandbox.root, 'xdg'));
    for (const folder of Object.values(env)) mkdirSync(String(folder), { recursive: true });
    return { env };
  },
  'XDG folders that do not exist': () => ({ env: toXdg('/does/not/exist') }),
  'XDG folders that are relative': () => ({ env: toXdg('relative') }),
  'XDG folders that cannot be read': (sandbox) => {
    const folder = join(sandbox.root, 'xdg');
    mkdirSync(folder, { mode: 0o000 });
    return { ...asUserOfFiles(sandbox), env: toXdg(folder) };
  },
};

/** A file system that is read-only, in a mount namespace of the line. */
const READ_ONLY = `mount --bind ${ROOT} ${ROOT} && mount -o remount,bind,ro ${ROOT} && cd "$PWD" && ! touch probe 2>/dev/null`;
const unshare = (line: string) =>
  `unshare --mount ${IS_ROOT ? '' : '--map-root-user'} bash -c '${READ_ONLY} && ${line}'`;

/** With `plan`. */
const OTHERS: Readonly<Record<string, Environment>> = {
  'a read-only file system': () => ({ wrap: unshare }),
  'stdin that is closed': () => ({ wrap: (line) => `${line} <&-` }),
  'stdin from a pipe': () => ({ wrap: (line) => `echo text | ${line}` }),
  'stdin from a file': () => ({ wrap: (line) => `${line} < edgewise.yaml` }),
  'stdin that nobody writes to': ({ temporary }) => {
    spawnSync('mkfifo', [join(temporary, 'pipe')]);
    return { wrap: (line) => `${line} <> ${join(temporary, 'pipe')}` };
  },
  'no locale': () => ({ env: { LANG: undefined } }),
  'the locale C': () => ({ env: { LC_ALL: 'C' } }),
  'a locale that is not UTF-8': () => ({ wrap: (line) => `env LC_ALL=de_DE.ISO-8859-1 ${line}` }),
  'another user than that of the files': () => ({ user: NOBODY }),
  'files of another user, as root': (sandbox) => {
    asUserOfFiles(sandbox);
    return {};
  },
  'an installed folder that is read-only': (sandbox) => {
    const program = copyProgram(sandbox);
    for (const path of ['', ...readdirSync(program, { recursive: true, encoding: 'utf8' })])
      chmodSync(join(program, path), 0o555);
    return { ...asUserOfFiles(sandbox), wrap: (line) => line.replace('edgewise', join(program, 'dist/cli.js')) };
  },
};

/** The reason why an environment is impossible on this machine. */
const PROBLEMS: Readonly<Record<string, string | undefined>> = {
  'a read-only file system': canMount() ? undefined : 'the kernel refuses `unshare` and `mount`',
  'another user than that of the files': IS_ROOT ? undefined : 'only root can become another user',
  'files of another user, as root': IS_ROOT ? undefined : 'only root can give files away',
};

function canMount(): boolean {
  return spawnSync('bash', ['-c', unshare('true')], { cwd: ROOT, stdio: 'ignore' }).status === 0;
}

const FILES = { 'edgewise.yaml': `${toStack('shop')}${toEdge('door', 20_001)}` };
const ENV = { EDGEWISE_BASE_URL: 'embedded:' };
const NOTICE = 'Using the embedded server, which forgets everything at the end of this command.\n';
const VERSION = { exitCode: 0, stdout: `${packageJson.version}\n`, stderr: '' };

/** Runs a line in a new sandbox, and expects that it creates, changes and removes no file. */
async function runInEnvironment(surround: Environment, line: string) {
  const sandbox = createSandbox(FILES, ENV);
  const { wrap = (same) => same, ...start } = surround(sandbox);
  const before = listFiles(sandbox.root);
  const ended = await runLine(sandbox, wrap(line), start);
  expect(listChanged(before, listFiles(sandbox.root))).toEqual([]);
  return ended;
}

describe('in', () => {
  it.each(selectPossible({ ...HOMES, ...OTHERS }, PROBLEMS))(
    '%s, prints the same version and plan',
    async (_, surround) => {
      expect(await runInEnvironment(surround, 'edgewise --version')).toEqual(VERSION);
      const planned = await runInEnvironment(surround, 'edgewise plan');
      expect(planned).toEqual({
        exitCode: 0,
        stdout: expect.stringMatching(/^0 to delete, .*, 1 to create; 0 unchanged[.]$.*^\+ TCPEdge\/door /ms),
        stderr: NOTICE,
      });
    },
  );
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences on which a terminal acts
const ESCAPES = /\u001b\[[\d;?]*[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colours
const COLORS = /\u001b\[[\d;]*m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters in a line, other than a line break
const CONTROLS = /\u001b|\r(?!\r?\n)/;

const PLAIN = ['edgewise --version', 'edgewise plan'];
const WITH_QUESTION = [...PLAIN, 'edgewise apply'];

interface Terminal extends Start {
  readonly lines?: readonly string[];
  /** Text that it must not contain. */
  readonly refuses?: RegExp;
}

const TERMINALS: Readonly<Record<string, Terminal>> = {
  '40 columns': { columns: 40 },
  '200 columns': { columns: 200 },
  'no known size': { columns: 0 },
  'no TERM': { env: { TERM: undefined } },
  'TERM=dumb': { env: { TERM: 'dumb' }, lines: WITH_QUESTION, refuses: CONTROLS },
  NO_COLOR: { env: { NO_COLOR: '1' }, lines: WITH_QUESTION, refuses: COLORS },
};

/** Runs a line at a terminal in a new sandbox, and answers yes to a question. */
async function runAtTerminalInEnvironment(surround: Environment, line: string) {
  const sandbox = createSandbox(FILES, ENV);
  const start = surround(sandbox);
  const before = listFiles(sandbox.root);
  const steps: Step[] = line === 'edgewise apply' ? [['Only "yes" is accepted: ', 'type', 'yes\r']] : [];
  const seen = await runAtTerminal(sandbox, line, { ...start, steps });
  expect(listChanged(before, listFiles(sandbox.root))).toEqual([]);
  return seen;
}

describeAtTerminal('at a terminal with', () => {
  it.each(Object.entries(TERMINALS))('%s, every output is readable', async (_, terminal) => {
    const { lines = PLAIN, refuses, columns = 80 } = terminal;
    for (const line of lines) {
      const { exitCode, shown } = await runAtTerminalInEnvironment(() => terminal, line);
      expect({ exitCode, shown }).toMatchObject({ exitCode: 0, shown: expect.stringMatching(/1 to create|^\d+[.]/) });
      if (refuses !== undefined) expect(shown).not.toMatch(refuses);
      if (line !== 'edgewise plan') continue;
      expect(COLORS.test(shown)).toBe(refuses === undefined);
      expect(columns === 0 ? [] : listWide(shown, columns)).toEqual([]);
    }
  });
});

describeAtTerminal('an apply asks, and writes after yes, in', () => {
  it.each(Object.entries(HOMES))('%s', async (_, surround) => {
    const { exitCode, shown } = await runAtTerminalInEnvironment(surround, 'edgewise apply');
    expect({ exitCode, shown }).toEqual({ exitCode: 0, shown: expect.stringContaining('1 write applied') });
  });
});

/** Lists the lines that are too wide, except two that are never wrapped: a notice, and a command line to copy. */
function listWide(shown: string, columns: number): readonly string[] {
  const lines = shown.replaceAll(ESCAPES, '').split(/\r?\n|\r/);
  return lines.filter((line) => line.length > columns && !/^(Using|To apply:) /.test(line));
}

describe('an output that is closed early', () => {
  it.each(['edgewise --version', 'edgewise plan', 'edgewise schema'])('causes no failure: %s', async (line) => {
    const { stdout, ...rest } = await runInEnvironment(() => ({}), `${line} | head -n 1`);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(rest).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/EPIPE|edgewise:/) });
  });
});
