import type { Script } from 'node:vm';
import { tryTo } from './compile-cache.ts';
import type { Engine } from './engine.ts';
import { type KeptCode, parseKeptCode, renderKeptCode } from './kept-code.ts';

/**
 * Loads the files that the build made of the program, with what the engine compiled of them in earlier runs. Node can keep compiled code too, but it
 * takes a file as it is before anything in it has run: each function that is called is then parsed again in every run, which is a quarter
 * of a short one. Here code is taken at the end of a run, so that it has every function that the run called.
 */

/** Where the files are, and where their compiled code is kept. */
export interface PartSurroundings {
  readonly process: Pick<NodeJS.Process, 'getBuiltinModule' | 'pid'>;
  /** The folder of the files. */
  readonly folder: string;
  /** Compiled code is taken and kept while it has its usual settings: else it would be refused. Modules of Node's come with compiled code, too. */
  readonly engine: Pick<Engine, 'asUsual'>;
  /** Absent: nothing is kept. */
  readonly keptFile: string | undefined;
}

/** The files, each of which is loaded once. */
export interface Parts {
  /** What a file exports. */
  readonly load: (name: string) => unknown;
  /** Keeps what was compiled until now, unless it is kept already. Does nothing when it cannot be kept. */
  readonly keep: () => void;
}

/** What is kept is made again after this time, with what runs called in addition since. */
export const KEPT_MS = 24 * 60 * 60 * 1000;

/** A file of the program. */
interface Part {
  readonly module: { readonly exports: object };
  readonly script: Script;
}

/** The files of a folder, in the form of CommonJS. They may require each other and modules of Node's, and nothing else. */
export function createParts({ process, folder, engine, keptFile }: PartSurroundings): Parts {
  const kept = keptFile === undefined ? NOTHING : (readKept(keptFile, process) ?? NOTHING);
  const parts = new Map<string, Part>();
  let isKept = Date.now() - kept.atMs < KEPT_MS;
  const load = (name: string): unknown => {
    const known = parts.get(name);
    if (known !== undefined) return known.module.exports;
    const path = `${folder}/${name}`;
    const code = readCode(path, process);
    const script = engine.asUsual(() => compile(path, { code, cachedData: kept.code.get(name) }, process));
    // With other settings of the engine everything is refused. What is refused after something was taken would be so each time.
    if (!kept.code.has(name) || (script.cachedDataRejected === true && parts.size === 0)) isKept = false;
    const module = { exports: {} };
    parts.set(name, { module, script });
    const run: Wrapped = script.runInThisContext();
    run(module.exports, require, module);
    return module.exports;
  };
  const builtins = new Map<string, unknown>();
  const require = (id: string): unknown => {
    if (!id.startsWith('node:')) return load(id.replace('./', ''));
    const known = builtins.get(id) ?? engine.asUsual(() => process.getBuiltinModule(id));
    builtins.set(id, known);
    return known;
  };
  const keep = (): void => {
    if (keptFile === undefined || isKept) return;
    const compiled = engine.asUsual(() =>
      [...parts].map(([name, { script }]) => [name, script.createCachedData()] as const),
    );
    writeKept(keptFile, { atMs: Date.now(), code: new Map([...kept.code, ...compiled]) }, process);
  };
  return { load, keep };
}

const NOTHING: KeptCode = { atMs: Number.NEGATIVE_INFINITY, code: new Map() };

type Wrapped = (exports: object, require: (id: string) => unknown, module: Part['module']) => void;

const HEAD = '(function (exports, require, module) {';

function readCode(path: string, { getBuiltinModule }: PartSurroundings['process']): string {
  const code = `${HEAD}${getBuiltinModule('node:fs').readFileSync(path, 'utf8')}\n})`;
  // The engine now makes one text of these, which can have garbage collected, rather than when it compiles them with its usual settings.
  code.charCodeAt(0);
  return code;
}

interface Code {
  readonly code: string;
  readonly cachedData: Uint8Array | undefined;
}

function compile(path: string, { code, cachedData }: Code, { getBuiltinModule }: PartSurroundings['process']): Script {
  const { Script } = getBuiltinModule('node:vm');
  const place = { filename: path, columnOffset: -HEAD.length };
  return new Script(code, cachedData === undefined ? place : { ...place, cachedData });
}

function readKept(file: string, { getBuiltinModule }: PartSurroundings['process']): KeptCode | undefined {
  const { existsSync, readFileSync } = getBuiltinModule('node:fs');
  return existsSync(file) ? tryTo(() => parseKeptCode(readFileSync(file))) : undefined;
}

/** The engine runs what is kept without checking it, so that nobody may ever read half of it, also after a crash of the machine. */
function writeKept(file: string, kept: KeptCode, { getBuiltinModule, pid }: PartSurroundings['process']): void {
  const { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } = getBuiltinModule('node:fs');
  const temporary = `${file}.${pid}`;
  const isWritten = tryTo(() => {
    const handle = openSync(temporary, 'wx', 0o600);
    writeFileSync(handle, renderKeptCode(kept));
    fsyncSync(handle);
    closeSync(handle);
    renameSync(temporary, file);
    return true;
  });
  // Half of it, on a full disk, or what a run left that was killed: in containers all processes have the same id.
  if (!isWritten) tryTo(() => rmSync(temporary, { force: true }));
}
