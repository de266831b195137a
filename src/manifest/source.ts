import { createYamlText, type YamlText } from './yaml-text.ts';

/** Manifests as the bytes of a file, or as text from a program. */
export type ManifestContent = ManifestBytes | ManifestText;

/** A manifest as bytes, such as a file that was read. */
export interface ManifestBytes {
  /** The path from the user, or `<stdin>` for `-`. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** Manifests in memory. `file` is a name for messages. Paths in the text are relative to the folder of `file`. */
export interface ManifestText {
  readonly file: string;
  readonly text: string;
}

/** The content of a manifest file, however many names and readers it has. */
export interface SourceContent {
  readonly bytes: Uint8Array;
  /** The text without a byte order mark. Bytes that are not UTF-8 are replaced. */
  readonly yaml: YamlText;
}

/** A manifest file that was read. */
export interface Source extends SourceContent {
  /** The path from the user, or `<stdin>` for `-`. */
  readonly file: string;
  /** Set if only the Defaults in this file are used, because it is above the stack. */
  readonly onlyDefaults?: true;
}

const DECODER = new TextDecoder('utf-8');

export function createSourceContent(bytes: Uint8Array): SourceContent {
  return { bytes, yaml: createYamlText(DECODER.decode(bytes)) };
}

/** Creates the source of manifests that a program passes. A source that was read stays as it is. */
export function toSource(content: ManifestContent | Source): Source {
  if ('yaml' in content) return content;
  const bytes = 'bytes' in content ? content.bytes : Buffer.from(content.text, 'utf8');
  return { file: content.file, ...createSourceContent(bytes) };
}
