import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { kill } from 'node:process';
import type { Readable } from 'node:stream';
import { formatStderrExcerpt } from '../apply/run-command.ts';
import { InputError, readStream } from '../files/read-input.ts';
import { withoutKeyAndTokenVariables } from '../model/api-key.ts';
import { getErrorMessage } from '../model/errors.ts';
import { NO_OP_SECRET_REDACTOR, type SecretRedactor, withoutSecretVariables } from '../model/secrets.ts';
import type { Host, RenderCommand, RenderCommandResult } from './host.ts';

/**
 * Runs the commands of `spec.render` without a shell and without the API key. Each command runs in its own process
 * group, so that it can be killed with its children. The command of a stack runs only once, even if the stack's
 * manifests are read several times.
 */

interface RenderOptions {
  /** Default: 120,000, two minutes. */
  readonly timeoutMs?: number;
  /**
   * Called before a command starts. `signal` aborts when the user stops the run, which kills the command.
   * `stopListening` is called when the command has ended. Absent: a command ends only by itself or by the time limit.
   */
  readonly listen?: () => { readonly signal: AbortSignal; readonly stopListening: () => void };
}

/** Long enough for a command that first downloads a base or a chart. */
const TIMEOUT_MS = 120_000;

/**
 * Creates the function that runs render commands. A caller that passes this function to a stack consents to run the
 * stack's commands.
 */
export function createRenderCommandRunner(
  { cwd, env, secrets = NO_OP_SECRET_REDACTOR }: Pick<Host, 'cwd' | 'env' | 'secrets'>,
  options: RenderOptions = {},
): NonNullable<Host['render']> {
  const outputs = new Map<string, Promise<RenderCommandResult>>();
  return ({ words, folder }) => {
    const held = secrets.find(words.join('\n'));
    if (held !== undefined) return Promise.resolve({ finding: `would get ${held.name} as an argument` });
    const command = { words, folder: resolve(cwd, folder), env: withoutSecretVariables(env, secrets) };
    const id = JSON.stringify([words, command.folder]);
    const known = outputs.get(id) ?? runListening(command, options).then((output) => redactFinding(output, secrets));
    outputs.set(id, known);
    return known;
  };
}

/** Redacts an error message of the program, because it may quote a secret that the program has read. */
function redactFinding(output: RenderCommandResult, { redact }: Pick<SecretRedactor, 'redact'>): RenderCommandResult {
  return 'finding' in output ? { finding: redact(output.finding) } : output;
}

type Run = RenderCommand & Pick<Host, 'env'>;

/** Runs a command with a time limit. Rejects only if the signal from `listen` is aborted, with its reason. */
async function runListening(run: Run, { listen, timeoutMs = TIMEOUT_MS }: RenderOptions): Promise<RenderCommandResult> {
  const { signal, stopListening } = listen?.() ?? { signal: undefined, stopListening: () => undefined };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const output = await runOnce(run, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    signal?.throwIfAborted();
    return timeout.aborted ? { finding: `was stopped after ${timeoutMs / 1000} s` } : output;
  } finally {
    stopListening();
  }
}

async function runOnce(run: Run, stop: AbortSignal): Promise<RenderCommandResult> {
  const child = startRender(run);
  if ('finding' in child) return child;
  const end = (): void => endGroup(child);
  stop.addEventListener('abort', end, { once: true });
  try {
    const [ended, output, complaint] = await Promise.all([
      waitFor(child),
      readOutput(child.stdout, end),
      readRenderEnd(child.stderr),
    ]);
    if (ended === undefined || ('finding' in output && !stop.aborted)) return output;
    return { finding: complaint === '' ? ended : `${ended}: ${complaint}` };
  } finally {
    stop.removeEventListener('abort', end);
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Starts the program. Returns a finding if `spawn` throws, such as for an argument with a NUL. `waitFor` reports all
 * other failures.
 */
function startRender({ words, folder, env }: Run): Child | { readonly finding: string } {
  const [program = '', ...args] = words;
  const childEnv = withoutKeyAndTokenVariables(env);
  try {
    return spawn(program, args, { cwd: folder, env: childEnv, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  } catch (error) {
    return { finding: `cannot be run: ${getErrorMessage(error)}` };
  }
}

/** Describes how a program ended. Returns `undefined` for exit code 0. */
async function waitFor(child: ChildProcess): Promise<string | undefined> {
  try {
    const [code, signal] = await once(child, 'exit');
    if (code === 0) return undefined;
    return signal === null ? `ended with exit code ${code}` : `was stopped by ${signal}`;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing ? 'cannot be run: there is no such program' : `cannot be run: ${getErrorMessage(error)}`;
  }
}

/** Reads the whole output. Kills the program if the output is too large. */
async function readOutput(stdout: Readable, end: () => void): Promise<RenderCommandResult> {
  try {
    return { bytes: await readStream(stdout) };
  } catch (error) {
    end();
    return { finding: `prints something that ${error instanceof InputError ? error.finding : getErrorMessage(error)}` };
  }
}

/** Only the end of stderr is kept, because the cause is there. It is more than is shown, so that secrets are redacted first. */
const MAX_STDERR_CHARACTERS = 65_536;

/** Returns an excerpt from the end of stderr. */
async function readRenderEnd(stderr: Readable): Promise<string> {
  let kept = '';
  stderr.setEncoding('utf8');
  stderr.on('data', (part: string) => {
    kept = (kept + part).slice(-MAX_STDERR_CHARACTERS);
  });
  await once(stderr, 'close');
  return formatStderrExcerpt(kept, '');
}

/**
 * Kills a program and its children. Closes the output on this side too, because a child that survives could keep it
 * open.
 */
function endGroup(child: Child): void {
  try {
    if (child.pid !== undefined) kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    child.kill('SIGKILL');
  }
  child.stdout.destroy();
  child.stderr.destroy();
}
