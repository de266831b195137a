import { removeStaleTempFiles, writeAtomically } from '../files/atomic-file.ts';
import { describeFileError, readInput } from '../files/read-input.ts';
import type { Kind } from '../kinds/kind.ts';
import { isIdOf, listPathFields, toPathIds } from '../kinds/paths.ts';
import { findKind, getKind, KINDS } from '../kinds/tables/registry.ts';
import { formatPath } from '../model/field-path.ts';
import { checkJsonLimits, isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';

import { findUnknownKey, listSchemaFindings } from '../schemas/findings.ts';

import { SEED_SCHEMA } from '../schemas/seed.ts';
import { type ApiKey, DEFAULT_USER_ID } from './admission.ts';
import { type AbuseReportRule, getBehaviour } from './behaviours.ts';
import { RequestError } from './failure.ts';
import { createAttachment } from './handlers.ts';
import { checkClaims, createBehaviourContext, listBadReferences, type Service } from './service.ts';
import { formatTimestamp, type StoredResource } from './store.ts';
import { checkSpec, validateCreate } from './validate-body.ts';

/** What a server begins with: existing objects and known external ids. Everything may be left out. */
export interface ServerSeed {
  /**
   * The ids that exist besides those of its resources; `bkdhr_*` is every well-formed one with that prefix. Left out: every well-formed one
   * of a kind that this interface cannot create.
   */
  readonly externals?: readonly string[];
  /** By kind, in any order: `created_at` says which is older, else the place in the list. */
  readonly resources?: Readonly<Record<string, readonly SeedResource[]>>;
  /** What becomes of the host names in abuse reports; the first rule that is about one holds. Left out: what the server does by itself. */
  readonly abuse_report_rules?: readonly AbuseReportRule[];
  /** The secrets of SSH certificate authorities, by id: 32 bytes in base64url. */
  readonly certificate_authorities?: Readonly<Record<string, string>>;
  /** How many ids were made before. */
  readonly sequence?: number;
}

/**
 * One existing resource: the fields that requests have, `id` and `created_at`, all optional where a request needs none.
 * `deletable: false`: the service does not let it go. `state`, in snapshots: what the server remembers beside the fields.
 */
export type SeedResource = JsonObject;

/** Everything that a server knows, as a seed for the next one. */
export type ServerSnapshot = Required<Omit<ServerSeed, Chosen>> & Pick<ServerSeed, Chosen>;

/** Optional; a snapshot has it only if it was set. */
type Chosen = 'externals' | 'abuse_report_rules';

/** A seed or snapshot from its JSON text. Throws `RangeError`, with everything that is wrong, on a bad one. */
export function parseServerSeed(text: string): ServerSeed {
  const finding = checkJsonLimits(text);
  if (finding !== undefined) throw new RangeError(`It ${finding}`);
  const value = parseJson(text);
  const stranger = findUnknownKey(SEED_SCHEMA, value);
  if (stranger !== undefined) throw new RangeError(stranger);
  const crowd = findCrowd(value, []);
  if (crowd !== undefined) throw new RangeError(crowd);
  const findings = listSchemaFindings(SEED_SCHEMA, value);
  if (findings.length > 0) throw new RangeError(renderFindings(findings));
  return value as ServerSeed; // the schema has said so
}

/** Resources of a kind, or external ids; and what one of them holds. */
const [MAX_LISTED, MAX_INSIDE] = [100_000, 20_000];

/** The first list or object with more members than are looked at one by one. */
function findCrowd(value: Json, path: FieldPath): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const most = path.length < 3 ? MAX_LISTED : MAX_INSIDE;
  const size = isJsonArray(value) ? value.length : Object.keys(value).length;
  if (size > most) return `${formatPath(path)} has more than ${most.toLocaleString('en')} members`;
  for (const [key, member] of Object.entries(value)) {
    const crowd = findCrowd(member, [...path, isJsonArray(value) ? Number(key) : key]);
    if (crowd !== undefined) return crowd;
  }
  return undefined;
}

/** The number that is reported; the others are only counted. */
const MAX_FINDINGS = 20;

function renderFindings(findings: ReturnType<typeof listSchemaFindings>): string {
  const told = findings.slice(0, MAX_FINDINGS).map(({ path, message }) => `${formatPath(path)} ${message}`.trim());
  const more = findings.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more.toLocaleString('en')} more`] : [])].join('\n');
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The engine's message quotes the file, which may be any: a Stack can name it.
    const [at] = /line \d+ column \d+/.exec(error.message) ?? [];
    // biome-ignore lint/style/useErrorCause: a cause is shown with its message, which quotes the file.
    throw new RangeError(at === undefined ? 'It is not JSON' : `It is not JSON: ${at}`);
  }
}

/** A resource of a seed, and its position there. */
interface Placed {
  readonly place: string;
  readonly kind: Kind;
  readonly resource: SeedResource;
  readonly created: Date;
}

/** A resource of a seed, ready for the store but for what else the seed holds. */
interface Draft extends Placed {
  readonly stored: StoredResource;
}

/**
 * Puts the resources of a seed into an empty store, oldest first. Throws `RangeError`, naming each with its place, on those that the server
 * would not have taken.
 */
export function loadSeed(service: Service, { resources = {} }: ServerSeed): void {
  const mistakes = new Mistakes();
  const placed = Object.entries(resources).flatMap(([name, members]) =>
    placeResources(name, members, { mistakes, now: service.now }),
  );
  const oldestFirst = placed.toSorted((left, right) => left.created.getTime() - right.created.getTime());
  const drafts = oldestFirst.flatMap((one) => mistakes.collect(one.place, () => toDraft(service, one)) ?? []);
  const admitted = new Set(drafts.filter((draft) => admit(service, draft, mistakes)).map(({ place }) => place));
  const refused = new Set(placed.filter(({ place }) => !admitted.has(place)).map(({ resource }) => resource['id']));
  for (const { place, kind, stored } of drafts)
    for (const { id, message } of listBadReferences(service, kind, stored.spec))
      if (!refused.has(id)) mistakes.add(place, message);
  mistakes.refuse();
}

/** The number of mistakes that are reported; the others are only counted. */
const MAX_SHOWN = 100;

/** Collects the errors of a seed. */
class Mistakes {
  readonly #messages: string[] = [];
  #count = 0;

  add(place: string, message: string): void {
    this.#count += 1;
    if (this.#count <= MAX_SHOWN) this.#messages.push(`${place}: ${message}`);
  }

  /** What an act returns; nothing when it fails, which is then a mistake at this place. */
  collect<T>(place: string, act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.add(place, error.message);
      return undefined;
    }
  }

  refuse(): void {
    const more = this.#count - this.#messages.length;
    const rest = more > 0 ? [`and ${more.toLocaleString('en')} more mistakes`] : [];
    if (this.#count > 0) throw new RangeError([...this.#messages, ...rest].join('\n'));
  }
}

/** The resources of a store as a seed has them: the inverse of loading. */
export function listSeedResources({ store }: Service): Readonly<Record<string, readonly SeedResource[]>> {
  const entries = KINDS.map((kind) => {
    const resources = store.listingOf(kind).listAll();
    return [kind.name, resources.map((resource) => toSeedResource(kind, resource))] as const;
  });
  return Object.fromEntries(entries);
}

function placeResources(
  name: string,
  members: readonly SeedResource[],
  { mistakes, now }: { readonly mistakes: Mistakes; readonly now: () => Date },
): readonly Placed[] {
  const kind = findKind(name);
  if (kind === undefined) {
    mistakes.add(`resources.${name}`, 'is not a known kind');
    return [];
  }
  return members.flatMap((resource, index) => {
    const place = `resources.${name}[${index}]`;
    const created = mistakes.collect(place, () => toCreated(resource, now));
    return created === undefined ? [] : [{ place, kind, resource, created }];
  });
}

function toCreated({ created_at: createdAt }: SeedResource, now: () => Date): Date {
  if (createdAt === undefined) return now();
  const created = new Date(String(createdAt));
  if (Number.isNaN(created.getTime())) throw refuse('created_at is not a time');
  return created;
}

function toDraft(service: Service, placed: Placed): Draft {
  const isAttached = placed.kind.role === 'attached';
  return { ...placed, stored: isAttached ? draftAttachment(service, placed) : draftOwned(service, placed) };
}

function draftAttachment(service: Service, { kind, resource }: Placed): StoredResource {
  const spec = validateCreate(kind, resource);
  const ids = listPathFields(kind).map((name) => [name, String(spec[name])] as const);
  return { ...createAttachment(service, kind, Object.fromEntries(ids)), spec };
}

function draftOwned(service: Service, { kind, resource, created }: Placed): StoredResource {
  const { id, created_at: _createdAt, deletable, state, ...fields } = resource;
  const asked = validateCreate(kind, fields);
  const spec = getBehaviour(kind).complete?.(asked, OWNER, created) ?? asked;
  checkSpec(kind, spec);
  return {
    id: id === undefined ? service.identities.createId(kind.idPrefix, created) : String(id),
    createdAt: formatTimestamp(created),
    spec,
    state: isJsonObject(state) ? state : {},
    deletable: deletable !== false,
  };
}

/** Puts a draft into the store. Whether nothing was wrong with it. */
function admit(service: Service, { place, kind, resource, created, stored }: Draft, mistakes: Mistakes): boolean {
  const checks = [
    () => checkId(kind, stored.id),
    () => refuseTwice(service, kind, stored.id),
    () => checkClaims(service, kind, stored),
  ];
  const passed = checks.filter((check) => mistakes.collect(place, () => check() ?? true) === true);
  if (passed.length < checks.length) return false;
  const remember = isJsonObject(resource['state']) ? undefined : getBehaviour(kind).remember;
  const state = remember?.(stored, undefined, { ...createBehaviourContext(service), now: created }) ?? stored.state;
  service.store.put(kind, { ...stored, state });
  return true;
}

/** Who made what a seed holds. */
const OWNER: ApiKey = { key: '', userId: DEFAULT_USER_ID, isAdmin: true, mayReportAbuse: true };

function checkId(kind: Kind, id: string): void {
  if (kind.role === 'attached' || isIdOf({ prefixes: [kind.idPrefix] }, id)) return;
  throw refuse(`id ${id} is not an id ${kind.idPrefix}_…`);
}

function refuseTwice(service: Service, kind: Kind, id: string): void {
  if (service.store.listingOf(kind).find(id) !== undefined) throw refuse(`${id} appears twice`);
}

function refuse(message: string): RequestError {
  return new RequestError(message, { code: 'invalid_field' });
}

function toSeedResource(kind: Kind, { id, createdAt, spec, state, deletable }: StoredResource): JsonObject {
  if (kind.role === 'attached') return spec;
  return { id, created_at: createdAt, ...spec, state, ...(!deletable && { deletable }) };
}

/** A resource that another service holds. */
export interface ImportedResource {
  readonly kind: string;
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The set fields, in the shape of requests; of an attached kind with the ids in its path. */
  readonly spec: Spec;
  /** What that service computed. */
  readonly computed: JsonObject;
}

/** Puts resources into an empty store unchanged and unchecked, oldest first: a service may be more liberal than this server. */
export function loadExisting(service: Service, existing: readonly ImportedResource[]): void {
  for (const one of existing) {
    const kind = getKind(one.kind);
    if (kind.role !== 'attached') service.store.load(kind, toStored(kind, one));
    else service.store.load(kind, { ...createAttachment(service, kind, toPathIds(kind, one)), spec: one.spec });
  }
}

function toStored(kind: Kind, { id, createdAt, spec, computed }: ImportedResource): StoredResource {
  const resource = { id, createdAt, spec, state: {}, deletable: true };
  return { ...resource, state: getBehaviour(kind).recall?.(resource, computed) ?? {} };
}

/**
 * Reads a snapshot or seed, and removes temporary files that a killed run left beside it; `undefined` when there is no such file. Throws `RangeError`, naming
 * the file, for an invalid one.
 */
export async function readSnapshotFile(path: string): Promise<ServerSeed | undefined> {
  await removeStaleTempFiles(path);
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    return parseServerSeed(text);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Writes a snapshot so that the file is either the old one or the new one. Only its owner may read it: it holds keys. */
export async function writeSnapshotFile(path: string, snapshot: ServerSnapshot): Promise<void> {
  await writeAtomically(path, `${JSON.stringify(snapshot)}\n`, { mode: 0o600 });
}

function readText(path: string): string | undefined {
  try {
    return readInput(path, { onlyFiles: true }).toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new RangeError(`${path} ${describeFileError(error)}`, { cause: error });
  }
}
