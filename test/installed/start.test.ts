import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { PLAN_FORMAT } from '../../src/model/plan.ts';
import { selectFirst } from '../cases.ts';
import { toEdge } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { readOnlyStack } from '../results.ts';
import { listNewSyntax } from './imports.ts';
import {
  asUserOfFiles,
  BIN,
  copyProgram,
  createSandbox,
  listChanged,
  listFiles,
  PROJECT,
  runLine,
  type Sandbox,
  type StartOptions,
} from './sandbox.ts';

/** Events before the command line is read: the program fails in one line, or is not affected. */

const FILES = { 'edgewise.yaml': `${toStack('shop')}${toEdge('door', 20_001)}` };
const ENV = { EDGEWISE_BASE_URL: 'embedded:' };

/** Makes the program report an old version of Node. */
const OLD_NODE = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })",
)}`;

interface Failure {
  readonly name: string;
  /** Causes the failure, and returns how the program is started. */
  readonly arrange?: (sandbox: Sandbox) => StartOptions;
  /** Wraps the command line in a line of bash. */
  readonly wrap?: (line: string, sandbox: Sandbox) => string;
  readonly exitCode: number;
  readonly message: string;
  readonly remedy: string;
  /** The summary of a failure that the program itself reports. Absent: it could not be loaded. */
  readonly summary?: string;
}

function listParts(program: string): readonly string[] {
  const folder = join(program, 'dist/parts');
  return readdirSync(folder).map((name) => join(folder, name));
}

const BROKEN = {
  wrap: (line: string, { root }: Sandbox) => line.replace('edgewise', join(root, 'program/dist/cli.js')),
  exitCode: 1,
  message: 'cannot read',
  remedy: 'Install edgewise again',
};

const FAILURES: readonly Failure[] = [
  {
    name: 'an old Node',
    arrange: () => ({ env: { NODE_OPTIONS: `--import=${OLD_NODE}` } }),
    exitCode: 3,
    message: `edgewise ${packageJson.version} needs Node 22.19.0 or newer; this is Node 18.20.4.`,
    remedy: 'Get one from a version manager',
  },
  {
    name: 'a working folder that was deleted',
    wrap: (line) => `mkdir gone && cd gone && rmdir ../gone && ${line}`,
    exitCode: 3,
    message: 'The working folder was deleted',
    remedy: 'Change to a folder that exists',
    summary: '✗ edgewise did not complete.',
  },
  {
    ...BROKEN,
    name: 'a program that the user may not read',
    arrange: (sandbox) => {
      for (const part of listParts(copyProgram(sandbox))) chmodSync(part, 0o000);
      return asUserOfFiles(sandbox);
    },
  },
  {
    ...BROKEN,
    name: 'a part that was removed',
    arrange: (sandbox) => {
      for (const part of listParts(copyProgram(sandbox))) if (basename(part).startsWith('plan-')) rmSync(part);
      return {};
    },
  },
];

describe('a start with', () => {
  it.each(FAILURES)('$name prints one line with a remedy', async ({ arrange, wrap = (line) => line, ...expected }) => {
    const { exitCode, message, remedy, summary } = expected;
    const sandbox = createSandbox(FILES, ENV);
    const start = arrange?.(sandbox) ?? {};
    const before = listFiles(sandbox.root);
    const ended = await runLine(sandbox, wrap('edgewise plan', sandbox), start);
    expect(ended).toEqual({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
    expect(ended.stderr).toContain(remedy);
    expect(ended.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
    const document = await runLine(sandbox, wrap('edgewise plan --format json', sandbox), start);
    expect(document).toMatchObject({ exitCode, stderr: ended.stderr });
    expect(JSON.parse(document.stdout)).toEqual({
      ...{ format: PLAN_FORMAT, command: null, ok: false, stacks: [], summary },
      failure: {
        diagnostics: [],
        error: { message: expect.stringContaining(message), remedy: expect.stringContaining(remedy) },
      },
    });
    expect(listChanged(before, listFiles(sandbox.root))).toEqual([]);
  });
});

it('reads the entry point, and so its message, in a Node without `?.`', () => {
  expect(listNewSyntax(join(PROJECT, 'node_modules/edgewise/dist/cli.js'))).toEqual([]);
});

describe('an output that accepts nothing', () => {
  it.each(['> /dev/full', '1< /dev/null'])('fails in one line: %s', async (redirection) => {
    const sandbox = createSandbox(FILES, ENV);
    const lines = redirection === '> /dev/full' ? ['edgewise --version', 'edgewise plan'] : ['edgewise --version'];
    for (const line of lines) {
      const { exitCode, stderr } = await runLine(sandbox, `${line} ${redirection}`);
      expect(stderr).toMatch(
        /^(Using .*\n)?edgewise: The result cannot be written to standard output: .*Send it to .*\n$/,
      );
      expect(exitCode).toBe(1);
    }
  });

  it.each(selectFirst(['2> /dev/full', '2>&-', '2< /dev/null']))(
    'does not change the result: %s',
    async (redirection) => {
      const { exitCode, stdout } = await runLine(createSandbox(FILES, ENV), `edgewise plan ${redirection}`);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('1 to create') });
    },
  );

  it('is treated as one without a reader if it is closed', async () => {
    const sandbox = createSandbox(FILES, ENV);
    for (const line of ['edgewise --version', 'edgewise plan --format json'])
      expect(await runLine(sandbox, `${line} >&- 2>&-`)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});

describe('an input that provides nothing', () => {
  it.each(selectFirst(['< .', '0> file', '<&-', '< /dev/null']))(
    'is a mistake of the user: %s',
    async (redirection) => {
      const { exitCode, stderr } = await runLine(createSandbox(FILES, ENV), `edgewise plan - ${redirection}`);
      expect(stderr).toMatch(
        /^error\[(file-unreadable|file-unreadable)\]: <stdin> (is empty|cannot be read: .*)\n {2}help: /,
      );
      expect(exitCode).toBe(3);
    },
  );
});

it('names a working folder that the user may not read, with a remedy', async () => {
  const sandbox = createSandbox(FILES, ENV);
  const start = asUserOfFiles(sandbox);
  chmodSync(sandbox.work, 0o000);
  const { exitCode, stdout, stderr } = await runLine(sandbox, 'edgewise plan --format json', start);
  expect(stderr).toMatch(/^error\[file-unreadable\]: .* cannot be read: permission denied\n {2}help: /);
  expect(readOnlyStack(stdout)).toMatchObject({ ok: false, diagnostics: [{ code: 'file-unreadable' }] });
  expect(exitCode).toBe(3);
});

/**
 * Writes compiled code into a cache folder, as if by a plan: under the names of the program's parts and with their lengths, because V8 compares
 * only those. The code creates the file `attacked`.
 */
const PLANT = `
const { mkdirSync, readFileSync, readdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { wrap } = require('node:module');
const { Script } = require('node:vm');
const [parts, folder, attacked] = process.argv.slice(1);
const code = "require('node:fs').writeFileSync(" + JSON.stringify(attacked) + ", process.env.EDGEWISE_API_KEY);";
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(parts)) {
  const { length } = readFileSync(join(parts, name), 'utf8');
  writeFileSync(join(folder, name), new Script(wrap(code.padEnd(length))).createCachedData());
}
`;

it('runs no code of a pull request whose checkout has cache folders by HOME, XDG_CACHE_HOME and NODE_COMPILE_CACHE', async () => {
  const sandbox = createSandbox(FILES, { ...ENV, EDGEWISE_API_KEY: 'a-key-that-is-long-enough' });
  const attacked = join(sandbox.work, 'attacked');
  const parts = join(PROJECT, 'node_modules/edgewise/dist/parts');
  for (const cache of ['.cache/edgewise', '.xdg/edgewise', '.compiled'])
    await promisify(execFile)(join(BIN, 'node'), [
      ...['-e', PLANT, parts],
      ...[join(sandbox.work, cache, `${process.version}-${process.arch}`, 'plan'), attacked],
    ]);
  const env = {
    HOME: sandbox.work,
    XDG_CACHE_HOME: join(sandbox.work, '.xdg'),
    NODE_COMPILE_CACHE: join(sandbox.work, '.compiled'),
  };
  const { exitCode, stdout } = await runLine(sandbox, 'edgewise plan --untrusted', { env });
  expect(existsSync(attacked)).toBe(false);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('1 to create') });
});
