import { execFile } from 'node:child_process';

/** The exit code and the output of a simulation. */
export interface Simulated {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * Runs `test/simulation/main.ts` in its own process. Its clock stands still while a module is loaded: Node does that at once the second time,
 * and a test runner does not.
 */
export function simulate(args: readonly string[]): Promise<Simulated> {
  return new Promise((done) => {
    const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
    execFile(process.execPath, ['test/simulation/main.ts', ...args], options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      done({ exitCode, output: exitCode === 0 ? stdout : `${stdout}${stderr}` });
    });
  });
}
