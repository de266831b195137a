import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { platform } from 'node:os';
import { join, resolve } from 'node:path';
import { listCheckouts, type WriteBoundary } from '../files/boundary.ts';
import { isOfAnotherUser } from '../files/trusted-users.ts';
import {
  checkPrivateFolder,
  checkReplaceable,
  createFolder,
  createPrivateFolder,
  describeWriteError,
  keepAside,
  replaceFile,
} from '../files/write-file.ts';
import { withoutKeyAndTokenVariables } from '../model/api-key.ts';
import {
  DEFAULT_TOKEN_FILE,
  findSinkSettingsForCredential,
  type SinkSettings,
  type TokenCommand,
  type TokenSettings,
} from '../model/stack.ts';
import { requireProgram } from '../programs/start-program.ts';
import { runCommand } from './run-command.ts';

/** A credential that is still to be created. */
export interface NamedCredential {
  readonly address: string;
  /** The name of the credential, without its kind. */
  readonly name: string;
  readonly stack: string;
}

/** The credential to which a token belongs. */
export interface TokenCredential extends NamedCredential {
  readonly id: string;
  /**
   * Whether the plan found no live credential with this address. If so, a token that the sink already has under this
   * name belongs to another credential.
   */
  readonly isFirst: boolean;
}

/**
 * Stores the tokens of new credentials. The service shows a token only in the response to the creation. So `test` must
 * be called before an apply, and a token whose delivery fails goes to a rescue sink.
 */
export interface TokenSink {
  /**
   * Tests the sink without a token. Rejects if a token of one of the credentials could not be delivered now, otherwise
   * resolves with warnings. Leaves at most an empty folder.
   */
  readonly test: (credentials?: readonly NamedCredential[]) => Promise<readonly string[]>;
  /** Delivers a token. Resolves with a text that says where the token is. Rejects if the delivery fails. */
  readonly deliver: (recipient: TokenCredential, token: string) => Promise<string>;
}

/** The process in which token sinks run: its folder, environment and user. */
export interface SinkContext {
  readonly cwd: string;
  /** The environment variables for commands. Sinks remove API keys from them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder for tokens whose sink fails, and for temporary files of commands. */
  readonly temporaryFolder: string;
  /** User id of the process. Sinks warn about a folder of another user. Default: the user is not checked. */
  readonly uid?: number | undefined;
  /** Files and folders that the user names for the run. Commands are not looked up in their repositories. */
  readonly namedPaths?: readonly string[] | undefined;
  /** The folder of `--root`. Token folders below it are reached through no symbolic link. */
  readonly root?: string | undefined;
}

/** The token sinks of a run. Created by `createTokenSinks`. */
export interface TokenSinks {
  /** Finds the sink of the credential with this name. `undefined` if none is configured. */
  readonly find: (name: string) => TokenSink | undefined;
  /** Receives the tokens whose own sink failed. */
  readonly rescue: TokenSink;
}

/**
 * Creates the sinks that the settings configure. Runs no command and writes nothing.
 * @example
 * const { env } = process;
 * const sinks = createTokenSinks(desired.stack.tokens, {
 *   cwd: process.cwd(),
 *   uid: process.getuid?.(),
 *   env,
 *   temporaryFolder: tmpdir(),
 * });
 */
export function createTokenSinks(settings: TokenSettings, context: SinkContext): TokenSinks {
  const sinks = new Map<SinkSettings, TokenSink>();
  const find = (name: string): TokenSink | undefined => {
    const chosen = findSinkSettingsForCredential(settings, name);
    if (chosen === undefined) return undefined;
    const sink = sinks.get(chosen) ?? createSink(chosen, context);
    sinks.set(chosen, sink);
    return sink;
  };
  return { find, rescue: createRescueSink(context.temporaryFolder) };
}

function createSink(settings: SinkSettings, context: SinkContext): TokenSink {
  if ('command' in settings) return createCommandSink(settings, context);
  const { directory, within, file } = settings;
  const { cwd, root, uid } = context;
  return createDirectorySink(resolve(cwd, directory), directory, { cwd, root, roots: within, uid, file });
}

/**
 * Creates a sink that passes the token to the standard input of a command. The command runs without a shell. Its
 * arguments and environment can contain the name, address, id and stack of the credential, but no API key. It is killed
 * after the timeout. If it fails, its standard error is shown without the token. Its standard output is never shown.
 */
function createCommandSink(settings: TokenCommand, context: SinkContext): TokenSink {
  const { command, test, timeoutMs, folder = '' } = settings;
  const { temporaryFolder } = context;
  const cwd = resolve(context.cwd, folder);
  const place = { cwd, timeoutMs, temporaryFolder, checkouts: listCheckouts([cwd, context.cwd], context) };
  return {
    test: async () => {
      const env = createSinkEnvironment(context.env);
      requireProgram(command, { ...place, env });
      if (test !== undefined) await runCommand({ ...place, words: test, secret: '', env });
      return [];
    },
    deliver: async (recipient, token) => {
      const words = command.map((word) => fillIn(word, recipient));
      await runCommand({ ...place, words, secret: token, env: createSinkEnvironment(context.env, recipient) });
      return `the command ${command[0] ?? ''}`;
    },
  };
}

/**
 * Fills placeholders in one argument. Names are validated, ids come from the service, and no shell splits the command,
 * so a value never adds a second argument.
 */
function fillIn(word: string, { name, address, id, stack }: Omit<TokenCredential, 'isFirst'>): string {
  const values: Readonly<Record<string, string>> = { name, address, id, stack };
  return word.replace(/\{(name|address|id|stack)\}/g, (_, key: string) => values[key] ?? '');
}

function createSinkEnvironment(env: SinkContext['env'], recipient?: TokenCredential): SinkContext['env'] {
  const rest = withoutKeyAndTokenVariables(env);
  if (recipient === undefined) return rest;
  const { name, address, id, stack } = recipient;
  return { ...rest, EDGEWISE_NAME: name, EDGEWISE_ADDRESS: address, EDGEWISE_ID: id, EDGEWISE_STACK: stack };
}

/**
 * Creates a sink that writes each token to a file (mode 0600) in a folder (mode 0700, created if missing). Its name is
 * made from the pattern `file`, by default `{name}.token`. The file is replaced atomically. If the credential is the first with its name, an existing file is kept as
 * `<name>.token.1`, because another stack may need it. `shown`: the name of the folder in messages. The boundary is
 * checked before each use, because a folder may have been replaced by a symbolic link; `test` warns about a folder of
 * another user. Default: the working folder of the process; users are not checked.
 * @example
 * const sink = createDirectorySink('tokens', undefined, { file: '{name}.token' });
 * await sink.test();
 */
export function createDirectorySink(
  directory: string,
  shown: string = directory,
  { file: pattern, ...limits }: Partial<WriteBoundary> & { readonly file?: string | undefined } = {},
): TokenSink {
  const boundary = { cwd: resolve('.'), ...limits };
  return {
    test: async (credentials = []) => {
      const warnings = await withFolderName(shown, async () => {
        const folderWarnings = listFolderWarnings(directory, shown, boundary.uid);
        await createFolder(directory, { ...boundary, mode: 0o700 });
        await checkReplaceable(join(directory, PROBE), { ...boundary, mode: FILE_MODE });
        return folderWarnings;
      });
      for (const one of isTokenFileOfId(pattern) ? [] : credentials)
        await checkTokenFile(directory, shown, toTokenFileName({ ...one, id: '' }, pattern), boundary);
      return warnings;
    },
    deliver: ({ isFirst, ...recipient }, token) =>
      withFolderName(shown, () =>
        runInOrder(async () => {
          const file = toTokenFileName(recipient, pattern);
          const path = join(directory, file);
          const kept = isFirst ? await keepAside(path, boundary) : undefined;
          // With an id in its name, no later write has the same name, and could remove what a killed run left.
          const temporaryName = toTokenFileName({ ...recipient, id: '' }, pattern);
          await replaceFile(path, `${token}\n`, { ...boundary, mode: FILE_MODE, temporaryName });
          const place = join(shown, file);
          return kept === undefined ? place : `${place} (its previous content is in ${join(shown, kept)})`;
        }),
      ),
  };
}

const PROBE = 'probe';

/** Rejects if a file that has the name of a token cannot be replaced, such as one of another user. */
async function checkTokenFile(directory: string, shown: string, file: string, boundary: WriteBoundary): Promise<void> {
  try {
    await checkReplaceable(join(directory, file), { ...boundary, mode: FILE_MODE, temporaryName: PROBE });
  } catch (error) {
    throw new Error(`${join(shown, file)} cannot be replaced: ${describeWriteError(error)}`, { cause: error });
  }
}

/** The name of the file of a token in a folder. The values are names and ids, so they contain no slash. */
export function toTokenFileName(
  credential: Pick<TokenCredential, 'name' | 'id' | 'stack'>,
  pattern: string = DEFAULT_TOKEN_FILE,
): string {
  const { name, id, stack } = credential;
  return fillIn(pattern, { name, id, stack, address: '' });
}

/** Whether each credential has a file of its own, also each old one beside the new one. */
export function isTokenFileOfId(pattern: string | undefined): boolean {
  return pattern?.includes('{id}') === true;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the tasks of all sinks one after another, because two stacks of a run may write the same file, and the second
 * stack must find the file of the first.
 */
async function runInOrder<T>(task: () => Promise<T>): Promise<T> {
  const next = last.then(task, task);
  last = next.catch(() => undefined);
  return next;
}

/** Only the user of the file may read a token. */
const FILE_MODE = 0o600;

/**
 * Lists warnings about the permissions of an existing folder. Empty if the folder does not exist, because the sink then
 * creates it for its user only.
 */
function listFolderWarnings(directory: string, shown: string, uid: number | undefined): readonly string[] {
  const path = resolve(directory);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const found = statSync(path, { throwIfNoEntry: false });
  const mode = found?.mode ?? 0;
  const isOthers = found !== undefined && isOfAnotherUser(path, found, uid);
  // The mode that Windows reports is not a real permission.
  const isOpen = platform() !== 'win32' && (mode & OTHERS) !== 0;
  return [
    ...(isLink
      ? [`The token folder ${shown} is a link to ${readlinkSync(path)}. Name the folder itself: links can be changed.`]
      : []),
    ...(isOthers ? [`The token folder ${shown} belongs to another user, who can replace its files.`] : []),
    ...(isOpen
      ? [`The token folder ${shown} is open to other users: its mode is ${formatMode(mode)}. Set it to 0700.`]
      : []),
  ];
}

function formatMode(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

/** The permission bits of the group and of other users. */
const OTHERS = 0o077;

/** Runs `act`. If it fails, rejects with an error that shows the name of the folder as the user wrote it. */
async function withFolderName<T>(shown: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw new Error(`the folder ${shown} cannot be written to: ${describeWriteError(error)}`, { cause: error });
  }
}

/**
 * Creates the sink for tokens whose own sink failed: each token gets a new private folder below `parent`.
 * @example
 * const sink = createRescueSink(tmpdir()); // for a token that no other sink took
 */
export function createRescueSink(parent: string): TokenSink {
  return {
    test: async () => {
      await checkPrivateFolder(parent, RESCUE_PREFIX);
      return [];
    },
    deliver: async (recipient, token) => {
      const folder = await createPrivateFolder(parent, RESCUE_PREFIX);
      return createDirectorySink(folder, folder, { roots: [folder] }).deliver(recipient, token);
    },
  };
}

export const RESCUE_PREFIX = 'edgewise-rescue-';
