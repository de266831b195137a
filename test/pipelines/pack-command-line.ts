import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from './tools.ts';

/** Packs the built command line without the library, whose hundreds of files take most of the time of an install. Returns the tarball. */
export async function packCommandLine(work: string): Promise<string> {
  const folder = join(work, 'package');
  await cp('dist', join(folder, 'dist'), { recursive: true, filter: (path) => !path.endsWith('/lib') });
  const { name, version, type, bin, engines } = JSON.parse(await readFile('package.json', 'utf8'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version, type, bin, engines }));
  const { output } = await runTool('npm', ['pack', '--silent', '--pack-destination', work], { cwd: folder });
  return join(work, output.trim().split('\n').at(-1) ?? '');
}
