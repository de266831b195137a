import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { applyMutant, type Mutant } from './mutant.ts';

/**
 * Puts many mutants into one checkout, each behind a switch, so that one process tests them one after the other without
 * loading anything anew. With all switches off, the sources do as before, and tell which mutants they reach.
 */

/** The smallest part of a source that is an expression or a statement and contains the mutant. In UTF-16 units. */
export interface Site {
  readonly start: number;
  readonly end: number;
  readonly isStatement: boolean;
}

/** A mutant that can be switched on. Sites contain each other or have nothing in common. */
export interface SwitchedMutant extends Mutant {
  readonly site: Site;
}

/** What switched sources and the runner of tests share, in the global object of each process. */
export interface Switches {
  /** The index of the mutant that is on. `undefined`: none. */
  active: number | undefined;
  /** The indices of the mutants that were reached since this set was emptied. */
  readonly reached: Set<number>;
}

/** The mutant that is on in a process from its start, and the file to which a process that is no runner adds what it reached. */
export const [ACTIVE_VARIABLE, REACHED_VARIABLE] = ['MUTANT_ACTIVE', 'MUTANTS_REACHED_FILE'];

/** The module of a checkout that every switched source imports. It runs in browsers, too. */
const MODULE = 'src/mutant-switches.ts';

const MODULE_TEXT = `
const env = globalThis.process?.env ?? {};
const switches = (globalThis.mutantSwitches ??= {
  active: env.${ACTIVE_VARIABLE} === undefined ? undefined : Number(env.${ACTIVE_VARIABLE}),
  reached: new Set(),
});
if (env.${REACHED_VARIABLE} !== undefined && env.VITEST_WORKER_ID === undefined)
  process.on('exit', () => {
    const lines = Array.from(switches.reached, (index) => index + '\\n').join('');
    process.getBuiltinModule('node:fs').appendFileSync(env.${REACHED_VARIABLE}, lines);
  });
export function isMutantOn(index: number): boolean {
  switches.reached.add(index);
  return switches.active === index;
}
`;

/** Changes the sources of a checkout: each mutant gets a switch. Its index is its number. */
export function writeSwitches(checkout: string, mutants: readonly SwitchedMutant[]): void {
  const numbered = mutants.map((mutant, index) => ({ ...mutant, index }));
  for (const [file, inFile] of Map.groupBy(numbered, (mutant) => mutant.file)) {
    const path = join(checkout, file);
    const source = readFileSync(path, 'utf8');
    const from = relative(dirname(file), MODULE);
    const importing = `import { isMutantOn } from '${from.startsWith('.') ? from : `./${from}`}';`;
    const [hashbang = ''] = /^#!.*\n/.exec(source) ?? [];
    const switched = addSwitches(source, inFile);
    writeFileSync(path, `${hashbang}${importing} ${switched.slice(hashbang.length)}`);
  }
  writeFileSync(join(checkout, MODULE), MODULE_TEXT);
}

interface NumberedMutant extends SwitchedMutant {
  readonly index: number;
}

/** Returns a source with switches. Mutants of one site are alternatives. */
function addSwitches(source: string, mutants: readonly NumberedMutant[]): string {
  const sites = [...Map.groupBy(mutants, ({ site: { start, end } }) => `${start} ${end}`).values()];
  const outerFirst = sites.toSorted(
    (a, b) => (a[0]?.site.start ?? 0) - (b[0]?.site.start ?? 0) || sizeOf(b) - sizeOf(a),
  );
  let next = 0;
  return renderUntil(0, source.length);

  /** Renders a part of the source, and with it the sites that start in it. */
  function renderUntil(start: number, end: number): string {
    let text = '';
    let done = start;
    for (let site = outerFirst[next]; site?.[0] !== undefined && site[0].site.start < end; site = outerFirst[next]) {
      next += 1;
      const inner = site[0].site;
      text += source.slice(done, inner.start) + renderSite(site, renderUntil(inner.start, inner.end));
      done = inner.end;
    }
    return text + source.slice(done, end);
  }

  function renderSite(alternatives: readonly NumberedMutant[], original: string): string {
    return alternatives.reduce((rest, mutant) => {
      const { site, index } = mutant;
      const start = mutant.start - site.start;
      const to = applyMutant(source.slice(site.start, site.end), { ...mutant, start, end: start + mutant.from.length });
      return site.isStatement
        ? `{ if (isMutantOn(${index})) { ${to} } else { ${rest} } }`
        : `(isMutantOn(${index}) ? (${to}) : ${rest})`;
    }, original);
  }
}

function sizeOf([mutant]: readonly NumberedMutant[]): number {
  return mutant === undefined ? 0 : mutant.site.end - mutant.site.start;
}
