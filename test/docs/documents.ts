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
  /** The document and the line, for test names. */
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

/** Counts the words that people read: without code blocks, generated tables, and targets of links. */
export function countProse(document: string): number {
  const prose = document
    .replace(/^<!-- table: [\s\S]*?^<!-- end -->$/gm, '')
    .replace(/^(`{3,})[\s\S]*?^\1$/gm, '')
    .replace(/\]\([^)]*\)/g, ']');
  return prose.split(/[\s|]+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
