import type { SourcePlace } from '../../model/diagnostic.ts';
import { findPrinter } from '../../model/source-name.ts';
import type { FormOptions } from '../report.ts';

/** A position in a file of the repository. Of what a tool made, that is the file that it says; its lines are not known. */
export interface FilePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Where a place is in the repository; nothing for standard input, unless the text says which file it was made from. What a command printed is where the
 * command stands.
 */
export function toFilePosition(
  { file, line, column, origin }: Omit<SourcePlace, 'excerpt'>,
  {
    toRepositoryPath = (path) => path,
    toOriginPath = (path) => path,
  }: Pick<FormOptions, 'toRepositoryPath' | 'toOriginPath'>,
): FilePosition | undefined {
  const printer = findPrinter(file);
  if (origin !== undefined) return { file: toOriginPath(origin, printer?.file), line: 1, column: 1 };
  if (file === '<stdin>') return undefined;
  if (printer !== undefined) return { file: toRepositoryPath(printer.file), line: printer.line, column: 1 };
  return { file: toRepositoryPath(file), line: Math.max(1, line), column: Math.max(1, column) };
}

/** The page that shows a file of the repository at a line; nothing for what is no file of it. */
export function toFilePage(filesUrl: string | undefined, { file, line }: FilePosition): string | undefined {
  const steps = file.split('/').filter((step) => step !== '.');
  const isInside = !file.startsWith('/') && !steps.some((step) => step === '..' || step === '');
  if (filesUrl === undefined || !isInside || !file.isWellFormed()) return undefined;
  return `${filesUrl}${steps.map(toUrlStep).join('/')}#L${line}`;
}

/** Also what means something in Markdown. */
function toUrlStep(step: string): string {
  return encodeURIComponent(step).replace(/[!'()*~_]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
