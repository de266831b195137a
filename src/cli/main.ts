import packageJson from '../../package.json' with { type: 'json' };

/**
 * Where the command starts. It says which Node it needs before anything is loaded that an older Node cannot read: the build puts this file, and nothing else
 * of src, into a file of its own in older JavaScript.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** Equals `EXIT.invalid`, whose file an older Node may not be able to read. */
const INVALID = 3;

if (isOlder(process.versions.node, NEEDED)) {
  const line = NEEDED.split('.')[0];
  process.stderr.write(
    `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}. Get one from a version manager (nvm install ${line}) or from npm (npm install --save-dev node@${line}, then npx --no-install edgewise), or use the container image (Dockerfile).\n`,
  );
  process.exitCode = INVALID;
} else {
  keepCompiledCode();
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

/**
 * Has Node keep compiled code for the next start, in the user's own cache: any user who can write there decides which code runs. A container may have no
 * home.
 */
function keepCompiledCode(): void {
  // An import of these would load all that they export, which takes as long as the start.
  const { isAbsolute, join } = process.getBuiltinModule('node:path');
  const { HOME, USERPROFILE, XDG_CACHE_HOME } = process.env;
  const cache = [XDG_CACHE_HOME, join(HOME ?? USERPROFILE ?? '', '.cache')].find((path = '') => isAbsolute(path));
  if (cache !== undefined && isOwn(cache)) {
    process.getBuiltinModule('node:module').enableCompileCache(join(cache, 'edgewise'));
  }
}

/** Under sudo the home may belong to another user. Windows has no user ids, and closes a home to others. */
function isOwn(folder: string): boolean {
  const found = process.getBuiltinModule('node:fs').statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0);
}
