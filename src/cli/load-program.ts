import { type CacheSurroundings, findKeptFile } from './compile-cache.ts';
import { createParts } from './load-parts.ts';

/** Where the program is. */
export interface ProgramSurroundings extends CacheSurroundings {
  readonly process: CacheSurroundings['process'] & Pick<NodeJS.Process, 'pid' | 'once'>;
  /** The folder of its files. */
  readonly folder: string;
}

/** The file of the program itself, as the build names it. */
const PROGRAM = 'program.cjs';

/** Loads the program. What was compiled of it is kept at the end of the process. */
export function loadProgram(surroundings: ProgramSurroundings): typeof import('./program.ts') {
  const { process, folder } = surroundings;
  const { load, keep } = createParts({ process, folder, keptFile: findKeptFile(surroundings) });
  process.once('exit', keep);
  // What the file exports is what it was made of.
  return load(PROGRAM) as typeof import('./program.ts');
}
