import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import { createFoundRedactor, redactJson, type SecretMatch, type SecretRedactor } from '../model/secrets.ts';
import type { FieldPath } from '../model/state.ts';
import type { ReadFieldFile } from './environment.ts';
import { createSourceText, type SourceText } from './source-text.ts';
import { createYamlText } from './yaml-text.ts';

/**
 * No manifest may contain a secret of the run, from any source: the file itself, a variable, a file that a field names,
 * or a combination of them. Secrets are redacted before any other code reads the text, so no message quotes them.
 */

type Search = Pick<SecretRedactor, 'redact' | 'find'>;

export const RUN_SECRET_REMEDY = 'Remove it. If others can read its source, replace the secret.';

/** The replacement for a secret. It has no special meaning in YAML. */
const REPLACEMENT = 'REDACTED';

/** Redacts the text of a file. `secret` is the diagnostic if the file contains a secret. */
export function redactSource(
  source: SourceText,
  secrets: Search,
): { readonly text: SourceText; readonly secret: Diagnostic | undefined } {
  const found = secrets.find(source.text);
  if (found === undefined) return { text: source, secret: undefined };
  const text = createSourceText(source.file, createYamlText(secrets.redact(source.text, REPLACEMENT)));
  const diagnostic: Diagnostic = {
    code: 'secret-in-manifest',
    severity: 'error',
    message: `${source.file} contains ${found.name}`,
    remedy: RUN_SECRET_REMEDY,
    place: text.toPlace(found.index),
  };
  return { text, secret: diagnostic };
}

/** A secret that a document would contain once its variables and files are filled in. */
interface HeldSecret {
  /** The document with the secret redacted. */
  readonly value: Json;
  readonly path: FieldPath;
  readonly message: string;
  readonly remedy: string;
}

/** Returns the first secret in a document. `undefined` if there is no secret. */
export function findRunSecretInDocument(value: Json, secrets: Search): HeldSecret | undefined {
  const held = findSecret(value, secrets);
  if (held === undefined) return undefined;
  const { path, found } = held;
  return {
    value: redactJson(value, createFoundRedactor(secrets)),
    path,
    message: `this would contain ${found.name}`,
    remedy: RUN_SECRET_REMEDY,
  };
}

function findSecret(
  value: Json,
  secrets: Search,
): { readonly path: FieldPath; readonly found: SecretMatch } | undefined {
  if (typeof value === 'string') return findSecretInText(value, secrets);
  if (isJsonArray(value)) {
    for (const [index, member] of value.entries()) {
      const held = findSecret(member, secrets);
      if (held !== undefined) return { ...held, path: [index, ...held.path] };
    }
  } else if (isJsonObject(value))
    for (const [key, member] of Object.entries(value)) {
      // Stop the path at the map, because naming the key would reveal the secret.
      const inKey = findSecretInText(key, secrets);
      if (inKey !== undefined) return inKey;
      const held = findSecret(member, secrets);
      if (held !== undefined) return { ...held, path: [key, ...held.path] };
    }
  return undefined;
}

function findSecretInText(
  text: string,
  secrets: Search,
): { readonly path: FieldPath; readonly found: SecretMatch } | undefined {
  const found = secrets.find(text);
  return found === undefined ? undefined : { path: [], found };
}

/** Wraps a reader so that it rejects files that contain a secret. */
export function withRefusalOfSecretFiles(readFile: ReadFieldFile, { find }: Search): ReadFieldFile {
  return (manifest, path) => {
    const file = readFile(manifest, path);
    const found = 'text' in file ? find(file.text) : undefined;
    return found === undefined ? file : { finding: `contains ${found.name}` };
  };
}
