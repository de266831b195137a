import type { DeepFormatChecks } from '../kinds/deep-format-checks.ts';
import type { Field, FieldType } from '../kinds/field.ts';
import { type Kind, toHyphenated } from '../kinds/kind.ts';
import { getDefaultValue, normalizeSpec } from '../kinds/normalize.ts';
import { fillUnknown } from '../kinds/read-response.ts';
import { mapReferences } from '../kinds/references.ts';
import { ATTACHED_KINDS, getKind, MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { NO_ENVIRONMENT } from '../manifest/environment.ts';
import { renderManifestDocument } from '../manifest/render-document.ts';
import { validateManifests } from '../manifest/validate.ts';
import { toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isDeeper, isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import { type Mark, UNMANAGED_DIGEST } from '../model/mark.ts';
import { toPrintable } from '../model/printable.ts';
import type { LiveResource, LiveState, Spec } from '../model/state.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { assignNames, chooseBaseName, chooseIdName } from './name-resources.ts';

/**
 * Live resources as manifests that adopt them. Pure: the same resources in any order give the same bytes. A plan of the export adopts and does
 * nothing else. A resource that no manifest can state exactly is left out and listed.
 */

/** What an export may differ in. */
export interface ExportOptions {
  /** The stack that will own the exported resources; those that it owns already are exported too. Absent: there is no `Stack` document. */
  readonly stack?: string;
  /** The `spec.api` of the `Stack` document. */
  readonly api?: JsonObject;
  /** The kinds that were asked for: the `spec.kinds` of the `Stack` document. Absent: every kind. */
  readonly kinds?: readonly string[];
  /** Closer checks of texts that have the right form: `loadDeepFormatChecks`. */
  readonly closerChecks?: DeepFormatChecks;
}

/** One document, as text. */
export interface ExportedDocument {
  readonly kind: string;
  readonly name: string;
  /** YAML, with the comment above it. */
  readonly text: string;
}

/** The result of an export: the `Stack`, the `External` documents, then the resources by kind and name. */
export interface ExportResult {
  readonly documents: readonly ExportedDocument[];
  /** The number of documents that are neither. */
  readonly resources: number;
  /** Resources that were not exported, with the reason. */
  readonly leftOut: readonly SkippedResource[];
  /** The comment above the first document. */
  readonly preface: readonly string[];
}

/** Exports live resources: owned kinds that no other stack owns, and attachments. */
export function exportLive(live: LiveState, options: ExportOptions = {}): ExportResult {
  const { chosen, leftOut } = chooseResources(live, options.stack);
  const named = nameResources(chosen, options.stack);
  const stack = renderStack(options.stack ?? 'stack', options);
  const checked = named.map((resource) => {
    const text = renderManifestDocument(toDocument(resource, resource.stated));
    return { resource, finding: findExportFinding(resource, { text, stack, closerChecks: options.closerChecks }) };
  });
  const kept = checked.filter(({ finding }) => finding === undefined).map(({ resource }) => resource);
  const faulty = checked.flatMap(({ resource: { kind, live }, finding }): SkippedResource[] =>
    finding === undefined ? [] : [{ kind: kind.name, id: live.id, reason: finding }],
  );
  const allLeftOut = sortLeftOut([...leftOut, ...faulty]);
  return {
    documents: [
      ...(options.stack === undefined ? [] : [{ kind: 'Stack', name: options.stack, text: stack }]),
      ...renderAll(kept),
    ],
    resources: kept.length,
    leftOut: allLeftOut,
    preface: toPreface(allLeftOut, kept),
  };
}

/** A live resource with what its document says. */
interface NamedResource {
  readonly kind: Kind;
  readonly name: string;
  readonly live: LiveResource;
  /** Without defaults, with ids for references. */
  readonly stated: Spec;
}

function nameResources(chosen: readonly LiveResource[], stack: string | undefined): readonly NamedResource[] {
  const byKind = Map.groupBy(chosen, ({ kind }) => kind);
  return MANIFEST_KINDS.flatMap((kind) => {
    const resources = byKind.get(kind.name) ?? [];
    const names = assignNames(
      resources.map((live) => {
        const own = live.mark?.stack === stack ? live.mark?.name : undefined;
        return { id: live.id, base: own ?? chooseBaseName(kind, live), isFixed: own !== undefined };
      }),
    );
    return resources
      .map((live) => ({ kind, live, name: names.get(live.id) ?? live.id, stated: toMinimalSpec(kind, live.spec) }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  });
}

function renderAll(resources: readonly NamedResource[]): readonly ExportedDocument[] {
  const addresses = new Map(resources.map(({ kind, name, live }) => [live.id, toAddress(kind.name, name)]));
  const unknown = new Set(resources.flatMap(listReferredIds).filter((id) => !addresses.has(id)));
  const externals = assignNames([...unknown].map((id) => ({ id, base: chooseIdName(id), isFixed: false })));
  for (const [id, name] of externals) addresses.set(id, toAddress('External', name));
  const documents = resources.map((resource) => {
    const { kind, name, stated } = resource;
    const spec = mapReferred(kind, stated, (id) => addresses.get(id) ?? id);
    return { kind: kind.name, name, text: renderManifestDocument(toDocument(resource, spec), toComment(resource)) };
  });
  return [...renderExternals(externals), ...documents];
}

function renderExternals(externals: ReadonlyMap<string, string>): readonly ExportedDocument[] {
  return [...externals]
    .sort(([, left], [, right]) => (left < right ? -1 : 1))
    .map(([id, name]) => ({
      kind: 'External',
      name,
      text: renderManifestDocument({
        apiVersion: MANIFEST_API_VERSION,
        kind: 'External',
        metadata: { name },
        spec: { id },
      }),
    }));
}

function listReferredIds({ kind, stated }: NamedResource): readonly string[] {
  const ids: string[] = [];
  mapReferred(kind, stated, (id) => {
    ids.push(id);
    return id;
  });
  return ids;
}

/** The ids in the path of an attached kind are no references: they say what the document is about. */
function mapReferred(kind: Kind, spec: Spec, replace: (id: string) => string): Spec {
  return mapReferences(kind, spec, ({ path, value }) =>
    kind.role === 'attached' && path[0] === 'id' ? value : replace(value),
  );
}

function renderStack(name: string, { api, kinds }: Pick<ExportOptions, 'api' | 'kinds'>): string {
  const spec = { ...(api !== undefined && { api }), ...(kinds !== undefined && { kinds }) };
  return renderManifestDocument({
    apiVersion: MANIFEST_API_VERSION,
    kind: 'Stack',
    metadata: { name },
    ...(Object.keys(spec).length > 0 && { spec }),
  });
}

function toDocument({ kind, name, live }: NamedResource, spec: Spec): JsonObject {
  return {
    apiVersion: MANIFEST_API_VERSION,
    kind: kind.name,
    metadata: { name },
    ...(Object.keys(spec).length > 0 && { spec }),
    ...(kind.role === 'owned' && { lifecycle: { ...toRemembered(kind, live.mark), adopt: live.id } }),
  };
}

/** What the mark remembers of a manifest. */
function toRemembered(kind: Kind, mark: Mark | undefined): JsonObject {
  const ignore = kind.specFields
    .map(([name]) => name)
    .filter((name) => mark !== undefined && Object.hasOwn(mark.fields, name) && mark.fields[name] === UNMANAGED_DIGEST);
  return { ...(mark?.protect === true && { protect: true }), ...(ignore.length > 0 && { ignore }) };
}

/** What a document cannot say. */
function toComment({ kind, stated }: NamedResource): readonly string[] {
  const secrets = kind.oneTimeFields.map(
    (name) =>
      `Its ${name} was shown once, when it was created, and cannot be exported. Adopting it does not change it.`,
  );
  const times = kind.validity === undefined ? [] : [RENEWAL];
  const isBare =
    kind.role === 'attached' && kind.specFields.every(([name, { required }]) => required || !(name in stated));
  return [...secrets, ...times, ...(isBare ? [NO_MODULES] : [])];
}

const RENEWAL =
  'It is not renewed. To have it renewed, write lifecycle.valid_for instead of spec.valid_after and spec.valid_until.';

const NO_MODULES = 'None of its modules is set, or it does not exist: the API does not tell which.';

function toPreface(leftOut: readonly SkippedResource[], kept: readonly NamedResource[]): readonly string[] {
  const lines = leftOut.map(({ kind, id, reason }) => `Left out: ${kind} ${id}: ${reason}.`);
  const hasAttached = kept.some(({ kind }) => kind.role === 'attached');
  return ['Made by edgewise export.', ...lines, ...(hasAttached ? [] : [NO_LIST])];
}

const NO_LIST = `Modules of ${ATTACHED_KINDS.map(({ title }) => `${title}s`).join(' and ')} are not here, because the API does not list them. Name them with --modules-of.`;

function sortLeftOut(leftOut: readonly SkippedResource[]): readonly SkippedResource[] {
  const toKey = ({ kind, id }: SkippedResource) => `${MANIFEST_KINDS.indexOf(getKind(kind))} ${id}`;
  return leftOut.toSorted((left, right) => (toKey(left) < toKey(right) ? -1 : 1));
}

/** A live resource that is not exported. */
export interface SkippedResource {
  readonly kind: string;
  readonly id: string;
  /** A sentence without its full stop. */
  readonly reason: string;
}

/** Live resources to export, and those to leave out. */
interface ExportSelection {
  readonly chosen: readonly LiveResource[];
  readonly leftOut: readonly SkippedResource[];
}

/** What nobody owns, and what `stack` owns. Taking over a resource of another stack has to be stated in each manifest. */
function chooseResources(live: LiveState, stack: string | undefined): ExportSelection {
  const all = [...live.resources.values()].flat().sort(byAge);
  const first = new Map<string, LiveResource>();
  for (const resource of all) {
    const key = toMarkKey(resource);
    if (key !== undefined && !first.has(key)) first.set(key, resource);
  }
  const reasons = all.map((resource) => ({ resource, reason: findReason(resource, stack, first) }));
  return {
    chosen: [
      ...reasons.filter(({ reason }) => reason === undefined).map(({ resource }) => resource),
      ...live.attachments.values(),
    ],
    leftOut: reasons.flatMap(({ resource: { kind, id }, reason }) =>
      reason === undefined ? [] : [{ kind, id, reason }],
    ),
  };
}

function findReason(
  resource: LiveResource,
  stack: string | undefined,
  first: ReadonlyMap<string, LiveResource>,
): string | undefined {
  const { mark, markError } = resource;
  if (markError !== undefined) return `its mark cannot be read: ${markError}`;
  if (mark === undefined) return undefined;
  if (mark.stack !== stack) return `it belongs to the stack ${mark.stack}, as ${resource.kind}/${mark.name}`;
  const owner = first.get(toMarkKey(resource) ?? '');
  return owner === resource ? undefined : `it has the same mark as ${owner?.id}, ${resource.kind}/${mark.name}`;
}

function toMarkKey({ kind, mark }: LiveResource): string | undefined {
  return mark === undefined ? undefined : `${mark.stack} ${kind}/${mark.name}`;
}

function byAge(left: LiveResource, right: LiveResource): number {
  return `${left.createdAt} ${left.id}` < `${right.createdAt} ${right.id}` ? -1 : 1;
}

/** The texts that a resource would be exported as, with the `Stack` that it would belong to. */
interface ExportTexts {
  readonly text: string;
  readonly stack: string;
  readonly closerChecks: DeepFormatChecks | undefined;
}

/** Reads a document back. Returns the reason if it cannot be planned or differs from the live resource; `undefined` if neither. */
function findExportFinding(
  { kind, live }: { readonly kind: Kind; readonly live: LiveResource },
  { text, stack, closerChecks }: ExportTexts,
): string | undefined {
  const sources = [stack, text].map((each, index) => ({ file: `${index}.yaml`, bytes: Buffer.from(each) }));
  const { state, diagnostics } = validateManifests(sources, {
    env: NO_ENVIRONMENT,
    ...(closerChecks !== undefined && { closerChecks }),
  });
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error !== undefined) return `no manifest can describe it: ${withoutAddress(error)}`;
  const [read] = state?.resources.values() ?? [];
  if (read === undefined) return NOT_TO_THE_LETTER;
  const normal = normalizeSpec(kind, read.spec);
  return isSameJson(normal, fillUnknown(kind, live.spec, normal)) ? undefined : NOT_TO_THE_LETTER;
}

const NOT_TO_THE_LETTER = 'no manifest can describe it exactly';

/** The message does not name the address, because no document has it. */
function withoutAddress({ message, address }: Diagnostic): string {
  const start = `${address}: `;
  return message.startsWith(start) ? message.slice(start.length) : message;
}

/** Levels of metadata that are written as a mapping. Nobody reads deeper ones, and manifests have a limit. */
const MAX_METADATA_DEPTH = 32;

/** A spec in normal form as a person would write it: in the order of the kind's table, and without what leaving it out means anyway. */
function toMinimalSpec(kind: Kind, spec: Spec): Spec {
  return toStatedFields(kind.specFields, spec);
}

function toStatedFields(fields: readonly (readonly [string, Field])[], values: JsonObject): JsonObject {
  const entries = fields.flatMap(([name, field]): [string, Json][] => {
    const value = values[name];
    if (value === undefined || (!field.required && isSameJson(value, getDefaultValue(field)))) return [];
    return [[name, toStated(field.type, value)]];
  });
  return Object.fromEntries(entries);
}

function toStated(type: FieldType, value: Json): Json {
  if (type.type === 'list' && isJsonArray(value)) return value.map((member) => toStated(type.of, member));
  if (!isJsonObject(value)) return value;
  if (type.type === 'map') return sortEntries(value, (member) => toStated(type.of, member));
  if (type.type === 'metadata') return isDeeper(value, MAX_METADATA_DEPTH) ? JSON.stringify(value) : value;
  return type.type === 'object' ? toStatedObject(type.fields, value) : value;
}

/** An object of defaults states them: an empty mapping would look like no value. */
function toStatedObject(fields: Readonly<Record<string, Field>>, value: JsonObject): JsonObject {
  const stated = toStatedFields(Object.entries(fields), value);
  if (Object.keys(stated).length > 0) return stated;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): [string, Json][] =>
      field.default === undefined ? [] : [[name, value[name] ?? field.default]],
    ),
  );
}

/** The order of a map has no meaning, and a service may show any. */
function sortEntries(value: JsonObject, toMember: (member: Json) => Json): JsonObject {
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, toMember(member)]));
}

/** A file to be written, relative to the folder of the export. */
export interface ExportFile {
  readonly path: string;
  readonly text: string;
}

/** Options of the files of an export. */
interface LayoutOptions {
  /** Where the YAML language server finds the schema of manifests: a path relative to the folder, or a URL. Absent: no document names it. */
  readonly schema?: string;
}

/**
 * The files of an export: one for each document, so that a change is reviewed as the file of its resource. The first one begins with the comment above
 * everything.
 */
export function layOut({ documents, preface }: ExportResult, { schema }: LayoutOptions = {}): readonly ExportFile[] {
  return documents.map((document, index) => {
    const path = toPath(document);
    const modeline = schema === undefined ? '' : toModeline(schema, path);
    return { path, text: `${modeline}${renderPreface(index === 0 ? preface : [])}${document.text}` };
  });
}

/** All of an export as one text. */
export function renderSingleFile({ documents, preface }: ExportResult): string {
  return `${renderPreface(preface)}${documents.map(({ text }) => text).join('---\n')}`;
}

function renderPreface(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.map((line) => `# ${toPrintable(line)}\n`).join('')}\n`;
}

function toModeline(schema: string, path: string): string {
  const up = URL.canParse(schema) ? '' : '../'.repeat(path.split('/').length - 1);
  return `# yaml-language-server: $schema=${up}${schema}\n`;
}

function toPath({ kind, name }: ExportedDocument): string {
  return kind === 'Stack' ? 'edgewise.yaml' : `${toHyphenated(kind)}/${toResourceFileName(name)}.yaml`;
}

/** `kustomization.yaml` is not read as a manifest. No name of a resource ends with an underscore. */
function toResourceFileName(name: string): string {
  return name === 'kustomization' ? 'kustomization_' : name;
}
