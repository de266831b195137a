import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import { type FoundSecret, redactJson, type Secrets } from '../model/secrets.ts';
import type { FieldPath } from '../model/state.ts';
import type { ReadFieldFile } from './environment.ts';
import { createSourceText, type SourceText } from './source-text.ts';

/**
 * No manifest contains a secret of the run, from any source: the file itself, a variable, a file that a field names, or a combination of several. Secrets are
 * redacted before any other code sees the text, so that no message quotes them.
 */

type Search = Pick<Secrets, 'redact' | 'find'>;

const REMEDY = 'Remove it. If others can read its source, replace the secret.';

/** Has no meaning in YAML, in any position. */
const STAND_IN = 'REDACTED';

/** The text of a file without secrets, and the diagnostic of a file that has one. */
export function redactSource(
  source: SourceText,
  secrets: Search,
): { readonly text: SourceText; readonly held: Diagnostic | undefined } {
  const found = secrets.find(source.text);
  if (found === undefined) return { text: source, held: undefined };
  const text = createSourceText(source.file, secrets.redact(source.text, STAND_IN));
  const held: Diagnostic = {
    code: 'secret-in-manifest',
    severity: 'error',
    message: `${source.file} contains ${found.name}`,
    remedy: REMEDY,
    place: text.toPlace({ start: found.index, end: found.index + 1 }),
  };
  return { text, held };
}

/** What a document would contain with everything filled in. */
interface HeldSecret {
  /** The document without it. */
  readonly value: Json;
  readonly path: FieldPath;
  readonly message: string;
  readonly remedy: string;
}

/** The first secret in a value; `undefined`: there is none. */
export function findSecretInDocument(value: Json, secrets: Search): HeldSecret | undefined {
  const held = findIn(value, secrets);
  if (held === undefined) return undefined;
  const { path, found } = held;
  return { value: redactJson(value, secrets), path, message: `this would contain ${found.name}`, remedy: REMEDY };
}

/** The first secret in a value, and the path inside of the value that leads to it. */
function findIn(value: Json, secrets: Search): { readonly path: FieldPath; readonly found: FoundSecret } | undefined {
  if (typeof value === 'string') return findText(value, secrets);
  if (isJsonArray(value)) {
    for (const [index, member] of value.entries()) {
      const held = findIn(member, secrets);
      if (held !== undefined) return { ...held, path: [index, ...held.path] };
    }
  } else if (isJsonObject(value))
    for (const [key, member] of Object.entries(value)) {
      // A key that contains a secret cannot be named as a position.
      const inKey = findText(key, secrets);
      if (inKey !== undefined) return inKey;
      const held = findIn(member, secrets);
      if (held !== undefined) return { ...held, path: [key, ...held.path] };
    }
  return undefined;
}

function findText(
  text: string,
  secrets: Search,
): { readonly path: FieldPath; readonly found: FoundSecret } | undefined {
  const found = secrets.find(text);
  return found === undefined ? undefined : { path: [], found };
}

/** A reader that gives no file with a secret in it. */
export function withoutSecretFiles(readFile: ReadFieldFile, { find }: Search): ReadFieldFile {
  return (manifest, path) => {
    const file = readFile(manifest, path);
    const found = 'text' in file ? find(file.text) : undefined;
    return found === undefined ? file : { finding: `contains ${found.name}` };
  };
}
