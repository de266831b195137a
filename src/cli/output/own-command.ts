import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import type { Context } from '../context.ts';

const NAMES = ['edgewise', 'edgewise.cmd'];
const PROJECT_BIN = join('node_modules', '.bin');

/**
 * How this command is called from a shell in the working folder. What npm puts before the path counts for nothing: it is gone when the command has ended.
 * Where the path has no edgewise, and a project does or npx got it, npx finds it again.
 */
export function findOwnCommand({ env, cwd }: Pick<Context, 'env' | 'cwd'>): 'edgewise' | 'npx edgewise' {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  if (folders.some((folder) => !isOfNpm(folder) && hasCommand(resolve(cwd, folder)))) return 'edgewise';
  const isFound = env['npm_command'] === 'exec' || listParents(cwd).some((at) => hasCommand(join(at, PROJECT_BIN)));
  return isFound ? 'npx edgewise' : 'edgewise';
}

function isOfNpm(folder: string): boolean {
  return basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules';
}

function hasCommand(folder: string): boolean {
  return NAMES.some((name) => existsSync(join(folder, name)));
}

function listParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...listParents(parent)];
}
