import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

interface Manifest {
  readonly [member: string]: unknown;
  readonly repository?: { readonly url: string };
}

/** Packs the package with this file about the repository, and without its other files. Returns the manifest in the tarball, and the one that stays. */
function pack(repository: object): { readonly packed: Manifest; readonly after: string } {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-manifest-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, '.ci'));
  writeFileSync(join(folder, '.ci/repository.json'), JSON.stringify(repository));
  cpSync('package.json', join(folder, 'package.json'));
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run(process.execPath, resolve('.ci/packed-manifest.mjs'), 'write');
  const tarball = run('npm', 'pack', '--silent', '--ignore-scripts').trim();
  run(process.execPath, resolve('.ci/packed-manifest.mjs'), 'restore');
  expect(existsSync(join(folder, '.edgewise/package.json'))).toBe(false);
  return {
    packed: JSON.parse(run('tar', '-xzOf', tarball, 'package/package.json')),
    after: readFileSync(join(folder, 'package.json'), 'utf8'),
  };
}

it('the packed manifest names the repository as provenance needs it, its pages, words to find it by, and the author', () => {
  const url = 'https://github.com/ada/edgewise';
  const { packed, after } = pack({ url, commit: '1a2b'.repeat(10) });
  // The registry compares this URL with the repository in which the job ran.
  expect(packed.repository?.url.replace(/^git\+|\.git$/g, '')).toBe(url);
  expect(packed).toMatchObject({
    repository: { type: 'git', url: 'git+https://github.com/ada/edgewise.git' },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    author: 'The Edgewise authors',
  });
  expect(packed['keywords']).toContain('ingress');
  expect(Object.keys(packed)).not.toContain('scripts');
  expect(after).toBe(readFileSync('package.json', 'utf8'));
  expect(readFileSync('LICENSE', 'utf8')).toMatch(new RegExp(`^Copyright \\d{4} ${packed['author']}$`, 'm'));
});

it('the packed manifest names no repository while none is known', () => {
  const members = Object.keys(pack({ url: '', commit: '' }).packed);
  for (const member of ['repository', 'homepage', 'bugs']) expect(members).not.toContain(member);
});
