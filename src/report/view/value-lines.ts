import { findInnerType } from '../../kinds/walk.ts';
import { isAddress } from '../../model/address.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { toPrintableLines, toQuoted, toWord } from './escape.ts';
import { isEmpty, isLongText, isReferenceMap, isScalar, type KnownType } from './value-type.ts';

/**
 * Values as text. Free text stands in quotes; ids, addresses, enumerated and checked words stand bare. So what is not quoted
 * was said by the tool or is of a form that cannot say anything else.
 */

/** Addresses by the ids that they have now, for readers who don't know ids by heart. */
export type Names = ReadonlyMap<string, string>;

/** What stands for no value. */
const NO_VALUE = '(none)';

/** A value on one line. For values that are neither lists nor objects, unless they are empty. */
export function renderScalar(type: KnownType, value: Json | undefined, names: Names): string {
  if (typeof value === 'string') return renderText(type, value, names);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : NO_VALUE;
}

/** A value as lines: members of a list behind bullets, members of an object as `key: value`, nested ones indented. */
export function renderValueLines(type: KnownType, value: Json, names: Names): readonly string[] {
  if (isEmpty(value)) return [NO_VALUE];
  if (isJsonArray(value)) {
    const members = value.map((member, index) => renderValueLines(findInnerType(type, index), member, names));
    return members.flatMap(([first = '', ...rest]) => [`• ${first}`, ...indent(rest)]);
  }
  if (isJsonObject(value)) return renderMembers(type, value, names);
  return isLongText(value) ? ['|', ...indent(toPrintableLines(value))] : [renderScalar(type, value, names)];
}

function renderText(type: KnownType, text: string, names: Names): string {
  if (type?.type === 'reference') return renderReference(text, names);
  const isWord = type?.type === 'enum' || type?.type === 'timestamp' || (type?.type === 'text' && type.format);
  return isWord ? toWord(text) : toQuoted(text);
}

function renderReference(text: string, names: Names): string {
  return isAddress(text) ? `${toWord(text)} (known after apply)` : renderKey(text, names);
}

function renderMembers(type: KnownType, value: JsonObject, names: Names): readonly string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const name = isReferenceMap(type) ? renderKey(key, names) : toWord(key);
    const [first = '', ...rest] = renderValueLines(findInnerType(type, key), member, names);
    if (isScalar(member)) return [`${name}: ${first}`, ...rest];
    return [`${name}:`, ...indent([first, ...rest])];
  });
}

/** The key of a map whose keys are ids: with the name that goes with it, if there is one. */
export function renderKey(key: string, names: Names): string {
  const name = names.get(key);
  return name === undefined ? toWord(key) : `${toWord(key)} (${toWord(name)})`;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
