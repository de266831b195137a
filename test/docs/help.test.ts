import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { HELP_TOPICS } from '../../src/cli/commands/help-topics.ts';
import { EXIT, EXIT_MEANINGS } from '../../src/cli/exit-code.ts';
import { DANGER_NAMES } from '../../src/model/danger.ts';
import { DIAGNOSTIC_CODES } from '../../src/model/diagnostic.ts';
import { DRIFT_STATES } from '../../src/model/drift.ts';
import { FINDING_RULES } from '../../src/report/document.ts';
import type { Setting } from '../../src/settings/setting.ts';
import { NAMED_SETTINGS } from '../../src/settings/table.ts';
import { runCommand } from '../cli/fake-context.ts';
import { DOCUMENTS } from './documents.ts';

/** The help explains everything, and the documents only refer to it. So the help must be complete, and the documents must name only what exists. */

async function run(...words: readonly string[]): Promise<string> {
  const { stdout, exitCode } = await runCommand(words, { cwd: '/' });
  expect(exitCode, words.join(' ')).toBe(0);
  return stdout;
}

const help = { commands: new Set<string>(), topics: '', text: '' };

beforeAll(async () => {
  const overview = await run('--help');
  const commands = Array.from(overview.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name = '']) => name);
  const texts = await Promise.all(commands.map((name) => run(name, '--help')));
  const inner = ['submit', 'get'].map((name) => run('abuse-report', name, '--help'));
  const topics = await Promise.all(HELP_TOPICS.map(({ name }) => run('help', name)));
  help.commands = new Set(commands);
  help.topics = topics.join('\n');
  help.text = [overview, ...texts, ...(await Promise.all(inner)), ...topics].join('\n');
});

describe('the help', () => {
  it('explains every exit code', async () => {
    const text = (await run('help', 'exit-codes')).replace(/\s+/g, ' ');
    for (const code of Object.values(EXIT)) expect(text).toContain(` ${code} ${EXIT_MEANINGS[code]}`);
  });

  it('contains every way to set each setting', () => {
    for (const setting of NAMED_SETTINGS) for (const way of listWays(setting)) expect(help.topics).toContain(way);
  });

  it('describes every environment variable of the table of settings, and no others', () => {
    const known = NAMED_SETTINGS.flatMap(({ variables = [] }: Setting) => variables);
    expect(listVariables(help.topics)).toEqual(listVariables(known.join(' ')));
  });
});

/** The ways to set a setting that the help lists. */
function listWays({ help: topic, flag, variables = [], stack }: Setting): readonly string[] {
  if (topic === undefined) return flag === undefined ? [] : [flag];
  return [flag, ...variables, stack].filter((way) => way !== undefined);
}

/** Inline code and code blocks of a document. */
function listCode(document: string): readonly string[] {
  return Array.from(document.matchAll(/^```[\s\S]*?^```$|`[^`\n]+`/gm), ([code]) => code);
}

const PAGES = [...DOCUMENTS, ...globSync('.github/*.md').map((file) => [file, readFileSync(file, 'utf8')] as const)];

describe.each(PAGES)('%s', (_, document) => {
  const code = listCode(document);
  const inline = code.filter((text) => !text.startsWith('```'));

  it('names only exit codes that exist', () => {
    const named = document.matchAll(/\bexit codes? (\d+)|\bexits? with (?:code )?(\d+)/g);
    const codes = Array.from(named, ([, first, second]) => Number(first ?? second));
    expect(codes.filter((one) => !Object.values<number>(EXIT).includes(one))).toEqual([]);
  });

  it('names only commands that exist', () => {
    const named = code.flatMap((text) =>
      Array.from(text.matchAll(/(?:`|^\$? ?)edgewise ([a-z][a-z-]*)/gm), ([, name = '']) => name),
    );
    expect(named.filter((name) => !help.commands.has(name) && !BESIDE_COMMANDS.has(name))).toEqual([]);
  });

  it('names only options that exist', () => {
    const named = inline.flatMap((text) => text.match(/(?<=[` ])--[a-z-]+/g) ?? []);
    expect(named.filter((name) => !help.text.includes(name) && !OPTIONS_OF_OTHERS.has(name))).toEqual([]);
  });

  it('names only environment variables that exist', () => {
    const known = listVariables(help.text);
    const named = [...listVariables(document)].filter((name) => !name.startsWith('EDGEWISE_API_KEY_'));
    expect(named.filter((name) => !known.has(name) && !OTHER_VARIABLES.has(name))).toEqual([]);
  });

  it('points to explanations, topics and schemas that exist', async () => {
    const pointers = code.flatMap((text) => text.match(/(?<=edgewise )(?:explain|help|schema) [A-Za-z][\w.-]*/g) ?? []);
    for (const pointer of pointers)
      if (!/ (?:settings|CODE|TOPIC|KIND)$/.test(pointer)) await run(...pointer.split(' '));
  });
});

/** Variables that are not in the help of settings, and the reason. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  ...['EDGEWISE_NAME', 'EDGEWISE_ADDRESS', 'EDGEWISE_ID', 'EDGEWISE_STACK'], // set for a token command
  ...['EDGEWISE_TRIES', 'EDGEWISE_SEED'], // read by the tests
  'EDGEWISE_COMPONENT_PROJECT', // read by the GitLab component
]);

const BESIDE_COMMANDS: ReadonlySet<string> = new Set(['server']); // of the line that `serve` prints

/** Options of npm, npx, `npm run bench`, gh, pre-commit and kustomize. */
const OPTIONS_OF_OTHERS: ReadonlySet<string> = new Set([
  ...[
    '--no-install',
    '--save-dev',
    '--large',
    '--with-token',
    '--freeze',
    '--all-files',
    '--enable-exec',
    '--enable-helm',
  ],
]);

describe.each(PAGES.filter(([file]) => file.startsWith('docs/') && file !== 'docs/explanation/security.md'))(
  '%s',
  (_, document) => {
    it('names only diagnostic codes, dangers and states that exist', () => {
      const named = Array.from(withoutBlocks(document).matchAll(/(?<=`)[a-z]+(?:-[a-z]+)+(?=`)/g), ([name]) => name);
      const codes = [...Object.keys(DIAGNOSTIC_CODES), ...Object.keys(FINDING_RULES)];
      const known = new Set<string>([...codes, ...DANGER_NAMES, ...DRIFT_STATES, ...OTHER_WORDS]);
      const rest = named.filter((name) => !known.has(name));
      expect(rest.filter((name) => !help.text.includes(name))).toEqual([]);
    });
  },
);

/** Debian packages of etcd, an input of the actions and the component, and extensions and options of certificates. */
const OTHER_WORDS: ReadonlySet<string> = new Set([
  ...['etcd-server', 'etcd-client', 'changed-since', 'permit-pty', 'force-command', 'source-address'],
]);

function withoutBlocks(document: string): string {
  return document.replace(/^```[\s\S]*?^```$/gm, '');
}

function listVariables(text: string): ReadonlySet<string> {
  return new Set(text.match(/\bEDGEWISE_[A-Z_]+\b/g));
}
