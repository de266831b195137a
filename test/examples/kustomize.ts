import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';

/**
 * What `kustomize build` does with the folders of examples/environments: `resources` are files and folders, `patches` are files that
 * are merged into the resource of the same apiVersion, kind and name. Kinds that kustomize does not know are merged as RFC 7386
 * says, with lists replaced as a whole. Whatever else a kustomization.yaml can hold is refused here.
 */
export function buildOverlay(folder: string): string {
  return listBuilt(folder)
    .map((document) => stringify(document))
    .join('---\n');
}

/** The documents of a text of YAML. */
export function parseDocuments(text: string): readonly JsonObject[] {
  return parseAllDocuments(text).map((document) => {
    const value: unknown = document.toJS();
    if (!isJsonObject(value)) throw new TypeError(`Not a mapping: ${String(document)}`);
    return value;
  });
}

/** What tells the documents of a build apart. */
export function toIdentity({ apiVersion, kind, metadata }: JsonObject): string {
  return [apiVersion, kind, isJsonObject(metadata) ? metadata['name'] : undefined].join(' ');
}

function listBuilt(folder: string): readonly JsonObject[] {
  const { apiVersion, kind, resources = [], patches = [], ...unknown } = readKustomization(folder);
  if (`${apiVersion} ${kind}` !== 'kustomize.config.k8s.io/v1beta1 Kustomization' || Object.keys(unknown).length > 0)
    throw new TypeError(`${folder}: not a kustomization that is understood here`);
  const documents = resources.flatMap((path) => listResources(join(folder, path)));
  return patches.flatMap(({ path }) => readDocuments(join(folder, path))).reduce(applyPatch, documents);
}

interface Kustomization {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly resources?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}

function readKustomization(folder: string): Kustomization {
  return parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));
}

function listResources(path: string): readonly JsonObject[] {
  return statSync(path).isDirectory() ? listBuilt(path) : readDocuments(path);
}

function readDocuments(path: string): readonly JsonObject[] {
  return parseDocuments(readFileSync(path, 'utf8'));
}

function applyPatch(documents: readonly JsonObject[], patch: JsonObject): readonly JsonObject[] {
  const identity = toIdentity(patch);
  const isPatched = (document: JsonObject): boolean => toIdentity(document) === identity;
  if (!documents.some(isPatched)) throw new TypeError(`Nothing to patch: ${identity}`);
  return documents.map((document) => (isPatched(document) ? mergeObjects(document, patch) : document));
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const kept = Object.entries(target).filter(([key]) => !Object.hasOwn(patch, key));
  const merged = Object.entries(patch).flatMap(([key, value]): [string, Json][] =>
    value === null ? [] : [[key, merge(target[key], value)]],
  );
  return Object.fromEntries([...kept, ...merged]);
}

function merge(target: Json | undefined, patch: Json): Json {
  return isJsonObject(patch) ? mergeObjects(isJsonObject(target) ? target : {}, patch) : patch;
}
