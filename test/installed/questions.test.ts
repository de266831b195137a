import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { IS_FULL } from '../tries.ts';
import { createPlace, listChanged, listFiles, type Place, runAtTerminal, runLine, type Step } from './place.ts';
import { describeAtTerminal } from './requirements.ts';

/** Every question of the installed program, and everything that a person can do at it. */

/** `isExtra`: only full runs try it. */
interface Answer {
  readonly name: string;
  /** What the person does at the prompt. */
  readonly deed: Step[1];
  readonly value?: string;
  /** The line that the person gives. Absent: the person leaves the question. */
  readonly line?: string;
  /** Whether the terminal is gone, so that nothing more is shown. */
  readonly isClosed?: true;
  readonly ignoresHangup?: true;
  readonly isExtra?: true;
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

const ANSWERS: readonly Answer[] = [
  { name: 'yes', deed: 'type', value: 'yes\r', line: 'yes' },
  { name: 'no', deed: 'type', value: 'no\r', line: 'no' },
  { name: 'an empty line', deed: 'type', value: '\r', line: '' },
  { name: 'Ctrl-C', deed: 'type', value: CTRL_C },
  { name: 'Ctrl-D', deed: 'type', value: CTRL_D },
  { name: 'a closed terminal', deed: 'close', isClosed: true },
  { name: 'a closed terminal, without SIGHUP', deed: 'close', isClosed: true, ignoresHangup: true, isExtra: true },
  { name: 'Ctrl-C after yes', deed: 'type', value: `yes${CTRL_C}`, isExtra: true },
  { name: 'SIGTERM', deed: 'signal', value: 'SIGTERM', isExtra: true },
];

interface Question {
  /** The command that asks, in a folder with two stacks and saved plans; `applied`: their account too. */
  readonly line: string;
  readonly start?: 'applied';
  readonly prompt: string;
  /** What a line answers: the text that is then shown, and the exit code. 0: `writes` is written, and nothing else. */
  readonly answer: (line: string) => readonly [text: string, exitCode: number];
  readonly writes: string;
  /** What the person does at the questions after this one. */
  readonly rest?: readonly Step[];
  readonly isExtra?: true;
}

function confirm(line: string, shows: string, more: Pick<Question, 'start' | 'isExtra'> = {}): Question {
  const answer: Question['answer'] = (said) => (said === 'yes' ? [shows, 0] : ['Declined: nothing was written.', 130]);
  return { line, prompt: 'Only "yes" is accepted: ', answer, writes: 'work/account.json', ...more };
}

const INIT: Question = {
  line: 'edgewise init fresh',
  prompt: 'Name of the stack',
  answer: () => ['edgewise validate fresh', 0],
  writes: 'work/fresh',
  rest: [['Base URL of the service', 'type', '\r']],
};

const QUESTIONS: readonly Question[] = [
  confirm('edgewise apply one', '1 write applied'),
  confirm('edgewise apply one --format json', '"ok": true', { isExtra: true }),
  confirm('edgewise apply one --format json-lines', '"event":"summary"', { isExtra: true }),
  confirm('edgewise apply plan.json --manifests one', '1 write applied'),
  confirm('edgewise apply one --approved plan.json', '1 write applied', { isExtra: true }),
  confirm('edgewise apply -R', '2 stacks'),
  confirm('edgewise apply plans --manifests .', '2 stacks', { isExtra: true }),
  confirm('edgewise destroy one', '1 write applied', { start: 'applied' }),
  confirm('edgewise destroy -R --stack two', '1 stack', { start: 'applied', isExtra: true }),
  confirm('edgewise release TCPEdge/one one', '1 write applied', { start: 'applied' }),
  INIT,
  {
    ...INIT,
    line: 'edgewise init fresh --name fresh',
    prompt: 'Base URL of the service',
    answer: (said) => (said === '' ? ['edgewise validate fresh', 0] : ['the base URL must be an http or https URL', 3]),
    rest: [],
  },
];

const MANIFESTS = {
  'one/edgewise.yaml': `${toStack('one')}${toEdge('one', 20_001)}`,
  'two/edgewise.yaml': `${toStack('two')}${toEdge('two', 20_002)}`,
};
const ENV = { EDGEWISE_BASE_URL: 'embedded:account.json' };

describeAtTerminal('at the question of', () => {
  let planned: Place;
  let applied: Place;

  beforeAll(async () => {
    planned = createPlace(MANIFESTS, ENV);
    await expectSuccess(planned, 'edgewise plan one -o plan.json && edgewise plan -R -o plans');
    applied = createPlace(MANIFESTS, ENV);
    await expectSuccess(applied, 'edgewise apply -R --yes');
  });

  describe.each(select(QUESTIONS))('$line', ({ line, start, prompt, answer, writes, rest = [] }) => {
    it.each(select(ANSWERS))('$name is understood', async ({ deed, value = '', ...given }) => {
      const place = createPlace({}, ENV);
      cpSync((start === 'applied' ? applied : planned).work, place.work, { recursive: true });
      const before = listFiles(place.root);
      const [text, exitCode] = given.line === undefined ? ['Declined: nothing was written.', 130] : answer(given.line);
      const { ignoresHangup } = given;
      const seen = await runAtTerminal(place, line, { steps: [[prompt, deed, value], ...rest], ignoresHangup });
      expect(seen).toEqual({ exitCode, shown: expect.stringContaining(given.isClosed ? prompt : text) });
      expect(seen.shown).not.toMatch(/bug in edgewise|^ +at /m);
      const changed = listChanged(before, listFiles(place.root));
      expect(changed.filter((path) => !`${path}/`.startsWith(`${writes}/`))).toEqual([]);
      expect(changed.includes(writes)).toBe(exitCode === 0);
    });
  });
});

describeAtTerminal('an apply', () => {
  it('starts no new write after its terminal is closed, and ends in order', async () => {
    const edges = [1, 2, 3].map((port) => toEdge(`edge-${port}`, 20_000 + port));
    const place = createPlace({ 'edgewise.yaml': [toStack('one'), ...edges].join('') }, ENV);
    // 6 requests read, the next one writes, and the one after it waits.
    const line = 'edgewise apply --yes --rate-limit 7/30s --journal journal.ndjson';
    const { exitCode } = await runAtTerminal(place, line, { steps: [['1 of 3 done', 'close', '']] });
    expect(exitCode).toBe(130);
    expect(readFileSync(join(place.work, 'account.json'), 'utf8').match(/:2000\d/g)).toHaveLength(1);
    expect(readFileSync(join(place.work, 'journal.ndjson'), 'utf8').match(/"outcome":"\w[\w-]+"/g)).toEqual([
      '"outcome":"done"',
      '"outcome":"not-sent"',
      '"outcome":"not-sent"',
    ]);
    expect(readdirSync(place.work).sort()).toEqual(['account.json', 'edgewise.yaml', 'journal.ndjson']);
  });
});

function select<T extends { readonly isExtra?: true }>(cases: readonly T[]): readonly T[] {
  return cases.filter(({ isExtra }) => IS_FULL || isExtra !== true);
}

async function expectSuccess(place: Place, line: string): Promise<void> {
  expect(await runLine(place, line)).toMatchObject({ exitCode: 0 });
}
