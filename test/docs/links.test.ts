import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENTS } from './documents.ts';

describe('documents', () => {
  it.each([...DOCUMENTS])('%s links to existing pages', (file, document) => {
    const links = Array.from(document.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
    const local = links.filter((link) => !/^https?:/.test(link));
    expect(local.filter((link) => !linkExists(file, link))).toEqual([]);
  });

  it('link in the package only to what is packed', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
    const packed = ['README.md', 'LICENSE', 'package.json', ...files.filter((name: string) => !name.startsWith('!'))];
    const isPacked = (path: string) => packed.some((name) => path === name || path.startsWith(`${name}/`));
    const broken = [...DOCUMENTS]
      .filter(([file]) => isPacked(file) && !file.startsWith('examples/try'))
      .flatMap(([file, document]) =>
        Array.from(document.matchAll(/\]\(([^)#\s]+)/g), ([, link = '']) => join(dirname(file), link)).filter(
          (path) => !path.includes(':') && !isPacked(path),
        ),
      );
    expect(broken).toEqual([]);
  });

  it.each([...DOCUMENTS])('%s names existing files', (_, document) => {
    const named = Array.from(
      document.matchAll(/`((?:src|test|schemas|examples|docs|\.ci)\/[\w./-]+)`/g),
      ([, path = '']) => path,
    );
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('src/README.md', () => {
  const document = DOCUMENTS.get('src/README.md') ?? '';
  const [, rooms = ''] = /^## Rooms$(.*?)^## /ms.exec(document) ?? [];
  const paragraphs = rooms.split(/^- /m);
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());

  it.each(folders.map(({ name }) => name))('describes the folder %s, and names one of its files', (folder) => {
    const paragraph = paragraphs.find((one) => one.startsWith(`**\`${folder}\`**:`)) ?? '';
    const files = Array.from(paragraph.matchAll(/`([\w-]+\.ts)`/g), ([, file = '']) => file);
    const rooms = Array.from(paragraph.matchAll(/`([\w-]+)\/`/g), ([, room = '']) => room);
    expect(files).not.toEqual([]);
    const places = [folder, ...rooms.map((room) => join(folder, room))];
    expect(files.filter((file) => !places.some((place) => existsSync(join('src', place, file))))).toEqual([]);
  });

  it('names existing files of src', () => {
    const named = Array.from(document.matchAll(/`([a-z]+\/[\w/-]+\.ts)`/g), ([, path = '']) => path);
    const inSources = named.filter((path) => !/^(test|examples)\//.test(path));
    expect(inSources.filter((path) => !existsSync(join('src', path)))).toEqual([]);
  });
});

function linkExists(file: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : join(dirname(file), path);
  return existsSync(target) && (anchor === undefined || listAnchors(target).includes(anchor));
}

/** The anchors that Markdown viewers give to headings, and those that a document names itself. */
function listAnchors(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const headings = Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...Array.from(text.matchAll(/<a (?:id|name)="([^"]+)">/g), ([, id = '']) => id)];
}
