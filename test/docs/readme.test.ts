import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXAMPLES_PAGE } from '../../.ci/run-example.ts';
import { runCommand } from '../cli/fake-context.ts';
import { DOCUMENTS, listCodeBlocks } from './documents.ts';

const README = DOCUMENTS.get('README.md') ?? '';

describe('the README', () => {
  it('names the two commands for a fresh machine near its top', () => {
    const top = README.split('\n').slice(0, 25).join('\n');
    expect(top).toMatch(/^npm ci && npm run demo\b/m);
    expect(top).toMatch(/^npm cit\b/m);
  });

  it('starts with its purpose and its users, then the picture, then two commands', () => {
    const places = [
      ...['](schemas/openapi.json)', '**It replaces**', '**It is not for**', '](docs/images/plan.svg)'],
      ...['npm ci && npm run demo', 'npm cit', '## '],
    ].map((text) => README.indexOf(text));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    expect(README.slice(0, places[5]).split('\n').length).toBeLessThan(20);
  });

  it('says how to install the command, and on which Node, before its use', () => {
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

  it('is short', () => {
    expect(README.split('\n').length).toBeLessThan(250);
  });

  it('links to every page of docs', () => {
    const pages = [...DOCUMENTS.keys()].filter((file) => file.startsWith('docs/'));
    expect(pages.filter((file) => !README.includes(`](${file})`))).toEqual([]);
  });
});

/** Pages that each say in their first two lines for whom they are. The examples and the project's own pages too. */
const PAGES = [...DOCUMENTS, ...globSync('.github/*.md').map((file) => [file, readFileSync(file, 'utf8')] as const)];

it.each(PAGES)('%s starts with its readers and what they can do after it', (_, document) => {
  const [title = '', empty, ...lines] = document.split('\n');
  expect(title).toMatch(/^# /);
  expect(empty).toBe('');
  expect(lines.slice(0, 2).join(' ')).toMatch(/^For .*\. After this page,? /);
});

describe('the version', () => {
  const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));

  it('has a section of the changelog, with its promises', () => {
    const [, part = ''] = readFileSync('CHANGELOG.md', 'utf8').split(`\n## [${version}]`);
    expect(part.split('\n## ')[0]).toContain('](docs/stability.md)');
    expect(readFileSync('package-lock.json', 'utf8')).toMatch(
      new RegExp(`^\\{\\s+"name": "edgewise",\\s+"version": "${version}"`),
    );
  });

  it('promises stability on one short page: commands, exit codes, plan files, schemas, library', () => {
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

describe('documents', () => {
  const lines = ['sh', 'console', 'yaml']
    .flatMap(listCodeBlocks)
    .filter(({ place }) => !place.startsWith(EXAMPLES_PAGE)) // test/explain runs these

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

  it.each(lines)('uses existing options at $place: edgewise $command', async ({ command, flags }) => {
    const { stdout, exitCode } = await runCommand([command, '--help'], { cwd: '/' });
    expect(exitCode).toBe(0);
    expect(flags.filter((flag) => !new RegExp(`(^|[ ,])${flag}($|[ ,])`, 'm').test(stdout))).toEqual([]);
  });
});
