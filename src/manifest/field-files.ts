import { BOUNDARY_REMEDY } from '../files/boundary.ts';
import type { TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { checkStorableText, toPrintable } from '../model/printable.ts';
import type { FieldFileResult } from './environment.ts';

/**
 * Replaces `{ file: path }` with the text of the file in fields whose kind allows it. File content is never quoted,
 * because a path can lead to a secret.
 */
export function fillInFiles(
  kind: string,
  value: JsonObject,
  read: (path: string) => FieldFileResult,
): { readonly value: JsonObject; readonly findings: readonly Finding[] } {
  const spec = value['spec'];
  const table = findKind(kind);
  if (table === undefined || !isJsonObject(spec)) return { value, findings: [] };
  const findings: Finding[] = [];
  const texts = listFileFields(table).flatMap(([name, type]): [string, Json][] => {
    const path = findFilePath(spec[name]);
    if (path === undefined) return [];
    const file = read(path);
    const found = 'finding' in file ? describeUnreadFile(file) : checkText(type, file.text);
    if (found !== undefined)
      findings.push({
        code: 'file-unreadable',
        remedy: FOLDER_REMEDY,
        ...found,
        message: `spec.${name} names ${path}, which ${found.message}`,
        path: ['spec', name, 'file'],
      });
    return 'finding' in file || found !== undefined ? [] : [[name, file.text.trim()]];
  });
  if (texts.length === 0) return { value, findings };
  return { value: { ...value, spec: { ...spec, ...Object.fromEntries(texts) } }, findings };
}

/** Lists the fields that accept the text of a file. */
function listFileFields(kind: Kind): readonly (readonly [name: string, type: TextType])[] {
  return kind.specFields.flatMap(([name, { type }]) =>
    type.type === 'text' && type.orFile ? [[name, type] as const] : [],
  );
}

function findFilePath(value: Json | undefined): string | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { file, ...rest } = value;
  return typeof file === 'string' && file !== '' && Object.keys(rest).length === 0 ? file : undefined;
}

const FOLDER_REMEDY = 'The path is relative to the folder of this manifest.';

/** What is wrong with a file. The message follows its name. */
type FileFinding = Partial<Finding> & Pick<Finding, 'message'>;

function describeUnreadFile(file: Extract<FieldFileResult, { readonly finding: string }>): FileFinding {
  const { finding, meant, isRefused } = file;
  if (isRefused) return { code: 'path-refused', message: finding, remedy: BOUNDARY_REMEDY };
  if (meant === undefined) return { message: finding };
  return { message: finding, remedy: `Did you mean \`${toPrintable(meant)}\`? ${FOLDER_REMEDY}` };
}

function checkText({ format }: TextType, text: string): FileFinding | undefined {
  const finding = checkStorableText(text);
  if (finding !== undefined) return { message: finding };
  if (format === undefined || FORMATS[format].check(text.trim()) === undefined) return undefined;
  if (!PRIVATE_KEY.test(text)) return { message: `does not hold ${FORMATS[format].expected}` };
  const remedy =
    'Name the file of the public key, which usually ends with .pub: `ssh-keygen -y -f` and this file print it. No manifest needs the private key.';
  return { message: 'holds a private key', remedy };
}

const PRIVATE_KEY = /^-----BEGIN [A-Z ]*PRIVATE KEY-----/m;
