import { globSync, readFileSync } from 'node:fs';

/** Every document of the project, by its path. */
export const DOCUMENTS: ReadonlyMap<string, string> = new Map(
  ['README.md', ...globSync(['docs/**/*.md', 'examples/**/*.md', 'src/**/*.md']).sort()].map((file) => [
    file,
    readFileSync(file, 'utf8'),
  ]),
);

/** A code block of a document. */
export interface CodeBlock {
  /** For test names: the document and the line. */
  readonly place: string;
  readonly text: string;
}

/** The code blocks of a language in all documents. */
export function listCodeBlocks(language: string): readonly CodeBlock[] {
  const block = new RegExp(`(?<=^\`\`\`${language}\\n)[\\s\\S]*?(?=^\`\`\`$)`, 'gm');
  return [...DOCUMENTS].flatMap(([file, document]) =>
    Array.from(document.matchAll(block), ({ 0: text, index }) => {
      return { place: `${file}:${document.slice(0, index).split('\n').length}`, text };
    }),
  );
}

/** The rows of the table below a heading of a document, without its head. */
export function listTableRows(file: string, heading: string): readonly (readonly string[])[] {
  const [, section = ''] = (DOCUMENTS.get(file) ?? '').split(new RegExp(`^## ${heading}$`, 'm'));
  const [table = ''] = /^\|[\s\S]*?(?=\n\n)/m.exec(section) ?? [];
  const rows = table.split('\n').map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows.slice(2);
}
