import type { Plugin } from 'vitest/config';

const TABLES = new URL('tables.ts', import.meta.url).pathname;

/** Adds the invented kinds to the registry with one line, as a developer would. All modules that are loaded later have them. */
export function withStrangers(): Plugin {
  return {
    name: 'strangers',
    enforce: 'pre',
    transform: (code, id) => {
      if (!id.endsWith('/src/kinds/tables/registry.ts')) return undefined;
      const added = code.replace(/^\];$/m, '  ...STRANGERS,\n];');
      if (added === code) throw new Error(`${id} has no list of kinds that a line can be added to`);
      return `import { STRANGERS } from ${JSON.stringify(TABLES)};\n${added}`;
    },
  };
}
