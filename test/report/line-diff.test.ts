import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffLine, diffLines, foldUnchanged } from '../../src/report/view/field-view.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

function without(role: DiffLine['role'], compared: readonly DiffLine[]): readonly string[] {
  return compared.filter((line) => line.role !== role).map(({ text }) => text);
}

test('contains both texts of a comparison whole', () => {
  fc.assert(
    fc.property(lines, lines, (from, to) => {
      const compared = diffLines(from, to);
      expect(without('added', compared)).toEqual(from);
      expect(without('removed', compared)).toEqual(to);
    }),
  );
});

test('shows no difference of equal texts', () => {
  fc.assert(fc.property(lines, (from) => diffLines(from, from).every(({ role }) => role === 'same')));
});

test('shows exactly the removed and added members of two sorted sets', () => {
  const set = fc.uniqueArray(fc.constantFrom(...'abcdefgh')).map((members) => members.toSorted());
  fc.assert(
    fc.property(set, set, (from, to) => {
      const compared = diffLines(from, to);
      const only = (role: DiffLine['role']) => compared.filter((line) => line.role === role).map(({ text }) => text);
      expect(only('removed')).toEqual(from.filter((member) => !to.includes(member)));
      expect(only('added')).toEqual(to.filter((member) => !from.includes(member)));
    }),
  );
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
