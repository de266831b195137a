import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXAMPLES_PAGE } from '../../.ci/run-example.ts';
import { runCommand } from '../cli/fake-context.ts';
import { countProse, DOCUMENTS, listCodeBlocks } from './documents.ts';

const README = DOCUMENTS.get('README.md') ?? '';

describe('the README', () => {
  it('has at most 700 words', () => {
    expect(README.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(700);
  });

  it('starts with its purpose and its users, then a plan and the flow, then the commands for a fresh machine', () => {
    const places = [
      ...['Edgewise keeps the edges', 'It is for platform teams', '](docs/images/plan.svg)', '](docs/images/flow.svg)'],
      ...['\nnpm ci && npm run demo ', '\nnpm cit ', '\nnpm run try ', '$ edgewise plan shop', '## Compared'],
    ].map((text) => README.indexOf(text));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    expect(README.slice(0, places[6]).split('\n').length).toBeLessThan(25);
  });

  it('says which Node a checkout needs, and which the package', () => {
    const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
      readFileSync('package.json', 'utf8'),
    );
    expect(README).toContain('A checkout needs npm and Node 20 or newer');
    expect(README).toMatch(
      new RegExp(`\\[the package\\]\\([^)]*\\) Node ${engines.node.replace(/^>=|\.0$/g, '')} or newer`),
    );
  });

  it('links each row of the comparison to a section with a source for each tool', () => {
    const page = DOCUMENTS.get('docs/explanation/compared.md') ?? '';
    const sections = new Map(
      page.split(/^## /m).map((text) => [text.split('\n')[0]?.toLowerCase().replaceAll(' ', '-'), text]),
    );
    const rows = Array.from(README.matchAll(/^\| \[[^\]]*\]\(docs\/explanation\/compared\.md#([\w-]+)\)/gm));
    expect(rows.length).toBeGreaterThan(5);
    for (const [row, anchor] of rows) {
      const cells = Array.from((sections.get(anchor) ?? '').matchAll(/^\| (?!---|Tool)(.*) \|$/gm), ([, cell = '']) =>
        cell.split(' | '),
      );
      expect(
        cells.map(([tool]) => tool),
        row,
      ).toEqual(['Edgewise', 'Terraform']);
      for (const [tool = '', , source = ''] of cells)
        expect(source, `${row} ${tool}`).toMatch(tool === 'Terraform' ? /\]\((https:|\.\.\/reference)/ : /\]\(/);
    }
  });
});

describe('the installation page', () => {
  it('says how to install the command, and on which Node, before its use', () => {
    const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
      readFileSync('package.json', 'utf8'),
    );
    const page = DOCUMENTS.get('docs/how-to/installation.md') ?? '';
    expect(page).toContain(`Node ${engines.node.replace(/^>=|\.0$/g, '')} or newer`);
    const commands = Array.from(
      page.matchAll(/^(npm install --save-dev|npx --no-install edgewise [a-z]+) /gm),
      ([, command]) => command,
    );
    expect(commands).toEqual([
      'npm install --save-dev',
      'npx --no-install edgewise init',
      'npx --no-install edgewise validate',
      'npx --no-install edgewise plan',
    ]);
  });
});

describe('the systems that the installation page calls supported', () => {
  const [, row = ''] =
    /^\| (Linux: .*) \|.*: supported \|$/m.exec(DOCUMENTS.get('docs/how-to/installation.md') ?? '') ?? [];

  it('are the one of CI, in an image of Node', () => {
    const workflow = readFileSync('.github/workflows/ci.yml', 'utf8');
    const images = Array.from(workflow.matchAll(/^ +container: (\S+)/gm), ([, image]) => image);
    expect(images.length).toBeGreaterThan(1);
    expect(new Set(images)).toEqual(new Set(['node:24-bookworm']));
    expect(row).toContain('Debian 12, x86-64');
  });

  it('have each Node on which the package is tried', () => {
    const { engines }: { readonly engines: { readonly node: string } } = JSON.parse(
      readFileSync('package.json', 'utf8'),
    );
    const [, newer = ''] = /^const SUPPORTED = \[oldest, (.*)\];$/m.exec(readFileSync('.ci/package.ts', 'utf8')) ?? [];
    const versions = [engines.node.replace(/^>=|\.0$/g, ''), ...(newer.match(/\d+/g) ?? [])];
    expect(row.match(/(?<=Node |, | and )[\d.]+$|(?<=Node |, )\d[\d.]*(?=,| and)/g)).toEqual(versions);
  });
});

describe('the page on the words in their order', () => {
  const page = DOCUMENTS.get('docs/explanation/words.md') ?? '';
  const rows = Array.from(page.matchAll(/^\| \*\*(.+?)\*\* \| (.*) \|$/gm), ([, word = '', text = '']) => ({
    word,
    text,
  }));

  it('fits on one screen, and has the words in the order in which a user meets them', () => {
    expect(rows.map(({ word }) => word)).toEqual([
      ...['stack', 'manifest', 'mark', 'plan', 'approval', 'drift', 'adopt', 'hand over'],
    ]);
    expect(page.split('\n').length).toBeLessThan(24);
    expect(countProse(page)).toBeLessThan(220);
  });

  it('explains each word without a word that comes later', () => {
    for (const [index, { word, text }] of rows.entries()) {
      const later = rows.slice(index + 1).map((row) => row.word);
      const bare = text.replace(/`[^`]*`|\]\([^)]*\)/g, '').toLowerCase();
      expect(
        later.filter((other) => new RegExp(`\\b${other}(?:s|ed)?\\b`).test(bare)),
        word,
      ).toEqual([]);
    }
  });

  it('comes before the glossary in the README and in the index', () => {
    for (const file of ['README.md', 'docs/README.md']) {
      const text = DOCUMENTS.get(file) ?? '';
      const places = ['explanation/words.md)', 'reference/glossary.md)'].map((link) => text.indexOf(link));
      expect(places[0], file).toBeGreaterThan(0);
      expect(places[1], file).toBeGreaterThan(places[0] ?? 0);
    }
  });
});

describe('the index by question', () => {
  it('links to every page', () => {
    const index = DOCUMENTS.get('docs/README.md') ?? '';
    const pages = [...DOCUMENTS.keys()].filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
    expect(pages.filter((file) => !index.includes(`](${file.slice('docs/'.length)}`))).toEqual([]);
  });
});

const HOW_TO = [...DOCUMENTS].filter(([file]) => file.startsWith('docs/how-to/') && file !== 'docs/how-to/day-two.md');

describe.each(HOW_TO)('%s', (_, page) => {
  it('starts with commands, before its first rule', () => {
    const [start = ''] = page.split(/^\| ---/m);
    expect(start).toMatch(/^```(?:sh|console)$/m);
    expect(page.slice(0, page.indexOf('```')).split('\n').length).toBeLessThan(10);
  });

  it('ends with its exceptions, what to do about each, and how you see that it worked', () => {
    const sections = page.split(/^## /m).slice(1);
    const [exceptions = '', end = ''] = sections.slice(-2);
    expect(sections.filter((section) => section.startsWith('Exceptions\n'))).toEqual([exceptions]);
    expect(exceptions).toMatch(/^Exceptions\n\n\| Situation \| What happens \| What to do \|\n(?:\|.*\|\n)+\n?$/);
    expect(end).toMatch(/^How you see that it work(?:s|ed)\n\n\S/);
  });
});

describe('each page', () => {
  it('is of one kind, by its folder, or the start', () => {
    const folders = [...DOCUMENTS.keys()].filter((file) => file.startsWith('docs/')).map((file) => file.split('/')[1]);
    const known = ['how-to', 'reference', 'explanation', 'README.md', 'tutorial.md', 'diagnostics.md'];
    expect(folders.filter((folder = '') => !known.includes(folder))).toEqual([]);
  });
});

describe('the tutorial', () => {
  const tutorial = DOCUMENTS.get('docs/tutorial.md') ?? '';
  const steps = tutorial.split(/^## (?=\d)/m).slice(1);

  it('has commands in each step, and says what to look at', () => {
    expect(steps).toHaveLength(8);
    for (const step of steps) expect(step, step).toContain('$ ');
    for (const step of steps) expect(step, step).toContain('**Look at**');
  });

  it('shows adoptions only, a danger, a refused approval, drift, and nothing to do', () => {
    const told = [
      ...[
        '2 to adopt, 0 to create; 0 unchanged',
        'Nothing to do: 2 resources match',
        '! access: will no longer be restricted',
      ],
      ...[
        'The plan is not the same as plan.json',
        '$ echo $?\n6\n',
        '1 write applied',
        '! access: is no longer restricted',
      ],
      ...['Unmanaged:', '$ echo $?\n2\n', '1 write applied, 0 failed', '$ echo $?\n0\n'],
    ];
    const missing: string[] = [];
    let place = 0;
    for (const text of told) {
      place = tutorial.indexOf(text, place + 1);
      if (place < 0) missing.push(text);
    }
    expect(missing).toEqual([]);
  });
});

describe('the version', () => {
  const { version }: { readonly version: string } = JSON.parse(readFileSync('package.json', 'utf8'));

  it('is the same in both files of npm', () => {
    expect(readFileSync('package-lock.json', 'utf8')).toMatch(
      new RegExp(`^\\{\\s+"name": "edgewise",\\s+"version": "${version}"`),
    );
  });

  it('has a part of the changelog with its date, below what is not released yet', () => {
    const [, ...parts] = readFileSync('CHANGELOG.md', 'utf8').split('\n## ');
    const [unreleased = '', ...released] = parts;
    expect(unreleased).toMatch(/^\[Unreleased\]\n/);
    // The release job compares the newest one with the version of the package.
    const dates = released.map((part) => /^\[\d+\.\d+\.\d+(?:-[\w.]+)?\] - (\d{4}-\d\d-\d\d)\n/.exec(part)?.[1] ?? '');
    expect(dates).not.toContain('');
    expect(dates).toEqual(dates.toSorted().reverse());
    expect(released.at(-1)).toContain('](docs/reference/stability.md)');
  });

  it('promises stability on one short page, and says what is promised before the first tag: commands, exit codes, plan files, schemas, library', () => {
    const page = DOCUMENTS.get('docs/reference/stability.md') ?? '';
    const promised = Array.from(page.matchAll(/^\| ([^|]+) \|/gm), ([, what = '']) => what);
    for (const what of ['Command line', 'Exit codes', 'Plan files', 'Schemas', 'Library'])
      expect(
        promised.some((one) => one.includes(what)),
        what,
      ).toBe(true);
    expect(page.split('\n').length).toBeLessThan(27);
    const [first] = Array.from(
      readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## \[(\d.*)\]/gm),
      ([, one]) => one,
    ).reverse();
    expect(page).toContain(`**Before the first tag**, \`v${first}\`,`);
  });
});

describe('documents', () => {
  it('have at most 18,000 words to read in all, without what is generated', () => {
    const pages = [...DOCUMENTS].filter(([file]) => /^(?:README|docs\/.*)\.md$/.test(file) && file !== EXAMPLES_PAGE);
    const words = pages.map(([, document]) => countProse(document));
    expect(pages.length).toBeGreaterThan(25);
    expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(18_000);
    expect(
      countProse('One [two](three.md) | four |\n```sh\nfive\n```\n<!-- table: a -->\n| six |\n<!-- end -->\n'),
    ).toBe(3);
  });

  const lines = ['sh', 'console', 'yaml']
    .flatMap(listCodeBlocks)
    .filter(({ place }) => !place.startsWith(EXAMPLES_PAGE)) // test/explain runs these examples

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
