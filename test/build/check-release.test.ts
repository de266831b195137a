import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DOC_FILES } from '../../.ci/doc-files.ts';
import { type Repository, readPinnedFiles, refreshPins } from '../../.ci/repository.ts';

const FILLED_IN = { url: 'https://github.com/ada/edgewise', commit: '1a2b'.repeat(10) };

/** What differs from a release that can be published. */
interface Differences {
  readonly repository?: Repository;
  /** The page that pins what another repository has. */
  readonly stalePage?: string;
  readonly changelog?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the check of the release job for the tag v1.2.3-rc.1 of ada/edgewise. Returns the lines of its output. */
function check({ repository = FILLED_IN, stalePage, changelog, env }: Differences): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const path of ['README.md', 'docs', 'examples/pipelines']) cpSync(path, join(folder, path), { recursive: true });
  mkdirSync(join(folder, '.ci'));
  writeFileSync(join(folder, '.ci/repository.json'), JSON.stringify(repository));
  for (const [file, text] of readPinnedFiles())
    writeFileSync(join(folder, file), file === stalePage ? text : refreshPins(text, FILLED_IN));
  writeFileSync(join(folder, 'package.json'), '{ "version": "1.2.3-rc.1" }');
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    changelog ?? '# Changelog\n\n## [Unreleased]\n\n## [1.2.3-rc.1] - 2026-11-29\n\nText.\n',
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('.ci/check-release.ts')], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      GITHUB_REF_NAME: 'v1.2.3-rc.1',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'ada/edgewise',
      ...env,
    },
  });
  expect(stderr).toBe('');
  expect(status).toBe(stdout === '' ? 0 : 1);
  return stdout.trimEnd().split('\n');
}

it('accepts a release whose repository, pages, tag and changelog agree', () => {
  expect(check({})).toEqual(['']);
});

const NOT_FILLED_IN = '::error file=.ci/repository.json::.ci/repository.json is not filled in.';

it.each<readonly [string, Differences, string]>([
  ['nothing is filled in', { repository: { url: '', commit: '' } }, NOT_FILLED_IN],
  ['the commit is not filled in', { repository: { ...FILLED_IN, commit: '' } }, NOT_FILLED_IN],
  ['the commit is a tag', { repository: { ...FILLED_IN, commit: 'v1.0.0' } }, NOT_FILLED_IN],
  ['the URL is one to clone', { repository: { ...FILLED_IN, url: `${FILLED_IN.url}.git` } }, NOT_FILLED_IN],
  [
    'the job runs in a fork',
    { env: { GITHUB_REPOSITORY: 'eve/edgewise' } },
    '::error file=.ci/repository.json::.ci/repository.json names https://github.com/ada/edgewise, and this job runs in https://github.com/eve/edgewise.',
  ],
  [
    'a recipe is stale',
    { stalePage: 'examples/pipelines/github/plan.yml' },
    '::error file=examples/pipelines/github/plan.yml::examples/pipelines/github/plan.yml does not name the repository and commit',
  ],
  [
    'the tag is of another version',
    { env: { GITHUB_REF_NAME: 'v1.2.3' } },
    '::error file=package.json::The tag is v1.2.3, and package.json says 1.2.3-rc.1.',
  ],
  [
    'the changelog has no date for the version',
    { changelog: '# Changelog\n\n## [1.2.3-rc.1]\n\n## [1.2.2] - 2026-11-01\n' },
    '::error file=CHANGELOG.md::CHANGELOG.md has no part "## [1.2.3-rc.1] - DATE".',
  ],
])('refuses a release if %s, and names the file', (_, differences, message) => {
  const [line = '', ...others] = check(differences);
  expect(line.slice(0, message.length)).toBe(message);
  expect(others).toEqual([]);
});

it('every page and recipe that pins edgewise is one that `npm run docs` writes', () => {
  const pinned = [...readPinnedFiles().keys()];
  expect(pinned).toContain('docs/how-to/pipelines.md');
  expect(pinned.filter((file) => !DOC_FILES.has(file))).toEqual([]);
  const filled = [...readPinnedFiles().values()].map((text) => refreshPins(text, FILLED_IN));
  for (const text of filled) {
    expect(text).toContain(FILLED_IN.commit);
    expect(text).not.toMatch(/OWNER\/edgewise|@COMMIT|(?:ref|rev|version|default): COMMIT/);
  }
  // Beside the commit of an action, a bot needs the version to propose a newer one.
  const tagged = filled.map((text) => refreshPins(text, { ...FILLED_IN, version: 'v1.2.3' })).join('');
  expect(tagged.match(/edgewise\/\.github\/actions\/\w+@[0-9a-f]{40}(?! # v1\.2\.3)/g)).toBeNull();
  expect(tagged).toContain(`${FILLED_IN.commit} # v1.2.3\n`);
  expect(refreshPins(tagged, FILLED_IN)).toBe(filled.join(''));
  // What is filled in can be changed later, and so can what is not.
  expect(filled.map((text) => refreshPins(text, { url: '', commit: '' }))).toEqual(
    [...readPinnedFiles().values()].map((text) => refreshPins(text, { url: '', commit: '' })),
  );
});
