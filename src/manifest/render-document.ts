import { Document, Scalar, visit } from 'yaml';
import { escapeJobCommands, hasJobCommand } from '../model/job-commands.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { toPrintable } from '../model/printable.ts';
import { isSecretValue, listConcealed, mapConcealedMembers } from '../model/secret-value.ts';
import { NO_ENVIRONMENT, replaceEnvironmentVariables } from './environment.ts';

/** Matches invisible characters. They are escaped so that a reader sees everything that a manifest contains. */
const INVISIBLE = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Matches text that fits in a literal block: no white space at its start or at line ends, and only tab as a control
 * character.
 */
const BLOCK = /^(?=\S)(?:(?:\t|[^\p{Cc}])*[^\p{Cc}\s])?(?:\n(?:(?:\t|[^\p{Cc}])*[^\p{Cc}\s])?)+$/u;

/** Long lines are not folded, and double-quoted text stays on one line. */
const STYLE = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } as const;

/**
 * Renders one document as YAML below the comment. Parsed in any environment, the result is `value` again. A secret value
 * is rendered as its template.
 */
export function renderManifestDocument(value: JsonObject, comment: readonly string[] = []): string {
  const lines = comment.map((line) => `# ${escapeJobCommands(toPrintable(line))}\n`);
  const templates = new Set(
    listConcealed(value)
      .filter(isSecretValue)
      .map(({ template }) => template),
  );
  const plain = mapConcealedMembers(value, (concealed) => concealed.template ?? concealed);
  return `${lines.join('')}${renderStyled(plain, (text) => (templates.has(text) ? text : escapeVariables(text)))}`;
}

/** Renders a value that is not a manifest as YAML. Does not escape variables, because no reader fills them in. */
export function renderPlainYaml(value: Json): string {
  return renderStyled(value, (text) => text);
}

/**
 * Quotes text that a YAML 1.1 reader would convert to another type. Text with a job command is in double quotes, where the
 * escape that makes the command harmless does not change the value.
 */
function renderStyled(value: Json, write: (text: string) => string): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (place, scalar) => {
      if (place === 'key') styleKey(scalar);
      else styleValue(scalar, write);
    },
  });
  return escapeJobCommands(document.toString(STYLE).replace(INVISIBLE, formatEscape));
}

/** Styles a key. Does not escape variables, because readers do not fill in variables in keys. */
function styleKey(key: Scalar): void {
  if (typeof key.value === 'string' && !isPlain(key.value)) key.type = Scalar.QUOTE_DOUBLE;
}

function styleValue(scalar: Scalar, write: (text: string) => string): void {
  const { value } = scalar;
  // Use an exponent to show that an unsafe integer was rounded.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) scalar.format = 'EXP';
  if (typeof value !== 'string') return;
  scalar.value = write(value);
  if (isPlain(value)) return;
  const isBlock = BLOCK.test(value) && value.search(INVISIBLE) < 0 && !hasJobCommand(value);
  scalar.type = isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
}

/** Escapes `${` only in text that contains a variable or an escaped variable, because other tools also use `${…}`. */
function escapeVariables(text: string): string {
  const { text: filled, withheld, malformed } = replaceEnvironmentVariables(text, NO_ENVIRONMENT);
  const isLeftAlone = filled === text && withheld.length + malformed.length === 0 && !text.includes('${secret:');
  return isLeftAlone ? text : text.replaceAll('${', () => '$${');
}

function isPlain(text: string): boolean {
  return !/\p{Cc}/u.test(text) && text.search(INVISIBLE) < 0 && !hasJobCommand(text);
}

/** Formats a character as an escape in double quotes. */
function formatEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xff_ff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
