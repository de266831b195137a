import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ConfigurationFile, findPreventDestroy, isConfigurationFile } from '../../export/prevent-destroy.ts';
import { findStateResources } from '../../export/state-resources.ts';
import {
  parseTerraformState,
  type StateInstance,
  type TerraformState,
  TerraformStateError,
} from '../../export/terraform-state.ts';
import { checkCommandLinePath, listRootsOfPaths, resolvePathWithin } from '../../files/boundary.ts';
import {
  createReadBudget,
  describeFileError,
  InputError,
  isPipePath,
  type ReadBudget,
  readInput,
  toBuffer,
} from '../../files/read-input.ts';
import { isJsonArray, isJsonObject, parseJson } from '../../model/json.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** What `--names` contributes to an export. */
export interface TerraformNames {
  readonly state: TerraformState;
  /** Blocks with `prevent_destroy`: `StateInstance.block`. */
  readonly protectedBlocks: ReadonlySet<string>;
  /** Sentences about unknown `prevent_destroy`, for people. */
  readonly hints: readonly string[];
}

/**
 * Reads a state, and `prevent_destroy` from the configuration in the folder of the state. If the state comes from a
 * pipe, the configuration is in the working folder. Throws a `CommandError` if the state cannot be used.
 */
export async function readTerraformNames(path: string, context: Context): Promise<TerraformNames> {
  const shown = path === '-' ? 'standard input' : path;
  const state = parseState(await readBytes(path, shown, context), shown);
  const isPipe = path === '-' || isPipePath(resolve(context.cwd, path));
  const folder = isPipe ? '.' : dirname(path);
  return { state, ...readProtectedBlocks(state, folder, context) };
}

async function readBytes(path: string, shown: string, context: Context): Promise<Uint8Array> {
  try {
    if (path === '-') return await context.readStdin();
    const place = checkCommandLinePath(path, context);
    if ('finding' in place) throw new InputError(place.finding);
    context.onInput?.(path);
    return readInput(resolve(context.cwd, path));
  } catch (error) {
    throw new CommandError(`${shown} ${describeFileError(error)}.`, {
      exitCode: EXIT.invalid,
      remedy: 'Name a state file, or pipe the output of terraform show -json to --names -',
      cause: error,
    });
  }
}

function parseState(bytes: Uint8Array, shown: string): TerraformState {
  try {
    return parseTerraformState(toBuffer(bytes));
  } catch (error) {
    if (!(error instanceof TerraformStateError)) throw error;
    const { finding, remedy } = error;
    throw new CommandError(`${shown} ${finding}.`, { exitCode: EXIT.invalid, remedy, cause: error });
  }
}

/** A module of the configuration. */
interface Module {
  /** Its address without keys, such as `module.edge`. The root module: an empty text. */
  readonly address: string;
  /** Relative to the folder of the root module. */
  readonly folder: string;
}

function readProtectedBlocks(
  state: TerraformState,
  folder: string,
  { cwd, ...context }: Context,
): Omit<TerraformNames, 'state'> {
  const managed = findStateResources(state).managed.values();
  const needed = new Set(Array.from(managed, ({ instance }) => getModuleAddress(instance)));
  const reading: Reading = {
    top: resolve(cwd, folder),
    roots: listRootsOfPaths([folder], { cwd, ...context }),
    budget: createReadBudget({ ...CONFIGURATION_LIMITS, of: 'the Terraform configuration' }),
  };
  const read = listModules(reading)
    .filter(({ address }) => needed.has(address))
    .map((module) => ({ ...module, files: readModule(module, reading) }))
    .filter(({ files }) => files.length > 0);
  const found = read.map((module) => ({ ...module, ...findPreventDestroy(module.files) }));
  const missing = [...needed].filter((address) => read.every((module) => module.address !== address)).sort();
  return {
    protectedBlocks: new Set(
      found.flatMap(({ address, resources }) => Array.from(resources, (one) => joinAddress(address, one))),
    ),
    hints: [
      ...describeMissing(missing, folder),
      ...found.flatMap((module) =>
        module.unreadable.map(
          (name) =>
            `${join(folder, module.folder, name)} cannot be read to its end. Compare its prevent_destroy with lifecycle.protect.`,
        ),
      ),
    ],
  };
}

function getModuleAddress({ block, type }: StateInstance): string {
  return block.slice(0, Math.max(block.lastIndexOf(`.${type}.`), 0));
}

function joinAddress(module: string, resource: string): string {
  return module === '' ? resource : `${module}.${resource}`;
}

function describeMissing(missing: readonly string[], folder: string): readonly string[] {
  if (missing.length === 0) return [];
  const named = missing.map((address) => (address === '' ? 'the root module' : address)).join(', ');
  const where = folder === '.' ? 'the working folder' : folder;
  return [
    `A state does not contain prevent_destroy, and the configuration of ${named} is not in ${where}.`,
    'Write lifecycle.protect: true where it is needed; or put the state beside its configuration, run terraform init, and export again.',
  ];
}

interface Reading {
  /** The folder of the root module. */
  readonly top: string;
  /** The folders that must contain every file. */
  readonly roots: readonly string[];
  readonly budget: ReadBudget;
}

/** Far more than people write, and little enough for memory. */
const CONFIGURATION_LIMITS = { maxBytes: 64 * 1024 * 1024, maxFiles: 20_000 };

/** The file in which `terraform init` records the folders of modules. */
const MODULES_FILE = '.terraform/modules/modules.json';

function listModules(reading: Reading): readonly Module[] {
  const root = { address: '', folder: '.' };
  const file = join(reading.top, MODULES_FILE);
  const document = parseJson(readStateText(file, reading) ?? '');
  const listed = isJsonObject(document) && isJsonArray(document['Modules']) ? document['Modules'] : [];
  const called = listed.filter(isJsonObject).flatMap(({ Key, Dir }): Module[] => {
    if (typeof Key !== 'string' || typeof Dir !== 'string' || Key === '') return [];
    const address = Key.split('.')
      .map((call) => `module.${call}`)
      .join('.');
    return [{ address, folder: Dir }];
  });
  return [root, ...called];
}

/** Reads the files of a module. There are none if its folder is outside of the repository, or cannot be read. */
function readModule({ folder }: Module, reading: Reading): readonly ConfigurationFile[] {
  const place = resolvePathWithin(resolve(reading.top, folder), reading.roots);
  const names = 'real' in place ? attempt(() => readdirSync(place.real)) : undefined;
  if ('finding' in place || names === undefined) return [];
  return names
    .filter(isConfigurationFile)
    .map((name) => ({ name, text: readStateText(join(place.real, name), reading) }));
}

/** Returns `undefined` if the file cannot be read, or is a link out of the repository. */
function readStateText(path: string, { roots, budget }: Reading): string | undefined {
  const place = resolvePathWithin(path, roots);
  if ('finding' in place) return undefined;
  return attempt(() => readInput(place.real, { onlyFiles: true, budget }).toString('utf8'));
}

/** Returns `undefined` if the system or a limit prevents an act of reading. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof InputError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
