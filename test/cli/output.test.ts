import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { createStreamOutput, flushOutputs } from '../../src/cli/output/output.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { requireOrSkip } from '../needs.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

/** A stream that accepts everything, or fails each write in the given way. */
function createStream(fail?: 'throws' | 'reports', code = 'ENOSPC') {
  const written: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _, done) => {
      const error = Object.assign(new Error(`${code}: no space`), { code });
      if (fail === 'throws') throw error;
      if (fail === undefined) written.push(chunk);
      done(fail === undefined ? null : error);
    },
  });
  return { output: createStreamOutput(stream), written };
}

describe.each(['throws', 'reports'] as const)('an output stream that %s the error', (fail) => {
  it('gets no further output, and the result counts as lost', async () => {
    const stdout = createStream(fail);
    const stderr = createStream();
    stdout.output.write('one\n');
    stdout.output.write('two\n');
    const exitCode = await flushOutputs(EXIT.success, { stdout: stdout.output, stderr: stderr.output });
    expect(exitCode).toBe(1);
    expect(stderr.written.join('')).toBe(
      'edgewise: The result cannot be written to standard output: ENOSPC: no space. Send it to a file or a program that reads it.\n',
    );
  });

  it('keeps the exit code of a failure', async () => {
    const [{ output: stdout }, { output: stderr }] = [createStream(fail), createStream(fail)];
    stdout.write('one\n');
    expect(await flushOutputs(EXIT.refused, { stdout, stderr })).toBe(5);
  });

  it('is no failure if its reader has closed it', async () => {
    const [{ output: stdout }, stderr] = [createStream(fail, 'EPIPE'), createStream()];
    stdout.write('one\n');
    expect(await flushOutputs(EXIT.changes, { stdout, stderr: stderr.output })).toBe(2);
    expect(stderr.written.join('')).toBe('');
  });
});

it('ignores an error stream that fails', async () => {
  const [stdout, { output: stderr }] = [createStream(), createStream('reports')];
  stderr.write('progress\n');
  stdout.output.write('result\n');
  expect(await flushOutputs(EXIT.success, { stdout: stdout.output, stderr })).toBe(0);
  expect(stdout.written.join('')).toBe('result\n');
});

const FULL = '/dev/full';
it('does not stop an apply whose progress cannot be shown', async () => {
  requireOrSkip(FULL, existsSync(FULL));
  const { folder } = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}` });
  const device = openSync(FULL, 'w');
  const child = spawn(process.execPath, [PROGRAM, 'apply', '--yes', '--base-url', 'embedded:account.json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', device],
  });
  closeSync(device);
  const [shown, [exitCode]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    once(child, 'close'),
  ]);
  expect(exitCode).toBe(0);
  expect(shown).toContain('1 write applied');
  expect(await readFile(join(folder, 'account.json'), 'utf8')).toContain('1.tcp.example.net:20001');
});

it('writes the whole result to a slow reader, also if it is larger than a pipe', async () => {
  const words = ['-c', '"$0" "$1" schema | (sleep 0.5; cat)', process.execPath, PROGRAM];
  const shown = await text(spawn('sh', words, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout);
  expect(shown.length).toBeGreaterThan(100_000);
  expect(JSON.parse(shown)).toHaveProperty('$defs');
});

it.each([
  ['a terminal', {}, true],
  ['NO_COLOR', { env: { NO_COLOR: '1' } }, false],
  ['TERM=dumb', { env: { TERM: 'dumb' } }, false],
])('has colours or none: %s', async (_, more, hasColors) => {
  const { edgewise } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20_001) });
  const { stdout } = await edgewise('plan', { terminal: 80, ...more });
  expect(stdout.includes('\u001b[32m')).toBe(hasColors);
});

it('quotes a line of a file whose name has control characters without them', async () => {
  const { edgewise } = await createWorkspace({ 'a\u001b[31mb.yaml': `${STACK}spec:\n  a: b: c\n` });
  const { stderr } = await edgewise('validate .');
  expect(stderr).toMatch(/^a.*b\.yaml:\d+:\d+\n/m);
  expect(stderr).not.toContain('\u001b');
});
