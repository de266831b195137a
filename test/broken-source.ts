import { registerHooks } from 'node:module';

/** A change of a source that tests must notice. */
export interface BrokenSource {
  /** Relative to the project's folder, such as `src/kinds/diff.ts`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The variable that names the broken source. */
export const MUTANT_VARIABLE = 'EDGEWISE_MUTANT';

/** Breaks a source for every module that is loaded later. */
export function breakSource({ file, from, to }: BrokenSource): void {
  changeSource(file, (source) => {
    if (!source.includes(from)) throw new Error(`${file} does not contain ${from}`);
    return source.replace(from, () => to);
  });
}

/** Changes a source for every module that is loaded later. Two changes of one source add up. */
export function changeSource(file: string, change: (source: string) => string): void {
  const url = new URL(`../${file}`, import.meta.url);
  registerHooks({
    load: (loaded, context, next) => {
      const module = next(loaded, context);
      if (loaded !== url.href) return module;
      return { ...module, source: change(String(module.source)) };
    },
  });
}
