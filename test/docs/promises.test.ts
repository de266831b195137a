import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BrokenSource } from '../broken-source.ts';
import { MUTANTS } from '../invented-kinds/mutants.ts';
import { BROKEN_PROMISES, type BrokenPromise } from '../promises/breaks.ts';
import { listSentences, PROMISING_SECTIONS } from '../promises/list-sentences.ts';
import { SENTENCES } from '../promises/sentences.ts';
import { SOURCE_MUTANTS } from '../simulation/source-mutants.ts';

const HELD = Object.values(SENTENCES).flatMap((page) => Object.values(page));
const BREAKS: readonly [string, BrokenPromise][] = Object.entries(BROKEN_PROMISES);

/** Whether a test has the title, or the scenario exists. */
function hasTest({ test, title }: Pick<BrokenPromise, 'test' | 'title'>): boolean {
  if (test === `scenarios/${title}`) return existsSync(`test/${test}/manifest.yaml`) || existsSync(`test/${test}`);
  const file = `test/${test}.test.ts`;
  return title !== '' && existsSync(file) && readFileSync(file, 'utf8').includes(title);
}

describe('the promises of the pages', () => {
  it.each([...new Set(PROMISING_SECTIONS.map(({ page }) => page))])('are each held, and no others: %s', (page) => {
    const text = readFileSync(page, 'utf8');
    const sections = PROMISING_SECTIONS.filter((section) => section.page === page);
    const sentences = sections.flatMap(({ heading }) => listSentences(text, heading));
    expect(sentences.length).toBeGreaterThan(10);
    expect(Object.keys(SENTENCES[page] ?? {}).toSorted()).toEqual(sentences.toSorted());
  });

  it('are held by tests that exist', () => {
    const named = [...BREAKS.map(([, broken]) => broken), ...HELD.filter((held) => 'test' in held)];
    expect(named.filter((one) => !hasTest(one))).toEqual([]);
  });

  it('are the reason for each break', () => {
    const used = new Set<string>(HELD.flatMap((held) => (Array.isArray(held) ? held : [])));
    expect(BREAKS.map(([name]) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});

describe('a break of the tests of tests', () => {
  const all: readonly [string, BrokenSource][] = [
    ...BREAKS,
    ...Object.entries(SOURCE_MUTANTS),
    ...Object.entries(MUTANTS),
  ];

  it('changes a source that is as it was', () => {
    const isStale = ({ file, from }: BrokenSource) => !readFileSync(file, 'utf8').includes(from);
    expect(all.filter(([, broken]) => isStale(broken)).map(([name]) => name)).toEqual([]);
  });
});
