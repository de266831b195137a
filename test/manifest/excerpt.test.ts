import { describe, expect, it } from 'vitest';
import { renderExcerpt } from '../../src/manifest/excerpt.ts';

function render(text: string, marked: string): string {
  const lines = text.split('\n');
  const line = lines.findIndex((candidate) => candidate.includes(marked)) + 1;
  const column = (lines[line - 1] ?? '').indexOf(marked) + 1;
  return `\n${renderExcerpt((wanted) => lines[wanted - 1], { line, column, length: marked.length })}\n`;
}

describe('an excerpt', () => {
  it('has a line of context on each side and a caret under the exact text', () => {
    expect(render('spec:\n  hostportz: []\n  policy: {}\nmore: 1', 'hostportz')).toMatchInlineSnapshot(`
      "
      1 | spec:
      2 |   hostportz: []
        |   ^^^^^^^^^
      3 |   policy: {}
      "
    `);
  });

  it('leaves out empty lines and lines between documents', () => {
    expect(render('---\nkind: Nope\n\nspec: {}', 'Nope')).toMatchInlineSnapshot(`
      "
      2 | kind: Nope
        |       ^^^^
      "
    `);
  });

  it('aligns line numbers of different lengths', () => {
    expect(render(`${'x\n'.repeat(8)}nine: 1\nten: bad\neleven: 1`, 'bad')).toMatchInlineSnapshot(`
      "
       9 | nine: 1
      10 | ten: bad
         |      ^^^
      11 | eleven: 1
      "
    `);
    expect(render(`${'x\n'.repeat(7)}eight: 1\nnine: bad\nten: 1`, 'bad')).toMatchInlineSnapshot(`
      "
       8 | eight: 1
       9 | nine: bad
         |       ^^^
      10 | ten: 1
      "
    `);
  });

  it('shortens a long line around the caret', () => {
    const line = `list: [${'"some value", '.repeat(30)}bad, ${'"some value", '.repeat(30)}]`;
    expect(render(line, 'bad')).toMatchInlineSnapshot(`
      "
      1 | …ome value", "some value", "some value", bad, "some value", "some value", "some value", "some value"…
        |                                          ^^^
      "
    `);
  });

  it('shortens a long line at its end if the caret is near its start', () => {
    expect(render(`text: ${'word '.repeat(100)}`, 'text')).toMatchInlineSnapshot(`
      "
      1 | text: word word word word word word word word word word word word word word word word word word word…
        | ^^^^
      "
    `);
  });

  it('shortens a caret that is too long', () => {
    const excerpt = render(`a: ${'x'.repeat(500)}`, 'x'.repeat(500));
    expect(excerpt).toMatchInlineSnapshot(`
      "
      1 | a: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
        |    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      "
    `);
  });

  it('keeps the caret in place behind tabs, wide and combining characters', () => {
    expect(render('a:\tbad', 'bad')).toMatchInlineSnapshot(`
      "
      1 | a:  bad
        |     ^^^
      "
    `);
    expect(render('漢字: 🙂 bad', 'bad')).toMatchInlineSnapshot(`
      "
      1 | 漢字: 🙂 bad
        |          ^^^
      "
    `);
    expect(render('e\u0301te\u0301: bad', 'bad')).toMatchInlineSnapshot(`
      "
      1 | été: bad
        |      ^^^
      "
    `);
  });

  it('shows a sign for invisible text, with the caret behind it', () => {
    expect(render('a: \u3164\ufe0f bad', 'bad')).toMatchInlineSnapshot(`
      "
      1 | a: \\u3164\\ufe0f bad
        |                 ^^^
      "
    `);
  });

  it('shows invisible characters', () => {
    expect(render('a: "\u001b[31m\u202e\u0000" bad', 'bad')).toMatchInlineSnapshot(`
      "
      1 | a: "\\u001b[31m\\u202e\\u0000" bad
        |                             ^^^
      "
    `);
  });

  it('splits no character', () => {
    expect(render(`${'🙂'.repeat(100)}bad`, 'bad')).not.toMatch(/\\ud/);
    expect(render(`x${'🙂'.repeat(100)}bad`, 'bad')).not.toMatch(/\\ud/);
  });

  it('has a caret for an empty range', () => {
    expect(renderExcerpt(() => undefined, { line: 1, column: 1, length: 0 })).toBe('1 |\n  | ^');
  });
});
