import { globSync, readFileSync } from 'node:fs';

/** `node .ci/doc-comments.ts [FILE…]`: fails for a doc comment that opens again before it is closed, which biome does not notice. */
const SOURCES = ['{.ci,examples,src,test}/**/*.{ts,mjs}', '*.mjs', '.*.mjs'];
/** A comment from its opening to its end, at the beginning of a line: globs such as `src/**` are in the middle of one. */
const DOC_COMMENT = /^[ \t]*\/\*\*(?!\/)[\s\S]*?\*\//gm;

const files = process.argv.length > 2 ? process.argv.slice(2) : globSync(SOURCES).sort();
for (const file of files) {
  const text = readFileSync(file, 'utf8');
  for (const { 0: comment, index } of text.matchAll(DOC_COMMENT)) {
    const again = comment.search(/(?<=\n)[ \t]*\/\*\*/);
    if (again < 0) continue;
    const line = text.slice(0, index + again).split('\n').length;
    console.error(`${file}:${line}: this doc comment opens twice. Remove one /**.`);
    process.exitCode = 1;
  }
}
