import { type CacheSurroundings, findKeptFile } from './compile-cache.ts';
import { createEngine } from './engine.ts';
import { createParts } from './load-parts.ts';

/** Where the program is. */
export interface ProgramSurroundings extends CacheSurroundings {
  readonly process: CacheSurroundings['process'] & Pick<NodeJS.Process, 'pid' | 'once'>;
  /** The folder of its files. */
  readonly folder: string;
}

/** The file of the program itself, as the build names it. */
const PROGRAM = 'program.cjs';

/** Runs the program. What was compiled of it is kept at the end of the process. */
export function startProgram(surroundings: ProgramSurroundings): void {
  const { process, folder } = surroundings;
  const engine = createEngine(process);
  const { load, keep } = createParts({ process, folder, engine, keptFile: findKeptFile(surroundings) });
  process.once('exit', keep);
  // What the file exports is what it was made of.
  const { runProgram } = load(PROGRAM) as typeof import('./program.ts');
  runProgram(engine);
}
