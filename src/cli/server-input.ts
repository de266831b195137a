import { CommandError, EXIT } from './exit-code.ts';

/** Runs what takes input of the bundled server. The server's `RangeError` says what is wrong with it: that is the user's to mend. */
export async function withServerInput<T>(what: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError(`${what}: ${error.message}`, { exitCode: EXIT.invalid, cause: error });
  }
}
