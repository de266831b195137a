import { toHyphenated } from '../kinds/kind.ts';
import { toPrintable } from '../model/printable.ts';
import type { ExportedDocument, ExportResult } from './export-live.ts';

/** A file of an export. `path` is relative to the folder of the export. */
export interface ExportFile {
  readonly path: string;
  readonly text: string;
}

interface LayoutOptions {
  /**
   * The manifest schema that each file names for the YAML language server: a path relative to the export's folder, or a
   * URL. Absent: the files name no schema.
   */
  readonly schema?: string;
  /** Whether a file of this path has other manifests. The document then gets another file. Absent: none has. */
  readonly isTaken?: (path: string) => boolean;
}

/**
 * Returns one file per document, so that a review shows each resource in a file of its own. The first file starts with
 * the preface.
 * @example
 * for (const { path, text } of createFilePerDocument(exportLive(live))) await writeFile(path, text);
 */
export function createFilePerDocument(
  { documents, preface }: ExportResult,
  { schema, isTaken = () => false }: LayoutOptions = {},
): readonly ExportFile[] {
  return documents.map((document, index) => {
    const path = choosePath(document, isTaken);
    const modeline = schema === undefined ? '' : renderModeline(schema, path);
    return { path, text: `${modeline}${renderPreface(index === 0 ? preface : [])}${document.text}` };
  });
}

/**
 * Renders an export as one multi-document YAML text.
 * @example
 * console.log(renderSingleFile(exportLive(live)));
 */
export function renderSingleFile({ documents, preface }: ExportResult): string {
  return `${renderPreface(preface)}${documents.map(({ text }) => text).join('---\n')}`;
}

function renderPreface(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.map((line) => `# ${toPrintable(line)}\n`).join('')}\n`;
}

function renderModeline(schema: string, path: string): string {
  const up = URL.canParse(schema) ? '' : '../'.repeat(path.split('/').length - 1);
  return `# yaml-language-server: $schema=${up}${schema}\n`;
}

function choosePath({ kind, name }: ExportedDocument, isTaken: (path: string) => boolean): string {
  if (kind === 'Stack') return 'edgewise.yaml';
  const toPath = (file: string) => `${toHyphenated(kind)}/${file}.yaml`;
  return isReadAsOther(name) || isTaken(toPath(name)) ? toPath(`${name}_`) : toPath(name);
}

/**
 * Whether no manifest may have this file name: `kustomization.yaml` is not read as one. An underscore at its end makes
 * another one, because no resource name ends with that.
 */
function isReadAsOther(name: string): boolean {
  return name === 'kustomization';
}
