import { isUtf8 } from 'node:buffer';
import { dirname, relative } from 'node:path';
import { toBuffer } from '../files/read-input.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { Place } from '../model/place.ts';
import type { FieldPath, SkippedFile } from '../model/state.ts';
import { createYamlBudget } from './bounded-yaml.ts';
import { decodeManifestSource } from './decode-source.ts';
import type { ManifestEnvironment } from './environment.ts';
import { locate } from './finding.ts';
import { isApiVersionOfOthers, mayBeOwnDocument } from './foreign.ts';
import { parseDocuments } from './parse.ts';
import { compileIgnorePatterns } from './path-pattern.ts';
import type { Source } from './source.ts';
import { createSourceText } from './source-text.ts';
import { mayContainDefaultsDocument, mayContainStackDocument } from './stack-folders.ts';

/**
 * `spec.skip_files`: the files of other tools among the manifests. Because what is skipped may be deleted, a file with a
 * document of edgewise cannot be skipped, and a plan names the line for each delete that may come from it.
 */

/** The patterns of a `Stack` or of its nearest Defaults. */
export interface SkipRule {
  /** Returns the pattern that names a file. `undefined`: the file is not skipped. */
  readonly find: (file: string) => SkipPattern | undefined;
  /** The patterns of a Stack that name files to skip. Empty for those of Defaults, which are for other stacks, too. */
  readonly own: readonly SkipPatternInFolder[];
}

interface SkipPattern {
  readonly text: string;
  readonly place: Place;
}

/** A pattern by itself, and the folder to which it and the paths that it matches are relative. */
export interface SkipPatternInFolder extends SkipPattern {
  readonly folder: string;
  readonly matches: (path: string) => boolean;
}

/** Returns the `spec.skip_files` of a file with a Stack or Defaults, as `kind` says. Invalid patterns skip nothing. */
export function findSkipRuleInFile(
  source: Source,
  env: ManifestEnvironment,
  kind: 'Stack' | 'Defaults',
): SkipRule | undefined {
  if (!(kind === 'Stack' ? mayContainStackDocument : mayContainDefaultsDocument)(source.bytes)) return undefined;
  const { source: text, diagnostic } = decodeManifestSource(source);
  if (diagnostic !== undefined) return undefined;
  for (const { value, range, tree, findings } of parseDocuments(text.yaml, env, createYamlBudget())) {
    const [first] = listSkipFiles(value, kind, []);
    if (first === undefined) continue;
    const isUsed = findings.length === 0 && isJsonArray(first.value);
    const patterns = isUsed ? first.value.map((one) => (typeof one === 'string' ? one : '')) : [];
    const findIndex = compileSkipPatterns(patterns, dirname(source.file));
    const document = { text, range, tree, base: first.base };
    const locatePattern = (index: number): Place => locate(document, ['spec', 'skip_files', index]);
    return {
      find: (file) => {
        const index = findIndex(file);
        return index === undefined ? undefined : { text: patterns[index] ?? '', place: locatePattern(index) };
      },
      own:
        kind === 'Defaults'
          ? []
          : [...patterns.entries()]
              .filter(([, text]) => !text.startsWith('!'))
              .map(([index, text]) => {
                const matchPattern = compileIgnorePatterns([text]);
                const matches = (path: string): boolean => matchPattern(path) !== undefined;
                return { text, place: locatePattern(index), folder: dirname(source.file), matches };
              }),
    };
  }
  return undefined;
}

/** Lists the `spec.skip_files` of a document, or of each member of a `List`. */
function listSkipFiles(
  value: Json,
  wanted: 'Stack' | 'Defaults',
  base: FieldPath,
): readonly { readonly base: FieldPath; readonly value: Json }[] {
  if (!isJsonObject(value)) return [];
  const { kind, items, spec, apiVersion } = value;
  if (kind === 'List' && items !== undefined && isJsonArray(items))
    return items.flatMap((item, index) => listSkipFiles(item, wanted, [...base, 'items', index]));
  if (kind !== wanted || isApiVersionOfOthers(apiVersion)) return [];
  const patterns = spec !== undefined && isJsonObject(spec) ? spec['skip_files'] : undefined;
  return patterns === undefined ? [] : [{ base, value: patterns }];
}

/** Compiles the patterns of a document in a folder. Files outside of the folder do not match. */
export function compileSkipPatterns(patterns: readonly string[], folder: string): (file: string) => number | undefined {
  const find = compileIgnorePatterns(patterns);
  return (file) => {
    const path = relative(folder, file);
    return path === '' || path === '..' || path.startsWith('../') ? undefined : find(path);
  };
}

/**
 * Returns a pattern that skips a file: the outermost folder with the file and without manifests, else the file. The
 * pattern is relative to the folder of the Stack. `undefined` if the file is not in that folder.
 */
export function suggestSkipPattern(file: string, folder: string, manifests: readonly string[]): string | undefined {
  const path = relative(folder, file);
  if (path === '' || path.startsWith('../')) return undefined;
  const others = manifests.map((one) => relative(folder, one));
  const names = path.split('/');
  const folders = names.slice(0, -1).map((_, index) => `${names.slice(0, index + 1).join('/')}/`);
  const found = folders.find((one) => !others.some((other) => other.startsWith(one))) ?? path;
  return found.replaceAll(/[*?[\\]|^[!#]| $/g, (character) => `\\${character}`);
}

/** Warns of a pattern of a Stack that selects nothing: it has probably a typing error, or another case than the files. */
export function createUnusedPatternWarning(field: string, pattern: string, place: Place | undefined): Diagnostic {
  return {
    code: 'pattern-unused',
    severity: 'warning',
    message: `spec.${field} has \`${pattern}\`, which matches no file`,
    remedy:
      'Correct it, or remove it. Patterns are relative to the folder of the Stack, and compare case and the form of Unicode.',
    place,
  };
}

/** The files that a rule leaves, the ones that it skips, and an error for each that it must not skip. */
export interface SkipResult {
  readonly sources: readonly Source[];
  readonly skipped: readonly SkippedFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Divides files by a rule. */
export function skipFiles(
  sources: readonly Source[],
  { rule, env }: { readonly rule: SkipRule | undefined; readonly env: ManifestEnvironment },
): SkipResult {
  if (rule === undefined) return { sources, skipped: [], diagnostics: [] };
  const kept: Source[] = [];
  const skipped: SkippedFile[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const source of sources) {
    const pattern = rule.find(source.file);
    const own = pattern === undefined ? undefined : findOwnDocument(source, env);
    if (pattern === undefined) kept.push(source);
    else if (own === undefined) skipped.push(createSkippedFile(source, pattern));
    else diagnostics.push(createOwnDocumentError(source.file, pattern, own));
  }
  return { sources: kept, skipped, diagnostics };
}

/** Matches the declaration of a document of edgewise in text that cannot be parsed. */
const DECLARATION = /\bapiVersion["']?\s*:\s*["']?edgewise\b/i;

/** Returns the position of the first document in a file that is, or may be, one of edgewise. */
function findOwnDocument({ file, yaml }: Source, env: ManifestEnvironment): Place | undefined {
  const { text, toPlace } = createSourceText(file, yaml);
  let isBroken = false;
  for (const parsed of parseDocuments(yaml, env, createYamlBudget())) {
    if (!parsed.isBroken && mayBeOwnDocument(parsed.value)) return toPlace(parsed.range.start);
    isBroken ||= parsed.findings.length > 0;
  }
  const start = isBroken ? text.search(DECLARATION) : -1;
  return start < 0 ? undefined : toPlace(start);
}

function createOwnDocumentError(file: string, { text, place }: SkipPattern, own: Place): Diagnostic {
  return {
    code: 'manifest-not-read',
    severity: 'error',
    message: `spec.skip_files has \`${text}\`, which leaves out a document of edgewise in ${file}`,
    remedy: 'Let the pattern name other files only, or move the document to another file.',
    place,
    related: [{ message: 'the document is here', place: own }],
  };
}

function createSkippedFile({ file, bytes }: Source, { place }: SkipPattern): SkippedFile {
  const pattern = { file: place.file, line: place.line, column: place.column };
  return { file, pattern, mayDescribe: (name) => mayDescribe(bytes, name) };
}

/** Whether a text has a name as a word, or does not show what it describes: it is binary, encrypted, empty or a pointer. */
function mayDescribe(bytes: Uint8Array, name: string): boolean {
  const text = toBuffer(bytes).toString('utf8');
  if (!isUtf8(bytes) || text.trim() === '' || UNREADABLE.test(text)) return true;
  const word = name.replaceAll('.', '\\.');
  return new RegExp(`(?<![A-Za-z0-9])${word}(?![A-Za-z0-9])`).test(text);
}

/** Matches a NUL, a pointer of Git LFS, and a value that SOPS encrypted. */
const UNREADABLE = /\0|^version https:\/\/git-lfs|\bENC\[AES256/;
