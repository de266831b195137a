import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/**
 * `node .ci/package.ts FOLDER`: installs the package, as npm would publish it, into a folder that does not exist yet, and uses it
 * there as a stranger would, on the oldest Node that it supports: the command, the library, and its types.
 */

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
}

const COMPANIONS = ['msw', 'typescript', '@types/node'];

function installPackage(folder: string, { engines, devDependencies }: PackageJson): void {
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'package.json'),
    '{ "private": true, "type": "module", "allowScripts": { "node": true } }\n',
  );
  const archive = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { encoding: 'utf8' }).trim();
  const node = `node@${engines.node.replace('>=', '')}`;
  const companions = COMPANIONS.map((name) => `${name}@${devDependencies[name]}`);
  const install = ['install', '--silent', `./${archive}`, node, ...companions];
  execFileSync('npm', install, { cwd: folder, stdio: 'inherit' });
}

/** Runs a command that the folder's packages brought; shows what it prints. Throws when it fails. */
function run(folder: string, command: string, ...args: readonly string[]): void {
  console.log(`$ ${command} ${args.join(' ')}`);
  const bin = join(folder, 'node_modules', '.bin');
  const env = {
    ...process.env,
    PATH: [bin, process.env['PATH']].join(delimiter),
    EDGEWISE_BASE_URL: 'embedded:account.json',
  };
  execFileSync(join(bin, command), args, { cwd: folder, env, stdio: 'inherit' });
}

const folder = resolve(process.argv[2] ?? 'dist/package');
const packageJson: PackageJson = JSON.parse(readFileSync('package.json', 'utf8'));
installPackage(folder, packageJson);
cpSync('.ci/consumer', folder, { recursive: true });
cpSync('examples/quickstart', join(folder, 'manifests'), { recursive: true });

run(folder, 'node', '--version');
run(folder, 'edgewise', '--version');
run(folder, 'edgewise', 'validate', 'manifests');
run(folder, 'edgewise', 'plan', 'manifests');
run(folder, 'edgewise', 'apply', '--yes', 'manifests');
run(folder, 'edgewise', 'plan', '--detailed-exitcode', 'manifests');
run(folder, 'tsc', '-p', '.');
run(folder, 'node', 'consumer.ts', packageJson.version);
