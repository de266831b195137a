import leven from 'leven';
import { isMap, isScalar } from 'yaml';
import { findKind } from '../kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import { DOCUMENT_KINDS, MANIFEST_API_VERSION } from '../schemas/document.ts';
import type { SyntaxTree } from './parse.ts';

/**
 * Which documents among the manifests certainly belong to another tool. Manifests are the whole truth, so what is skipped
 * may be deleted: only positive evidence counts. Whatever may be a document of edgewise with a mistake is an error.
 */

/** An `apiVersion` as Kubernetes defines it: `v1` or `apps/v1beta1`. */
const API_VERSION = /^(?:[a-z0-9](?:[-a-z0-9.]{0,252}[a-z0-9])?\/)?v[0-9]{1,9}(?:(?:alpha|beta)[0-9]{1,9})?$/;
const KIND = /^[A-Za-z][A-Za-z0-9]{0,252}$/;

const [OWN_GROUP = ''] = MANIFEST_API_VERSION.split('/');

/** An `apiVersion` within this edit distance may be a misspelled one of edgewise. */
const MAX_DISTANCE = 3;

const OWN_KINDS = new Set(DOCUMENT_KINDS.map((kind) => kind.toLowerCase()));

/**
 * Whether a document belongs to another tool: a well-formed `apiVersion` that does not resemble that of edgewise, and a
 * kind that edgewise does not have. A list of another tool with a document of edgewise in it does not.
 */
export function isDocumentOfOthers(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { apiVersion, kind, items = null } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false;
  if (!isApiVersionOfOthers(apiVersion) || !KIND.test(kind) || isOwnKind(kind)) return false;
  return !isJsonArray(items) || !items.some(mayBeOwnDocument);
}

/** Whether a value may be a document of edgewise, by its `apiVersion` or by that of its members. */
export function mayBeOwnDocument(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { apiVersion, items = null } = value;
  if (typeof apiVersion === 'string' && resemblesOwnApiVersion(apiVersion)) return true;
  return isJsonArray(items) && items.some(mayBeOwnDocument);
}

/** Whether an `apiVersion` is well-formed and does not resemble that of edgewise. */
export function isApiVersionOfOthers(apiVersion: Json | undefined): boolean {
  return typeof apiVersion === 'string' && API_VERSION.test(apiVersion) && !resemblesOwnApiVersion(apiVersion);
}

function isOwnKind(kind: string): boolean {
  return OWN_KINDS.has(kind.toLowerCase()) || findKind(kind) !== undefined;
}

function resemblesOwnApiVersion(apiVersion: string): boolean {
  const [group = ''] = apiVersion.toLowerCase().slice(0, 300).split('/');
  const parts = [...group.split(/[^a-z0-9]+/), group.replace(/[^a-z0-9]+/g, '')];
  return parts.some((part) => part.includes(OWN_GROUP) || leven(part, OWN_GROUP) <= MAX_DISTANCE);
}

/** Whether a document has one `apiVersion` and one `kind`: of two, it is unclear which is meant. */
export function hasOneHeader({ root }: SyntaxTree): boolean {
  const keys = isMap(root) ? root.items.map(({ key }) => (isScalar(key) ? key.value : undefined)) : [];
  return ['apiVersion', 'kind'].every((name) => keys.filter((key) => key === name).length <= 1);
}
