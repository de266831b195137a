import type { Field, FieldType, ReferenceType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { listReferableKinds } from '../kinds/references.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';

/** Types and defaults of fields in words, from the tables of the kinds and the schemas. Code is in backticks. */

/** The type of a field of a kind, with its limits. */
export function describeType(type: FieldType): string {
  switch (type.type) {
    case 'text':
      return `${describeText(type.format === undefined ? 'text' : FORMATS[type.format].expected, type.maxBytes)}${type.orFile ? ', or `{ file: path }`' : ''}`;
    case 'enum':
      return type.values.map(toCode).join(', ');
    case 'boolean':
      return '`true`, `false`';
    case 'number':
      return `${type.integer ? 'whole number' : 'number'}, ${type.min} to ${type.max}`;
    case 'timestamp':
      return 'time, RFC 3339';
    case 'reference':
      return listReferable(type).map(toCode).join(', ');
    case 'list':
      return `${type.unordered ? 'set' : 'list'}, each ${describeType(type.of)}`;
    case 'map':
      return `mapping from ${describeMember(type.keys)} to ${describeMember(type.of)}`;
    case 'object':
      return type.module ? 'module' : 'mapping';
    case 'json':
      return 'mapping';
    case 'metadata':
      return describeText('text or mapping', type.maxBytes);
    default:
      return assertNever(type);
  }
}

/** What may stand at a reference: addresses, and ids by their prefix. */
function listReferable(type: ReferenceType): readonly string[] {
  const names = [...listReferableKinds(type).map(({ name }) => name), 'External'].map((name) => `${name}/name`);
  return [...names, ...type.prefixes.map((prefix) => `${prefix}_…`)];
}

/** The meaning of leaving a field out. Empty: none. */
export function describeDefault(field: Field): string {
  if (field.serviceDefault) return 'chosen by the service';
  return field.default === undefined ? '' : toCode(JSON.stringify(field.default));
}

/** The type that a JSON Schema says, with its limits. */
export function describeSchema(schema: JsonObject): string {
  const [first = {}] = listAlternatives(schema);
  const { type, minimum, maximum, items, enum: words } = first;
  if (isJsonArray(words)) return words.map((word) => toCode(String(word))).join(', ');
  if (type === 'array') return `list, each ${isJsonObject(items) ? describeSchema(items) : 'a value'}`;
  if (type === 'integer' || type === 'number') {
    const name = type === 'integer' ? 'whole number' : 'number';
    return maximum === undefined || Number(maximum) > 1e9
      ? `${name} from ${minimum}`
      : `${name}, ${minimum} to ${maximum}`;
  }
  return (typeof type === 'string' ? TYPE_NAMES[type] : undefined) ?? 'mapping';
}

/** The alternatives of a schema. A text that may also come from the environment counts as a text. */
export function listAlternatives(schema: JsonObject): readonly JsonObject[] {
  const { anyOf } = schema;
  return isJsonArray(anyOf) ? anyOf.filter(isJsonObject) : [schema];
}

const TYPE_NAMES: Readonly<Record<string, string>> = { string: 'text', boolean: '`true`, `false`' };

function describeText(what: string, maxBytes: number | undefined): string {
  return maxBytes === undefined ? what : `${what}, at most ${maxBytes} bytes`;
}

/** In parentheses, where a list of alternatives would be ambiguous. */
function describeMember(type: FieldType): string {
  const text = describeType(type);
  return text.includes(', ') ? `(${text})` : text;
}

function toCode(text: string): string {
  return `\`${text}\``;
}
