import { resolve } from 'node:path';
import { readInput } from '../files/read-input.ts';
import { toReason } from '../model/errors.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs what takes input of the bundled server. The server's `RangeError` says what is wrong with it: that is the user's to mend. */
export async function withServerInput<T>(what: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StackError(`${what}: ${error.message}`, { reason: 'invalid', cause: error });
  }
}

/** The text of a file that the bundled server is given. One that cannot be read is the user's to mend. */
export async function readServerFile(file: string, { cwd }: Pick<Surroundings, 'cwd'>): Promise<string> {
  try {
    return readInput(resolve(cwd, file)).toString('utf8');
  } catch (error) {
    const why = toReason(error);
    throw new StackError(`${file} cannot be read: ${why}`, { reason: 'invalid', cause: error });
  }
}
