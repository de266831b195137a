import type { TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { listSpecFields, onceForEachKind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { findTextFault } from '../model/storable-text.ts';
import type { FieldFile } from './field-files.ts';
import type { Problem } from './problem.ts';

/**
 * A document with the texts of files where its kind lets a field be `{ file: path }`. The content of a file is never quoted, because a path
 * can lead to a secret.
 */
export function fillInFiles(
  kind: string,
  value: JsonObject,
  read: (path: string) => FieldFile,
): { readonly value: JsonObject; readonly problems: readonly Problem[] } {
  const spec = value['spec'];
  const table = findKind(kind);
  if (table === undefined || !isJsonObject(spec)) return { value, problems: [] };
  const problems: Problem[] = [];
  const texts = listFileFields(table).flatMap(([name, type]): [string, Json][] => {
    const path = toFilePath(spec[name]);
    if (path === undefined) return [];
    const file = read(path);
    const fault = 'fault' in file ? file.fault : checkText(type, file.text);
    if (fault !== undefined) problems.push(toFileProblem(name, path, fault));
    return 'fault' in file || fault !== undefined ? [] : [[name, file.text.trim()]];
  });
  if (texts.length === 0) return { value, problems };
  return { value: { ...value, spec: { ...spec, ...Object.fromEntries(texts) } }, problems };
}

/** The fields that can be the text of a file. */
const listFileFields = onceForEachKind((kind) =>
  listSpecFields(kind).flatMap(([name, { type }]) =>
    type.type === 'text' && type.orFile ? [[name, type] as const] : [],
  ),
);

function toProblem(name: string, code: Problem['code'], fault: string): Problem {
  return { code, message: `spec.${name} ${fault}`, path: ['spec', name], target: 'value' };
}

function toFilePath(value: Json | undefined): string | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { file, ...rest } = value;
  return typeof file === 'string' && file !== '' && Object.keys(rest).length === 0 ? file : undefined;
}

function checkText({ format }: TextType, text: string): string | undefined {
  const fault = findTextFault(text);
  if (fault !== undefined) return fault;
  if (format === undefined || FORMATS[format].check(text.trim()) === undefined) return undefined;
  return `does not hold ${FORMATS[format].expected}`;
}

function toFileProblem(name: string, path: string, fault: string): Problem {
  return {
    ...toProblem(name, 'file-unreadable', `names ${path}, which ${fault}`),
    remedy: 'The path is relative to the folder of this manifest.',
    path: ['spec', name, 'file'],
  };
}
