import { Document, Scalar, visit } from 'yaml';
import type { JsonObject } from '../model/json.ts';
import { toPrintable } from '../model/printable.ts';
import { fillEnvironment, NO_ENVIRONMENT } from './environment.ts';

/** What a person cannot see in a text. It is escaped, so that a manifest is what it looks like. */
const INVISIBLE = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** A text that can stand in a block as it is: no white space at its start or at the end of a line, and no control character but the tab. */
const BLOCK = /^(?=\S)(?:(?:\t|[^\p{Cc}])*[^\p{Cc}\s])?(?:\n(?:(?:\t|[^\p{Cc}])*[^\p{Cc}\s])?)+$/u;

/** YAML for people: lines are not folded, and a text that another YAML reader would take for something else is in quotes. */
const STYLE = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const;

/** The YAML text of one document below its comment. Reading it gives the value again, whatever the texts in it are and whatever the environment. */
export function renderManifestDocument(value: JsonObject, comment: readonly string[] = []): string {
  const lines = comment.map((line) => `# ${toPrintable(line)}\n`);
  return `${lines.join('')}${renderStyled(value, escapeVariables)}`;
}

/** The YAML text of a value other than a manifest: no reader replaces variables in it. */
export function renderYaml(value: JsonObject): string {
  return renderStyled(value, (text) => text);
}

function renderStyled(value: JsonObject, write: (text: string) => string): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (place, scalar) => {
      if (place === 'key') styleKey(scalar);
      else styleValue(scalar, write);
    },
  });
  return document.toString(STYLE).replace(INVISIBLE, toEscape);
}

/** Variables are not filled in in keys. */
function styleKey(key: Scalar): void {
  if (typeof key.value === 'string' && !isPlain(key.value)) key.type = Scalar.QUOTE_DOUBLE;
}

function styleValue(scalar: Scalar, write: (text: string) => string): void {
  const { value } = scalar;
  // An unsafe integer is written with an exponent, which shows that it was rounded.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) scalar.format = 'EXP';
  if (typeof value !== 'string') return;
  scalar.value = write(value);
  if (isPlain(value)) return;
  scalar.type = BLOCK.test(value) && value.search(INVISIBLE) < 0 ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
}

/** Only where it would be taken for a variable, or for an escaped one: other tools have variables of that form too. */
function escapeVariables(text: string): string {
  const { text: filled, withheld, malformed } = fillEnvironment(text, NO_ENVIRONMENT);
  const isLeftAlone = filled === text && withheld.length + malformed.length === 0;
  return isLeftAlone ? text : text.replaceAll('${', () => '$${');
}

function isPlain(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.search(INVISIBLE) < 0;
}

/** An escape for a character in double quotes. */
function toEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xff_ff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
