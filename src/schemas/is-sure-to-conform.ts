import { isIdOf } from '../kinds/ids.ts';
import type { Kind } from '../kinds/kind.ts';
import { listIdPrefixes } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isResourceName, parseAddress } from '../model/address.ts';
import { LINT_RULE_IDS } from '../model/diagnostic-codes.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { once } from '../model/once.ts';
import { API_VERSION } from './document.ts';
import { findSpecFields } from './field.ts';
import { isRecord, isSureObject, isSureOfType } from './is-sure-to-fit.ts';
import { isStackSpec } from './stack.ts';

/**
 * The quick answer of a document's schema. Nearly every document conforms, and to build its schema takes longer than to read a hundred
 * such documents. So the schema, which knows what is wrong, is asked only about a document that is not sure to conform.
 */

/** Whether a document is sure to conform to the schema of its kind; `false`: the schema has to say. */
export function isSureToConform(kind: string, document: JsonObject): boolean {
  const { apiVersion, metadata, spec } = document;
  if (apiVersion !== API_VERSION || document['kind'] !== kind || !isNaming(metadata)) return false;
  const table = findKind(kind);
  if (table !== undefined) return isManifest(table, document);
  if (!hasOnly(document, HEADER)) return false;
  if (kind === 'Stack') return spec === undefined || spec === null || (isJsonObject(spec) && isStackSpec(spec));
  return kind === 'External' && isJsonObject(spec) && hasOnly(spec, ['id']) && isExternalId(spec['id']);
}

const HEADER: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec'];
const RESOURCE: readonly string[] = [...HEADER, 'lifecycle', 'lint'];

function isManifest(kind: Kind, document: JsonObject): boolean {
  const { spec, lifecycle, lint } = document;
  if (!hasOnly(document, RESOURCE)) return false;
  if (lifecycle !== undefined && !isLifecycle(kind, lifecycle)) return false;
  if (lint !== undefined && !isExemption(lint)) return false;
  const fields = findSpecFields(kind);
  if (spec === undefined || spec === null) return Object.values(fields).every(({ required }) => !required);
  return isSureObject(fields, spec, 'manifest');
}

function hasOnly(object: JsonObject, names: readonly string[]): boolean {
  for (const name of Object.keys(object)) if (!names.includes(name)) return false;
  return true;
}

function isNaming(naming: Json | undefined): boolean {
  if (!isJsonObject(naming)) return false;
  const { name, labels, annotations } = naming;
  if (typeof name !== 'string' || !isResourceName(name)) return false;
  return hasOnly(naming, NAMING) && isTexts(labels) && isTexts(annotations);
}

const NAMING: readonly string[] = ['name', 'labels', 'annotations'];

function isTexts(texts: Json | undefined): boolean {
  if (texts === undefined || texts === null) return true;
  return isRecord(texts) && Object.values(texts).every((text) => typeof text === 'string');
}

/** A former name is left to the schema: it is stated for one apply. */
function isLifecycle(kind: Kind, lifecycle: Json): boolean {
  if (!isJsonObject(lifecycle)) return false;
  return Object.entries(lifecycle).every(([name, setting]) => isSetting(kind, name, setting));
}

function isSetting(kind: Kind, name: string, setting: Json): boolean {
  const own = Object.hasOwn(kind.lifecycle, name) ? kind.lifecycle[name] : undefined;
  if (own !== undefined) return isSureOfType(own.type, setting, 'manifest');
  if (name === 'ignore') return isJsonArray(setting) && setting.every((field) => isIgnorable(kind, field));
  if (kind.role !== 'owned') return false;
  if (name === 'protect') return typeof setting === 'boolean';
  return name === 'adopt' && typeof setting === 'string' && isIdOf({ prefixes: [kind.idPrefix] }, setting);
}

function isIgnorable(kind: Kind, name: Json): boolean {
  const fields = findSpecFields(kind);
  if (typeof name !== 'string' || !Object.hasOwn(fields, name)) return false;
  return kind.role === 'owned' || fields[name]?.lifecycle === 'mutable';
}

function isExemption(lint: Json): boolean {
  if (!isJsonObject(lint) || !hasOnly(lint, ['allow']) || !isJsonObject(lint['allow'])) return false;
  const reasons = Object.entries(lint['allow']);
  return reasons.every(([id, reason]) => EXEMPT.includes(id) && typeof reason === 'string' && /\S/.test(reason));
}

const EXEMPT: readonly string[] = LINT_RULE_IDS.filter((id) => id !== 'suppression-unused');

function isExternalId(id: Json | undefined): boolean {
  if (typeof id !== 'string') return false;
  return isIdOf({ prefixes: listPrefixes() }, id) || parseAddress(id)?.kind === 'External';
}

const listPrefixes = once(listIdPrefixes);
