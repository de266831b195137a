import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';
import { IS_FULL } from '../tries.ts';

/** What a command printed, and how it ended. */
export interface ToolResult {
  readonly status: number;
  readonly output: string;
}

/** Programs that take minutes to build. `.ci/other-tools` has them, and `.ci/run` does not. */
const SLOW_TO_BUILD: ReadonlySet<string> = new Set(['conftest', 'helm']);

/**
 * A group of tests that run programs which `.ci/tools` and `.ci/run` install; long journeys, all of them. Where one is missing they are
 * skipped, and the name of the group says so. With EDGEWISE_REQUIRE_SYSTEM=1 they run, and fail; with `all`, those that are slow to build
 * must be there, too.
 */
export function describeWith(tools: readonly string[], name: string, tests: () => void): void {
  const missing = tools.filter((tool) => !isInstalled(tool));
  const isSkipped = missing.length > 0 && !missing.some(isRequired);
  describe.skipIf(isSkipped || !IS_FULL)(
    isSkipped ? `${name} (skipped: ${missing.join(', ')} not installed)` : name,
    tests,
  );
}

function isRequired(tool: string): boolean {
  const required = process.env['EDGEWISE_REQUIRE_SYSTEM'];
  return required === 'all' || (required === '1' && !SLOW_TO_BUILD.has(tool));
}

function isInstalled(tool: string): boolean {
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
