import { isUtf8 } from 'node:buffer';
import { readdirSync, realpathSync } from 'node:fs';
import { createReadBudget, isFileError, isOverBudget, readInput } from '../files/read-input.ts';
import type { Diagnostic } from '../model/diagnostic.ts';

/**
 * What looks like a manifest in a folder and is not read, because of its ending or of the folder that it is in. It is only
 * counted, so what cannot be opened and what is beyond the limits is left out.
 */

/** A path to show, and the absolute path to open. */
export interface Path {
  readonly shown: string;
  readonly real: string;
}

/** A file that is not read, or a folder: hidden, or `node_modules`. */
export interface PassedOver extends Path {
  readonly isFolder: boolean;
}

/** Limits on what is opened only to count. A folder such as `node_modules` may have any number of files. */
const LIMITS = { maxBytes: 16 * 1024 * 1024, maxFiles: 2000, of: 'what is not read' };
const MAX_ENTRIES = 10_000;

const MAX_FILE_BYTES = 1024 * 1024;

/** The maximum number of files that the warning names. It counts the others. */
const MAX_NAMED = 3;

/** Creates the warning about manifests that are not read. `seen`: the real paths of the files that are read. */
export function createUnreadDiagnostic(
  passedOver: readonly PassedOver[],
  seen: ReadonlySet<string>,
): Diagnostic | undefined {
  const files = listUnreadManifests(passedOver, seen);
  if (files.length === 0) return undefined;
  const rest = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : '';
  const what =
    files.length === 1 ? '1 file looks like a manifest and is' : `${files.length} files look like manifests and are`;
  return {
    code: 'manifest-not-read',
    severity: 'warning',
    message: `${what} not read: ${files.slice(0, MAX_NAMED).join(', ')}${rest}`,
    remedy:
      'In a folder, the files *.yaml, *.yml and *.json are read, but nothing hidden and no node_modules. Rename or move what should be read, and the rest out of the folder.',
  };
}

function listUnreadManifests(passedOver: readonly PassedOver[], seen: ReadonlySet<string>): readonly string[] {
  const budget = createReadBudget(LIMITS);
  const entries = { left: MAX_ENTRIES };
  const isUnread = ({ real }: Path): boolean => {
    // A copy beside a file that is read, such as edge.yaml.bak of edge.yaml.
    if (seen.has(real.replace(/(?:\.\w+|~)$/, ''))) return false;
    const bytes = readInput(real, { maxBytes: MAX_FILE_BYTES, onlyFiles: true, budget });
    return looksLikeManifest(bytes) && !seen.has(realpathSync.native(real));
  };
  const found: string[] = [];
  try {
    for (const one of passedOver)
      for (const file of one.isFolder ? listManifestNames(one, entries) : [one])
        if (ignoreUnreadable(() => isUnread(file)) === true) found.push(file.shown);
  } catch (error) {
    if (!isOverBudget(error)) throw error;
  }
  return found;
}

function ignoreUnreadable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!isFileError(error) || isOverBudget(error)) throw error;
    return undefined;
  }
}

/** Lists the files below a folder that are named like manifests. Follows no links. */
function* listManifestNames({ shown, real }: Path, entries: { left: number }): Generator<Path> {
  for (const entry of ignoreUnreadable(() => readdirSync(real, { withFileTypes: true })) ?? []) {
    if (entries.left <= 0) return;
    entries.left -= 1;
    const path = { shown: `${shown}/${entry.name}`, real: `${real}/${entry.name}` };
    if (entry.isDirectory() && entry.name !== '.git') yield* listManifestNames(path, entries);
    else if (entry.isFile() && hasManifestEnding(entry.name)) yield path;
  }
}

/** Whether a name has one of the endings of manifests. */
export function hasManifestEnding(name: string): boolean {
  return /\.(?:ya?ml|json)$/i.test(name);
}

const API_VERSION = /(?:^|[\s{,"'])apiVersion["']?\s*:\s*["']?edgewise\//;
const FIRST_FIELD = /^[\s{["'-]*(?:apiVersion|kind|metadata|spec|lifecycle|items)["']?\s*:/;
const BEFORE_FIELDS = /^(?:\s*|\s*#.*|---.*|%.*|\s*\{\{.*|\s*[{[]\s*)$/;

/** Whether a file has our `apiVersion`, and begins with a field. A page with an example begins with other text. */
function looksLikeManifest(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  const text = new TextDecoder().decode(bytes);
  if (!API_VERSION.test(text)) return false;
  const first = text.split('\n').find((line) => !BEFORE_FIELDS.test(line.trimEnd()));
  return first !== undefined && FIRST_FIELD.test(first);
}
