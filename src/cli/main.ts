import packageJson from '../../package.json' with { type: 'json' };

/**
 * Where the command starts. It says which Node it needs before anything is loaded that an older Node cannot read: the build puts this file, and nothing else
 * of src, into a file of its own in older JavaScript.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** Equals `EXIT.invalid`, whose file an older Node may not be able to read. */
const INVALID = 3;

/** The bundler puts a hash of the content into these names. V8 takes its code for any text of the same length. */
const PART = /[/\\]parts[/\\][\w-]+-[\w-]{8}\.cjs$/;

/** A command, or an option that stands alone. */
const COMMAND = /^-{0,2}[a-z][a-z-]{0,20}$/;

if (isOlder(process.versions.node, NEEDED)) {
  const line = NEEDED.split('.')[0];
  process.stderr.write(
    `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}. Get one from a version manager (nvm install ${line}) or from npm (npm install --save-dev node@${line}, then npx --no-install edgewise), or use the container image (Dockerfile).\n`,
  );
  process.exitCode = INVALID;
} else {
  keepCompiledCode(process);
  import('./program.ts').then(({ runProgram }) => runProgram());
}

function isOlder(version: string, needed: string): boolean {
  const left = version.split('.').map(Number);
  const right = needed.split('.').map(Number);
  for (let index = 0; index < 3; index += 1) {
    const difference = Number(left[index]) - Number(right[index]);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Modules of Node's come from the process: an import would load all that they export, which takes as long as the start. */
type Process = Pick<
  NodeJS.Process,
  'env' | 'argv' | 'version' | 'arch' | 'pid' | 'getuid' | 'getBuiltinModule' | 'once'
>;

/** The method of Node's module loader that compiles a file. Node's types do not have it; many packages replace it. */
interface ModuleLoader {
  _compile(this: NodeJS.Module, code: string, path: string, ...rest: unknown[]): unknown;
}

/** A compiled file. */
type Compiled = import('node:vm').Script;

/**
 * Keeps what V8 compiles of the bundle for the next run of the same command, unless the user can have no cache. Node's own cache (`enableCompileCache`) is
 * taken when a file is loaded, before its functions have run, so that each run compiles them again: 50 ms of every start.
 */
function keepCompiledCode(process: Process): void {
  const folder = findCacheFolder(process);
  if (folder === undefined) return;
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const { basename, dirname, join } = process.getBuiltinModule('node:path');
  const { Script } = process.getBuiltinModule('node:vm');
  const Module = process.getBuiltinModule('node:module');
  // Node's types do not have this method.
  const loader = Module.prototype as unknown as ModuleLoader;
  const { _compile: compile } = loader;
  const compiled = new Map<string, Compiled>();
  loader._compile = function (code, path, ...rest) {
    if (!PART.test(path)) return Reflect.apply(compile, this, [code, path, ...rest]);
    const file = join(folder, basename(path));
    const cachedData = tryTo(() => readFileSync(file));
    const script = new Script(Module.wrap(code), { filename: path, ...(cachedData && { cachedData }) });
    if (cachedData === undefined || script.cachedDataRejected === true) compiled.set(file, script);
    const run = script.runInThisContext();
    return Reflect.apply(run, this.exports, [this.exports, this.require.bind(this), this, path, dirname(path)]);
  };
  // A word that is no command ends with another code.
  process.once('exit', (exitCode) => {
    if (exitCode === 0 || exitCode === 2) for (const [file, script] of compiled) write(file, script, process);
  });
}

/** Where code is kept for this Node and this command. Who can write there decides which code runs: only the user may. */
function findCacheFolder({ env, argv, version, arch, getuid, getBuiltinModule }: Process): string | undefined {
  const [, , command = ''] = argv;
  // Coverage is less exact with code from a cache.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE || !COMMAND.test(command)) return undefined;
  const { isAbsolute, join } = getBuiltinModule('node:path');
  const home = join(env.HOME ?? env.USERPROFILE ?? '', '.cache');
  const base = [env.NODE_COMPILE_CACHE, env.XDG_CACHE_HOME, home].find((path = '') => isAbsolute(path));
  // A container may have no home, and under sudo the home may belong to another user. Windows has no user ids, and closes a home to others.
  const found = base && getBuiltinModule('node:fs').statSync(base, { throwIfNoEntry: false });
  if (!found || (getuid !== undefined && (found.uid !== getuid() || (found.mode & 0o022) !== 0))) return undefined;
  return join(base, 'edgewise', `${version}-${arch}`, command);
}

/** V8 does not check what it takes from here: no run may ever read half of a file. */
function write(file: string, script: Compiled, { pid, getBuiltinModule }: Process): void {
  const { mkdirSync, renameSync, rmSync, writeFileSync } = getBuiltinModule('node:fs');
  const temporary = `${file}.${pid}`;
  const isWritten = tryTo(() => {
    mkdirSync(getBuiltinModule('node:path').dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, script.createCachedData(), { mode: 0o600, flag: 'wx', flush: true });
    renameSync(temporary, file);
    return true;
  });
  if (!isWritten) tryTo(() => rmSync(temporary, { force: true }));
}

/** The result of an action, or undefined where the file system does not permit it: without a cache a start only takes longer. */
function tryTo<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
