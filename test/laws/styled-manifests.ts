import fc from 'fast-check';
import { Document, isMap, isScalar, Scalar, visit } from 'yaml';
import type { JsonObject } from '../../src/model/json.ts';

/** How the author of a manifest writes it. It does not change what it means. */
export interface Style {
  /** Numbers from 0 to 99 that decide, in turn, on each node: comments, brackets, quotes, anchors, blank lines. */
  readonly dice: readonly number[];
  readonly eol: '\n' | '\r\n';
  readonly hasFinalLineEnd: boolean;
  /** Whether the documents are members of a `List`. */
  readonly isList: boolean;
  readonly isJson: boolean;
  readonly indent: number;
  readonly indentSeq: boolean;
}

export function arbitraryStyle(): fc.Arbitrary<Style> {
  return fc.record({
    dice: fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }),
    eol: fc.constantFrom('\n', '\r\n'),
    hasFinalLineEnd: fc.boolean(),
    isList: fc.boolean(),
    isJson: fc.constantFrom(false, false, false, false, true),
    indent: fc.constantFrom(2, 2, 2, 4),
    indentSeq: fc.boolean(),
  });
}

/** Renders documents as one file. */
export function renderStyled(documents: readonly JsonObject[], style: Style): string {
  const { eol, hasFinalLineEnd, isList, isJson, dice } = style;
  const all = isList ? [{ apiVersion: 'v1', kind: 'List', items: documents }] : documents;
  if (isJson && isList) return JSON.stringify(all[0], null, (dice[0] ?? 0) % 3);
  const texts = all.map((document, index) => renderDocument(document, { ...style, dice: rotate(dice, index) }));
  const text = texts.join(`---${(dice[0] ?? 0) % 2 === 0 ? ' # a document' : ''}\n`);
  const ended = hasFinalLineEnd ? text : text.replace(/\n+$/, '');
  return ended.replaceAll('\n', eol);
}

function rotate(dice: readonly number[], by: number): readonly number[] {
  const at = (by * 7) % dice.length;
  return [...dice.slice(at), ...dice.slice(0, at)];
}

function renderDocument(value: JsonObject, { dice, indent, indentSeq }: Style): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  let throws = 0;
  const roll = (chance: number): boolean => (dice[throws++ % dice.length] ?? 0) < chance;
  visit(document, {
    Collection: (_, node) => {
      if (node !== document.contents && roll(25)) node.flow = true;
      if (roll(10)) node.anchor = `a${throws}`;
    },
    Scalar: (place, scalar) => {
      if (place === 'key') {
        if (roll(15)) scalar.commentBefore = ` above ${throws}`;
        if (roll(8)) scalar.spaceBefore = true;
        return;
      }
      if (typeof scalar.value === 'string' && roll(30))
        scalar.type = roll(50) ? Scalar.QUOTE_DOUBLE : Scalar.QUOTE_SINGLE;
      if (roll(15)) scalar.comment = ` behind ${throws}`;
      if (place !== 'value' && roll(15)) scalar.commentBefore = ` above ${throws}`;
      if (roll(5)) scalar.anchor = `s${throws}`;
    },
  });
  // A comment in brackets breaks the line, and one below a key would end a text.
  visit(document, {
    Map: (_, map) => {
      if (!isMap(map)) return;
      for (const { value: member } of map.items)
        if (isScalar(member) && typeof member.value === 'string' && /[\n\r]/.test(member.value)) delete member.comment;
    },
  });
  return document.toString({ indent, indentSeq, lineWidth: 0 });
}
