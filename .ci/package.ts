import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyCheckout, packCheckout } from './pack.ts';

/**
 * `node .ci/package.ts FOLDER`: installs the package into new folders, as npm publishes it and from the git repository, and uses it there as a
 * user would, on each supported Node: the command, the library, and its types. On older Nodes it expects the message that names a supported
 * one. A Node in FOLDER/node-MAJOR is not installed again.
 */

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const COMPANIONS = ['msw', 'typescript', '@types/node'];
/** Makes npm print only errors. */
const QUIETLY = ['--loglevel=error', '--no-progress', '--no-audit', '--no-fund'];
/** The largest output of one program, in bytes. */
const MAX_OUTPUT = 2 ** 26;
/** The package in `from 'zod'`, `import('sshpk')` and `from '@dagrejs/dagre/sub'`. */
const IMPORTED = /^[^*\n]*(?:\bfrom |\bimport ?[(]?)['"]((?!node:)(?:@[\w-]+\/)?[\w][\w.-]*)/gm;
const PROJECT = '{ "private": true, "type": "module", "allowScripts": { "node": true } }\n';

/** A program whose fake service runs in msw 2. */
const FAKE_SERVICE = `
import { createMswHandlers } from 'edgewise/msw';
import { createServer } from 'edgewise/server';
import { setupServer } from 'msw/node';
const service = setupServer(...createMswHandlers(createServer(), 'https://api.test'));
service.listen();
const headers = { authorization: 'Bearer dev', 'service-version': '2' };
const { status } = await fetch('https://api.test/edges/tcp', { headers });
if (status !== 200) throw new Error(\`HTTP \${status}\`);
service.close();
`;

const work = resolve(process.argv[2] ?? 'dist/package');
const packageJson: PackageJson = JSON.parse(readFileSync('package.json', 'utf8'));
const oldest = packageJson.engines.node.replace('>=', '');
const SUPPORTED = [oldest, '24', '26'];
const TOO_OLD = ['14', '20', '22.18'];

mkdirSync(work, { recursive: true });
const repository = createRepository(join(work, 'repository'));
const [fromTarball, fromGit] = await Promise.all([
  packPackage().then(async (tarball) => {
    await checkBesideOlderMsw(tarball);
    return installPackage('tarball', tarball);
  }),
  installPackage('git', `git+${pathToFileURL(repository)}`),
  installNodes(),
]);
const packed = join(fromTarball, 'node_modules', 'edgewise');
checkManifest(packed);
checkLinks(packed);
checkCommandAlone(packed);
await Promise.all(
  [fromTarball, fromGit].map(async (project) => {
    // The types are the same on each Node, so the compiler runs once.
    await runProgram(join(project, 'node_modules', '.bin', 'tsc'), ['-p', '.'], { cwd: project });
    for (const version of SUPPORTED) await checkOnNode(project, version);
  }),
);
for (const version of TOO_OLD) expectUnsupportedNode(fromTarball, toNodeFolder(version));

/** Packs the package, and checks the tarball. */
async function packPackage(): Promise<string> {
  const tarball = await packCheckout(work);
  await checkShape(tarball);
  return tarball;
}

/**
 * Checks that the entry points match package.json, and that an importer finds their types. They are ES modules, which each supported Node can
 * also `require`.
 */
async function checkShape(file: string): Promise<void> {
  const bin = (name: string) => join('node_modules', '.bin', name);
  await runProgram(bin('publint'), ['run', file, '--strict']);
  await runProgram(bin('attw'), [file, '--profile', 'esm-only', '--no-definitely-typed', '--no-emoji']);
}

/** Creates a git repository with these files. */
function createRepository(folder: string): string {
  copyCheckout(folder);
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

/** Creates a project with the package and the packages of the example program. Returns its folder. */
async function installPackage(name: string, source: string): Promise<string> {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), PROJECT);
  const companions = COMPANIONS.map((companion) => `${companion}@${packageJson.devDependencies[companion]}`);
  const install = ['install', ...QUIETLY, '--save-dev', source, ...companions];
  await runProgram('npm', install, { cwd: folder });
  cpSync('test/consumer', folder, { recursive: true });
  cpSync('examples/quickstart', join(folder, 'manifests'), { recursive: true });
  return folder;
}

/** Checks that a project with msw 2 can install the package and use it in its tests. npm refuses a version that a peer dependency rules out. */
async function checkBesideOlderMsw(tarball: string): Promise<void> {
  const folder = join(work, 'msw-2');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), PROJECT);
  writeFileSync(join(folder, 'fake-service.js'), FAKE_SERVICE);
  await runProgram('npm', ['install', ...QUIETLY, '--strict-peer-deps', tarball, 'msw@2'], { cwd: folder });
  await runProgram(process.execPath, ['fake-service.js'], { cwd: folder });
}

/** Installs the Nodes that are missing. */
async function installNodes(): Promise<void> {
  for (const version of [...SUPPORTED, ...TOO_OLD]) {
    const folder = join(work, `node-${version}`);
    if (existsSync(folder)) continue;
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), PROJECT);
    await runProgram('npm', ['install', ...QUIETLY, `node@${version}`], { cwd: folder });
  }
}

/** Returns the folder of a Node's executable. */
function toNodeFolder(version: string): string {
  return join(work, `node-${version}`, 'node_modules', '.bin');
}

/** Runs a program, and then shows its whole output, because other programs run at the same time. */
function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  return new Promise((done, fail) => {
    execFile(program, args, { ...options, encoding: 'utf8', maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      console.log(`$ ${[program, ...args].join(' ')}\n${stdout}${stderr}`);
      if (error === null) done(stdout);
      else fail(new Error(`${program} failed`, { cause: error }));
    });
  });
}

async function checkOnNode(folder: string, version: string): Promise<void> {
  const account = { EDGEWISE_BASE_URL: `embedded:account-${version}.json` };
  const PATH = [toNodeFolder(version), join(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);
  const env = { ...process.env, ...account, PATH };
  const run = (command: string, ...args: readonly string[]) => runProgram(command, args, { cwd: folder, env });
  await run('node', '--version');
  await run('edgewise', '--version');
  const fresh = `fresh-${version}`;
  await run('edgewise', 'init', fresh, '--name', fresh.replaceAll('.', '-'), '--base-url', 'embedded:');
  await run('edgewise', 'validate', fresh);
  await run('edgewise', 'plan', fresh);
  await run('edgewise', 'validate', 'manifests');
  await run('edgewise', 'plan', 'manifests');
  await run('edgewise', 'apply', '--yes', 'manifests');
  await run('edgewise', 'plan', '--detailed-exitcode', 'manifests');
  await run('node', 'consumer.ts', packageJson.version);
  await run(
    'node',
    '--input-type=commonjs',
    '--eval',
    "require('edgewise').openStack({ paths: ['manifests'] }).then((stack) => stack.plan())",
  );
}

/** Checks that each command names the required Node in one line, and so does an install from git, which builds. */
function expectUnsupportedNode(folder: string, node: string): void {
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

/** Checks that the command line needs no other package. */
function checkCommandAlone(packed: string): void {
  const folder = join(work, 'alone');
  cpSync(packed, folder, { recursive: true });
  const env = { ...process.env, EDGEWISE_BASE_URL: 'embedded:' };
  const example = join('examples', 'quickstart');
  const args = [join(folder, 'dist', 'cli.js'), 'plan', '--format', 'markdown', example];
  execFileSync(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Checks that the dependencies of the package are the packages that the library imports. npm has no install script to warn about. */
function checkManifest(folder: string): void {
  const packed: PackageJson = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const unwanted = ['devDependencies', 'scripts'].filter((key) => Object.hasOwn(packed, key));
  if (unwanted.length > 0) throw new Error(`The package.json that is packed has ${unwanted.join(' and ')}`);
  const declared = Object.keys(packed.dependencies).sort();
  const imported = listImported(join(folder, 'dist', 'lib')).filter((name) => name !== 'msw');
  console.log(`The library imports ${imported.join(', ')}.`);
  if (declared.join() !== imported.join()) throw new Error(`package.json declares ${declared.join(', ')}`);
}

/** Lists the packages that the modules of a folder, and their types, import. */
function listImported(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /[.](js|d[.]ts)$/.test(file),
  );
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  const names = texts.flatMap((text) => Array.from(text.matchAll(IMPORTED), ([, name = '']) => name));
  return [...new Set(names)].sort();
}

/** Checks that the package contains each file that the README links to. */
function checkLinks(folder: string): void {
  const document = readFileSync(join(folder, 'README.md'), 'utf8');
  const links = Array.from(document.matchAll(/(?:\]\(|src(?:set)?=")([^)#\s"]+)/g), ([, link = '']) => link);
  const missing = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(folder, link)));
  if (missing.length > 0) throw new Error(`The package lacks what its README links to: ${missing.join(', ')}`);
}
