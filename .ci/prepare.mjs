import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/**
 * Builds the package when npm prepares it: after `npm ci` in a checkout, before it is packed, and for an install from git. For a
 * global install from git, as pre-commit makes one, npm installs the development dependencies globally, where nothing finds them:
 * they are installed here, then. Plain JavaScript, since it also runs on Nodes that cannot read TypeScript.
 */
const PATH = [resolve('node_modules', '.bin'), process.env.PATH].join(delimiter);
const options = { env: { ...process.env, PATH, npm_config_global: 'false' }, shell: process.platform === 'win32' };

/** As `EXIT.invalid`. */
const INVALID = 3;

refuseOldNode();
if (!existsSync(join('node_modules', 'vite'))) npm('ci', '--include=dev', '--ignore-scripts', '--silent');
npm('run', '--silent', 'build');

/** The Node that builds is the one among the development dependencies, where there is one: npm may run on an older one. */
function refuseOldNode() {
  const { version, engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const needed = engines.node.replace('>=', '');
  const found = execFileSync('node', ['--version'], { ...options, encoding: 'utf8' })
    .trim()
    .slice(1);
  if (found.localeCompare(needed, 'en', { numeric: true }) >= 0) return;
  console.error(`edgewise ${version} needs Node ${needed} or newer; this is Node ${found}.`);
  process.exit(INVALID);
}

/** What fails says so itself. */
function npm(...args) {
  const { status, error } = spawnSync('npm', args, { ...options, stdio: 'inherit' });
  if (error !== undefined) console.error(`npm cannot be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
