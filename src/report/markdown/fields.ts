import { assertNever } from '../../model/errors.ts';
import { toCount } from '../text/layout.ts';
import type { FieldView } from '../view/field-view.ts';
import type { FoldedLine } from '../view/line-diff.ts';

/** Fields as lines that a reader of `diff` knows: `-` before what was, `+` before what will be. */
export function listDiffLines(fields: readonly FieldView[], unchanged = 0): readonly string[] {
  const more = unchanged === 0 ? [] : [`  (${toCount(unchanged, 'field')} unchanged)`];
  return [...fields.flatMap(listFieldLines), ...more];
}

function listFieldLines({ path, notes, inline, lines }: FieldView): readonly string[] {
  const remark = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  if (inline === undefined) return [`  ${path}:${remark}`, ...lines.map(toDiffLine)];
  const { from, to } = inline;
  const before = from === undefined ? [] : [`- ${path}: ${from}${to === undefined ? remark : ''}`];
  return [...before, ...(to === undefined ? [] : [`+ ${path}: ${to}${remark}`])];
}

function toDiffLine({ role, text }: FoldedLine): string {
  switch (role) {
    case 'added':
      return `+   ${text}`;
    case 'removed':
      return `-   ${text}`;
    case 'same':
      return `    ${text}`;
    case 'folded':
      return `    … ${text}`;
    default:
      return assertNever(role);
  }
}
