import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/**
 * Builds the package when npm prepares it: after `npm ci` in a checkout, before it is packed, and for an install from git. For a
 * global install from git, as pre-commit makes one, npm installs the development dependencies globally, where nothing finds them:
 * they are installed here, then. Plain JavaScript, since it also runs on Nodes that cannot read TypeScript.
 */
const bin = resolve('node_modules', '.bin');
const PATH = [bin, process.env.PATH].join(delimiter);
const env = { ...process.env, PATH, npm_config_global: 'false' };
const shell = process.platform === 'win32';

if (!existsSync(join('node_modules', 'rolldown'))) {
  execFileSync('npm', ['ci', '--include=dev', '--ignore-scripts', '--silent'], { env, stdio: 'inherit', shell });
}
execFileSync('npm', ['run', '--silent', 'build'], { env, stdio: 'inherit', shell });
