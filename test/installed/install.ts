import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { packCheckout } from '../../.ci/pack.ts';
import { findBuiltProgram } from '../built-program.ts';

/** The installed package, once for all tests of this folder. Every user can read it. */
export interface Installed {
  /** The folder of all others. Tests create their sandboxes in it. */
  readonly root: string;
  /** A project with the installed package, and nothing else. */
  readonly project: string;
  /** A folder with the `node` that runs the tests, because its own folder may be closed to other users. */
  readonly bin: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly installed: Installed;
  }
}

const run = promisify(execFile);

/** Packs the package and installs the tarball, as a user does: `npm pack`, then `npm install` in its own folder. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'edgewise-installed-')));
  const [project, bin, packed] = [join(root, 'project'), join(root, 'bin'), join(root, 'packed')];
  await Promise.all([project, bin, packed].map((folder) => mkdir(folder)));
  await Promise.all([
    copyFile(process.execPath, join(bin, 'node')),
    packCheckout(packed, { isBuilt: findBuiltProgram() !== undefined }).then((tarball) =>
      installTarball(tarball, project),
    ),
  ]);
  await rm(packed, { recursive: true });
  await chmod(root, 0o755);
  await run('chmod', ['-R', 'a+rX', root]);
  provide('installed', { root, project, bin });
  return async () => {
    await run('chmod', ['-R', 'u+rwX', root]);
    await rm(root, { recursive: true });
  };
}

/**
 * Installs without a registry. `npm ci` has filled npm's cache from the lock file of the checkout, so the project gets the part of that lock
 * file that the package needs.
 */
async function installTarball(tarball: string, project: string): Promise<void> {
  const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
  const { '': own, ...others } = packages;
  const needed = Object.entries<object>(others).filter(([, entry]) => !('dev' in entry || 'peer' in entry));
  const { name, version, dependencies, bin, engines } = own;
  const resolved = `file:${tarball}`;
  const root = { private: true, dependencies: { [name]: resolved } };
  const installed = { [`node_modules/${name}`]: { version, resolved, dependencies, bin, engines } };
  const lock = { lockfileVersion: 3, packages: { '': root, ...Object.fromEntries(needed), ...installed } };
  await writeFile(join(project, 'package.json'), JSON.stringify(root));
  await writeFile(join(project, 'package-lock.json'), JSON.stringify(lock));
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: project });
}
