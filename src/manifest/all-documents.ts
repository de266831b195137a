import type { Diagnostic } from '../model/diagnostic.ts';
import type { QuotedTexts } from '../model/excerpts.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { createYamlBudget } from './bounded-yaml.ts';
import { decodeManifestSource } from './decode-source.ts';
import { NO_DOCUMENTS, type ReadContext, type ReadDocuments, readDocuments } from './documents.ts';
import { getDocumentFolder, type ManifestDocument } from './finding.ts';
import { createQuotableText, type QuotableText } from './quotable-text.ts';
import { redactSource } from './secrets.ts';
import { suggestSkipPattern } from './skip-files.ts';
import { type ManifestContent, type Source, toSource } from './source.ts';

/**
 * The documents of all files. Diagnostics quote manifests only: a path can lead to a key, to another tool's credentials or
 * to another program's cache, and the plan of a pull request is public.
 */

/** The documents of all files, and the texts that reports may quote. */
interface AllDocuments extends ReadDocuments {
  readonly sources: readonly Source[];
  readonly quotable: ReadonlyMap<string, QuotableText>;
}

/** Reads all documents. Tells `quoted` what reports may quote. */
export function readAllDocuments(
  contents: readonly ManifestContent[],
  context: Omit<ReadContext, 'budget'> & { readonly quoted: QuotedTexts | undefined },
): AllDocuments {
  const budget = createYamlBudget();
  const files = contents.map((content) => readFile(content, { ...context, budget }));
  const documents = files.flatMap((file) => file.documents);
  const quotable = new Map(files.flatMap((file) => (file.quotable ? [[file.source.file, file.quotable]] : [])));
  for (const [file, text] of quotable) context.quoted?.add(file, text);
  const stack = documents.find(({ kind }) => kind === 'Stack');
  const manifests = files.filter(({ isQuoted }) => isQuoted).map(({ source }) => source.file);
  return {
    sources: files.map(({ source }) => source),
    documents,
    diagnostics: files.flatMap((file) => [
      ...(file.secret === undefined ? [] : [file.secret]),
      ...(file.isQuoted ? file.diagnostics : describeUnquoted(file, stack, manifests)),
    ]),
    mayHideStack: files.some(({ mayHideStack }) => mayHideStack),
    ofOthers: files.reduce((count, { ofOthers }) => count + ofOthers, 0),
    toolFields: files.flatMap(({ toolFields }) => toolFields),
    quotable,
  };
}

/** What was read of one file. */
interface ReadFile extends ReadDocuments {
  readonly source: Source;
  /** Whether its diagnostics may be shown. */
  readonly isQuoted: boolean;
  /** Absent if no report may quote the text. */
  readonly quotable?: QuotableText | undefined;
  /** The diagnostic of a secret in the file. */
  readonly secret?: Diagnostic | undefined;
}

function readFile(content: ManifestContent, context: ReadContext): ReadFile {
  const source = toSource(content);
  const { source: decoded, diagnostic } = decodeManifestSource(source);
  const { text, secret } = redactSource(decoded, context.secrets);
  // All text from a program may be quoted, because a program passes only manifests as text.
  const isQuoted = 'text' in content || isManifest(text.text);
  const quotable = isQuoted ? createQuotableText(text, diagnostic === undefined) : undefined;
  if (diagnostic !== undefined)
    return { ...NO_DOCUMENTS, source, quotable, isQuoted: true, mayHideStack: true, diagnostics: [diagnostic] };
  return { ...readDocuments(text, context, source), source, quotable, isQuoted, secret };
}

/** Matches the `apiVersion` of a manifest, in YAML or JSON. */
const DECLARATION = /\bapiVersion["']?\s*:\s*["']?edgewise\//;

function isManifest(text: string): boolean {
  return DECLARATION.test(text) && !text.includes('\0');
}

/**
 * Describes the error of a file that may not be quoted, without revealing its content. `manifests`: the files that are
 * certainly manifests.
 */
function describeUnquoted(
  { source: { file, yaml }, diagnostics: [first] }: ReadFile,
  stack: ManifestDocument | undefined,
  manifests: readonly string[],
): readonly Diagnostic[] {
  if (first === undefined) return [];
  const { code, severity, place } = first;
  const at = place === undefined ? undefined : { file, line: place.line, column: 1 };
  if (yaml.text.startsWith('version https://git-lfs')) {
    const message = `${file} is a pointer of Git LFS, and not the file itself`;
    const remedy = 'Run `git lfs pull`. In a pipeline, let the checkout fetch the files of LFS (GitHub: `lfs: true`).';
    return [{ code, severity, message, remedy, place: at }];
  }
  const pattern = stack === undefined ? undefined : suggestSkipPattern(file, getDocumentFolder(stack), manifests);
  return [
    {
      code,
      severity,
      message: `${file} is not a manifest: nothing in it declares \`apiVersion: ${MANIFEST_API_VERSION}\``,
      remedy: `Add \`apiVersion: ${MANIFEST_API_VERSION}\` to its documents. ${pattern === undefined ? 'Or name another file.' : `If it belongs to another tool, write \`skip_files: [${JSON.stringify(pattern)}]\` in the spec of the Stack.`} What is in it is not shown, because it may be a secret.`,
      place: at,
    },
  ];
}
