import { mapReferencesInIgnoredPath } from '../kinds/ignored-parts.ts';
import { isIdOf } from '../kinds/paths.ts';
import { listAllIdPrefixes, listKindsOfReferenceType, mapReferences, type Reference } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isAddress, parseAddress } from '../model/address.ts';
import { formatPath } from '../model/field-path.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import { findWay, sort } from '../model/sort.ts';
import type { CrossStackReference, FieldPath, Spec } from '../model/state.ts';
import { type DocumentFinding, type DocumentsByAddress, locate, type ManifestDocument } from './finding.ts';
import { suggest } from './suggest.ts';

export interface ResolvedReferences {
  /**
   * Specs in which known ids replace addresses. A remaining address gets its id during apply, or could not be resolved.
   */
  readonly specs: ReadonlyMap<ManifestDocument, Spec>;
  /** The paths in `lifecycle.ignore` that end with a key of a map, with known ids in place of addresses, as in `specs`. */
  readonly ignored: ReadonlyMap<ManifestDocument, readonly string[]>;
  /** The ids of the Externals that contain an id. */
  readonly externals: ReadonlyMap<Address, string>;
  /** Externals that refer to a resource of another stack. The mark of that resource leads to its id. */
  readonly crossStackReferences: ReadonlyMap<Address, CrossStackReference>;
  readonly findings: readonly DocumentFinding[];
}

/** Resolves every reference of every document. Continues after a reference that cannot be resolved. */
export function resolveReferences(
  documents: readonly ManifestDocument[],
  index: DocumentsByAddress,
): ResolvedReferences {
  const { ids, crossStackReferences, cycles } = resolveWrittenIds(index);
  const findings: DocumentFinding[] = [...cycles];
  const resolution: Resolution = { index, ids, crossStackReferences, addresses: [...index.keys()], dangling: 0 };
  const specs = new Map(
    documents.map((document) => [
      document,
      resolveSpec(document, resolution, (finding) => findings.push({ subject: document, finding })),
    ]),
  );
  const ignored = new Map(
    documents.map((document) => [
      document,
      resolveIgnored(document, resolution, (finding) => findings.push({ subject: document, finding })),
    ]),
  );
  const externals = [...ids].filter(([address]) => index.get(address)?.kind === 'External');
  return { specs, ignored, externals: new Map(externals), crossStackReferences, findings };
}

interface Resolution {
  readonly index: DocumentsByAddress;
  /** Ids that are written in manifests. */
  readonly ids: ReadonlyMap<Address, string>;
  readonly crossStackReferences: ReadonlyMap<Address, CrossStackReference>;
  readonly addresses: readonly Address[];
  /** The number of dangling references so far. */
  dangling: number;
}

type Report = (finding: Finding) => void;

function resolveSpec(document: ManifestDocument, resolution: Resolution, report: Report): Spec {
  const { spec } = document.value;
  if (!isJsonObject(spec)) return {};
  const kind = findKind(document.kind);
  if (kind === undefined) return resolveExternal(spec, resolution, report);
  const keys: Keys = new Map();
  return mapReferences(kind, spec, (found) => {
    const isKey = found.path.at(-1) === found.value; // only the path of a map key ends with the reference itself
    const reference = { ...found, at: ['spec', ...found.path], target: isKey ? 'key' : 'value' } as const;
    const value = resolve(reference, resolution, report);
    if (isKey) checkSameKey(reference, { document, value, keys, report });
    return value;
  });
}

function resolveIgnored(document: ManifestDocument, resolution: Resolution, report: Report): readonly string[] {
  const kind = findKind(document.kind);
  return listIgnoredPaths(document.value).map((path, index) =>
    kind === undefined || !document.isValid
      ? path
      : mapReferencesInIgnoredPath(kind, path, (found) =>
          resolve({ ...found, at: ['lifecycle', 'ignore', index] }, resolution, report),
        ),
  );
}

/** The paths in `lifecycle.ignore` as written. */
function listIgnoredPaths({ lifecycle }: JsonObject): readonly string[] {
  const ignore = lifecycle !== undefined && isJsonObject(lifecycle) ? lifecycle['ignore'] : undefined;
  return isJsonArray(ignore) ? ignore.filter((path) => typeof path === 'string') : [];
}

/** A reference at a position in a document. */
interface DocumentReference extends Reference, Pick<Finding, 'target'> {
  readonly at: FieldPath;
}

/** The map keys read so far, by the path of the map and the resolved id. A second key with the same id is an error. */
type Keys = Map<string, Reference>;

interface ResolvedKey {
  readonly document: ManifestDocument;
  readonly value: string;
  readonly keys: Keys;
  readonly report: Report;
}

function checkSameKey(reference: Reference, { document, value, keys, report }: ResolvedKey): void {
  const { path, value: written } = reference;
  const id = JSON.stringify([...path.slice(0, -1), value]);
  const first = keys.get(id);
  keys.set(id, reference);
  if (first === undefined) return;
  const place = locate(document.source, ['spec', ...first.path], 'key');
  report({
    code: 'bad-value',
    message: `${first.value} and ${written} are the same: ${value}`,
    remedy: 'Keep one of them.',
    path: ['spec', ...path],
    target: 'key',
    related: [{ message: 'first here', place }],
  });
}

function resolve(reference: DocumentReference, resolution: Resolution, report: Report): string {
  const { value, type } = reference;
  if (!isAddress(value)) return value;
  const target = resolution.index.get(value);
  if (target === undefined) {
    report(createDanglingFinding(reference, resolution));
    return value;
  }
  const id = resolution.ids.get(value);
  const crossStack = resolution.crossStackReferences.get(value);
  const kind = crossStack === undefined ? target.kind : (parseAddress(crossStack.resource)?.kind ?? '');
  const fits =
    kind === 'External'
      ? id === undefined || isIdOf(type, id)
      : listKindsOfReferenceType(type).some(({ name }) => name === kind);
  if (!fits) report(createWrongFinding(reference, id ?? crossStack?.resource, resolution));
  return fits ? (id ?? value) : value;
}

/** Resolves an External, which contains an id or the address of another External. Its schema has checked that. */
function resolveExternal(spec: Spec, resolution: Resolution, report: Report): Spec {
  const { id } = spec;
  if (typeof id !== 'string' || parseAddress(id)?.kind !== 'External' || !isAddress(id) || resolution.index.has(id))
    return spec;
  report(
    createDanglingFinding(
      {
        path: ['id'],
        value: id,
        type: { type: 'reference', prefixes: [], isRefInResponse: false },
        at: ['spec', 'id'],
      },
      resolution,
    ),
  );
  return spec;
}

/** The maximum number of dangling references that get a suggestion, which is slow: it compares with every address. */
const MAX_SUGGESTIONS = 100;

function createDanglingFinding(reference: DocumentReference, resolution: Resolution): Finding {
  const { at, target, value, type } = reference;
  resolution.dangling += 1;
  const kinds = [...listKindsOfReferenceType(type).map(({ name }) => name), 'External'];
  return {
    code: 'bad-reference',
    message: `${describePath(reference)} names ${value}, which no document describes`,
    remedy: formatDanglingRemedy(reference, kinds, resolution),
    path: at,
    target,
  };
}

function formatDanglingRemedy({ value, type }: Reference, kinds: readonly string[], resolution: Resolution): string {
  const isOf = (address: string) => kinds.some((kind) => address.startsWith(`${kind}/`));
  const known = resolution.dangling > MAX_SUGGESTIONS ? [] : resolution.addresses.filter(isOf);
  const nearest = suggest(value, known);
  if (nearest !== undefined) return `Did you mean \`${nearest}\`?`;
  if (isOf(value)) return 'Add a document that describes it.';
  return `Name one of ${[...kinds.map((kind) => `${kind}/…`), ...type.prefixes.map((prefix) => `${prefix}_…`)].join(', ')}.`;
}

function createWrongFinding(reference: DocumentReference, id: string | undefined, { addresses }: Resolution): Finding {
  const { at, target, value, type } = reference;
  const kinds = listKindsOfReferenceType(type).map(({ name }) => `${name}/…`);
  const externals = `an External whose id is ${type.prefixes.map((prefix) => `${prefix}_…`).join(' or ')}`;
  const given = id === undefined ? value : `${value}, which is ${id}`;
  const name = parseAddress(value)?.name;
  const meant = listKindsOfReferenceType(type).map((kind) => `${kind.name}/${name}`);
  const sameName = addresses.find((address) => meant.includes(address));
  return {
    code: 'bad-reference',
    message: `${describePath(reference)} names ${given}, but must name ${[...kinds, externals].join(' or ')}`,
    remedy: sameName && `Did you mean \`${sameName}\`?`,
    path: at,
    target,
  };
}

function describePath({ at, target }: DocumentReference): string {
  return formatPath(target === 'key' ? at.slice(0, -1) : at);
}

interface ResolvableIds {
  readonly ids: ReadonlyMap<Address, string>;
  /** Externals that refer to a resource of another stack. */
  readonly crossStackReferences: ReadonlyMap<Address, CrossStackReference>;
  /** Circles of documents. Each circle is reported once, for the first of its documents. */
  readonly cycles: readonly DocumentFinding[];
}

/**
 * Resolves the ids that are written in manifests: in Externals, HTTPS edges and HTTPS routes. Instead of an id, these
 * documents may contain the address of another one. So documents form chains, and a chain can be a circle.
 */
export function resolveWrittenIds(index: DocumentsByAddress): ResolvableIds {
  const containing = [...index].filter(([, { kind }]) => mayContainId(kind));
  const ranks = new Map(containing.map(([, document], rank) => [document, rank]));
  const listNext = (document: ManifestDocument) => [findNext(document, index)].filter((next) => next !== undefined);
  const { ordered, circles } = sort(ranks.keys(), listNext);
  const ends = new Map<ManifestDocument, ManifestDocument | undefined>();
  for (const document of ordered) {
    const [next] = listNext(document);
    ends.set(document, next === undefined ? document : ends.get(next));
  }
  const cycles = circles.flatMap((members) => {
    const [first, ...others] = members.toSorted((left, right) => (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0));
    return first === undefined
      ? []
      : [createCircleFinding([first, ...(findWay(first, first, listNext) ?? [])], others)];
  });
  const ids = containing.flatMap(([address, document]): [Address, string][] => {
    const id = findValidId(ends.get(document));
    return id === undefined ? [] : [[address, id]];
  });
  const crossStackIds = containing.flatMap(([address, document]): [Address, CrossStackReference][] => {
    const resource = readCrossStackReference(ends.get(document));
    return resource === undefined ? [] : [[address, resource]];
  });
  return { ids: new Map(ids), crossStackReferences: new Map(crossStackIds), cycles };
}

function readCrossStackReference(document: ManifestDocument | undefined): CrossStackReference | undefined {
  const spec = document?.value['spec'];
  if (document?.kind !== 'External' || !isJsonObject(spec)) return undefined;
  const { stack, resource } = spec;
  if (typeof stack !== 'string' || typeof resource !== 'string' || !isAddress(resource)) return undefined;
  return { stack, resource };
}

function findNext(document: ManifestDocument, index: DocumentsByAddress): ManifestDocument | undefined {
  const id = findWrittenId(document);
  return id !== undefined && isAddress(id) ? index.get(id) : undefined;
}

function mayContainId(kind: string): boolean {
  return kind === 'External' || findKind(kind)?.role === 'attached';
}

function findWrittenId({ kind, value }: ManifestDocument): string | undefined {
  if (!mayContainId(kind)) return undefined;
  const { spec } = value;
  const id = isJsonObject(spec) ? spec['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

const ANY_ID = { prefixes: listAllIdPrefixes() };

/** Returns the id in a document. `undefined` if the id is missing or invalid. */
function findValidId(document: ManifestDocument | undefined): string | undefined {
  const id = document === undefined ? undefined : findWrittenId(document);
  return id !== undefined && isIdOf(ANY_ID, id) ? id : undefined;
}

/** `round`: from a document over what its id leads to, back to the document. */
function createCircleFinding(
  round: readonly [ManifestDocument, ...ManifestDocument[]],
  others: readonly ManifestDocument[],
): DocumentFinding {
  const finding: Finding = {
    code: 'bad-reference',
    message: `spec.id refers to itself: ${round.map(({ address }) => address).join(' → ')}`,
    remedy: 'Write a literal id in one of them.',
    path: ['spec', 'id'],
    related: others.map(({ source, address }) => ({
      message: `through ${address}`,
      place: locate(source, ['spec', 'id']),
    })),
  };
  return { subject: round[0], finding };
}
