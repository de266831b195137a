import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { Plugin } from 'vitest/config';

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
  const url = new URL(`../${file}`, import.meta.url);
  const source = replaceIn(readFileSync(url, 'utf8'), { file, from, to });
  registerHooks({
    load: (loaded, context, next) =>
      loaded === url.href ? { format: 'module-typescript', source, shortCircuit: true } : next(loaded, context),
  });
}

/** Breaks a source for every module that a test runner loads. */
export function withBrokenSource(broken: BrokenSource | undefined): Plugin {
  const isBroken = (id: string) => broken !== undefined && id.endsWith(`/${broken.file}`);
  return {
    name: 'broken-source',
    enforce: 'pre',
    // Other runs do not use its cache.
    configureVitest: ({ defineCacheKeyGenerator }) =>
      defineCacheKeyGenerator(({ id }) => (isBroken(id) ? false : undefined)),
    transform: (code, id) => (broken !== undefined && isBroken(id) ? replaceIn(code, broken) : undefined),
  };
}

function replaceIn(source: string, { file, from, to }: BrokenSource): string {
  if (!source.includes(from)) throw new Error(`${file} does not contain ${from}`);
  return source.replace(from, () => to);
}
