import { assertNever } from '../../model/errors.ts';
import type { FieldLine, FieldView } from '../view/field-view.ts';
import { toUnchangedText } from '../view/plan-wording.ts';

/** Fields as lines that a reader of `diff` knows: `-` before what was, `+` before what will be. */
export function listDiffLines(fields: readonly FieldView[], unchanged = 0): readonly string[] {
  const more = unchanged === 0 ? [] : [`  (${toUnchangedText(unchanged)})`];
  return [...fields.flatMap(listFieldLines), ...more];
}

function listFieldLines({ path, notes, inline, lines }: FieldView): readonly string[] {
  const remark = notes.length === 0 ? '' : `  (${notes.join(', ')})`;
  if (inline === undefined) return [`  ${path}:${remark}`, ...lines.map(toDiffLine)];
  const { from, to } = inline;
  const before = from === undefined ? [] : [`- ${path}: ${from}${to === undefined ? remark : ''}`];
  return [...before, ...(to === undefined ? [] : [`+ ${path}: ${to}${remark}`])];
}

function toDiffLine({ role, text }: FieldLine): string {
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
