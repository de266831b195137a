import { toHyphenated } from '../kinds/kind.ts';
import { assertNever } from '../model/errors.ts';
import { toPrintable } from '../model/printable.ts';
import type { Exported, ExportedDocument } from './export-live.ts';

/** How documents are spread over files. */
export const LAYOUTS = ['single', 'per-kind', 'per-resource'] as const;

/** One of the ways to spread documents over files. */
export type ExportLayout = (typeof LAYOUTS)[number];

/** A file to be written, relative to the folder of the export. */
export interface ExportFile {
  readonly path: string;
  readonly text: string;
}

/** What the files of an export have besides what was exported. */
export interface LayoutOptions {
  /** Where the YAML language server finds the schema of manifests: a path relative to the folder, or a URL. Absent: no document names it. */
  readonly schema?: string;
}

/** The files of an export. The comment above everything goes into the first. */
export function layOut(
  { documents, preface }: Exported,
  layout: ExportLayout,
  { schema }: LayoutOptions = {},
): readonly ExportFile[] {
  const files = Map.groupBy(documents, (document) => toPath(document, layout));
  return [...files].map(([path, members], index) => {
    const modeline = schema === undefined ? '' : toModeline(schema, path);
    return { path, text: joinDocuments(members, { preface: index === 0 ? preface : [], modeline }) };
  });
}

/** All of an export as one text. */
export function toSingleText({ documents, preface }: Exported): string {
  return joinDocuments(documents, { preface, modeline: '' });
}

/** The language server applies a modeline only to the document below it. */
function joinDocuments(
  documents: readonly ExportedDocument[],
  { preface, modeline }: { readonly preface: readonly string[]; readonly modeline: string },
): string {
  const head = preface.length === 0 ? '' : `${preface.map((line) => `# ${toPrintable(line)}\n`).join('')}\n`;
  return documents.map(({ text }, index) => `${modeline}${index === 0 ? head : ''}${text}`).join('---\n');
}

function toModeline(schema: string, path: string): string {
  const up = URL.canParse(schema) ? '' : '../'.repeat(path.split('/').length - 1);
  return `# yaml-language-server: $schema=${up}${schema}\n`;
}

function toPath({ kind, name }: ExportedDocument, layout: ExportLayout): string {
  if (kind === 'Stack') return 'edgewise.yaml';
  switch (layout) {
    case 'single':
      return 'edgewise.yaml';
    case 'per-kind':
      return `${toHyphenated(kind)}.yaml`;
    case 'per-resource':
      return `${toHyphenated(kind)}/${toResourceFileName(name)}.yaml`;
    default:
      return assertNever(layout);
  }
}

/** `kustomization.yaml` is not read as a manifest. No name of a resource ends with an underscore. */
function toResourceFileName(name: string): string {
  return name === 'kustomization' ? 'kustomization_' : name;
}
