import type { CloserChecks } from '../kinds/closer-checks.ts';
import { type Kind, listOneTimeFields, listSpecFields } from '../kinds/kind.ts';
import { mapReferences } from '../kinds/references.ts';
import { ATTACHED_KINDS, getKind, MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { renderDocument } from '../manifest/render-document.ts';
import { toAddress } from '../model/address.ts';
import type { JsonObject } from '../model/json.ts';
import { type Mark, UNMANAGED } from '../model/mark.ts';
import type { LiveResource, LiveState, Spec } from '../model/state.ts';
import { API_VERSION } from '../schemas/document.ts';
import { chooseResources, type LeftOut } from './choose-resources.ts';
import { findExportFault } from './find-export-fault.ts';
import { nameAll, toBaseName, toIdName } from './name-resources.ts';
import { toStatedSpec } from './state-spec.ts';

/**
 * Live resources as manifests that adopt them. Pure: the same resources in any order give the same bytes. A plan of the export adopts and does
 * nothing else. A resource that no manifest can state exactly is left out and listed.
 */

/** What an export may differ in. */
export interface ExportOptions {
  /** The stack that is to own what is exported; what it owns already is exported too. Absent: there is no `Stack` document. */
  readonly stack?: string;
  /** The `spec.api` of the `Stack` document. */
  readonly api?: JsonObject;
  /** The kinds that were asked for: the `spec.kinds` of the `Stack` document. Absent: every kind. */
  readonly kinds?: readonly string[];
  /** Closer checks of texts that have the right form: `loadCloserChecks`. */
  readonly closerChecks?: CloserChecks;
}

/** One document, as text. */
export interface ExportedDocument {
  readonly kind: string;
  readonly name: string;
  /** YAML, with the comment above it. */
  readonly text: string;
}

/** What was exported: the `Stack`, the `External` documents, then the resources by kind and name. */
export interface Exported {
  readonly documents: readonly ExportedDocument[];
  /** The number of documents that are neither. */
  readonly resources: number;
  /** What was not exported, and why. */
  readonly leftOut: readonly LeftOut[];
  /** What stands above the first document. */
  readonly preface: readonly string[];
}

/** Exports what was read: owned kinds that no other stack owns, and attachments. */
export function exportLive(live: LiveState, options: ExportOptions = {}): Exported {
  const { chosen, leftOut } = chooseResources(live, options.stack);
  const named = nameResources(chosen, options.stack);
  const stack = renderStack(options.stack ?? 'stack', options);
  const checked = named.map((resource) => {
    const text = renderDocument(toDocument(resource, resource.stated));
    return { resource, fault: findExportFault(resource, { text, stack, closerChecks: options.closerChecks }) };
  });
  const kept = checked.filter(({ fault }) => fault === undefined).map(({ resource }) => resource);
  const faulty = checked.flatMap(({ resource: { kind, live }, fault }): LeftOut[] =>
    fault === undefined ? [] : [{ kind: kind.name, id: live.id, reason: fault }],
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
    const names = nameAll(
      resources.map((live) => {
        const own = live.mark?.stack === stack ? live.mark?.name : undefined;
        return { id: live.id, base: own ?? toBaseName(kind, live), isFixed: own !== undefined };
      }),
    );
    return resources
      .map((live) => ({ kind, live, name: names.get(live.id) ?? live.id, stated: toStatedSpec(kind, live.spec) }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  });
}

function renderAll(resources: readonly NamedResource[]): readonly ExportedDocument[] {
  const addresses = new Map(resources.map(({ kind, name, live }) => [live.id, toAddress(kind.name, name)]));
  const unknown = new Set(resources.flatMap(listReferredIds).filter((id) => !addresses.has(id)));
  const externals = nameAll([...unknown].map((id) => ({ id, base: toIdName(id), isFixed: false })));
  for (const [id, name] of externals) addresses.set(id, toAddress('External', name));
  const documents = resources.map((resource) => {
    const { kind, name, stated } = resource;
    const spec = mapReferred(kind, stated, (id) => addresses.get(id) ?? id);
    return { kind: kind.name, name, text: renderDocument(toDocument(resource, spec), toComment(resource)) };
  });
  return [...renderExternals(externals), ...documents];
}

function renderExternals(externals: ReadonlyMap<string, string>): readonly ExportedDocument[] {
  return [...externals]
    .sort(([, left], [, right]) => (left < right ? -1 : 1))
    .map(([id, name]) => ({
      kind: 'External',
      name,
      text: renderDocument({ apiVersion: API_VERSION, kind: 'External', metadata: { name }, spec: { id } }),
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
  return renderDocument({
    apiVersion: API_VERSION,
    kind: 'Stack',
    metadata: { name },
    ...(Object.keys(spec).length > 0 && { spec }),
  });
}

function toDocument({ kind, name, live }: NamedResource, spec: Spec): JsonObject {
  return {
    apiVersion: API_VERSION,
    kind: kind.name,
    metadata: { name },
    ...(Object.keys(spec).length > 0 && { spec }),
    ...(kind.role === 'owned' && { lifecycle: { ...toRemembered(kind, live.mark), adopt: live.id } }),
  };
}

/** What the mark remembers of a manifest. */
function toRemembered(kind: Kind, mark: Mark | undefined): JsonObject {
  const ignore = listSpecFields(kind)
    .map(([name]) => name)
    .filter((name) => mark !== undefined && Object.hasOwn(mark.fields, name) && mark.fields[name] === UNMANAGED);
  return { ...(mark?.protect === true && { protect: true }), ...(ignore.length > 0 && { ignore }) };
}

/** What a document cannot say. */
function toComment({ kind, stated }: NamedResource): readonly string[] {
  const secrets = listOneTimeFields(kind).map(
    (name) =>
      `Its ${name} was shown once, when it was created, and cannot be exported. Adopting it does not change it.`,
  );
  const times = kind.validity === undefined ? [] : [RENEWAL];
  const isBare =
    kind.role === 'attached' && listSpecFields(kind).every(([name, { required }]) => required || !(name in stated));
  return [...secrets, ...times, ...(isBare ? [NO_MODULES] : [])];
}

const RENEWAL =
  'It is not renewed. To have it renewed, write lifecycle.valid_for instead of spec.valid_after and spec.valid_until.';

const NO_MODULES = 'None of its modules is set, or it does not exist: the interface does not tell which.';

function toPreface(leftOut: readonly LeftOut[], kept: readonly NamedResource[]): readonly string[] {
  const lines = leftOut.map(({ kind, id, reason }) => `Left out: ${kind} ${id}: ${reason}.`);
  const hasAttached = kept.some(({ kind }) => kind.role === 'attached');
  return ['Made by edgewise export.', ...lines, ...(hasAttached ? [] : [NO_LIST])];
}

const NO_LIST = `Modules of ${ATTACHED_KINDS.map(({ title }) => `${title}s`).join(' and ')} are not here, because the interface does not list them. Name them with --modules-of.`;

function sortLeftOut(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const toKey = ({ kind, id }: LeftOut) => `${MANIFEST_KINDS.indexOf(getKind(kind))} ${id}`;
  return leftOut.toSorted((left, right) => (toKey(left) < toKey(right) ? -1 : 1));
}
