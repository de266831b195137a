import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { CommandSinkSettings } from '../model/stack.ts';
import type { Recipient, SinkContext, TokenSink } from './token-sink.ts';

/**
 * A command that gets the token on its standard input. It is run without a shell, with the credential's name, address, id and
 * stack in its arguments and its environment, without the API key, and it is stopped when it takes too long. What it prints is
 * not shown, since it may be the token.
 */
export function createCommandSink(settings: CommandSinkSettings, context: SinkContext): TokenSink {
  const { command, test, timeoutMs } = settings;
  const [program = ''] = command;
  return {
    test: async () => {
      await findProgram(program, context);
      if (test !== undefined)
        await runCommand({ words: test, input: '', timeoutMs, cwd: context.cwd, env: toEnvironment(context.env) });
    },
    deliver: async (recipient, token) => {
      const words = command.map((word) => fillIn(word, recipient));
      await runCommand({
        words,
        input: token,
        timeoutMs,
        cwd: context.cwd,
        env: toEnvironment(context.env, recipient),
      });
      return `the command ${program}`;
    },
  };
}

interface Run {
  readonly words: readonly string[];
  readonly input: string;
  readonly timeoutMs: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Resolves when the command ended with 0. A command that does not read its input is no fault of its own. */
function runCommand({ words, input, timeoutMs, cwd, env }: Run): Promise<void> {
  const [program = '', ...args] = words;
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...env },
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    child.on('error', (error) => fail(new Error(`${program} cannot be run: ${error.message}`, { cause: error })));
    child.on('close', (code, signal) => {
      if (code === 0) return done();
      const why =
        signal === null
          ? `ended with exit code ${code}`
          : `was stopped by ${signal}, at the latest after ${timeoutMs} ms`;
      return fail(new Error(`${program} ${why}`));
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** Names are checked names and ids come from the service, so what is filled in can be an argument but never a second one. */
function fillIn(word: string, { name, address, id, stack }: Recipient): string {
  const values: Readonly<Record<string, string>> = { name, address, id, stack };
  return word.replace(/\{(name|address|id|stack)\}/g, (_, key: string) => values[key] ?? '');
}

function toEnvironment(env: SinkContext['env'], recipient?: Recipient): SinkContext['env'] {
  const { EDGEWISE_API_KEY: _, EDGEWISE_API_KEY_FILE: __, ...rest } = env;
  if (recipient === undefined) return rest;
  const { name, address, id, stack } = recipient;
  return { ...rest, EDGEWISE_NAME: name, EDGEWISE_ADDRESS: address, EDGEWISE_ID: id, EDGEWISE_STACK: stack };
}

/** Rejects when the program is neither a path to something that can be run nor on the PATH. */
async function findProgram(program: string, { cwd, env }: SinkContext): Promise<void> {
  const folders = program.includes('/')
    ? [cwd]
    : (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = program.includes('/') ? [resolve(cwd, program)] : folders.map((folder) => join(folder, program));
  const found = await Promise.allSettled(paths.map((path) => access(path, constants.X_OK)));
  if (found.every(({ status }) => status === 'rejected'))
    throw new Error(`${program} is not a program that can be run here`);
}
