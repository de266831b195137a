import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';

/** Whether tests fail, instead of being skipped, where the system lacks something. */
const IS_REQUIRED = process.env['EDGEWISE_REQUIRE_SYSTEM'] === '1';

const TERMINAL_PROBLEM =
  spawnSync('python3', ['-c', 'import pty']).status === 0 ? undefined : 'there is no python3, which makes terminals';

/** Tests at a pseudo-terminal. Where there can be none, their name says so, and they are skipped. */
export function describeAtTerminal(name: string, tests: () => void): void {
  describeUnless(TERMINAL_PROBLEM, name, tests);
}

export function describeUnless(problem: string | undefined, name: string, tests: () => void): void {
  const isSkipped = problem !== undefined && !IS_REQUIRED;
  describe.skipIf(isSkipped)(isSkipped ? `${name} (skipped: ${problem})` : name, tests);
}
