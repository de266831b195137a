import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** How a change gets in, as CONTRIBUTING says: its steps, and commands that exist and do what the page says of them. */

const PAGE = readFileSync('.github/CONTRIBUTING.md', 'utf8');
const PACKAGE: { readonly version: string; readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);
const CHECKS = readFileSync('.ci/run', 'utf8');

/** A part of the page, below its heading. */
function findSection(heading: string): string {
  return PAGE.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
}

/** What the page has as code. */
const CODE = Array.from(PAGE.matchAll(/```sh\n[\s\S]*?```|`[^`\n]+`/g), ([code]) => code);
const SCRIPTS = [
  ...new Set(CODE.flatMap((code) => Array.from(code.matchAll(/\bnpm (?:run )?([a-z:]+)/g), ([, name = '']) => name))),
].filter((name) => name !== 'ci' && name !== 'cit'); // these are commands of npm itself

describe('the page on contributing', () => {
  it('says how a change gets in: issue, change, changelog, review', () => {
    const steps = findSection('How a change gets in').matchAll(/^\d\. \*\*(\w+)\.\*\* (?=\S)/gm);
    expect(Array.from(steps, ([, step]) => step)).toEqual(['Issue', 'Change', 'Changelog', 'Review']);
  });

  it('names scripts that package.json has, whose files are there', () => {
    expect(SCRIPTS.length).toBeGreaterThan(8);
    expect(SCRIPTS.filter((name) => PACKAGE.scripts[name] === undefined)).toEqual([]);
    const files = SCRIPTS.flatMap((name) => PACKAGE.scripts[name]?.match(/\S+\.m?ts\b/g) ?? []);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('says what the tests of npm run, and what the others run beside them', () => {
    expect(PAGE).toMatch(
      /`npm test` \| runs the tests of each part, the scenarios, the commands and the installed program/,
    );
    expect(PACKAGE.scripts['test']?.match(/--project \S+/g)).toEqual(['--project fast', '--project installed']);
    expect(PAGE).toMatch(/`npm run test:all` \| also runs laws/);
    expect(PACKAGE.scripts['test:all']).not.toContain('--project');
  });

  it('names a check of every change that runs what it asks for', () => {
    const asked = findSection('Make a change').match(/`npm run (lint|types|imports)`/g) ?? [];
    expect(asked).toHaveLength(3);
    for (const command of asked) expect(CHECKS).toContain(`npm run --silent ${command.slice(9, -1)}`);
    expect(CHECKS).toMatch(/^section 'npm cit' .* npm cit$/m);
    expect(findSection('Make a change')).toMatch(/never `test:`, which `.ci\/run` refuses/);
    expect(CHECKS).toContain("! grep -E '^[0-9a-f]+ test:'");
    expect(spawnSync('bash', ['-n', '.ci/run']).status).toBe(0);
  });

  it('starts the sources without a build', () => {
    const [, file = ''] = /The sources run without a build: `node (\S+?)`/.exec(PAGE) ?? [];
    const { status, stdout } = spawnSync(process.execPath, [file, '--version'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(PACKAGE.version) });
  });

  it('names a place for the line of the changelog, and forms for an issue', () => {
    const [, heading = ''] = /A line below "(\w+)" in \[CHANGELOG\.md\]/.exec(PAGE) ?? [];
    expect(readFileSync('CHANGELOG.md', 'utf8')).toContain(`\n## [${heading}]\n`);
    expect(PAGE).toContain('Use the forms.');
    expect(readdirSync('.github/ISSUE_TEMPLATE')).toEqual(expect.arrayContaining(['bug.yml', 'idea.yml']));
  });
});
