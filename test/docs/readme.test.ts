import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONNECTION_SETTINGS, RUN_SETTINGS } from '../../src/cli/connection/settings-table.ts';
import { EXIT } from '../../src/cli/exit-code.ts';
import { runCommand } from '../cli/fake-context.ts';
import { DOCUMENTS, listCodeBlocks, listTableRows } from './documents.ts';

const README = DOCUMENTS.get('README.md') ?? '';

describe('the README', () => {
  it('names the two commands for a fresh machine near its top', () => {
    const top = README.split('\n').slice(0, 25).join('\n');
    expect(top).toMatch(/^npm ci && npm run demo\b/m);
    expect(top).toMatch(/^npm cit\b/m);
  });

  it('begins with what it is for, what it replaces and for whom it is not, then has the picture, then two commands', () => {
    const places = [
      ...['](schemas/openapi.json)', '**It replaces**', '**It is not for**', '](docs/images/plan.svg)'],
      ...['npm ci && npm run demo', 'npm cit', '## '],
    ].map((text) => README.indexOf(text));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    expect(README.slice(0, places[5]).split('\n').length).toBeLessThan(20);
  });

  it('says how a project gets the command, and on which Node, before it says what to do with it', () => {
    const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
      readFileSync('package.json', 'utf8'),
    );
    const [, section = ''] = (README.split('## Your first stack')[0] ?? '').split('## Use it in a project');
    expect(section).toContain(`Node ${engines.node.replace(/^>=|\.0$/g, '')} or newer`);
    const commands = Array.from(
      section.matchAll(/^(npm install --save-dev|npx --no-install edgewise [a-z]+) /gm),
      ([, command]) => command,
    );
    expect(commands).toEqual([
      'npm install --save-dev',
      'npx --no-install edgewise init',
      'npx --no-install edgewise validate',
      'npx --no-install edgewise plan',
    ]);
  });

  it('stays short', () => {
    expect(README.split('\n').length).toBeLessThan(250);
  });

  it('leads to every page of docs', () => {
    const pages = [...DOCUMENTS.keys()].filter((file) => file.startsWith('docs/'));
    expect(pages.filter((file) => !README.includes(`](${file})`))).toEqual([]);
  });
});

describe('the version', () => {
  const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));

  it('has a part of the changelog, which says what is promised from there on', () => {
    const [, part = ''] = readFileSync('CHANGELOG.md', 'utf8').split(`\n## [${version}]`);
    expect(part.split('\n## ')[0]).toContain('](docs/stability.md)');
    expect(readFileSync('package-lock.json', 'utf8')).toMatch(
      new RegExp(`^\\{\\s+"name": "edgewise",\\s+"version": "${version}"`),
    );
  });

  it('promises what stays stable on one short page: commands, exit codes, plan files, schemas, library', () => {
    const page = DOCUMENTS.get('docs/stability.md') ?? '';
    const promised = Array.from(page.matchAll(/^\| ([^|]+) \|/gm), ([, what = '']) => what);
    for (const what of ['Command line', 'Exit codes', 'Plan files', 'Schemas', 'Library'])
      expect(
        promised.some((one) => one.includes(what)),
        what,
      ).toBe(true);
    expect(page.split('\n').length).toBeLessThan(27);
  });
});

describe('docs/command-line.md', () => {
  it('lists every exit code', () => {
    const codes = listTableRows('docs/command-line.md', 'Exit codes').map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });

  it('lists every command, and no other', async () => {
    const listed = listTableRows('docs/command-line.md', 'Commands').flatMap(([cell = '']) =>
      Array.from(cell.matchAll(/edgewise (\S+?)[ `]/g), ([, name]) => name),
    );
    const { stdout } = await runCommand(['--help'], { cwd: '/' });
    const known = Array.from(stdout.matchAll(/^ {2}([a-z-]+)(?: \S+)* {2,}/gm), ([, name]) => name);
    expect(known).toContain('abuse-report');
    expect(new Set(listed)).toEqual(new Set(known.filter((name) => name !== 'help' && !name?.startsWith('-'))));
  });

  it('says how each setting can be stated, as the help does', () => {
    const cells = listTableRows('docs/command-line.md', 'Settings').map((row) => row.join(' '));
    for (const { flag, environment = [], stack } of [...CONNECTION_SETTINGS, ...RUN_SETTINGS]) {
      // `api.timeouts.connect`, `.headers`: the last step is enough.
      const ways = [
        ...(flag === undefined ? [] : [flag.split(' ')[0]]),
        ...environment,
        stack?.split('.').at(-1) ?? '',
      ];
      expect(
        cells.find((cell) => ways.every((way) => cell.includes(way ?? ''))),
        ways.join(' '),
      ).toBeDefined();
    }
  });

  it('lists every environment variable that is read, and no other', () => {
    const source = globSync('src/cli/**/*.ts').map((file) => readFileSync(file, 'utf8'));
    expect(listVariables(listTableRows('docs/command-line.md', 'Settings').flat().join(' '))).toEqual(
      listVariables(source.join('\n')),
    );
  });
});

describe('documents', () => {
  const lines = ['sh', 'console', 'yaml']
    .flatMap(listCodeBlocks)
    .flatMap(({ place, text }) => text.split('\n').map((line) => ({ place, line })))
    .flatMap(({ place, line }) =>
      Array.from(
        line.replace(/(^| )# .*/, '').matchAll(/\bedgewise ([a-z-]+)([^|;)>]*)/g),
        ([, command = '', rest = '']) => ({
          place,
          command,
          flags: rest.match(/(?<= )--?[a-z-]+/g) ?? [],
        }),
      ),
    );

  it.each(lines)('uses options that exist at $place: edgewise $command', async ({ command, flags }) => {
    const { stdout, exitCode } = await runCommand([command, '--help'], { cwd: '/' });
    expect(exitCode).toBe(0);
    expect(flags.filter((flag) => !new RegExp(`(^|[ ,])${flag}($|[ ,])`, 'm').test(stdout))).toEqual([]);
  });
});

function listVariables(text: string): ReadonlySet<string> {
  return new Set(text.match(/\bEDGEWISE_[A-Z_]+\b/g));
}
