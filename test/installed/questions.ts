import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { describeAtTerminal } from './requirements.ts';
import { createSandbox, listChanged, listFiles, runAtTerminal, runLine, type Sandbox, type Step } from './sandbox.ts';

/** Every question of the installed program, and every action of a person at it. */

/** An action of a person at a prompt. */
export interface Answer {
  readonly name: string;
  /** The action. */
  readonly deed: Step[1];
  readonly value?: string;
  /** The typed line. Absent: the person leaves the question. */
  readonly line?: string;
  /** Whether the terminal is closed, so that nothing more is shown. */
  readonly isClosed?: true;
  readonly ignoresHangup?: true;
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

export const ANSWERS: readonly Answer[] = [
  { name: 'yes', deed: 'type', value: 'yes\r', line: 'yes' },
  { name: 'no', deed: 'type', value: 'no\r', line: 'no' },
  { name: 'an empty line', deed: 'type', value: '\r', line: '' },
  { name: 'Ctrl-C', deed: 'type', value: CTRL_C },
  { name: 'Ctrl-D', deed: 'type', value: CTRL_D },
  { name: 'a closed terminal', deed: 'close', isClosed: true },
  { name: 'a closed terminal, without SIGHUP', deed: 'close', isClosed: true, ignoresHangup: true },
  { name: 'Ctrl-C after yes', deed: 'type', value: `yes${CTRL_C}` },
  { name: 'SIGTERM', deed: 'signal', value: 'SIGTERM' },
];

interface Question {
  /**
   * The command that asks, in a folder with two stacks and saved plans. `applied`: their resources are live too. `drifted`:
   * and one was changed.
   */
  readonly line: string;
  readonly start?: 'applied' | 'drifted';
  readonly prompt: string;
  /** What is typed in place of `yes`. */
  readonly accepts?: string;
  /** The effect of a line: the text that is shown, and the exit code. 0: `writes` is written, and nothing else. */
  readonly answer: (line: string) => readonly [text: string, exitCode: number];
  readonly writes: string;
  /** Actions at the questions after this one, by the typed line. */
  readonly rest?: (line: string | undefined) => readonly Step[];
}

function createConfirmation(
  line: string,
  shows: string,
  more: Pick<Question, 'start' | 'accepts'> & Partial<Pick<Question, 'writes'>> = {},
): Question {
  const { accepts = 'yes' } = more;
  const answer: Question['answer'] = (said) =>
    said === accepts ? [shows, 0] : ['Declined: nothing was written.', 130];
  // Its words may be in two rows.
  return { line, prompt: 'accepted: ', answer, writes: 'work/account.json', ...more };
}

const INIT: Question = {
  line: 'EDGEWISE_BASE_URL= edgewise init fresh',
  prompt: 'Name of the stack',
  answer: () => ['edgewise validate fresh', 0],
  writes: 'work/fresh',
  rest: () => [['Base URL of the service', 'type', '\r']],
};

export const QUESTIONS: readonly Question[] = [
  createConfirmation('edgewise apply one', '1 write applied'),
  createConfirmation('edgewise apply one --format json', '"ok": true'),
  createConfirmation('edgewise apply one --approved plan.json', '1 write applied'),
  createConfirmation('edgewise apply -R', '2 stacks'),
  createConfirmation('edgewise apply -R . --approved plans', '2 stacks'),
  createConfirmation('edgewise destroy one', '1 write applied', { start: 'applied', accepts: 'one' }),
  createConfirmation('edgewise destroy -R --stack two', '1 stack', { start: 'applied', accepts: 'two' }),
  createConfirmation('edgewise release TCPEdge/one one', '1 write applied', { start: 'applied' }),
  createConfirmation('edgewise accept --all one', 'Wrote 1 file', {
    start: 'drifted',
    writes: 'work/one/edgewise.yaml',
  }),
  INIT,
  {
    ...INIT,
    line: 'EDGEWISE_BASE_URL= edgewise init fresh --name fresh',
    prompt: 'Base URL of the service',
    rest: (line) =>
      line === undefined || line === '' ? [] : [['The base URL must be an http or https URL', 'type', '\r']],
  },
];

const MANIFESTS = {
  'one/edgewise.yaml': `${toStack('one')}${toEdge('one', 20_001)}`,
  'two/edgewise.yaml': `${toStack('two')}${toEdge('two', 20_002)}`,
};
export const ENV = { EDGEWISE_BASE_URL: 'embedded:account.json' };

/** Checks, for each question, the exit code, the output and the written files after the actions that `select` returns for its command line. */
export function describeQuestions(select: (line: string) => readonly Answer[]): void {
  describeAtTerminal('the question of', () => {
    let planned: Sandbox;
    let applied: Sandbox;
    let drifted: Sandbox;

    beforeAll(async () => {
      planned = createSandbox(MANIFESTS, ENV);
      await expectSuccess(planned, 'edgewise plan one -o plan.json && edgewise plan -R -o plans');
      applied = createSandbox(MANIFESTS, ENV);
      await expectSuccess(applied, 'edgewise apply -R --yes');
      drifted = createSandbox({}, ENV);
      cpSync(applied.work, drifted.work, { recursive: true });
      const account = join(drifted.work, 'account.json');
      writeFileSync(
        account,
        readFileSync(account, 'utf8').replace('"hostports"', '"description":"by hand","hostports"'),
      );
    });

    describe.each(QUESTIONS)('$line', ({ line, start, prompt, accepts = 'yes', answer, writes, rest = () => [] }) => {
      it.each(select(line))('understands $name', async ({ deed, value: typed = '', line: said, ...given }) => {
        const value = typed.replace('yes', accepts);
        const answered = said === 'yes' ? accepts : said;
        const sandbox = createSandbox({}, ENV);
        const from = start === undefined ? planned : { applied, drifted }[start];
        cpSync(from.work, sandbox.work, { recursive: true });
        const before = listFiles(sandbox.root);
        const [text, exitCode] = answered === undefined ? ['Declined: nothing was written.', 130] : answer(answered);
        const { ignoresHangup } = given;
        const seen = await runAtTerminal(sandbox, line, {
          steps: [[prompt, deed, value], ...rest(answered)],
          ignoresHangup,
        });
        expect(seen).toEqual({ exitCode, shown: expect.stringContaining(given.isClosed ? prompt : text) });
        expect(seen.shown).not.toMatch(/bug in edgewise|^ +at /m);
        const changed = listChanged(before, listFiles(sandbox.root));
        expect(changed.filter((path) => !`${path}/`.startsWith(`${writes}/`))).toEqual([]);
        expect(changed.includes(writes)).toBe(exitCode === 0);
      });
    });
  });
}

async function expectSuccess(sandbox: Sandbox, line: string): Promise<void> {
  expect(await runLine(sandbox, line)).toMatchObject({ exitCode: 0 });
}
