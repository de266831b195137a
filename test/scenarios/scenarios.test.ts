import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../cli/fake-context.ts';
import type { SentRequest } from '../cli/recorder.ts';
import { listScenarios, playScenario } from './scenario.ts';

describe.each(listScenarios())('$name', (scenario) => {
  it('plans and applies as written', async () => {
    const played = await playScenario(scenario);
    await expect(toTranscript(played.plan)).toMatchFileSnapshot(join(scenario.folder, 'plan.txt'));
    await expect(toTranscript(played.apply)).toMatchFileSnapshot(join(scenario.folder, 'apply.txt'));
    await expect(toRequests(played.planRequests, played.applyRequests)).toMatchFileSnapshot(
      join(scenario.folder, 'requests.txt'),
    );
    expect(played.planRequests.every(({ method }) => method === 'GET')).toBe(true);
    if (played.converges) expect(played.again, 'the plan after the apply is empty').toMatchObject({ exitCode: 0 });
    else expect(played.again.exitCode).not.toBe(0);
  });
});

function toTranscript({ exitCode, stdout, stderr }: CommandResult): string {
  return [`exit code ${exitCode}`, ...toSection('stdout', stdout), ...toSection('stderr', stderr)].join('\n');
}

function toSection(name: string, text: string): readonly string[] {
  return text === '' ? [] : [`--- ${name}`, text.trimEnd(), ''];
}

function toRequests(plan: readonly SentRequest[], apply: readonly SentRequest[]): string {
  return ['--- plan', ...plan.map(toLine), '', '--- apply', ...apply.map(toLine), ''].join('\n');
}

function toLine({ method, path, body, status }: SentRequest): string {
  return [method, path, body, `→ ${status}`].filter((part) => part !== '').join(' ');
}
