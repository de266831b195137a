import { formatPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { FieldType } from './field.ts';
import { FORMATS, type TextCheck, type TextFormat } from './formats.ts';
import type { Kind, SpecFinding } from './kind.ts';

/** The deep checks that are loaded, by format. Texts of any other format are checked by syntax only. */
export type DeepFormatChecks = ReadonlyMap<TextFormat, TextCheck>;

/** Loads the deep checks of the formats that these kinds use. */
export async function loadDeepFormatChecks(kinds: readonly Kind[]): Promise<DeepFormatChecks> {
  const formats = new Set(kinds.flatMap(listDeeplyCheckedFormats));
  const loaded = Array.from(formats, async (format): Promise<readonly [TextFormat, TextCheck][]> => {
    const check = await FORMATS[format].loadDeepCheck?.();
    return check === undefined ? [] : [[format, check]];
  });
  return new Map((await Promise.all(loaded)).flat());
}

export function listDeeplyCheckedFormats(kind: Kind): readonly TextFormat[] {
  const formats = kind.specFields.flatMap(([, { type }]) => listFormats(type));
  return [...new Set(formats)].filter((format) => FORMATS[format].loadDeepCheck !== undefined);
}

/** Lists the findings of the deep checks. The spec must conform to its kind. Messages do not quote the texts. */
export function listDeepFormatFindings(kind: Kind, spec: Spec, checks: DeepFormatChecks): readonly SpecFinding[] {
  if (checks.size === 0) return [];
  return kind.specFields
    .flatMap(([name, { type }]) => listTexts(type, spec[name], [name]))
    .flatMap(({ format, text, path }) => {
      const finding = checks.get(format)?.(text);
      return finding === undefined ? [] : [{ path, message: `${formatPath(['spec', ...path])} ${finding}` }];
    });
}

function listFormats(type: FieldType): readonly TextFormat[] {
  if (type.type === 'text') return type.format === undefined ? [] : [type.format];
  if (type.type === 'list') return listFormats(type.of);
  if (type.type === 'map') return [...listFormats(type.keys), ...listFormats(type.of)];
  return type.type === 'object' ? Object.values(type.fields).flatMap((field) => listFormats(field.type)) : [];
}

interface FormattedText {
  readonly format: TextFormat;
  readonly text: string;
  readonly path: FieldPath;
}

function listTexts(type: FieldType, value: Json | undefined, path: FieldPath): readonly FormattedText[] {
  if (type.type === 'text') {
    const { format } = type;
    return format === undefined || typeof value !== 'string' ? [] : [{ format, text: value, path }];
  }
  if (type.type === 'list') {
    if (isJsonArray(value)) return value.flatMap((member, index) => listTexts(type.of, member, [...path, index]));
    return listTexts(type.of, value, path);
  }
  if (!isJsonObject(value)) return [];
  const members = Object.entries(value);
  if (type.type === 'map')
    return members.flatMap(([key, member]) => [
      ...listTexts(type.keys, key, [...path, key]),
      ...listTexts(type.of, member, [...path, key]),
    ]);
  if (type.type !== 'object') return [];
  return type.namedFields.flatMap(([key, field]) => listTexts(field.type, value[key], [...path, key]));
}
