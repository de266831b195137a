import { access, constants } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { withoutKeys } from '../model/api-key.ts';
import type { CommandSinkSettings } from '../model/stack.ts';
import { runCommand } from './run-command.ts';
import type { Recipient, SinkContext, TokenSink } from './token-sink.ts';

/**
 * A command that gets the token on its standard input. It is run without a shell, with the credential's name, address, id and
 * stack in its arguments and its environment, without any API key, and it is stopped when it takes too long. When it fails, what it wrote to
 * standard error is shown without the token; what it wrote to standard output never is.
 */
export function createCommandSink(settings: CommandSinkSettings, context: SinkContext): TokenSink {
  const { command, test, timeoutMs } = settings;
  const { cwd, temporaryFolder } = context;
  const [program = ''] = command;
  return {
    test: async () => {
      await findProgram(program, context);
      if (test === undefined) return [];
      await runCommand({ words: test, secret: '', timeoutMs, cwd, temporaryFolder, env: toEnvironment(context.env) });
      return [];
    },
    deliver: async (recipient, token) => {
      const words = command.map((word) => fillIn(word, recipient));
      const env = toEnvironment(context.env, recipient);
      await runCommand({ words, secret: token, timeoutMs, cwd, temporaryFolder, env });
      return `the command ${program}`;
    },
  };
}

/** Names are checked names and ids come from the service, so what is filled in can be an argument but never a second one. */
function fillIn(word: string, { name, address, id, stack }: Recipient): string {
  const values: Readonly<Record<string, string>> = { name, address, id, stack };
  return word.replace(/\{(name|address|id|stack)\}/g, (_, key: string) => values[key] ?? '');
}

function toEnvironment(env: SinkContext['env'], recipient?: Recipient): SinkContext['env'] {
  const rest = withoutKeys(env);
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
  if (found.every(({ status }) => status === 'rejected')) throw new Error(`${program} is not an executable program`);
}
