import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { copyCheckout } from '../../.ci/pack.ts';
import { type Repository, readPinnedFiles, refreshPins } from '../../.ci/repository.ts';
import { type Registry, startRegistry } from './registry.ts';
import { describeWith, runTool, type ToolResult } from './tools.ts';

const WORKFLOW = '.github/workflows/release.yml';
const VERSION = '9.8.7-rc.1';
const FILLED_IN = { url: 'https://github.com/ada/edgewise', commit: '1a2b'.repeat(10) };

/** A checkout of a version that can be published: its pages are those that `npm run docs` writes. */
function createRelease(repository: Repository): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-release-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const checkout = join(folder, 'checkout');
  copyCheckout(checkout);
  const change = (file: string, toText: (text: string) => string) =>
    writeFileSync(join(checkout, file), toText(readFileSync(join(checkout, file), 'utf8')));
  change('.ci/repository.json', () => JSON.stringify(repository));
  for (const [file, text] of readPinnedFiles()) change(file, () => refreshPins(text, repository));
  // Its tests are those that run here.
  change('package.json', (text) =>
    text.replace(/"version": ".*"/, `"version": "${VERSION}"`).replace(/"test": ".*"/, '"test": "node --version"'),
  );
  change('package-lock.json', (text) => text.replaceAll(/(?<="name": "edgewise",\s+"version": )".*"/g, `"${VERSION}"`));
  change('CHANGELOG.md', (text) => text.replace('\n## ', `\n## [${VERSION}] - 2026-11-29\n\n## `));
  return checkout;
}

/** Plays the workflow for the tag of the version, in the repository ada/edgewise. */
async function play(checkout: string, registry: Registry): Promise<ToolResult> {
  const folder = dirname(checkout);
  writeFileSync(join(folder, 'event.json'), JSON.stringify({ ref: `refs/tags/v${VERSION}` }));
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', checkout, ...args]);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-qm', 'release');
  const env = { ...registry.toJobEnvironment('ada/edgewise'), ARTIFACTS: join(folder, 'artifacts') };
  const used = readFileSync(WORKFLOW, 'utf8').matchAll(/uses: (actions\/([\w-]+)@[0-9a-f]{40})/g);
  const stubs = new Map(Array.from(used, ([, action = '', name = '']) => [action, name]));
  const args = [
    ...['push', '--workflows', WORKFLOW, '--eventpath', join(folder, 'event.json')],
    ...['--platform', 'ubuntu-latest=-self-hosted'],
    ...[...stubs].flatMap(([action, name]) => [
      '--local-repository',
      `${action}=${resolve('test/pipelines/stubs', name)}`,
    ]),
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
  const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
  return runTool('act', args, { cwd: checkout, env: { PATH, XDG_CACHE_HOME: folder } });
}

describeWith(['act', 'git', 'npm', 'tar'], 'the release job', () => {
  it('publishes what the registry accepts with its provenance: the manifest and the pages name the repository', async () => {
    const registry = await startRegistry();
    const checkout = createRelease(FILLED_IN);
    const { status, output } = await play(checkout, registry);
    expect(status, output).toBe(0);
    expect(registry.published).toMatchObject([
      { name: 'edgewise', version: VERSION, tags: ['next'], source: FILLED_IN.url },
    ]);
    const read = (file: string) =>
      execFileSync('tar', ['-xzO', `package/${file}`], { input: registry.published[0]?.tarball, encoding: 'utf8' });
    expect(JSON.parse(read('package.json'))).toMatchObject({
      repository: { type: 'git', url: 'git+https://github.com/ada/edgewise.git' },
      homepage: 'https://github.com/ada/edgewise#readme',
      bugs: { url: 'https://github.com/ada/edgewise/issues' },
      author: expect.stringMatching(/\S/),
      keywords: expect.arrayContaining(['ingress']),
    });
    const action = `uses: ada/edgewise/.github/actions/plan@${FILLED_IN.commit}\n`;
    for (const file of ['docs/how-to/pipelines.md', 'examples/pipelines/github/plan.yml'])
      expect(read(file), file).toContain(action);
  }, 600_000);

  it('ends before it installs anything while no repository is filled in, with an error that names the file', async () => {
    const registry = await startRegistry();
    const { status, output } = await play(createRelease({ url: '', commit: '' }), registry);
    expect(status).not.toBe(0);
    expect(output).toContain('.ci/repository.json is not filled in.');
    expect(output).not.toContain('npm ci');
    expect(registry.published).toEqual([]);
  });
});
