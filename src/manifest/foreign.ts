import { basename } from 'node:path';
import leven from 'leven';
import { isMap, isScalar } from 'yaml';
import { findKind } from '../kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { DOCUMENT_KINDS, MANIFEST_API_VERSION } from '../schemas/document.ts';
import type { SyntaxTree } from './parse.ts';

/**
 * Which documents among the manifests certainly belong to another tool. Manifests are the whole truth, so what is skipped
 * may be deleted: only positive evidence counts. Whatever may be a document of edgewise with a mistake is an error.
 */

/** An `apiVersion` as Kubernetes defines it, `v1` or `apps/v1beta1`, or that of the parts of kustomize. */
const API_VERSION =
  /^(?:builtin|(?:[a-z0-9](?:[-a-z0-9.]{0,252}[a-z0-9])?\/)?v[0-9]{1,9}(?:(?:alpha|beta)[0-9]{1,9})?)$/;
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

/** The fields at the top of a document of edgewise. */
const HEADERS = ['apiVersion', 'kind', 'metadata', 'spec', 'lifecycle', 'lint'].map((name) => name.toLowerCase());

/**
 * Whether a document is data of another tool that only contains a `kind` somewhere, such as the values of a chart: no
 * field at its top is one of edgewise or resembles one, and nothing in it may be a document of edgewise.
 */
export function isDataOfOthers(value: Json): boolean {
  const members = isJsonArray(value) ? value : [value];
  const isOther = (member: Json): boolean => isJsonObject(member) && !hasHeader(member) && !holdsOwn(member);
  return members.every(isOther) && members.some(holdsHeader);
}

/** Whether an object inside of a value has a field of a document. */
function holdsHeader(value: Json): boolean {
  const members = isJsonArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  return members.some((member) => (isJsonObject(member) && hasHeader(member)) || holdsHeader(member));
}

function hasHeader(value: JsonObject): boolean {
  const names = Object.keys(value).map((key) => key.slice(0, MAX_KEY).toLowerCase());
  return names.some((name) => HEADERS.some((header) => resembles(name, header)));
}

/** Longer than any field of edgewise. */
const MAX_KEY = 40;

/** Whether a word may be a misspelt other one: a letter in four differs, or its letters are in another order. */
function resembles(word: string, meant: string): boolean {
  return leven(word, meant) <= Math.floor(meant.length / 4) || sortLetters(word) === sortLetters(meant);
}

function sortLetters(word: string): string {
  return [...word].sort().join('');
}

/** Whether an object, or one inside of it, has the `apiVersion` or a kind of edgewise, in any case. */
function holdsOwn(value: Json): boolean {
  if (isJsonArray(value)) return value.some(holdsOwn);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, member]) => {
    const name = key.toLowerCase();
    if (name === 'apiversion' && typeof member === 'string' && resemblesOwnApiVersion(member)) return true;
    return (name === 'kind' && typeof member === 'string' && isOwnKind(member)) || holdsOwn(member);
  });
}

/** Whether a document is the `Chart.yaml` of Helm, which has an `apiVersion` and no kind. */
export function isHelmChart(value: Json, file: string): boolean {
  if (basename(file) !== 'Chart.yaml' || !isJsonObject(value)) return false;
  const { apiVersion, name, version, appVersion: _, ...rest } = value;
  const isComplete = typeof name === 'string' && typeof version === 'string';
  return isComplete && isApiVersionOfOthers(apiVersion) && !hasHeader(rest) && !holdsOwn(rest);
}

/** A directive of Go's or Jinja's templates. */
const DIRECTIVE = /\{\{[^}]|\{%/;
/** A line of a header, which may follow a directive. */
const HEADER_LINE = /^([ \t]*)(?:\{\{.*\}\}|\{%.*%\})?(apiVersion|kind):(.*)$/gm;

/**
 * Whether a text is a template from which another tool makes documents that are not of edgewise: each of its documents
 * has an `apiVersion` and a kind, and neither may be one of edgewise.
 */
export function isTemplateOfOthers(text: string): boolean {
  if (!DIRECTIVE.test(text)) return false;
  const parts = text.split(/^---.*$/m).filter((part) => !isBlank(withoutDirectives(part)));
  return parts.length > 0 && parts.every(isTemplateOfOtherKind);
}

function isBlank(part: string): boolean {
  return part.split('\n').every((line) => /^\s*(?:#|$)/.test(line));
}

function withoutDirectives(part: string): string {
  return part.replace(/\{\{[^{}]*\}\}/g, '');
}

function isTemplateOfOtherKind(part: string): boolean {
  const values = Array.from(part.matchAll(HEADER_LINE), ([, indent = '', name = '', value = '']) => ({
    depth: indent.length,
    name,
    value: toValue(value),
  }));
  const isFilledIn = (value: string): boolean => DIRECTIVE.test(value);
  const kinds = values.filter(({ name, value }) => name === 'kind' && !isFilledIn(value));
  const top = Math.min(...kinds.map(({ depth }) => depth));
  const isOther = ({ depth, name, value }: (typeof values)[number]): boolean => {
    // Of the kind of a document something has to be written: what is filled in may be one of edgewise.
    if (isFilledIn(value)) return (name !== 'kind' || depth > top) && !value.toLowerCase().includes(OWN_GROUP);
    return name === 'kind' ? KIND.test(value) && !isOwnKind(value) : isApiVersionOfOthers(value);
  };
  return values.every(isOther) && ['apiVersion', 'kind'].every((wanted) => values.some(({ name }) => name === wanted));
}

/** Returns the value of a line without its comment and quotes. */
function toValue(text: string): string {
  const [value = ''] = text.split(' #', 1);
  return value.trim().replace(/^(["'])(.*)\1$/, '$2');
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

/**
 * Returns the file from which a tool made a document, according to kustomize's `originAnnotations`. `undefined` if
 * there is no such annotation or the file is in another repository. Source: "Kustomize built-ins, buildMetadata".
 */
export function findKustomizeOriginFile(document: Json): string | undefined {
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  const text = isJsonObject(annotations) ? annotations[ORIGIN_ANNOTATION] : undefined;
  if (typeof text !== 'string' || /^repo:/m.test(text)) return undefined;
  const [, path] = /^path: *(\S.*)$/m.exec(text) ?? /^configuredIn: *(\S.*)$/m.exec(text) ?? [];
  return path?.trimEnd().replace(/^(["'])(.*)\1$/, '$2');
}

const ORIGIN_ANNOTATION = 'config.kubernetes.io/origin';
