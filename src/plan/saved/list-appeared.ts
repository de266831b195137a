import type { Plan } from '../../model/plan.ts';
import type { Moved } from './moved.ts';

/** What is known of files. */
export interface KnownFiles {
  /** Texts that are there, by path. */
  readonly present: ReadonlyMap<string, string>;
  /** Texts that the plan did not know and that are to be written, by address. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Files that did not exist for the plan and now have other content. Content that an earlier apply of the plan wrote, and an empty file, do not count. */
export function listAppeared({ files }: Plan, { present, texts }: KnownFiles): readonly Moved[] {
  return files.flatMap(({ address, path, text = texts.get(address), replaces }): readonly Moved[] => {
    const found = present.get(path) ?? '';
    if (replaces === true || found === '' || found === text) return [];
    return [{ address, message: `${path} did not exist when the plan was made, and would be overwritten` }];
  });
}
