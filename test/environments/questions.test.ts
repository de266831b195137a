import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { ANSWERS, describeQuestions, ENV } from '../installed/questions.ts';
import { describeAtTerminal } from '../installed/requirements.ts';
import { createSandbox, runAtTerminal } from '../installed/sandbox.ts';
import { toStack } from '../repository/tree.ts';
import { readOnlyStack } from '../results.ts';

/** One question gets every answer, the others a yes, which runs what follows the question. `every-answer.test.ts` has the rest. */
describeQuestions((line) => (line === 'edgewise apply one' ? ANSWERS : ANSWERS.filter(({ name }) => name === 'yes')));

describeAtTerminal('an apply', () => {
  it('starts no new write after its terminal is closed, and finishes the running ones', async () => {
    const edges = [1, 2, 3].map((port) => toEdge(`edge-${port}`, 20_000 + port));
    const sandbox = createSandbox({ 'edgewise.yaml': [toStack('one'), ...edges].join('') }, ENV);
    // Six requests read, the seventh writes, and the eighth waits.
    const line = 'edgewise apply --yes --rate-limit 7/30s --report json=result.json';
    const { exitCode } = await runAtTerminal(sandbox, line, { steps: [['1 of 3 done', 'close', '']] });
    expect(exitCode).toBe(130);
    expect(readFileSync(join(sandbox.work, 'account.json'), 'utf8').match(/:2000\d/g)).toHaveLength(1);
    const { outcomes } = readOnlyStack(readFileSync(join(sandbox.work, 'result.json'), 'utf8'));
    expect(outcomes.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['applied', 'skipped', 'skipped']);
    expect(readdirSync(sandbox.work).sort()).toEqual(['account.json', 'edgewise.yaml', 'result.json']);
  });
});
