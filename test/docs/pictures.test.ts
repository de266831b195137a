import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPictures, PICTURES, toPageDigest } from '../../.ci/picture-files.ts';
import { renderTerminalSvg } from '../../.ci/terminal-svg.ts';

const README = readFileSync('README.md', 'utf8');

describe('the pictures of the README', () => {
  it('show the mark and what the demo prints; `npm run pictures` makes them again', async () => {
    const pictures = await createPictures();
    expect(readFileSync(join(PICTURES, 'plan.svg'), 'utf8')).toBe(pictures.plan);
    expect(readFileSync(join(PICTURES, 'mark.svg'), 'utf8')).toBe(pictures.mark);
    expect(readFileSync(join(PICTURES, 'review.sha256'), 'utf8')).toBe(toPageDigest(pictures));
  });

  it('open the README and the tutorial, in light and in dark, and are small', () => {
    const pages = ['docs/tutorial.md', 'docs/reference/reports.md', 'docs/reference/library.md'].map((page) =>
      readFileSync(page, 'utf8'),
    );
    const shown = [README, ...pages].join('');
    const files = Array.from(shown.matchAll(/images\/([\w-]+\.\w+)/g), ([, file]) => file);
    const names = [
      'mark.svg',
      'plan.svg',
      'flow.svg',
      'try.webp',
      ...['review', 'tutorial'].flatMap((name) => [`${name}-dark.webp`, `${name}-light.webp`]),
    ];
    expect(files).toEqual(expect.arrayContaining(names));
    for (const name of names) expect(statSync(join(PICTURES, name)).size, name).toBeLessThan(200_000);
    const { files: packed }: { readonly files: readonly string[] } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(packed).toContain('docs');
  });
});

describe('the picture of a terminal', () => {
  it('places each piece in its colour at its column, and escapes it', () => {
    const svg = renderTerminalSvg('a \u001b[1m\u001b[31m<b>\u001b[39m&\u001b[22m\n', 'A & B');
    expect(svg.match(/<(?:title|tspan).*/g)?.join('\n')).toBe(
      [
        '<title>A &amp; B</title>',
        '<tspan x="18" textLength="16.8">a </tspan><tspan x="34.8" textLength="25.2" class="bold" style="fill:#ff7b72">&lt;b&gt;</tspan><tspan x="60" textLength="8.4" class="bold">&amp;</tspan></text>',
      ].join('\n'),
    );
  });

  it('accepts no other escape sequence than colours', () => {
    expect(() => renderTerminalSvg('\u001b[5ma', 'A')).toThrow('no look for the code 5');
  });
});
