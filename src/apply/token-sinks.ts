import { existsSync, lstatSync, readlinkSync, renameSync, statSync } from 'node:fs';
import { access, constants, mkdir, mkdtemp } from 'node:fs/promises';
import { platform } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Client } from '../client/client.ts';
import { checkWritable, writeAtomically } from '../files/atomic-file.ts';
import { findMadeByAnother, isOfAnother, placeWithin } from '../files/boundary.ts';
import type { Address } from '../model/address.ts';
import { withoutKeys } from '../model/api-key.ts';
import { assertDefined, describeError } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { type CommandSinkSettings, findSink, type SinkSettings, type TokenSettings } from '../model/stack.ts';
import type { CreateWrite } from '../model/write.ts';
import { runCommand } from './run-command.ts';

/** The credential that a token belongs to. */
export interface Recipient {
  readonly address: string;
  /** The name of the credential, without its kind. */
  readonly name: string;
  readonly id: string;
  readonly stack: string;
  /** No credential of this address was known before: a token already in its place belongs to another one. */
  readonly isFirst: boolean;
}

/**
 * Where the tokens of new credentials go. A token exists only in the response to the creation, so a sink is tried out before
 * the first write, and there is a second one for the case that it fails after all.
 */
export interface TokenSink {
  /** Rejects when a token cannot be delivered now. Resolves with warnings about the place. Leaves nothing behind but an empty folder. */
  readonly test: () => Promise<readonly string[]>;
  /** Delivers a token; resolves with where it is, in words. */
  readonly deliver: (recipient: Recipient, token: string) => Promise<string>;
}

/** What sinks need of the world. */
export interface SinkContext {
  readonly cwd: string;
  /** The environment of commands, from which the API key is taken out. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where a token is put when its sink fails. */
  readonly temporaryFolder: string;
  /** The user who runs it: a folder of another one is told of. Default: nobody looks. */
  readonly uid?: number | undefined;
}

/** The sinks of a run. */
export interface TokenSinks {
  /** The sink of a credential; `undefined`: none is configured. */
  readonly find: (name: string) => TokenSink | undefined;
  /** The sink for tokens whose own sink failed. */
  readonly rescue: TokenSink;
}

/** Creates sinks from settings. Nothing is run or written yet. */
export function createTokenSinks(settings: TokenSettings, context: SinkContext): TokenSinks {
  const sinks = new Map<SinkSettings, TokenSink>();
  const find = (name: string): TokenSink | undefined => {
    const chosen = findSink(settings, name);
    if (chosen === undefined) return undefined;
    const sink = sinks.get(chosen) ?? createSink(chosen, context);
    sinks.set(chosen, sink);
    return sink;
  };
  return { find, rescue: createRescueSink(context.temporaryFolder) };
}

function createSink(settings: SinkSettings, context: SinkContext): TokenSink {
  if ('command' in settings) return createCommandSink(settings, context);
  const { directory, within } = settings;
  return createDirectorySink(resolve(context.cwd, directory), directory, { roots: within, uid: context.uid });
}

/**
 * A command that gets the token on its standard input. It is run without a shell, with the credential's name, address, id and
 * stack in its arguments and its environment, without any API key, and it is stopped when it takes too long. When it fails, what it wrote to
 * standard error is shown without the token; what it wrote to standard output never is.
 */
function createCommandSink(settings: CommandSinkSettings, context: SinkContext): TokenSink {
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

/** Names are validated and ids come from the service, so a value can become an argument but never a second one. */
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

/** Where a folder of tokens may lie, and whose it should be. */
interface DirectoryLimits {
  readonly roots?: readonly string[] | undefined;
  readonly uid?: number | undefined;
}

/**
 * A folder (mode 0700, made when it is missing) with one file (0600) for each credential, `<name>.token`, replaced as a whole. A file from
 * before the first credential of its name is kept as `<name>.token.1`: another stack may need it.
 * `shown` is what the folder is called in reports. With `roots` it must lie below one of them, behind all symbolic links: what was a folder when the
 * manifests were read may be a link by now.
 */
export function createDirectorySink(
  directory: string,
  shown: string = directory,
  { roots, uid }: DirectoryLimits = {},
): TokenSink {
  return {
    test: () =>
      within(shown, async () => {
        refuseOutside(directory, roots);
        const warnings = listFolderWarnings(directory, shown, uid);
        await mkdir(directory, { recursive: true, mode: 0o700 });
        const foreign = findMadeByAnother(resolve(directory), uid);
        if (foreign !== undefined) throw new Error(`${foreign} belongs to another user`);
        await checkWritable(join(directory, 'probe'), PRIVATE);
        return warnings;
      }),
    deliver: ({ name, isFirst }, token) =>
      within(shown, () =>
        oneByOne(async () => {
          refuseOutside(directory, roots);
          const file = formatTokenFileName(name);
          const kept = isFirst ? keepAside(directory, file) : undefined;
          await writeAtomically(join(directory, file), `${token}\n`, PRIVATE);
          const place = join(shown, file);
          return kept === undefined ? place : `${place} (its former content is in ${join(shown, kept)})`;
        }),
      ),
  };
}

function refuseOutside(directory: string, roots: readonly string[] | undefined): void {
  const place = roots === undefined ? undefined : placeWithin(resolve(directory), roots);
  if (place !== undefined && 'finding' in place) throw new Error(`it ${place.finding}`);
}

/** The file of a credential in a folder of tokens. */
export function formatTokenFileName(name: string): string {
  return `${name}.token`;
}

let last: Promise<unknown> = Promise.resolve();

/** Runs tasks of all sinks one after another: two stacks of one run may write the same file, and each has to see what the other wrote. */
async function oneByOne<T>(task: () => Promise<T>): Promise<T> {
  const next = last.then(task, task);
  last = next.catch(() => undefined);
  return next;
}

/** Moves a file that another stack may have written out of the way. Gives its new name; `undefined`: there is none. */
function keepAside(directory: string, file: string): string | undefined {
  if (!existsSync(join(directory, file))) return undefined;
  let number = 1;
  while (existsSync(join(directory, `${file}.${number}`))) number += 1;
  renameSync(join(directory, file), join(directory, `${file}.${number}`));
  return `${file}.${number}`;
}

/** Only its owner may read a token. */
const PRIVATE = { mode: 0o600 } as const;

/** Warnings about the permissions of an existing folder. A folder made here is readable by its owner only. */
function listFolderWarnings(directory: string, shown: string, uid: number | undefined): readonly string[] {
  const path = resolve(directory);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const found = statSync(path, { throwIfNoEntry: false });
  const mode = found?.mode ?? 0;
  const isOthers = found !== undefined && isOfAnother(path, found, uid);
  // Windows reports permissions that it does not have.
  const isOpen = platform() !== 'win32' && (mode & OTHERS) !== 0;
  return [
    ...(isLink
      ? [`The token folder ${shown} is a link to ${readlinkSync(path)}. Name the folder itself: links can be changed.`]
      : []),
    ...(isOthers ? [`The token folder ${shown} belongs to another user, who can replace what is in it.`] : []),
    ...(isOpen
      ? [`The token folder ${shown} is open to other users: its mode is ${toModeText(mode)}. Set it to 0700.`]
      : []),
  ];
}

function toModeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

/** The permissions of everybody but the owner. */
const OTHERS = 0o077;

/** An error that names the folder as the user wrote it. Node appends resolved paths after a comma; they are dropped. */
async function within<T>(shown: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const [why] = describeError(error).split(',');
    throw new Error(`the folder ${shown} cannot be written to: ${why}`, { cause: error });
  }
}

/** Creates the sink for tokens whose own sink failed: a new folder among the temporary files, readable by its owner only. */
export function createRescueSink(parent: string): TokenSink {
  return {
    test: async () => [],
    deliver: async (recipient, token) => {
      const folder = await mkdtemp(join(parent, 'edgewise-rescue-'));
      return createDirectorySink(folder).deliver(recipient, token);
    },
  };
}

/** Where a token went. With a failure, it is somewhere else than it should be. */
interface Delivery {
  /** Absent: it is lost. */
  readonly token?: ApplyResult['tokens'][number];
  readonly failure?: string;
}

/** Where a token may go. */
interface DeliverySinks {
  readonly sink: TokenSink;
  /** Used when the first sink fails. */
  readonly rescue: TokenSink;
}

/** Delivers the token of a new credential. Never rejects: the message of a failure names the place of the token, never the token. */
async function deliverToken(recipient: Recipient, token: string, { sink, rescue }: DeliverySinks): Promise<Delivery> {
  const { address } = recipient;
  try {
    return { token: { address, place: await sink.deliver(recipient, token), rescued: false } };
  } catch (error) {
    return rescueToken(recipient, token, { rescue, why: describeError(error) });
  }
}

async function rescueToken(
  recipient: Recipient,
  token: string,
  { rescue, why }: { readonly rescue: TokenSink; readonly why: string },
): Promise<Delivery> {
  const { address } = recipient;
  try {
    const place = await rescue.deliver(recipient, token);
    const failure = `it was created, but its token could not be delivered (${why}); the token is in ${place}. The next apply replaces the credential`;
    return { token: { address, place, rescued: true }, failure };
  } catch (error) {
    const failure = `it was created, but its token could neither be delivered (${why}) nor rescued (${describeError(error)}). The next apply replaces the credential`;
    return { failure };
  }
}

/** What delivering takes. */
interface DeliveryContext {
  readonly client: Pick<Client, 'limit'>;
  /** Each credential that the plan creates has one. */
  readonly sinks: TokenSinks;
  /** Addresses of which a credential was known before. */
  readonly known: ReadonlySet<Address>;
}

/** Delivers the one-time values of a run's new resources. */
export class Deliveries {
  /** Where they went. */
  readonly tokens: ApplyResult['tokens'][number][] = [];
  readonly #context: DeliveryContext;
  readonly #made = new Map<Address, () => Promise<Delivery>>();

  constructor(context: DeliveryContext) {
    this.#context = context;
  }

  /** Delivers the one-time value of what a write made. Gives why that failed. */
  async deliver(write: CreateWrite, token: string, id: string): Promise<string | undefined> {
    const { name, stack } = write.mark;
    const { sinks, client, known } = this.#context;
    const sink = assertDefined(sinks.find(name), 'token sink');
    let isFirst = !known.has(write.address);
    const deliver = () => {
      const recipient = { address: write.address, name, id, stack, isFirst };
      isFirst = false;
      return client.limit(() => deliverToken(recipient, token, { sink, rescue: sinks.rescue }));
    };
    this.#made.set(write.address, deliver);
    const { token: place, failure } = await deliver();
    if (place !== undefined) this.tokens.push(place);
    return failure;
  }

  /** Whether this run delivered the value of a resource. */
  has(address: Address): boolean {
    return this.#made.has(address);
  }

  /** Delivers a value once more. Gives why that failed. */
  async deliverAgain(address: Address): Promise<string | undefined> {
    const { failure } = (await this.#made.get(address)?.()) ?? {};
    return failure;
  }
}
