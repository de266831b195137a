import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENTS } from './documents.ts';

describe('documents', () => {
  it.each([...DOCUMENTS])('%s links to what exists', (file, document) => {
    const links = Array.from(document.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
    const local = links.filter((link) => !/^https?:/.test(link));
    expect(local.filter((link) => !isThere(file, link))).toEqual([]);
  });

  it.each([...DOCUMENTS])('%s names files that exist', (_, document) => {
    const named = Array.from(
      document.matchAll(/`((?:src|test|schemas|examples|docs|\.ci)\/[\w./-]+)`/g),
      ([, path = '']) => path,
    );
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('src/README.md', () => {
  const document = DOCUMENTS.get('src/README.md') ?? '';
  const sections = document.split(/^#{2,3} /m).map((section) => [section.split('\n', 1)[0] ?? '', section] as const);
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());

  it.each(folders.map(({ name }) => name))('maps the folder %s, and files of it that exist', (folder) => {
    const [, section = ''] = sections.find(([heading]) => heading.startsWith(`\`${folder}\`:`)) ?? [];
    const files = Array.from(section.matchAll(/`([\w-]+\.ts)`/g), ([, file = '']) => file);
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => !existsSync(join('src', folder, file)))).toEqual([]);
  });

  it('names files that exist in the folders of src', () => {
    const named = Array.from(document.matchAll(/`([a-z]+\/[\w/-]+\.ts)`/g), ([, path = '']) => path);
    const inSources = named.filter((path) => !/^(test|examples)\//.test(path));
    expect(inSources.filter((path) => !existsSync(join('src', path)))).toEqual([]);
  });
});

function isThere(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : join(dirname(file), path);
  return existsSync(target) && (anchor === undefined || listAnchors(target).includes(anchor));
}

/** The anchors that Markdown viewers give to headings. */
function listAnchors(file: string): readonly string[] {
  return Array.from(readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}
