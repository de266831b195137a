import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMutant } from '../../.ci/mutant.ts';
import { type SwitchedMutant, type Switches, writeSwitches } from '../../.ci/mutant-switches.ts';

const SOURCE = `#!/usr/bin/env node
const add = (a: number, b: number): number => 10 * a + b;
const log: string[] = [];
const note = (text: string): void => void log.push(text);
export function compute(list: number[] | undefined): unknown {
  log.length = 0;
  if (list !== undefined) note('is there');
  else note('is missing');
  return [add(add(1, 2), 3), list?.map(String).join('-').length, ...log];
}
`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-switches-'));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/source.ts'), SOURCE);
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A mutant that replaces `from` in the part `site` of the source. */
function toMutant(from: string, to: string, site = from): SwitchedMutant {
  const [start, inSite] = [SOURCE.indexOf(site), site.indexOf(from)];
  const edit = { start: start + inSite, end: start + inSite + from.length, to };
  return {
    ...createMutant('src/source.ts', SOURCE, edit),
    site: { start, end: start + site.length, isStatement: site.endsWith(';') },
  };
}

const MUTANTS = [
  toMutant('add(add(1, 2), 3)', '0'),
  toMutant('add(1, 2)', '7'),
  toMutant('1, 2', '2, 1', 'add(1, 2)'),
  toMutant("note('is there');", '{}'),
  toMutant('list?.map(String)', 'list', "list?.map(String).join('-').length"),
];

describe('a source with switches', () => {
  it.each([
    ['no mutant', undefined, [123, 3, 'is there'], [123, undefined, 'is missing']],
    ['a call around another', 0, [0, 3, 'is there'], [0, undefined, 'is missing']],
    ['a call in another', 1, [73, 3, 'is there'], [73, undefined, 'is missing']],
    ['two arguments', 2, [213, 3, 'is there'], [213, undefined, 'is missing']],
    ['a statement between if and else', 3, [123, 3], [123, undefined, 'is missing']],
  ])('does as the source with %s', async (_, active, ofList, ofNothing) => {
    const { compute, switches } = await loadSwitched();
    switches.active = active;
    expect([compute([1, 2]), compute(undefined)]).toEqual([ofList, ofNothing]);
  });

  it('tells what it reached', async () => {
    const { compute, switches } = await loadSwitched();
    switches.reached.clear();
    compute(undefined);
    expect([...switches.reached].toSorted()).toEqual([0, 1, 2, 4]);
  });

  it('keeps its first line and the numbers of its lines', () => {
    writeSwitches(folder, MUTANTS);
    const lines = readFileSync(join(folder, 'src/source.ts'), 'utf8').split('\n');
    expect([lines.length, lines[0]]).toEqual([SOURCE.split('\n').length, '#!/usr/bin/env node']);
  });
});

interface Switched {
  readonly compute: (list: number[] | undefined) => unknown;
  readonly switches: Switches;
}

async function loadSwitched(): Promise<Switched> {
  writeSwitches(folder, MUTANTS);
  const { compute } = await import(pathToFileURL(join(folder, 'src/source.ts')).href);
  const { mutantSwitches: switches } = globalThis as unknown as { readonly mutantSwitches: Switches };
  return { compute, switches };
}
