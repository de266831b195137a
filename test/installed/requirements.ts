import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';

/** Whether tests fail, instead of being skipped, where a program is not installed. */
const IS_REQUIRED = process.env['EDGEWISE_REQUIRE_SYSTEM'] === '1';

const HAS_TERMINAL = spawnSync('python3', ['-c', 'import pty']).status === 0;

/** Tests at a pseudo-terminal, which python3 makes. */
export function describeAtTerminal(name: string, tests: () => void): void {
  const isSkipped = !HAS_TERMINAL && !IS_REQUIRED;
  describe.skipIf(isSkipped)(isSkipped ? `${name} (skipped: python3 is not installed)` : name, tests);
}

/** Leaves out cases that are impossible on this machine, and says why. `problems`: the reason by the name of a case. */
export function selectPossible<T>(
  cases: Readonly<Record<string, T>>,
  problems: Readonly<Record<string, string | undefined>>,
): readonly (readonly [name: string, value: T])[] {
  return Object.entries(cases).filter(([name]) => {
    if (problems[name] !== undefined) process.stderr.write(`Not tested: ${name}, because ${problems[name]}.\n`);
    return problems[name] === undefined;
  });
}
