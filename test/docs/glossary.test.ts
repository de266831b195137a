import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HELP_TOPICS } from '../../src/cli/commands/help-topics.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { runCommand } from '../cli/fake-context.ts';
import { DOCUMENTS } from './documents.ts';

/** Words of the glossary's last column that also have a usual meaning, so that only a reader can tell whether they are wrong. */
const WITH_ANOTHER_MEANING: ReadonlyMap<string, string> = new Map([
  ['subject', 'the subject of an annotation or a sentence'],
  ['take over', 'ruled out for resources without a mark only'],
  ['adopt', 'ruled out for resources of another stack only'],
  ['mock', 'quoted from other tools'],
  ['service', 'ruled out for the bundled server only'],
  ['hold', 'a file holds a token'],
  ['take', 'an option takes a value'],
  ['make', 'a plan is made'],
  ['remove', 'a mark and a field are removed'],
  ['foreign', 'a foreign file of a folder'],
  ['loss', 'the loss of a token'],
  ['risk', 'ruled out for dangers only'],
  ['need', 'a rule needs evidence'],
  ['tie', 'ruled out for dependencies only'],
  ['there', 'usual English'],
  ['problem', 'a known problem of another tool'],
  ['fault', 'what the bundled server is told to do wrong'],
  ['attribute', 'an attribute of HTML'],
  ['setting', 'a setting of a run'],
  ['form', 'a letter case, a normal form'],
  ['refuse', 'a safety rule refuses a plan'],
  ['place', 'a position in a file'],
  ['moved', 'a resource is moved to another stack'],
  ['stated', 'in the name that plans give to a field that is set no more'],
]);

/** Ruled out everywhere, in addition to the glossary: they hide who does what. */
const VAGUE = ['somebody', 'nobody', 'whoever', 'meanwhile', 'besides', 'gravest', 'left over', 'not ours'];

/** Exports that have a ruled-out word in their names, and why. */
const EXPORTS: ReadonlyMap<string, string> = new Map([
  ['Remark', 'what programs show of a finding: it also has changes in it'],
  ['listRemarks', 'lists those'],
  ['stopRivals', 'the applies of one stack in one run, which are no duplicates'],
  ['toGravest', 'to be renamed with the functions of its file'],
]);

/** The words that the last column of the glossary rules out. */
function listRuledOut(): readonly string[] {
  const rows = (DOCUMENTS.get('docs/glossary.md') ?? '').matchAll(/^\| (?!Term|---).*\|\s*([^|]*?)\s*\|$/gm);
  return Array.from(rows, ([, cell = '']) => cell.split(', '))
    .flat()
    .filter((word) => word !== '');
}

const RULED_OUT = [...listRuledOut().filter((word) => !WITH_ANOTHER_MEANING.has(word)), ...VAGUE];

/** The ruled-out words of a text, each with what surrounds it. */
function findRuledOut(text: string): readonly string[] {
  const words = new RegExp(`.{0,40}\\b(?:${RULED_OUT.join('|')})s?\\b.{0,40}`, 'gi');
  return Array.from(text.replace(/\s+/g, ' ').matchAll(words), ([found]) => found);
}

/** Prose without code, links' targets and the glossary itself. */
function toProse(document: string): string {
  return document
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']');
}

it('the glossary rules out words, and no exception is idle', () => {
  const words = listRuledOut();
  expect(words).toContain('twin');
  expect([...WITH_ANOTHER_MEANING.keys()].filter((word) => !words.includes(word) && word !== 'stated')).toEqual([]);
  expect(findRuledOut('A twin that nobody knows.')).toHaveLength(1);
});

it.each([...DOCUMENTS].filter(([file]) => /^(README|docs\/)/.test(file) && file !== 'docs/glossary.md'))(
  '%s has no word that the glossary rules out',
  (_, document) => {
    expect(findRuledOut(toProse(document))).toEqual([]);
  },
);

it.each(globSync('schemas/**/*.json').sort())('%s describes without a word that the glossary rules out', (file) => {
  const descriptions = readFileSync(file, 'utf8').matchAll(/"(?:description|summary)": "((?:[^"\\]|\\.)*)"/g);
  expect(Array.from(descriptions, ([, text = '']) => findRuledOut(text)).flat()).toEqual([]);
});

it('no diagnostic has a meaning with a ruled-out word', () => {
  expect(Object.values(DIAGNOSTIC_CODES).flatMap(findRuledOut)).toEqual([]);
});

it('no help has a ruled-out word', async () => {
  const { stdout } = await runCommand(['--help'], { cwd: '/' });
  const commands = Array.from(stdout.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name = '']) => [name, '--help']);
  expect(commands.length).toBeGreaterThan(15);
  const topics = HELP_TOPICS.map(({ name }) => ['help', name]);
  for (const words of [['--help'], ...commands, ...topics])
    expect(findRuledOut((await runCommand(words, { cwd: '/' })).stdout), words.join(' ')).toEqual([]);
});

it('exports have no ruled-out word in their names, except those that are listed', () => {
  const names = globSync('src/**/*.ts').flatMap((file) =>
    Array.from(
      readFileSync(file, 'utf8').matchAll(/^export (?:async )?(?:function|const|interface|type|class) (\w+)/gm),
      ([, name = '']) => name,
    ),
  );
  const found = names.filter(
    (name) => findRuledOut(name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')).length > 0,
  );
  expect(found.filter((name) => !EXPORTS.has(name))).toEqual([]);
});
