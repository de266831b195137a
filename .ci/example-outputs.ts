import { writeFileSync } from 'node:fs';
import { EXPLANATIONS } from '../src/explain/explanations.ts';
import { runExample } from './run-example.ts';

const FILE = 'src/explain/outputs.json';

/** Writes what the examples of all codes print, which `edgewise explain` shows: the only copy. */
export async function writeExampleOutputs(): Promise<void> {
  const outputs: Record<string, string> = {};
  for (const [code, { bad }] of Object.entries(EXPLANATIONS)) outputs[code] = (await runExample(bad)).output;
  writeFileSync(FILE, `${JSON.stringify(outputs, null, 2)}\n`);
}
