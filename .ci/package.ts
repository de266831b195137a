import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `node .ci/package.ts FOLDER`: installs the package into folders that do not exist yet, as npm would publish it and from the git
 * repository, and uses it there as a stranger would, on each Node that it supports: the command, the library, and its types. On
 * older Nodes it says which one it needs.
 */

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
}

const COMPANIONS = ['msw', 'typescript', '@types/node'];
const NOT_IN_GIT = ['.git', 'node_modules', 'dist', 'coverage'];
/** Says what is wrong, and nothing else. */
const QUIETLY = ['--loglevel=error', '--no-progress', '--no-audit', '--no-fund'];
const PROJECT = '{ "private": true, "type": "module", "allowScripts": { "node": true } }\n';

const work = resolve(process.argv[2] ?? 'dist/package');
const packageJson: PackageJson = JSON.parse(readFileSync('package.json', 'utf8'));
const oldest = packageJson.engines.node.replace('>=', '');
const SUPPORTED = [oldest, '24', '26'];
const MAX_BYTES = 1_100_000;
const TOO_OLD = ['14', '20', '22.18'];

mkdirSync(work, { recursive: true });
const archive = execFileSync('npm', ['pack', '--silent', '--pack-destination', work], { encoding: 'utf8' }).trim();
const tarball = join(work, archive.split('\n').at(-1) ?? '');
checkSize(tarball);
checkShape(tarball);
const projects = [
  installPackage('tarball', tarball),
  installPackage('git', `git+${pathToFileURL(createRepository(join(work, 'repository')))}`),
];
checkManifest(join(work, 'tarball', 'node_modules', 'edgewise'));
checkLinks(join(work, 'tarball', 'node_modules', 'edgewise'));
useAlone(join(work, 'tarball', 'node_modules', 'edgewise'));
for (const version of SUPPORTED) for (const project of projects) usePackage(project, installNode(version));
for (const version of TOO_OLD) expectRefusal(projects[0] ?? '', installNode(version));

/** What makes the package larger is to be noticed. */
function checkSize(file: string): void {
  const { size } = statSync(file);
  console.log(`The tarball has ${size} bytes.`);
  if (size > MAX_BYTES) throw new Error(`The tarball has more than ${MAX_BYTES} bytes`);
}

/**
 * What package.json promises of the entry points is so, and their types are found by who imports them. That is: as modules, which each Node that is
 * supported also gives to `require`.
 */
function checkShape(file: string): void {
  const bin = (name: string) => join('node_modules', '.bin', name);
  execFileSync(bin('publint'), ['run', file, '--strict'], { stdio: 'inherit' });
  execFileSync(bin('attw'), [file, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji'], {
    stdio: 'inherit',
  });
}

/** Gives a git repository of these files: this folder may be a shallow clone, another user's, or no repository at all. */
function createRepository(folder: string): string {
  const isSource = (path: string) => !NOT_IN_GIT.includes(basename(path));
  cpSync('.', folder, { recursive: true, filter: isSource });
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  git('init', '--quiet');
  git('add', '--all');
  git(
    '-c',
    'user.name=package',
    '-c',
    'user.email=package@localhost',
    'commit',
    '--quiet',
    '--message',
    'as it is here',
  );
  return folder;
}

/** Gives the folder of an empty project with the package and what the example program needs besides. */
function installPackage(name: string, source: string): string {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), PROJECT);
  const companions = COMPANIONS.map((companion) => `${companion}@${packageJson.devDependencies[companion]}`);
  const install = ['install', ...QUIETLY, '--save-dev', source, ...companions];
  execFileSync('npm', install, { cwd: folder, stdio: 'inherit' });
  cpSync('.ci/consumer', folder, { recursive: true });
  cpSync('examples/quickstart', join(folder, 'manifests'), { recursive: true });
  return folder;
}

/** Gives the folder of a Node's executable. */
function installNode(version: string): string {
  const folder = join(work, `node-${version}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), PROJECT);
  execFileSync('npm', ['install', ...QUIETLY, `node@${version}`], { cwd: folder, stdio: 'inherit' });
  return join(folder, 'node_modules', '.bin');
}

function usePackage(folder: string, node: string): void {
  const account = { EDGEWISE_BASE_URL: `embedded:account-${Date.now()}.json` };
  const run = (command: string, ...args: readonly string[]) => {
    console.log(`$ ${command} ${args.join(' ')}`);
    const PATH = [node, join(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);
    execFileSync(command, args, { cwd: folder, env: { ...process.env, ...account, PATH }, stdio: 'inherit' });
  };
  run('node', '--version');
  run('edgewise', '--version');
  const fresh = `fresh-${Date.now()}`;
  run('edgewise', 'init', fresh, '--stack', 'fresh', '--base-url', 'embedded:');
  run('edgewise', 'validate', fresh);
  run('edgewise', 'plan', fresh);
  run('edgewise', 'validate', 'manifests');
  run('edgewise', 'plan', 'manifests');
  run('edgewise', 'apply', '--yes', 'manifests');
  run('edgewise', 'plan', '--detailed-exitcode', 'manifests');
  run('tsc', '-p', '.');
  run('node', 'consumer.ts', packageJson.version);
  run(
    'node',
    '--input-type=commonjs',
    '--eval',
    "require('edgewise').openStack({ paths: ['manifests'] }).then((stack) => stack.plan())",
  );
}

/** Each command says in one line which Node it needs, and so does an install from git, which builds. */
function expectRefusal(folder: string, node: string): void {
  const env = { ...process.env, PATH: [node, process.env['PATH']].join(delimiter) };
  const command = join(folder, 'node_modules', '.bin', 'edgewise');
  const refuse = (cwd: string, program: string, ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
    console.log(stderr.trimEnd());
    const isRefusal = stderr.startsWith(`edgewise ${packageJson.version} needs Node ${oldest} or newer;`);
    if (status !== 3 || stdout !== '' || !isRefusal || stderr.trimEnd().includes('\n'))
      throw new Error(`${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  };
  for (const args of [['--version'], ['plan', 'manifests'], ['serve']]) refuse(folder, command, ...args);
  refuse(join(work, 'repository'), 'node', join('.ci', 'prepare.mjs'));
}

/** Neither the command line nor the library needs a package beside it. */
function useAlone(packed: string): void {
  const folder = join(work, 'alone');
  cpSync(packed, folder, { recursive: true });
  const env = { ...process.env, EDGEWISE_BASE_URL: 'embedded:' };
  const example = join('examples', 'quickstart');
  const program = `import('edgewise').then(({ openStack }) => openStack({ paths: ['${example}'] })).then((stack) => stack.plan())`;
  for (const args of [
    [join(folder, 'dist', 'cli.js'), 'plan', '--format', 'markdown', example],
    ['--eval', program],
  ])
    execFileSync(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Nothing is installed beside the package, and npm has no script of its to warn of. */
function checkManifest(folder: string): void {
  const packed: object = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const unwanted = ['dependencies', 'devDependencies', 'scripts'].filter((key) => Object.hasOwn(packed, key));
  if (unwanted.length > 0) throw new Error(`The package.json that is packed has ${unwanted.join(' and ')}`);
}

/** What the README links to is in the package. */
function checkLinks(folder: string): void {
  const document = readFileSync(join(folder, 'README.md'), 'utf8');
  const links = Array.from(document.matchAll(/(?:\]\(|src(?:set)?=")([^)#\s"]+)/g), ([, link = '']) => link);
  const missing = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(folder, link)));
  if (missing.length > 0) throw new Error(`The package lacks what its README links to: ${missing.join(', ')}`);
}
