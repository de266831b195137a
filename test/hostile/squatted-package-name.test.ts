import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

/** The attacker has published a package named `edgewise`, for users who run an edgewise command where it is not installed. */

const execute = promisify(execFile);

/** All texts that are shipped or shown to a user. */
const TEXTS = [
  ...['README.md', 'CHANGELOG.md', 'Dockerfile', '.pre-commit-hooks.yaml'],
  ...globSync(['docs/**/*.md', 'examples/**/*', '.github/**/*', 'src/**/*.{ts,md}', 'schemas/*.json']),
].filter((file) => /\.\w+$|Dockerfile$/.test(file));

/** npx and similar commands with the bare name, unless they install nothing; an install of the bare name, with a version or without. */
const INSTALLS = [
  /\b(?:npx|pnpx|bunx|pnpm dlx|yarn dlx|npm (?:exec|x))\s+(?!--no-install\s|--no\s)(?:-\S+\s+)*edgewise\b(?!\/)/g,
  /\bnpm (?:install|i|add)\s+(?:-\S+\s+)*edgewise(?:@\S+)?(?=[\s`'"]|$)/gm,
  /\bpackage: +['"]?edgewise\b/g,
];

function listInstalls(text: string): readonly string[] {
  return INSTALLS.flatMap((pattern) => Array.from(text.matchAll(pattern), ([found]) => found));
}

describe('a package named edgewise of another author', () => {
  it('is installed by no documented command', () => {
    const found = TEXTS.flatMap((file) => listInstalls(readFileSync(file, 'utf8')).map((text) => `${file}: ${text}`));
    expect(found).toEqual([]);
  });

  it.each([
    'npx edgewise plan',
    'npx -y edgewise',
    'npx --yes edgewise',
    'npm exec edgewise',
    'npm install edgewise',
    'npm i -g edgewise@1',
    'npm install --save-dev edgewise\n',
    'pnpm dlx edgewise',
    'package: edgewise@1.0.0',
  ])('would be found in a text: %s', (text) => {
    expect(listInstalls(text)).toHaveLength(1);
  });

  it('is not started by the documented command, unlike by npx alone', async () => {
    const { folder, env } = await createRegistry();
    const npx = async (words: readonly string[]) => {
      await execute('npx', words, { cwd: folder, env }).catch(() => undefined);
      return existsSync(join(folder, 'stolen'));
    };
    const [shown = ''] =
      /npx --\S+ edgewise validate/.exec(await readFile('docs/how-to/installation.md', 'utf8')) ?? [];
    expect(await npx([...shown.split(' ').slice(1), 'manifests'])).toBe(false);
    expect(await npx(['edgewise', 'validate', 'manifests'])).toBe(true);
  });
});

describe('an image of another author', () => {
  it('does not replace the named one: a digest decides, in the Dockerfile and in the component', () => {
    const images = ['Dockerfile', 'examples/pipelines/gitlab/templates/edgewise.yml'].map((file) => {
      const [, image] = /^(?:FROM | +default: )(\S*node:\S+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
      return image;
    });
    for (const image of images)
      expect(image).toMatch(/^(docker\.io\/library\/)?node:\d+\.\d+\.\d+-bookworm(-slim)?@sha256:[0-9a-f]{64}$/);
    expect(readFileSync('.github/dependabot.yml', 'utf8')).toContain('package-ecosystem: docker');
  });
});

/** A registry with that package, and an empty project that uses it. */
async function createRegistry(): Promise<{ readonly folder: string; readonly env: NodeJS.ProcessEnv }> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-name-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const source = join(folder, 'source');
  await mkdir(source);
  const manifest = { name: 'edgewise', version: '9.9.9', bin: 'steal.js' };
  await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(source, 'steal.js'), `#!/usr/bin/env node\nrequire('node:fs').writeFileSync('stolen', '');\n`);
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
  };
  await execute('npm', ['pack', '--silent', source], { cwd: folder, env });
  const tarball = await readFile(join(folder, 'edgewise-9.9.9.tgz'));
  const registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: `http://${request.headers.host}/edgewise.tgz`, integrity };
    const versions = { '9.9.9': { ...manifest, bin: { edgewise: 'steal.js' }, dist } };
    return response.end(JSON.stringify({ name: 'edgewise', 'dist-tags': { latest: '9.9.9' }, versions }));
  });
  await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done));
  onTestFinished(() => new Promise<void>((done) => registry.close(() => done())));
  // A server that listens on a port has an address of this type.
  const { port } = registry.address() as AddressInfo;
  return { folder, env: { ...env, npm_config_registry: `http://127.0.0.1:${port}/` } };
}
