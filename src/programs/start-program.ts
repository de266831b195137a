import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { StackError } from '../model/user-errors.ts';
import { createProgramEnvironment, findProgram, type ProgramPlace, SYSTEM } from './find-program.ts';

/**
 * Edgewise starts programs here and nowhere else: git, and commands that receive tokens. No shell is involved, and no
 * program of a checkout is started because of its name.
 */

export interface ProgramRun extends ProgramPlace {
  /** The program and its arguments. */
  readonly words: readonly string[];
  readonly stdio: StdioOptions;
  /** After this time, the program is killed. */
  readonly timeoutMs: number;
}

/** Starts a program. Throws a `StackError` if there is no such program, or none outside of the checkout. */
export function startProgram({ words, stdio, timeoutMs, ...place }: ProgramRun): ChildProcess {
  const [, ...args] = words;
  return spawn(requireProgram(words, place), args, {
    cwd: place.cwd,
    env: createProgramEnvironment(place, SYSTEM),
    stdio,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
}

/** Returns the path of the program that `startProgram` would start. Throws as it does. */
export function requireProgram([name = '']: readonly string[], place: ProgramPlace): string {
  const found = findProgram(name, place, SYSTEM);
  if (found !== undefined) return found;
  throw new StackError(
    name.includes('/')
      ? `${name} is not an executable program`
      : `${name} is not an executable program on the PATH. Folders of the checkout do not count: for a program there, write its path`,
    { reason: 'failed' },
  );
}

/** What a program wrote, and how it ended. */
export interface ProgramEnd {
  readonly stdout: string;
  readonly stderr: string;
  /** `null` if it was killed. */
  readonly code: number | null;
  /** Whether it was killed, because it ran or wrote for too long. */
  readonly isKilled: boolean;
}

/** Runs a program to its end. `input`: its standard input. Rejects if it cannot be started. */
export async function readProgram(
  run: Omit<ProgramRun, 'stdio'>,
  { input = '', maxBytes }: { readonly input?: string | undefined; readonly maxBytes: number },
): Promise<ProgramEnd> {
  const child = startProgram({ ...run, stdio: 'pipe' });
  const stop = (): void => void child.kill('SIGKILL');
  const stdout = collect(child.stdout, maxBytes, stop);
  const stderr = collect(child.stderr, maxBytes, stop);
  // If the program ends before it has read everything, its exit code says why.
  child.stdin?.on('error', () => undefined).end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ stdout: stdout(), stderr: stderr(), code, isKilled: signal === 'SIGKILL' }),
    );
  });
}

/** Collects what a stream has, as text. Calls `stop` if it has more than `maxBytes`. */
function collect(stream: ChildProcess['stdout'], maxBytes: number, stop: () => void): () => string {
  const parts: Buffer[] = [];
  let size = 0;
  stream?.on('data', (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) stop();
    else parts.push(part);
  });
  return () => Buffer.concat(parts).toString('utf8');
}
