import { expect, test } from 'vitest';
import { type DiffLine, diffLines, foldUnchanged } from '../../src/report/view/line-diff.ts';

/** Every list of at most three letters. */
const LISTS = [0, 1, 2, 3].flatMap(listOfLength);

function listOfLength(length: number): readonly (readonly string[])[] {
  if (length === 0) return [[]];
  return listOfLength(length - 1).flatMap((list) => ['a', 'b', 'c'].map((letter) => [...list, letter]));
}

function listTexts(compared: readonly DiffLine[], ...roles: readonly DiffLine['role'][]): readonly string[] {
  return compared.filter(({ role }) => roles.includes(role)).map(({ text }) => text);
}

test('contains both texts whole, of any two of three lines', () => {
  for (const from of LISTS)
    for (const to of LISTS) {
      const compared = diffLines(from, to);
      expect(listTexts(compared, 'same', 'removed')).toEqual(from);
      expect(listTexts(compared, 'same', 'added')).toEqual(to);
    }
});

test('shows no difference of equal texts', () => {
  for (const list of LISTS) expect(listTexts(diffLines(list, list), 'removed', 'added')).toEqual([]);
});

test('shows exactly the removed and added members of two sorted sets', () => {
  const sets = Array.from({ length: 32 }, (_, bits) => [...'abcde'].filter((__, at) => (bits >> at) % 2 === 1));
  for (const from of sets)
    for (const to of sets) {
      const compared = diffLines(from, to);
      expect(listTexts(compared, 'removed')).toEqual(from.filter((member) => !to.includes(member)));
      expect(listTexts(compared, 'added')).toEqual(to.filter((member) => !from.includes(member)));
    }
});

test('shows removed lines before the added ones in their place', () => {
  expect(diffLines(['a', 'x', 'b'], ['a', 'y', 'b'])).toEqual([
    { role: 'same', text: 'a' },
    { role: 'removed', text: 'x' },
    { role: 'added', text: 'y' },
    { role: 'same', text: 'b' },
  ]);
});

test('shows texts that are too long to align one after another, without their common start and end', () => {
  const [from, to] = ['x', 'y'].map((word) => Array.from({ length: 2001 }, (_, index) => `${word}${index}`));
  const compared = diffLines(['a', ...(from ?? []), 'b'], ['a', ...(to ?? []), 'b']);
  expect(compared.map(({ role }) => role)).toEqual([
    'same',
    ...Array(2001).fill('removed'),
    ...Array(2001).fill('added'),
    'same',
  ]);
});

test('keeps changes with their context when it folds, and counts the rest', () => {
  const compared = diffLines([...'abcdefgh'], [...'abcdXfgh', 'i']);
  expect(foldUnchanged(compared, 1).map(({ role, text }) => `${role} ${text}`)).toEqual([
    'folded 3 unchanged',
    'same d',
    'removed e',
    'added X',
    'same f',
    'same g',
    'same h',
    'added i',
  ]);
  expect(foldUnchanged(diffLines(['a', 'b'], ['a', 'b']), 2)).toEqual([{ role: 'folded', text: '2 unchanged' }]);
});
