import { isJsonObject, type Json } from '../model/json.ts';

/**
 * The file from which a tool made a document, as kustomize's `originAnnotations` say; `undefined` for a document from another repository, whose
 * paths mean nothing here. Source: "Kustomize built-ins, buildMetadata".
 */
export function findOrigin(document: Json): string | undefined {
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  const text = isJsonObject(annotations) ? annotations[ANNOTATION] : undefined;
  if (typeof text !== 'string' || /^repo:/m.test(text)) return undefined;
  const [, path] = /^path: *(\S.*?) *$/m.exec(text) ?? /^configuredIn: *(\S.*?) *$/m.exec(text) ?? [];
  return path?.replace(/^(["'])(.*)\1$/, '$2');
}

const ANNOTATION = 'config.kubernetes.io/origin';
