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

/** The files of an export. What stands above all of it stands in the first. */
export function layOut({ documents, preface }: Exported, layout: ExportLayout): readonly ExportFile[] {
  const files = Map.groupBy(documents, (document) => toPath(document, layout));
  return [...files].map(([path, members], index) => ({
    path,
    text: joinDocuments(members, index === 0 ? preface : []),
  }));
}

/** All of an export as one text. */
export function toSingleText({ documents, preface }: Exported): string {
  return joinDocuments(documents, preface);
}

function joinDocuments(documents: readonly ExportedDocument[], preface: readonly string[]): string {
  const head = preface.length === 0 ? '' : `${preface.map((line) => `# ${toPrintable(line)}\n`).join('')}\n`;
  return `${head}${documents.map(({ text }) => text).join('---\n')}`;
}

function toPath({ kind, name }: ExportedDocument, layout: ExportLayout): string {
  if (kind === 'Stack') return 'edgewise.yaml';
  switch (layout) {
    case 'single':
      return 'edgewise.yaml';
    case 'per-kind':
      return `${toHyphenated(kind)}.yaml`;
    case 'per-resource':
      return kind === 'External' ? 'external.yaml' : `${toHyphenated(kind)}/${toResourceFileName(name)}.yaml`;
    default:
      return assertNever(layout);
  }
}

/** A kustomization is no manifest. No name ends like that. */
function toResourceFileName(name: string): string {
  return name === 'kustomization' ? 'kustomization_' : name;
}
