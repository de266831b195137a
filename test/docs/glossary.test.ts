import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Identifier,
  isBindingElement,
  isFunctionDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isParameterDeclaration,
  isPropertySignatureDeclaration,
  isTypeLiteralNode,
  isVariableDeclaration,
  type Node,
} from 'typescript/unstable/ast';
import { API, type Project } from 'typescript/unstable/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HELP_TOPICS } from '../../src/cli/commands/help-topics.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { runCommand } from '../cli/fake-context.ts';
import { LONG } from '../tries.ts';
import { DOCUMENTS } from './documents.ts';

/**
 * Words of the glossary's last column that also have a usual meaning, so that only a reader can tell whether they are wrong. `PHRASES` has wrong uses.
 * Terms with a row of their own, such as "adopt", need no exception.
 */
const WITH_ANOTHER_MEANING: ReadonlyMap<string, string> = new Map([
  ['subject', 'what a report or a policy is about; ruled out for addresses'],
  ['hold', 'a file holds a token, a promise holds; ruled out for claims'],
  ['take', 'an option takes a value, a request takes effect; ruled out for claims'],
  ['make', 'a plan is made; ruled out for resources'],
  ['remove', 'a mark or a line is removed; ruled out for resources'],
  ['need', 'a rule needs evidence; ruled out for dependencies'],
  ['there', '"there is"; ruled out for what is live'],
  ['setting', 'a setting of a run or a Stack; ruled out for fields of a `spec`'],
  ['form', 'the normal form of a value; ruled out for output formats'],
  ['refuse', 'a safety rule refuses a plan; ruled out for the service'],
  ['place', 'a position in a file; ruled out for token sinks'],
]);

/** Uses of those words that are wrong in every text, and other forms of a verb that is ruled out. */
const PHRASES = [
  ...['output form', 'form on stdout', 'mock server', 'interface in memory', 'embedded service'],
  ...['foreign resource', 'foreign reference', 'foreign stack', 'carried out', 'carries out', 'letting go'],
  ...['lets through', 'made twice', 'made anew'],
  // Only stacks are owners.
  ...['(?:an?other|its|their|both|any) owner', 'checks? of owner'],
  'owners? of (?:(?:an?|the|this|that|each|one) )?(?:checkout|credential|deleted|file|folder|key|manifest|repository|snapshot|stack)',
  'owners? of (?:(?:an?|the|this|that|each|one) )?polic(?:y|ies)',
];

/** Ruled out everywhere, in addition to the glossary: they hide who does what. */
const VAGUE = ['somebody', 'nobody', 'whoever', 'meanwhile', 'besides', 'gravest', 'left over', 'not ours'];

/** Words that are usual in texts, and hide in a name who does what. */
const RULED_OUT_IN_NAMES = ['take', 'takes', 'taken', 'make', 'makes', 'made', 'hold', 'holds', 'held', 'there'];

/** Names of exports, members and values that have a ruled-out word, and why. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['Made', 'the CEL type of `made`'],
  ['made', 'in plan files: when and from which commit a plan was made'],
  ['takes', 'in the list of stacks: resources to take over'],
  ['takenFrom', 'the stack that a resource is taken over from'],
]);

/** Names with the word owner, and who that is. The value of `team_label` is a team everywhere but in marks at the service. */
const OWNERS: ReadonlyMap<string, string> = new Map([
  ['countResourcesByOwner', 'counts by stack'],
  ['findOwner', 'finds the stack of a resource'],
  [
    'owner',
    'a stack; in marks that are stored at the service, and must stay readable, the team; at GitHub, the account',
  ],
  ['owner_id', 'of the interface: the user or bot of a credential'],
  ['owners', 'the stacks that an apply takes resources over from'],
]);

/** Parts of texts that may have a ruled-out word, and why. */
const EXCERPTS: ReadonlyMap<string, string> = new Map([
  ['name: nobody', 'a name in an example'],
  ['"nobody"', 'the same'],
  ['`team: nobody`', 'the same'],
]);

/** The words that the last column of the glossary rules out, without terms of the first. */
function listRuledOut(): readonly string[] {
  const rows = (DOCUMENTS.get('docs/reference/glossary.md') ?? '').matchAll(
    /^\| (?!Term|---)([^|]*?) \|.*\|\s*([^|]*?)\s*\|$/gm,
  );
  const cells = Array.from(rows, ([, terms = '', not = '']) => ({ terms: terms.split(', '), not: not.split(', ') }));
  const terms = new Set(cells.flatMap((row) => row.terms));
  return cells.flatMap((row) => row.not).filter((word) => word !== '' && !terms.has(word));
}

const RULED_OUT = [...listRuledOut().filter((word) => !WITH_ANOTHER_MEANING.has(word)), ...PHRASES, ...VAGUE];

/** The ruled-out words of a text, each with what surrounds it. */
function findRuledOut(text: string): readonly string[] {
  const shown = [...EXCERPTS.keys()].reduce((rest, excerpt) => rest.replaceAll(excerpt, ''), text);
  const words = new RegExp(`.{0,40}\\b(?:${RULED_OUT.join('|')})s?\\b.{0,40}`, 'gi');
  return Array.from(shown.replace(/\s+/g, ' ').matchAll(words), ([found]) => found);
}

function toWords(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');
}

/** Whether the name of a member has a ruled-out word. To take over is a term. */
function hasRuledOut(name: string): boolean {
  const words = toWords(name).replace(/take over/gi, '');
  return findRuledOut(words).length > 0 || new RegExp(`\\b(?:${RULED_OUT_IN_NAMES.join('|')})\\b`, 'i').test(words);
}

/** The names that a TypeScript file exports, with the members and the words of what they declare. Relies on its indentation. */
function listExportedNames(source: string): {
  readonly exported: readonly string[];
  readonly members: readonly string[];
} {
  const code = source.replace(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)\n/gm, '');
  const declarations = Array.from(
    code.matchAll(
      /^export (?:declare |abstract |async )*(function\*?|const|let|interface|type|class|enum) (\w+).*\n?((?:(?:[ \t].*)?\n)*)/gm,
    ),
    ([text, sort = '', name = '', body = '']) => ({ text, sort, name, body }),
  );
  const members = declarations.flatMap(({ text, sort, body }) => {
    if (sort === 'interface' || sort === 'type')
      return [
        ...text.matchAll(/(?:^ +|[{;] )(?:readonly )?(\w+)\??:/gm),
        ...text.matchAll(/(?<=[|=:<] )'([a-z][\w-]*)'/g),
      ];
    const direct =
      sort === 'class'
        ? /^ {2}(?:(?:readonly|static|override|async|get|set) )*(\w+)\??(?:[:(<;]| =)/gm
        : /^ {2}'?([\w-]+)'?:/gm;
    return sort.startsWith('function') ? [] : [...body.matchAll(direct)];
  });
  const renamed = Array.from(code.matchAll(/^export \{.* as (\w+)/gm), ([, name = '']) => name);
  return {
    exported: [...declarations.map(({ name }) => name), ...renamed],
    members: members.map(([, name = '']) => name),
  };
}

/** The names of properties of a JSON Schema, and the words that fields may be. */
function listSchemaNames(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(listSchemaNames);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    const isMap = key === 'properties' && typeof value === 'object' && value !== null;
    if (isMap) return [...Object.keys(value), ...Object.values(value).flatMap(listSchemaNames)];
    if (key === 'enum' || key === 'const') return [value].flat().filter((one) => typeof one === 'string');
    return listSchemaNames(value);
  });
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

it('rules out words, and each exception is used', () => {
  const words = listRuledOut();
  expect(words).toContain('twin');
  expect([...WITH_ANOTHER_MEANING.keys()].filter((word) => !words.includes(word))).toEqual([]);
  expect(findRuledOut('A twin that nobody knows.')).toHaveLength(1);
  expect(listTexts("const a = 'one text'; // 'no text'\nconst b = `two words`;")).toEqual([
    "'one text'",
    '`two words`',
  ]);
});

it('is linked from CONTRIBUTING', () => {
  for (const file of ['src/README.md', '.github/CONTRIBUTING.md'])
    expect(readFileSync(file, 'utf8'), file).toContain('](../docs/reference/glossary.md)');
});

it.each(
  [...DOCUMENTS.keys(), 'CHANGELOG.md', ...globSync('.github/*.md')].filter(
    (file) => file !== 'docs/reference/glossary.md',
  ),
)('%s has no ruled-out word', (file) => {
  expect(findRuledOut(toProse(readFileSync(file, 'utf8')))).toEqual([]);
});

it.each(globSync('{examples,.github/actions}/**/*.{yaml,yml}').sort())('%s has no ruled-out word', (file) => {
  expect(findRuledOut(readFileSync(file, 'utf8'))).toEqual([]);
});

it.each(globSync('{schemas,examples}/**/*.json').sort())('%s has no ruled-out word in its descriptions', (file) => {
  const descriptions = readFileSync(file, 'utf8').matchAll(/"(?:description|summary)": "((?:[^"\\]|\\.)*)"/g);
  expect(Array.from(descriptions, ([, text = '']) => findRuledOut(text)).flat()).toEqual([]);
});

it.each(globSync('src/*').sort())('no message, report or explanation in %s has a ruled-out word', (room) => {
  const files = room.endsWith('.ts') ? [room] : globSync(`${room}/**/*.ts`);
  expect(files.flatMap((file) => listTexts(readFileSync(file, 'utf8')).flatMap(findRuledOut))).toEqual([]);
});

/** The comments of a file in TypeScript, shell or YAML, and the titles of its tests. */
function listComments(file: string): readonly string[] {
  const source = readFileSync(file, 'utf8');
  if (!file.endsWith('.ts')) return Array.from(source.matchAll(/^\s*#.*$/gm), ([comment]) => comment);
  const comments = source.matchAll(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm);
  const titles = source.matchAll(/\b(?:describe|it|test)\b(?:\.\w+)*(?:\([^()]*\))?\(\s*'((?:\\.|[^'\\\n])*)'/g);
  return [
    ...Array.from(comments, ([comment]) => comment.replace(/\s*\n\s*\*/g, '')),
    ...Array.from(titles, ([, title = '']) => title),
  ];
}

const ROOMS_OF_TESTS = [...globSync('test/*').filter((name) => !name.endsWith('.md')), '.ci'];

it.each(ROOMS_OF_TESTS.sort())('no comment and no title in %s has a ruled-out word', (room) => {
  const files = room.endsWith('.ts')
    ? [room]
    : globSync([`${room}/**/*.{ts,sh}`, `${room}/*/live.yaml`, `${room}/{run,tools,other-tools,image}`]);
  const texts = files.filter((file) => !file.includes('node_modules')).flatMap(listComments);
  // git, HTML and Terraform have attributes.
  const prose = texts.map((text) => text.replace(/`[^`]*`|\battributes?\b/gi, ''));
  expect(prose.flatMap(findRuledOut)).toEqual([]);
});

it('no diagnostic and no example has a ruled-out word', () => {
  expect(Object.values(DIAGNOSTIC_CODES).flatMap(findRuledOut)).toEqual([]);
  expect(findRuledOut(DOCUMENTS.get('docs/diagnostics.md') ?? '')).toEqual([]);
});

it('no help has a ruled-out word', async () => {
  const { stdout } = await runCommand(['--help'], { cwd: '/' });
  const commands = Array.from(stdout.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name = '']) => [name, '--help']);
  expect(commands.length).toBeGreaterThan(15);
  const topics = HELP_TOPICS.map(({ name }) => ['help', name]);
  for (const words of [['--help'], ...commands, ...topics])
    expect(findRuledOut((await runCommand(words, { cwd: '/' })).stdout), words.join(' ')).toEqual([]);
});

const NAMES_OF_SOURCES = globSync('src/**/*.ts').map((file) => listExportedNames(readFileSync(file, 'utf8')));

it('exports have no ruled-out word in their names', () => {
  const names = NAMES_OF_SOURCES.flatMap(({ exported }) => exported);
  expect(names.length).toBeGreaterThan(1500);
  expect(names.filter((name) => !NAMES.has(name) && findRuledOut(toWords(name)).length > 0)).toEqual([]);
});

it('members of exports and fields of schemas have no ruled-out word, and each exception is used', () => {
  const schemas = globSync('schemas/**/*.json').map((file): unknown => JSON.parse(readFileSync(file, 'utf8')));
  const fields = listSchemaNames(schemas);
  const members = NAMES_OF_SOURCES.flatMap((names) => names.members);
  expect(members).toEqual(expect.arrayContaining(['baseUrl', 'unreachable']));
  expect(fields).toEqual(expect.arrayContaining(['renamed_from', 'access-widened']));
  const found = new Set([...members, ...fields].filter(hasRuledOut));
  expect([...found].filter((name) => !NAMES.has(name))).toEqual([]);
  const exported = NAMES_OF_SOURCES.flatMap((names) => names.exported);
  expect([...NAMES.keys()].filter((name) => !found.has(name) && !exported.includes(name))).toEqual([]);
});

/** A name that a file declares. `within`: the function or type that declares it. */
interface LocalName {
  readonly name: Identifier;
  readonly within: Node;
}

/** The names of variables, parameters, functions and members of types in a file, exported or not. */
function listLocalNames(node: Node, within: Node = node): readonly LocalName[] {
  const isNamed =
    isVariableDeclaration(node) ||
    isParameterDeclaration(node) ||
    isBindingElement(node) ||
    isFunctionDeclaration(node) ||
    isPropertySignatureDeclaration(node);
  const own = isNamed && node.name !== undefined && isIdentifier(node.name) ? [{ name: node.name, within }] : [];
  const isOuter = isFunctionLikeDeclaration(node) || isInterfaceDeclaration(node) || isTypeLiteralNode(node);
  const inner: LocalName[] = [];
  node.forEachChild((child) => {
    inner.push(...listLocalNames(child, isOuter ? node : within));
  });
  return [...own, ...inner];
}

/** Words that say nothing of what they name. A file may use one of them for values of one type only. */
const BARE = ['found', 'kept', 'held', 'given', 'known', 'stated', 'left'];

describe('names within files', () => {
  const api = new API({ cwd: resolve('.') });
  let project: Project | undefined;
  let namesOfFiles: readonly (readonly [file: string, names: readonly LocalName[]])[] = [];
  beforeAll(() => {
    [project] = api.updateSnapshot({ openProjects: [resolve('tsconfig.json')] }).getProjects();
    namesOfFiles = globSync('src/**/*.ts').map((file) => {
      const source = project?.program.getSourceFile(resolve(file));
      return [file, source === undefined ? [] : listLocalNames(source)];
    });
  }, LONG.timeout);
  afterAll(() => api.close());

  const listAllNames = () => namesOfFiles.flatMap(([, names]) => names.map(({ name }) => name.text));

  /** The type of a name, without what does not change its meaning. */
  const formatType = (name: Identifier): string => {
    const type = project?.checker.getTypeAtLocation(name);
    const text = type === undefined ? '' : (project?.checker.typeToString(type) ?? '');
    return text
      .replaceAll(/\breadonly |Readonly(?=Map|Set)| \| (?:undefined|null)\b/g, '')
      .replace(/^\((.*)\)\[\]$/, '$1[]');
  };

  it('have no ruled-out word', () => {
    const names = new Set(listAllNames());
    expect(names.size).toBeGreaterThan(5000);
    // git, HTML and Terraform have attributes.
    const isRuledOut = (name: string) => findRuledOut(toWords(name).replace(/\battributes?\b/gi, '')).length > 0;
    expect([...names].filter((name) => !NAMES.has(name) && isRuledOut(name))).toEqual([]);
  });

  it('have the word owner for stacks only, and each exception is used', () => {
    const schemas = globSync('schemas/**/*.json').map((file): unknown => JSON.parse(readFileSync(file, 'utf8')));
    const names = new Set([
      ...listAllNames(),
      ...NAMES_OF_SOURCES.flatMap(({ exported, members }) => [...exported, ...members]),
      ...listSchemaNames(schemas),
    ]);
    const found = [...names].filter((name) => /\bowners?\b/i.test(toWords(name)));
    expect(found.sort()).toEqual([...OWNERS.keys()].sort());
  });

  /** Whether it is the left one of two sides. */
  const isOfPair = ({ name, within }: LocalName, names: readonly LocalName[]): boolean =>
    name.text === 'left' && names.some((other) => other.name.text === 'right' && other.within === within);

  it('have one meaning in a file if they are a bare participle', () => {
    const found = namesOfFiles.flatMap(([file, names]) => {
      return BARE.flatMap((word) => {
        const uses = names.filter(({ name }) => name.text === word);
        const meanings = new Set(uses.map((use) => (isOfPair(use, names) ? 'one of two sides' : formatType(use.name))));
        return meanings.size > 1 ? [`${file} ${word}: ${[...meanings].join(', ')}`] : [];
      });
    });
    expect(found).toEqual([]);
  });
});
