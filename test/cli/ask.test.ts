import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createPrompt } from '../../src/cli/program.ts';
import { thinOut } from '../laws/properties.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** Asks at a terminal that is made of streams. */
function askAt(typed: string, { interrupt = false, isTTY = true, question = 'Sure? ' } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let listeners = 0;
  const ask = createPrompt({
    input,
    output,
    onInterrupt: (listener) => {
      listeners += 1;
      if (interrupt) setImmediate(listener);
      return () => {
        listeners -= 1;
      };
    },
  });
  if (typed !== '') input.write(typed);
  return { answer: ask(question), output, listeners: () => listeners };
}

describe('a question', () => {
  it('gives the line that was typed', async () => {
    const { answer, listeners } = askAt('yes\n');
    expect(await answer).toBe('yes');
    expect(listeners()).toBe(0);
  });

  it('shows what stands above its last line', async () => {
    const { answer, output } = askAt('yes\n', { question: 'The plan.\n\nSure? ' });
    expect(await answer).toBe('yes');
    output.end();
    expect(await text(output)).toMatch(/^The plan\.\n\n.*Sure\? /s);
  });

  it.each([
    ['Ctrl-C', CTRL_C, false],
    ['Ctrl-C after a word', `yes${CTRL_C}`, false],
    ['Ctrl-D', CTRL_D, false],
    ['a request to stop', '', true],
  ])('that is left by %s has the empty answer', async (_, typed, interrupt) => {
    const { answer, listeners } = askAt(typed, { interrupt });
    expect(await answer).toBe('');
    expect(listeners()).toBe(0);
  });

  it('is not asked where there is no terminal', async () => {
    expect(await askAt('yes\n', { isTTY: false }).answer).toBeUndefined();
  });
});

/** Runs a command on a pseudo terminal, does something to it at the first question, and ends as the command did. */
const AT_QUESTION = `
import os, pty, signal, sys
deed, argv = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execv(argv[0], argv)
seen, isDone = b'', False
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if part == b'':
        break
    seen += part
    if not isDone and b'is accepted: ' in seen:
        isDone = True
        if deed == 'SIGTERM':
            os.kill(child, signal.SIGTERM)
        else:
            os.write(terminal, deed.encode())
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
`;

/** Without it, the tests above are all that there is. */
const hasPython = process.platform !== 'win32' && (await canRun('python3', ['-c', 'import pty']));

async function canRun(program: string, words: readonly string[]): Promise<boolean> {
  const child = spawn(program, words, { stdio: 'ignore' });
  return Promise.race([
    once(child, 'close').then(([code]) => code === 0),
    new Promise<boolean>((done) => child.once('error', () => done(false))),
  ]);
}

describe.runIf(hasPython)('the question of apply, on a pseudo terminal of python3', () => {
  it.each(
    thinOut([
      ['Ctrl-C', CTRL_C],
      ['Ctrl-D', CTRL_D],
      ['SIGTERM', 'SIGTERM'],
    ]),
  )(
    'is declined by %s: exit code 130, nothing written',
    async (_, deed) => {
      const { folder } = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}` });
      const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
      const command = [process.execPath, main, 'apply', '--base-url', 'embedded:account.json'];
      const child = spawn('python3', ['-c', AT_QUESTION, deed, ...command], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [shown, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')]);
      expect(shown).toContain('Declined: nothing was written.');
      expect(shown).not.toContain('This is a bug');
      expect(exitCode).toBe(130);
    },
    30_000,
  );
});
