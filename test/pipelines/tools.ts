import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';
import { HAS_ALL_TRIES } from '../tries.ts';

/** The output and exit code of a command. */
export interface ToolResult {
  readonly status: number;
  readonly output: string;
}

/** Programs that take minutes to build: their tests run in `.ci/other-tools`, and in `.ci/run` if they are installed. */
const SLOW_TO_BUILD: ReadonlySet<string> = new Set(['helm']);

/** Which programs are required: `1` or `all`. */
export const REQUIRED = process.env['EDGEWISE_REQUIRE_SYSTEM'];

/**
 * A group of tests with programs that `.ci/tools` and `.ci/run` install. If a program is missing, the tests are skipped, and the name of the
 * group has the reason. With EDGEWISE_REQUIRE_SYSTEM=1, they run and fail, except the tests of programs that are slow to build; with `all`,
 * those are required too.
 */
export function describeWith(tools: readonly string[], name: string, tests: () => void): void {
  const missing = tools.filter((tool) => !isInstalled(tool));
  if (missing.some(isSlowToBuild)) return;
  const isSkipped = missing.length > 0 && REQUIRED !== '1' && REQUIRED !== 'all';
  describe.skipIf(isSkipped)(isSkipped ? `${name} (needs ${missing.join(', ')})` : name, tests);
}

/** The same for tests that take minutes: they are there only with all tries, as every night. */
export function describeEveryNight(tools: readonly string[], name: string, tests: () => void): void {
  if (HAS_ALL_TRIES) describeWith(tools, name, tests);
}

/** Whether the tests with this program run only in `.ci/other-tools`. */
function isSlowToBuild(tool: string): boolean {
  return REQUIRED === '1' && SLOW_TO_BUILD.has(tool);
}

/** Whether a program is in a folder of PATH. */
export function isInstalled(tool: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)));
}

/** Runs a program to its end. Its output has both streams in their order. */
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
