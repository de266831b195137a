import type { Plan } from '../../model/plan.ts';
import type { Moved } from './moved.ts';

/** What is known of files. */
export interface KnownFiles {
  /** Texts that are there, by path. */
  readonly present: ReadonlyMap<string, string>;
  /** Texts that the plan did not know and that are to be written, by address. */
  readonly texts: ReadonlyMap<string, string>;
}

/** The files that a plan would write where it saw none, and where something else stands now. What an earlier apply of it wrote is no other thing, nor is an empty file. */
export function listAppeared({ files }: Plan, { present, texts }: KnownFiles): readonly Moved[] {
  return files.flatMap(({ address, path, text = texts.get(address), replaces }): readonly Moved[] => {
    const found = present.get(path) ?? '';
    if (replaces === true || found === '' || found === text) return [];
    return [{ address, message: `${path} did not exist when the plan was made, and would be overwritten` }];
  });
}
