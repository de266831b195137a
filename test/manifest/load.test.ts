import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readManifestFiles } from '../../src/manifest/load.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-load-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Writes files that each contain their own name. */
function write(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${file}\n`);
  }
}

async function load(...paths: readonly string[]) {
  const readStdin = async () => Buffer.from('from a pipe\n');
  const { sources, diagnostics } = await readManifestFiles(paths, { cwd: folder, uid: process.getuid?.(), readStdin });
  return {
    files: sources.map(({ file }) => file),
    texts: sources.map(({ bytes }) => Buffer.from(bytes).toString().trim()),
    diagnostics: diagnostics.map(({ code, message }) => `${code}: ${message}`),
  };
}

describe('loading a file', () => {
  it('accepts any name, and shows its path as given', async () => {
    write('a/edge.txt');
    expect(await load('./a/../a/edge.txt')).toEqual({
      files: ['./a/../a/edge.txt'],
      texts: ['a/edge.txt'],
      diagnostics: [],
    });
  });

  it('accepts an absolute path', async () => {
    write('a.yaml');
    expect((await load(join(folder, 'a.yaml'))).files).toEqual([join(folder, 'a.yaml')]);
  });

  it('reads it once, however often and by whatever name it is given', async () => {
    write('a/edge.yaml');
    symlinkSync('edge.yaml', join(folder, 'a/link.yaml'));
    expect((await load('a/edge.yaml', 'a/link.yaml', 'a', './a/edge.yaml')).files).toEqual(['a/edge.yaml']);
  });

  it('reports a missing file, and reads the others', async () => {
    write('a.yaml');
    expect(await load('nope.yaml', 'a.yaml', 'a.yaml/b.yaml')).toEqual({
      files: ['a.yaml'],
      texts: ['a.yaml'],
      diagnostics: [
        'file-unreadable: nope.yaml does not exist',
        'file-unreadable: a.yaml/b.yaml has a part that is not a folder',
      ],
    });
  });

  it('reports a link to itself', async () => {
    symlinkSync('loop.yaml', join(folder, 'loop.yaml'));
    expect((await load('loop.yaml')).diagnostics).toEqual(['file-unreadable: loop.yaml is a symbolic link to itself']);
  });

  it('reports an impossible name', async () => {
    expect((await load('a\0b')).diagnostics).toEqual([expect.stringMatching(/^file-unreadable: .* cannot be read: /)]);
  });

  it('reports an empty file', async () => {
    writeFileSync(join(folder, 'a.yaml'), ' \r\n\t\n');
    expect((await load('a.yaml')).diagnostics).toEqual(['file-unreadable: a.yaml is empty']);
  });

  it('reads a named pipe, as of a shell for <(command)', async () => {
    const script = `import { readManifestFiles } from ${JSON.stringify(new URL('../../src/manifest/load.ts', import.meta.url))};
      const { sources } = await readManifestFiles(process.argv.slice(1), { cwd: '.' });
      console.log(sources.map(({ bytes }) => String(Buffer.from(bytes)).trim()).join('|'));`;
    const command = `"$0" --input-type=module -e "$1" <(echo first) <(echo second)`;
    const output = execFileSync('bash', ['-c', command, process.execPath, script], { cwd: folder, encoding: 'utf8' });
    expect(output).toBe('first|second\n');
  });
});

describe('loading a folder', () => {
  it('accepts manifests at any depth, sorted by name, with paths as given', async () => {
    write('m/b.yml', 'm/a.yaml', 'm/c.json', 'm/B.yaml', 'm/sub/deep/d.yaml', 'm/a/z.yaml', 'm/readme.md', 'm/yaml');
    const files = ['B.yaml', 'a/z.yaml', 'a.yaml', 'b.yml', 'c.json', 'sub/deep/d.yaml'];
    expect((await load('m')).files).toEqual(files.map((file) => `m/${file}`));
    expect((await load('m/')).files).toEqual(files.map((file) => `m/${file}`));
    expect((await load('./m')).files).toEqual(files.map((file) => `./m/${file}`));
    expect((await load('.')).files).toEqual(files.map((file) => `m/${file}`));
  });

  it('skips hidden files, packages, and files of kustomize', async () => {
    write(
      'm/a.yaml',
      'm/.hidden.yaml',
      'm/.git/b.yaml',
      'm/node_modules/p/c.yaml',
      'm/kustomization.yaml',
      'm/x/kustomization.yml',
    );
    expect(await load('m')).toEqual({ files: ['m/a.yaml'], texts: ['m/a.yaml'], diagnostics: [] });
    expect((await load('m/kustomization.yaml')).files).toEqual(['m/kustomization.yaml']);
  });

  it('follows links to folders, without circles', async () => {
    write('m/a.yaml', 'other/b.yaml');
    symlinkSync('../other', join(folder, 'm/link'));
    symlinkSync('..', join(folder, 'other/up'));
    symlinkSync('.', join(folder, 'm/self'));
    expect(await load('m')).toMatchObject({ files: ['m/a.yaml', 'm/link/b.yaml'], diagnostics: [] });
  });

  it('reads a folder once if it is given twice, or is inside of another', async () => {
    write('m/sub/a.yaml');
    expect(await load('m/sub', 'm', 'm/sub')).toMatchObject({ files: ['m/sub/a.yaml'], diagnostics: [] });
  });

  it('reports a folder without manifests', async () => {
    write('m/readme.md', 'm/kustomization.yaml');
    expect(await load('m')).toEqual({
      files: [],
      texts: [],
      diagnostics: ['file-unreadable: m contains no manifest file'],
    });
  });

  it('reports a broken link with the name of a manifest', async () => {
    write('m/a.yaml');
    symlinkSync('nope', join(folder, 'm/b.yaml'));
    symlinkSync('nope', join(folder, 'm/c.md'));
    expect(await load('m')).toMatchObject({
      files: ['m/a.yaml'],
      diagnostics: ['file-unreadable: m/b.yaml does not exist'],
    });
  });

  it('reads a folder as a folder, also if it has the name of a file', async () => {
    write('m/a.yaml/b.yaml');
    expect((await load('m')).files).toEqual(['m/a.yaml/b.yaml']);
  });
});

describe('loading standard input', () => {
  it('reads it once, at its place among the paths', async () => {
    write('a.yaml', 'b.yaml');
    expect(await load('a.yaml', '-', 'b.yaml', '-')).toEqual({
      files: ['a.yaml', '<stdin>', 'b.yaml'],
      texts: ['a.yaml', 'from a pipe', 'b.yaml'],
      diagnostics: [],
    });
  });

  it('reports empty input, because its command has probably failed', async () => {
    const readStdin = async () => new Uint8Array();
    const { diagnostics } = await readManifestFiles(['-'], { cwd: folder, uid: process.getuid?.(), readStdin });
    expect(diagnostics).toMatchObject([
      { code: 'file-unreadable', message: '<stdin> is empty', remedy: 'Check the command before the pipe.' },
    ]);
  });

  it('reports input that cannot be read', async () => {
    const readStdin = () => Promise.reject(new Error('it is closed'));
    const { diagnostics } = await readManifestFiles(['-'], { cwd: folder, uid: process.getuid?.(), readStdin });
    expect(diagnostics).toMatchObject([{ code: 'file-unreadable', message: '<stdin> cannot be read: it is closed' }]);
  });
});
