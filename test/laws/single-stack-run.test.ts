import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CommandRun,
  type Form,
  listScenarios,
  runScenario,
  type Scenario,
  type ScenarioResult,
} from '../scenarios/scenario.ts';
import { TREE } from '../scenarios/setup.ts';
import { selectEvenly } from '../tries.ts';

/** Scenarios with one stack, or a quarter of them. */
const SCENARIOS = selectEvenly(listScenarios().filter(({ folder }) => !existsSync(join(folder, TREE))));

describe('a stack alone and as the only one of a run over many', () => {
  it.each(SCENARIOS)('sends the same requests and ends in the same way: $name', async (scenario) => {
    const [alone, ofMany] = [await runScenarioAs(scenario, 'folder'), await runScenarioAs(scenario, 'recursive')];
    expect(ofMany).toEqual(alone);
  });
});

async function runScenarioAs(scenario: Scenario, form: Form): Promise<readonly object[]> {
  const { plan, apply, again, finalPlan }: ScenarioResult = await runScenario(scenario, form);
  return [plan, apply, again, finalPlan].flatMap((act) => (act === undefined ? [] : [summarize(act)]));
}

/** The requests, the exit code, and the findings. */
function summarize({ exitCode, requests, stdout, stderr }: CommandRun): object {
  const sent = requests.map(({ method, path, body, status }) => ({ method, path, body, status }));
  return { exitCode, sent, found: listFindings(`${stdout}\n${stderr}`) };
}

/** The sorted codes of the shown diagnostics. */
function listFindings(shown: string): readonly string[] {
  return Array.from(shown.matchAll(/^ *((?:error|warning)\[[a-z-]+\])/gm), ([, code = '']) => code).sort();
}
