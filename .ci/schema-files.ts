import { isJsonArray, isJsonObject, type Json } from '../src/model/json.ts';
import { PUBLISHED_SCHEMAS } from '../src/schemas/published.ts';

/** The text of each file in schemas/, by its name, as generated from the sources. */
export function renderSchemaFiles(): ReadonlyMap<string, string> {
  return new Map(PUBLISHED_SCHEMAS.map(({ file, toSchema }) => [file, `${renderJson(toSchema())}\n`]));
}

const WIDTH = 100;

/** JSON for people: a value that fits on one line is on one line, and invisible characters are escaped. */
function renderJson(value: Json, indent = ''): string {
  const line = renderLine(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const members = isJsonArray(value)
    ? value.map((member) => renderJson(member, inner))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${renderJson(member, inner)}`);
  const [open, close] = isJsonArray(value) ? '[]' : '{}';
  return `${open}\n${members.map((member) => `${inner}${member}`).join(',\n')}\n${indent}${close}`;
}

function renderLine(value: Json): string {
  if (isJsonArray(value)) return `[${value.map(renderLine).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value).replace(INVISIBLE, toEscape);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${renderLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const INVISIBLE = /[\u007f-\u009f\ufeff]/g;

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
