import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

/** What a command printed, and how it ended. */
export interface ToolResult {
  readonly status: number;
  readonly output: string;
}

/** Programs that take minutes to build: tests with them are for `.ci/other-tools`, which has them, and not for `.ci/run`. */
const SLOW_TO_BUILD: ReadonlySet<string> = new Set(['conftest', 'helm']);

/** Which programs must be there: `1` or `all`. */
export const REQUIRED = process.env['EDGEWISE_REQUIRE_SYSTEM'];

/**
 * A group of tests that run programs which `.ci/tools` and `.ci/run` install. Where a program is missing, they are skipped, and the name of the
 * group says what they need. With EDGEWISE_REQUIRE_SYSTEM=1 they run and fail, and there is no group for a missing program that is slow to build;
 * with `all`, those are required too.
 */
export function describeWith(tools: readonly string[], name: string, tests: () => void): void {
  const missing = tools.filter((tool) => !isInstalled(tool));
  if (missing.some(isSlowToBuild)) return;
  const isSkipped = missing.length > 0 && REQUIRED !== '1' && REQUIRED !== 'all';
  describe.skipIf(isSkipped)(isSkipped ? `${name} (needs ${missing.join(', ')})` : name, tests);
}

/** Whether `.ci/other-tools` is where the tests with this program run. */
function isSlowToBuild(tool: string): boolean {
  return REQUIRED === '1' && SLOW_TO_BUILD.has(tool);
}

/** Whether a program is in a folder of PATH. */
export function isInstalled(tool: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)));
}

/** Runs a program to its end. Its output is both streams as they came. */
export function runTool(
  program: string,
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ToolResult> {
  return new Promise((done) => {
    const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      done({ status, output: `${stdout}${stderr}` });
    });
  });
}
