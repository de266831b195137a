import process from 'node:process';
import { sleepFor } from '../client/sleep.ts';
import { readStream } from '../files/read-input.ts';
import type { Surroundings } from './surroundings.ts';

/** The process that a program runs in, as the source of defaults. */
export function useThisProcess(): Surroundings {
  return {
    env: process.env,
    cwd: process.cwd(),
    now: () => new Date(),
    sleep: sleepFor,
    readStdin: () => readStream(process.stdin),
    openTransport: async (settings) => (await import('./open-transport.ts')).openTransport(settings),
  };
}
