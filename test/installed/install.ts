import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
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

/**
 * Packs the package and installs the tarball, as a user does: `npm pack`, then `npm install` in its own folder. Other tests run in the
 * meantime, and `waitForInstall` waits.
 */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'edgewise-installed-')));
  const installed = { root, project: join(root, 'project'), bin: join(root, 'bin') };
  provide('installed', installed);
  const installing = install(installed).then(
    () => END,
    (error: unknown) => `${error}`,
  );
  const ended = installing.then(async (result) => {
    await writeFile(join(root, 'new-result'), result);
    await rename(join(root, 'new-result'), toResult(installed));
  });
  return async () => {
    await ended;
    await run('chmod', ['-R', 'u+rwX', root]);
    await rm(root, { recursive: true });
  };
}

/** What is written when the package is installed. Anything else is the error. */
const END = 'installed';

const toResult = ({ root }: Pick<Installed, 'root'>): string => join(root, 'result');

/** Waits until the package is installed. Rejects with the error if it cannot be. */
export async function waitForInstall(installed: Installed): Promise<Installed> {
  while (!existsSync(toResult(installed))) await setTimeout(20);
  const result = await readFile(toResult(installed), 'utf8');
  if (result !== END) throw new Error(`The package cannot be installed: ${result}`);
  return installed;
}

async function install({ root, project, bin }: Installed): Promise<void> {
  const packed = join(root, 'packed');
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
