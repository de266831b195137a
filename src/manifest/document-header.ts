import { toHyphenated } from '../kinds/kind.ts';
import { findPrefixOfUnmanagedKind } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isResourceName } from '../model/address.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { DOCUMENT_KINDS, LIST_API_VERSIONS, MANIFEST_API_VERSION } from '../schemas/document.ts';
import { suggest } from './suggest.ts';

/** What every document begins with, whatever its kind: `apiVersion`, `kind`, and the labels and annotations. */

/** Returns the error in `apiVersion` or `kind`. The caller checks fields only if there is none. */
export function findHeaderFinding(value: JsonObject): Finding | undefined {
  const { apiVersion, kind } = value;
  if (apiVersion === undefined && kind === undefined)
    return { code: 'bad-field', message: 'apiVersion and kind are missing', remedy: ADD_HEADER, path: [] };
  return findHeaderTextFinding('kind', kind) ?? findKindFinding(value) ?? findVersionFinding(kind, apiVersion);
}

/** The remedy for what is no manifest at all. */
export const ADD_HEADER = `Start every document with apiVersion: ${MANIFEST_API_VERSION} and its kind. Move files that are not manifests to another folder.`;

function findHeaderTextFinding(name: string, value: Json | undefined): Finding | undefined {
  if (typeof value === 'string') return undefined;
  const remedy =
    name === 'kind' ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Write apiVersion: ${MANIFEST_API_VERSION}.`;
  if (value === undefined) return { code: 'bad-field', message: `${name} is missing`, path: [], target: 'key', remedy };
  return { code: 'bad-value', message: `${name} must be text`, path: [name], remedy };
}

function findKindFinding({ kind, apiVersion, metadata }: JsonObject): Finding | undefined {
  if (typeof kind !== 'string' || DOCUMENT_KINDS.includes(kind)) return undefined;
  const isOfOtherTool = typeof apiVersion === 'string' && apiVersion !== MANIFEST_API_VERSION;
  const what = isOfOtherTool ? `${kind} of ${apiVersion}` : kind;
  return {
    code: 'unknown-kind',
    message: `${what} is not a kind of edgewise`,
    remedy: formatKindRemedy(kind, metadata),
    path: ['kind'],
  };
}

function formatKindRemedy(kind: string, metadata: Json | undefined): string {
  const prefix = findPrefixOfUnmanagedKind(kind);
  if (prefix !== undefined) return formatExternalRemedy(prefix, metadata);
  const { name, title } = findKind(kind) ?? {};
  if (name !== undefined) return `No manifest has ${title}s. Use edgewise ${toHyphenated(name)} submit.`;
  if (kind === 'Kustomization')
    return 'Build its folder and pass the output to edgewise: `kustomize build . | edgewise plan -`.';
  const nearest = suggest(kind, DOCUMENT_KINDS);
  return nearest === undefined ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Did you mean \`${nearest}\`?`;
}

/** The document to write for what edgewise refers to and does not manage. */
function formatExternalRemedy(prefix: string, metadata: Json | undefined): string {
  const name = metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
  const shown = typeof name === 'string' && isResourceName(name) ? name : 'office';
  return [
    'Edgewise refers to it by its id, and does not manage it. Write:',
    `apiVersion: ${MANIFEST_API_VERSION}`,
    'kind: External',
    `metadata: { name: ${shown} }`,
    `spec: { id: ${prefix}_… }`,
  ].join('\n');
}

function findVersionFinding(kind: Json | undefined, apiVersion: Json | undefined): Finding | undefined {
  const known: readonly string[] = kind === 'List' ? LIST_API_VERSIONS : [MANIFEST_API_VERSION];
  if (typeof apiVersion !== 'string') return findHeaderTextFinding('apiVersion', apiVersion);
  if (known.includes(apiVersion)) return undefined;
  return {
    code: 'unknown-kind',
    message: `apiVersion is \`${apiVersion}\`, but this version of edgewise reads \`${MANIFEST_API_VERSION}\``,
    remedy: `Write apiVersion: ${MANIFEST_API_VERSION}, or use a version of edgewise that reads the other.`,
    path: ['apiVersion'],
  };
}

interface LabelsAndAnnotations {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function getDocumentLabelsAndAnnotations({ metadata }: JsonObject): LabelsAndAnnotations {
  const { labels, annotations } = isJsonObject(metadata) ? metadata : {};
  return { labels: toTextMap(labels), annotations: toTextMap(annotations) };
}

function toTextMap(texts: Json | undefined): Readonly<Record<string, string>> {
  const entries = isJsonObject(texts) ? Object.entries(texts) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
