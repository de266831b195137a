import { describe, expect, it } from 'vitest';
import { refreshSession } from '../../.ci/console-session.ts';

function refresh(...lines: readonly string[]): string {
  return refreshSession(['```console', ...lines, '```', ''].join('\n'), 'a-document.md');
}

describe('the console blocks of a document', () => {
  it('have the output of their commands today, in one shell', () => {
    expect(refresh('$ word=new', '$ echo "$word"', 'old')).toBe('```console\n$ word=new\n$ echo "$word"\nnew\n```\n');
  });

  it('are refused if a command fails and the block does not say so', () => {
    const session = () => refresh('$ echo fine', '$ ls nothing-here', 'listing');
    expect(session).toThrow('a-document.md');
    expect(session).toThrow(/^\$ ls nothing-here\nls: .*nothing-here.*\nexit code 2, and not 0$/m);
    expect(session).not.toThrow('echo fine');
  });

  it('are refused if the first command of a pipe fails', () => {
    expect(() => refresh('$ (echo text; exit 70) | head -n 1', 'text')).toThrow('exit code 70, and not 0');
  });

  it('show the exit code of a command with `echo $?`', () => {
    expect(refresh('$ (exit 3)', '$ echo $?', '3')).toBe('```console\n$ (exit 3)\n$ echo $?\n3\n```\n');
    expect(() => refresh('$ (exit 70)', '$ echo $?', '3')).toThrow('exit code 70, and not 3');
    expect(() => refresh('$ true', '$ echo $?', '3')).toThrow('exit code 0, and not 3');
  });

  it('are refused if a command ends the session', () => {
    expect(() => refresh('$ exit 0', '$ echo more', 'more')).toThrow('$ exit 0\nexit code none, and not 0');
  });

  it('contain no exit code of a failure that no command asked for', () => {
    expect(() => refresh('$ edgewise plan no-such-folder')).toThrow('exit code 3, and not 0');
  });
});
