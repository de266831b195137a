import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HELP_TOPICS } from '../../src/cli/commands/help-topics.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { runCommand } from '../cli/fake-context.ts';
import { DOCUMENTS } from './documents.ts';

/** Words of the glossary's last column that also have a usual meaning, so that only a reader can tell whether they are wrong. `PHRASES` has wrong uses. */
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

/** Uses of those words that are wrong in every text, and other forms of a verb that is ruled out. */
const PHRASES = [
  ...['output form', 'form on stdout', 'mock server', 'interface in memory', 'embedded service'],
  ...['foreign resource', 'foreign reference', 'foreign stack', 'carried out', 'carries out', 'letting go'],
  ...['lets through', 'made twice', 'made anew'],
];

/** Ruled out everywhere, in addition to the glossary: they hide who does what. */
const VAGUE = ['somebody', 'nobody', 'whoever', 'meanwhile', 'besides', 'gravest', 'left over', 'not ours'];

/** Parts of texts that may have a ruled-out word, and why. */
const EXCERPTS: ReadonlyMap<string, string> = new Map([
  ['name: nobody', 'a name in an example'],
  ['"nobody"', 'the same'],
  ['`team: nobody`', 'the same'],
]);

/** The words that the last column of the glossary rules out. */
function listRuledOut(): readonly string[] {
  const rows = (DOCUMENTS.get('docs/glossary.md') ?? '').matchAll(/^\| (?!Term|---).*\|\s*([^|]*?)\s*\|$/gm);
  return Array.from(rows, ([, cell = '']) => cell.split(', '))
    .flat()
    .filter((word) => word !== '');
}

const RULED_OUT = [...listRuledOut().filter((word) => !WITH_ANOTHER_MEANING.has(word)), ...PHRASES, ...VAGUE];

/** The ruled-out words of a text, each with what surrounds it. */
function findRuledOut(text: string): readonly string[] {
  const shown = [...EXCERPTS.keys()].reduce((rest, excerpt) => rest.replaceAll(excerpt, ''), text);
  const words = new RegExp(`.{0,40}\\b(?:${RULED_OUT.join('|')})s?\\b.{0,40}`, 'gi');
  return Array.from(shown.replace(/\s+/g, ' ').matchAll(words), ([found]) => found);
}

/** Prose without code, links' targets and the glossary itself. */
function toProse(document: string): string {
  return document
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']');
}

/** The texts of a TypeScript file that a user may see: literals of several words, without comments and the code in templates. */
function listTexts(source: string): readonly string[] {
  const code = source.replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, '');
  const tokens = code.matchAll(/\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g);
  return Array.from(tokens, ([token]) => token)
    .filter((token) => !token.startsWith('/') && token.includes(' '))
    .map((token) => token.replace(/\$\{[^}`]*(?:[}`]|$)/g, '…'));
}

it('the glossary rules out words, and no exception is idle', () => {
  const words = listRuledOut();
  expect(words).toContain('twin');
  expect([...WITH_ANOTHER_MEANING.keys()].filter((word) => !words.includes(word) && word !== 'stated')).toEqual([]);
  expect(findRuledOut('A twin that nobody knows.')).toHaveLength(1);
  expect(listTexts("const a = 'one text'; // 'no text'\nconst b = `two words`;")).toEqual([
    "'one text'",
    '`two words`',
  ]);
});

it('the glossary is linked from where contributors begin', () => {
  for (const file of ['src/README.md', '.github/CONTRIBUTING.md'])
    expect(readFileSync(file, 'utf8'), file).toContain('](../docs/glossary.md)');
});

it.each(
  [...DOCUMENTS.keys(), 'CHANGELOG.md', ...globSync('.github/*.md')].filter((file) => file !== 'docs/glossary.md'),
)('%s has no word that the glossary rules out', (file) => {
  expect(findRuledOut(toProse(readFileSync(file, 'utf8')))).toEqual([]);
});

it.each(globSync('{examples,.github/actions}/**/*.{yaml,yml}').sort())(
  '%s has no word that the glossary rules out',
  (file) => {
    expect(findRuledOut(readFileSync(file, 'utf8'))).toEqual([]);
  },
);

it.each(globSync('{schemas,examples}/**/*.json').sort())(
  '%s describes without a word that the glossary rules out',
  (file) => {
    const descriptions = readFileSync(file, 'utf8').matchAll(/"(?:description|summary)": "((?:[^"\\]|\\.)*)"/g);
    expect(Array.from(descriptions, ([, text = '']) => findRuledOut(text)).flat()).toEqual([]);
  },
);

it.each(globSync('src/*').sort())('no message, report or explanation in %s has a ruled-out word', (room) => {
  const files = room.endsWith('.ts') ? [room] : globSync(`${room}/**/*.ts`);
  expect(files.flatMap((file) => listTexts(readFileSync(file, 'utf8')).flatMap(findRuledOut))).toEqual([]);
});

it('no diagnostic has a meaning with a ruled-out word, and no example prints one', () => {
  expect(Object.values(DIAGNOSTIC_CODES).flatMap(findRuledOut)).toEqual([]);
  expect(findRuledOut(readFileSync('src/explain/outputs.json', 'utf8'))).toEqual([]);
});

it('no help has a ruled-out word', async () => {
  const { stdout } = await runCommand(['--help'], { cwd: '/' });
  const commands = Array.from(stdout.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name = '']) => [name, '--help']);
  expect(commands.length).toBeGreaterThan(15);
  const topics = HELP_TOPICS.map(({ name }) => ['help', name]);
  for (const words of [['--help'], ...commands, ...topics])
    expect(findRuledOut((await runCommand(words, { cwd: '/' })).stdout), words.join(' ')).toEqual([]);
});

it('exports have no ruled-out word in their names', () => {
  const names = globSync('src/**/*.ts').flatMap((file) =>
    Array.from(
      readFileSync(file, 'utf8').matchAll(
        /^export (?:declare |abstract |async )*(?:function\*?|const|let|interface|type|class|enum) (\w+)|^export \{.* as (\w+)/gm,
      ),
      ([, name, renamed = '']) => name ?? renamed,
    ),
  );
  const found = names.filter(
    (name) => findRuledOut(name.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')).length > 0,
  );
  expect(found).toEqual([]);
});
