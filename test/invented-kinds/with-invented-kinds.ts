import type { Plugin } from 'vitest/config';

const TABLES = new URL('tables.ts', import.meta.url).pathname;

/** Adds the invented kinds to the registry with one line, as a developer would. All modules that are loaded later have them. */
export function withInventedKinds(): Plugin {
  return {
    name: 'invented-kinds',
    enforce: 'pre',
    transform: (code, id) => {
      if (!id.endsWith('/src/kinds/tables/registry.ts')) return undefined;
      const added = code.replace(/^\];$/m, '  ...INVENTED_KINDS,\n];');
      if (added === code) throw new Error(`${id} has no list of kinds that a line can be added to`);
      return `import { INVENTED_KINDS } from ${JSON.stringify(TABLES)};\n${added}`;
    },
  };
}
