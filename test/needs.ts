import { spawnSync } from 'node:child_process';
import { TestRunner } from 'vitest';

/** Whether a test fails, instead of being skipped, if a program is not installed. */
export const IS_SYSTEM_REQUIRED = process.env['EDGEWISE_REQUIRE_SYSTEM'] === '1';

/** Skips the running test if the machine lacks something, and prints what it needs. */
export function requireOrSkip(what: string, isThere: boolean): void {
  if (!isThere) TestRunner.getCurrentTest()?.context.skip(`needs ${what}`);
}

const found = new Map<string, boolean>();

/** Skips the running test if a program is missing that npm does not install. `words`: arguments with which it starts and ends. */
export function requireProgramOrSkip(name: string, words: readonly string[] = ['--version']): void {
  const isThere = found.get(name) ?? spawnSync(name, words).error === undefined;
  found.set(name, isThere);
  requireOrSkip(name, isThere || IS_SYSTEM_REQUIRED);
}
