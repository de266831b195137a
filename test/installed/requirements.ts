import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';
import { IS_SYSTEM_REQUIRED } from '../needs.ts';

const HAS_TERMINAL = spawnSync('python3', ['-c', 'import pty']).status === 0;

/** Tests at a pseudo-terminal, which needs python3. */
export function describeAtTerminal(name: string, tests: () => void): void {
  const isSkipped = !HAS_TERMINAL && !IS_SYSTEM_REQUIRED;
  describe.skipIf(isSkipped)(isSkipped ? `${name} (needs python3)` : name, tests);
}

/** Skips cases that are impossible on this machine, and prints the reason. `problems`: the reason by the name of a case. */
export function selectPossible<T>(
  cases: Readonly<Record<string, T>>,
  problems: Readonly<Record<string, string | undefined>>,
): readonly (readonly [name: string, value: T])[] {
  return Object.entries(cases).filter(([name]) => {
    if (problems[name] !== undefined) process.stderr.write(`Not tested: ${name}, because ${problems[name]}.\n`);
    return problems[name] === undefined;
  });
}
