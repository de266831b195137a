import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const NOT_IN_GIT: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** Copies the files of this checkout that git tracks. The checkout may be a shallow clone, belong to another user, or be no repository. */
export function copyCheckout(folder: string): void {
  cpSync('.', folder, { recursive: true, filter: (path) => !NOT_IN_GIT.has(basename(path)) });
}

/**
 * Packs the package as npm publishes it, into `folder`. Packs a copy, because packing builds, and changes package.json for a while. `isBuilt`:
 * `dist` is up to date, so it is not built again. Returns the path of the tarball.
 */
export async function packCheckout(folder: string, { isBuilt = false } = {}): Promise<string> {
  const checkout = join(folder, 'checkout');
  const run = promisify(execFile);
  copyCheckout(checkout);
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  if (isBuilt) {
    cpSync('dist', join(checkout, 'dist'), { recursive: true });
    await run(process.execPath, ['.ci/packed-manifest.mjs', 'write'], { cwd: checkout });
  }
  const pack = ['pack', '--silent', '--pack-destination', folder, ...(isBuilt ? ['--ignore-scripts'] : [])];
  const { stdout } = await run('npm', pack, { cwd: checkout });
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
}
