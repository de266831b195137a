import { describe, expect, it } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { describeAtTerminal } from './requirements.ts';
import { createSandbox, listChanged, listFiles, runAtTerminal, runLine } from './sandbox.ts';

/** The main job with the installed program. `test/environments` starts every command, and asks every question. */

const FILES = { 'edgewise.yaml': `${toStack('one')}${toEdge('one', 20_001)}` };
const ENV = { EDGEWISE_BASE_URL: 'embedded:account.json' };

describe('the installed program', () => {
  it.each([
    ['edgewise plan', 0, '1 to create'],
    ['edgewise plan --detailed-exitcode', 2, '1 to create'],
    ['edgewise plann', 3, ''],
  ])('ends %s with exit code %d, and writes nothing', async (line, exitCode, shows) => {
    const sandbox = createSandbox(FILES, ENV);
    const before = listFiles(sandbox.root);
    expect(await runLine(sandbox, line)).toMatchObject({ exitCode, stdout: expect.stringContaining(shows) });
    expect(listChanged(before, listFiles(sandbox.root))).toEqual([]);
  });
});

describeAtTerminal('an apply of the installed program', () => {
  it.each([
    ['yes', 0, '1 write applied', ['work/account.json']],
    ['no', 130, 'Declined: nothing was written.', []],
  ])('asks, and understands %s', async (answer, exitCode, shows, writes) => {
    const sandbox = createSandbox(FILES, ENV);
    const before = listFiles(sandbox.root);
    const ended = await runAtTerminal(sandbox, 'edgewise apply', { steps: [['accepted: ', 'type', `${answer}\r`]] });
    expect(ended).toEqual({ exitCode, shown: expect.stringContaining(shows) });
    expect(listChanged(before, listFiles(sandbox.root))).toEqual(writes);
  });
});
