import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import process from 'node:process';
import { readStream } from '../files/read-input.ts';
import { isJsonObject } from '../model/json.ts';
import { sleepFor } from '../model/sleep.ts';
import type { Host } from './host.ts';

/** The number of values that one random number can have. */
const RANDOM_STEPS = 2 ** 32;

/** The process that edgewise runs in. No other file reads the environment. `cwd`: the working folder, if it is known. */
export function createProcessHost(cwd: string = process.cwd()): Omit<Host, 'rehearse'> {
  return {
    env: process.env,
    cwd,
    uid: process.getuid?.(),
    processes: { pid: process.pid, isRunning },
    now: () => new Date(),
    sleep: sleepFor,
    random: () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
    readStdin: () => readStream(process.stdin),
    openTransport: async (settings) => (await import('./open-transport.ts')).openTransport(settings),
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled, and runs.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

export function readVersion(): string {
  const packageJson: unknown = createRequire(import.meta.url)('edgewise/package.json');
  return isJsonObject(packageJson) ? String(packageJson['version']) : '';
}
