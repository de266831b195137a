import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/** The licences of the packages that a bundle's modules (by path) come from. Throws when one has no licence. */
export async function renderLicenses(modules: readonly string[]): Promise<string> {
  const texts = await Promise.all(listFolders(modules).map(renderLicense));
  return `The files of dist/parts hold the following packages.\n${texts.join('')}`;
}

/** The packages that a bundle's modules come from. */
export async function listPackages(modules: readonly string[]): Promise<readonly BundledPackage[]> {
  return Promise.all(listFolders(modules).map(readPackage));
}

function listFolders(modules: readonly string[]): readonly string[] {
  return [...new Set(modules.flatMap((module) => PACKAGE.exec(module)?.[0] ?? []))].sort();
}

async function renderLicense(folder: string): Promise<string> {
  const { name, version, license } = await readPackage(folder);
  const files = (await readdir(folder)).filter((file) => LICENSE_FILE.test(file)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  if (license === undefined && texts.length === 0) throw new Error(`${name} has no licence`);
  const heading = `${name} ${version} (${license ?? 'see below'})`;
  return `\n${'-'.repeat(80)}\n${heading}\n\n${texts.map((text) => `${text.trim()}\n`).join('\n')}`;
}

/** A package, as its package.json names it. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const notice: BundledPackage = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return notice;
}
