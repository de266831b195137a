import packageJson from '../../package.json' with { type: 'json' };

/**
 * The entry point. Checks the Node version before it loads code that an older Node cannot parse. So the build makes
 * this file a bundle of its own, in older JavaScript.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** Equals `EXIT.invalid`, which is not imported, because an older Node may be unable to parse that file. */
const INVALID = 3;

/**
 * Matches files of the bundle. Each name contains a hash of the content, so that changed content never gets outdated
 * cached code: of the source, V8 checks only the length.
 */
const PART = /[/\\]parts[/\\][\w-]+-[\w-]{8}\.cjs$/;

/**
 * Matches the first word of a command line: a command, or an option such as `--version`. The word becomes the name of a
 * cache folder.
 */
const COMMAND = /^-{0,2}[a-z][a-z-]{0,20}$/;

if (isOlder(process.versions.node, NEEDED)) {
  const line = NEEDED.split('.')[0];
  process.stderr.write(
    `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}. Get one from a version manager (nvm install ${line}) or from npm (npm install --save-dev node@${line}, then npx --no-install edgewise), or use the container image (Dockerfile).\n`,
  );
  process.exitCode = INVALID;
} else {
  keepCompiledCode(process);
  // `import()` would search the program for the names of its exports first, which takes 4 ms.
  const { createRequire } = process.getBuiltinModule('node:module');
  const { runProgram }: typeof import('./program.ts') = createRequire(import.meta.url)('./program.ts');
  runProgram();
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

/**
 * The parts of `process` that this file uses. Node modules come from `getBuiltinModule`: an import would load all
 * exports of a module, which takes as long as the rest of the start.
 */
type Process = Pick<
  NodeJS.Process,
  'env' | 'argv' | 'version' | 'arch' | 'pid' | 'getuid' | 'getBuiltinModule' | 'once'
>;

/**
 * The method with which Node's loader compiles a file. Node's types omit it, but it can be relied on: many packages
 * replace it.
 */
interface ModuleLoader {
  _compile(this: NodeJS.Module, code: string, path: string, ...rest: unknown[]): unknown;
}

type CompiledScript = import('node:vm').Script;

/**
 * Caches compiled code for the next run of the same command, if there is a safe cache folder. Node's own cache
 * (`enableCompileCache`) stores a file when it is loaded, before its functions are compiled. So each run would compile
 * the functions again, which takes 50 ms.
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
  const compiled = new Map<string, CompiledScript>();
  loader._compile = function (code, path, ...rest) {
    if (!PART.test(path)) return Reflect.apply(compile, this, [code, path, ...rest]);
    const file = join(folder, basename(path));
    const cachedData = tryTo(() => readFileSync(file));
    const script = new Script(Module.wrap(code), { filename: path, ...(cachedData && { cachedData }) });
    if (cachedData === undefined || script.cachedDataRejected === true) compiled.set(file, script);
    const run = script.runInThisContext();
    return Reflect.apply(run, this.exports, [this.exports, this.require.bind(this), this, path, dirname(path)]);
  };
  // Other exit codes may come from an unknown command, which must not get a cache folder.
  process.once('exit', (exitCode) => {
    if (exitCode === 0 || exitCode === 2) for (const [file, script] of compiled) write(file, script, process);
  });
}

/**
 * Returns the cache folder of this command and this Node version. `undefined`: there is no folder that only the user
 * can write to. Another user could otherwise choose the code that runs.
 */
function findCacheFolder({ env, argv, version, arch, getuid, getBuiltinModule }: Process): string | undefined {
  const [, , command = ''] = argv;
  // Coverage is less exact with code from a cache.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE || !COMMAND.test(command)) return undefined;
  const { isAbsolute, join } = getBuiltinModule('node:path');
  const home = join(env.HOME ?? env.USERPROFILE ?? '', '.cache');
  const base = [env.NODE_COMPILE_CACHE, env.XDG_CACHE_HOME, home].find((path = '') => isAbsolute(path));
  // The home folder may be missing (in a container) or belong to another user (under sudo). Windows has no user ids,
  // and protects the home folder from other users.
  const found = base && getBuiltinModule('node:fs').statSync(base, { throwIfNoEntry: false });
  if (!found || (getuid !== undefined && (found.uid !== getuid() || (found.mode & 0o022) !== 0))) return undefined;
  return join(base, 'edgewise', `${version}-${arch}`, command);
}

/** Writes atomically: V8 does not validate cached code, so no run may read a partial file. */
function write(file: string, script: CompiledScript, { pid, getBuiltinModule }: Process): void {
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

/** Returns undefined if the action fails with a system error: without a cache, the start only takes longer. */
function tryTo<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
