import { Document, Scalar, visit } from 'yaml';
import { escapeJobCommands, hasJobCommand } from '../model/job-commands.ts';
import { type Json, type JsonObject, mapMembers } from '../model/json.ts';
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
const STYLE = {
  lineWidth: 0,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  flowCollectionPadding: false,
} as const;

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

function renderStyled(value: Json, write: (text: string) => string): string {
  return toYaml(createStyledDocument(value, { write }));
}

/** How a value is written where it becomes a part of a file. */
export interface FragmentStyle {
  /** Whether everything is on one line, in brackets and braces. */
  readonly isFlow?: boolean;
  /** The quotes of texts that need none. Absent: none. */
  readonly quotes?: Scalar.Type | undefined;
}

/** Renders a value as a part of a manifest: as the YAML of a document that has only this value, and variables escaped. */
export function renderFragment(value: Json, { isFlow = false, quotes }: FragmentStyle = {}): string {
  const document = createStyledDocument(value, { write: escapeVariables, quotes });
  if (isFlow)
    visit(document, {
      Collection: (_, collection) => {
        collection.flow = true;
      },
    });
  return toYaml(document).replace(/\n$/, '');
}

/** Renders a value as a part of a manifest that is JSON, on one line. */
export function renderJsonFragment(value: Json): string {
  const escaped = (member: Json): Json =>
    typeof member === 'string' ? escapeVariables(member) : mapMembers(member, escaped);
  const text = JSON.stringify(escaped(value)).replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, at) => formatEscape(character.charAt(at))).join(''),
  );
  return escapeJobCommands(text);
}

/**
 * Quotes text that a YAML 1.1 reader would convert to another type. Text with a job command is in double quotes, where the
 * escape that makes the command harmless does not change the value.
 */
function createStyledDocument(
  value: Json,
  { write, quotes }: { readonly write: (text: string) => string } & Pick<FragmentStyle, 'quotes'>,
): Document {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar: (place, scalar) => {
      if (place === 'key') styleKey(scalar);
      else styleValue(scalar, write, quotes);
    },
  });
  return document;
}

function toYaml(document: Document): string {
  return escapeJobCommands(document.toString(STYLE).replace(INVISIBLE, formatEscape));
}

/** Styles a key. Does not escape variables, because readers do not fill in variables in keys. */
function styleKey(key: Scalar): void {
  if (typeof key.value === 'string' && !isPlain(key.value)) key.type = Scalar.QUOTE_DOUBLE;
}

function styleValue(scalar: Scalar, write: (text: string) => string, quotes?: Scalar.Type): void {
  const { value } = scalar;
  // Use an exponent to show that an unsafe integer was rounded.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) scalar.format = 'EXP';
  if (typeof value !== 'string') return;
  scalar.value = write(value);
  if (isPlain(value)) {
    if (quotes !== undefined) scalar.type = quotes;
    return;
  }
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
