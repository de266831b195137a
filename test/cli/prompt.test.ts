import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createPrompt } from '../../src/cli/program.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

/** Prompts at a terminal that consists of streams. */
function promptAt(typed: string, { interrupt = false, isTTY = true, isSeen = true, question = 'Sure? ' } = {}) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  let listeners = 0;
  const ask = createPrompt({
    input,
    output: isSeen ? output : undefined,
    onInterrupt: (listener) => {
      listeners += 1;
      if (interrupt) setImmediate(listener);
      return () => {
        listeners -= 1;
      };
    },
  });
  if (typed !== '') input.write(typed);
  return { answer: ask(question), input, output, listeners: () => listeners };
}

describe('a question', () => {
  it('returns the line that was typed', async () => {
    const { answer, listeners } = promptAt('yes\n');
    expect(await answer).toBe('yes');
    expect(listeners()).toBe(0);
  });

  it('shows the text above its last line', async () => {
    const { answer, output } = promptAt('yes\n', { question: 'The plan.\n\nSure? ' });
    expect(await answer).toBe('yes');
    output.end();
    expect(await text(output)).toMatch(/^The plan\.\n\n.*Sure\? /s);
  });

  it.each([
    ['Ctrl-C', CTRL_C, false],
    ['Ctrl-C after a word', `yes${CTRL_C}`, false],
    ['Ctrl-D', CTRL_D, false],
    ['a request to stop', '', true],
  ])('is declined by %s', async (_, typed, interrupt) => {
    const { answer, listeners } = promptAt(typed, { interrupt });
    await expect(answer).rejects.toMatchObject({ message: 'Declined: nothing was written.', reason: 'interrupted' });
    // A signal after the end of the terminal does not end the process.
    expect(listeners()).toBe(1);
  });

  it.each(['input', 'output'] as const)(
    'is declined when the terminal is lost by an error of the %s',
    async (stream) => {
      const { answer, ...streams } = promptAt('');
      streams[stream].emit('error', new Error('EIO'));
      await expect(answer).rejects.toMatchObject({ reason: 'interrupted' });
      streams[stream].emit('error', new Error('EIO again'));
    },
  );

  it('is not asked without a terminal', async () => {
    expect(await promptAt('yes\n', { isTTY: false }).answer).toBeUndefined();
    expect(await promptAt('yes\n', { isSeen: false }).answer).toBeUndefined();
  });
});
