import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { findFileUpward } from '../../files/trusted-users.ts';
import { quoteForShell } from '../../model/shell-words.ts';
import type { Context } from '../context.ts';

const NAMES = ['edgewise', 'edgewise.cmd'];

/**
 * Returns how the user can call edgewise in the working folder. Chooses npx if edgewise is not on PATH, and npx either
 * started this run or would find edgewise in a `node_modules` here or above, and else the file that was started. Ignores
 * folders that npm adds to PATH only for this command. `--no-install` keeps npx from running a package of that name from
 * a registry.
 */
export function detectInvocation(context: Pick<Context, 'env' | 'cwd' | 'uid' | 'root' | 'program'>): string {
  const { env, cwd, program } = context;
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  if (folders.some((folder) => !isOfNpm(folder) && hasCommand(resolve(cwd, folder)))) return 'edgewise';
  const isInstalled = NAMES.some((name) => findFileUpward(cwd, `node_modules/.bin/${name}`, context) !== undefined);
  if (env['npm_command'] === 'exec' || isInstalled) return 'npx --no-install edgewise';
  return program === undefined ? 'edgewise' : callFile(program, cwd);
}

/** The shorter of both paths of a program, for a shell. */
function callFile(program: string, cwd: string): string {
  const below = relative(cwd, program);
  const path = below.length < program.length ? (below.includes(sep) ? below : `.${sep}${below}`) : program;
  const word = quoteForShell(path);
  return /\.[cm]?[jt]s$/.test(path) ? `node ${word}` : word;
}

function isOfNpm(folder: string): boolean {
  return basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules';
}

function hasCommand(folder: string): boolean {
  return NAMES.some((name) => existsSync(join(folder, name)));
}
