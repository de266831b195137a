import { assertModuleMatchesSchema, parseListedResource } from '../client/parse-response.ts';
import { canonical, normalizeField } from '../kinds/canonical.ts';
import { AS_IF_COMPLETE } from '../kinds/evidence.ts';
import { listIgnoredInMark, omitIgnoredParts, parseIgnoredPart, takeIgnoredParts } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import type { ObservedResponseFields } from '../kinds/observed-response-fields.ts';
import { toModulePath, toResourcePath } from '../kinds/paths.ts';
import { readAttachedResource, readResource } from '../kinds/read-response.ts';
import { mapReferences } from '../kinds/references.ts';
import type { CreatedIds } from '../kinds/request-body.ts';
import { listDifferentFields } from '../kinds/same-fields.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Change } from '../model/change.ts';
import { assertDefined } from '../model/errors.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { isEqualMark, type Mark } from '../model/mark.ts';
import { hasMarkOf } from '../model/ownership.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { type CreateWrite, getSentFields, isDelete, listSentFieldNames, type Write } from '../model/write.ts';
import { listUnresolvedAddresses } from '../plan/desired-form.ts';
import { completeMarkDraft } from '../plan/mark-draft.ts';
import { createChangeLookUp, isReliantWrite } from '../plan/relied-writes.ts';
import { listWritesOfChange } from '../plan/writes.ts';
import { formatComparedValue } from './check-response.ts';
import { createStaleError } from './external-error.ts';

/**
 * What a write relies on, and what it must not set back. Before a delete, and before a write that carries values which
 * the manifest leaves to others, the state of the resource is read again unless it was shown within the last seconds
 * (see `ReliedState` of the client). Here: what of that state must be as planned, and how the write takes over values
 * that others have set since.
 */
export interface Reliance {
  /** The URL path of the resource or module. */
  readonly path: string;
  readonly isModule: boolean;
  /**
   * Returns the write to send, given the state that the service has shown. `null`: the module is not set. Throws
   * a `StackError` if what the write relies on has changed since the plan was made.
   */
  readonly check: (shown: JsonObject | null) => Write;
}

/** Finds what the writes of a plan rely on. */
export class PlanReliances {
  readonly #plan: Plan;
  readonly #shown: ObservedResponseFields;
  readonly #findChange: ReturnType<typeof createChangeLookUp>;
  readonly #writes: ReadonlyMap<string, readonly Write[]>;

  /** `shown`: the fields that responses have contained so far. */
  constructor(plan: Plan, shown: ObservedResponseFields) {
    this.#plan = plan;
    this.#shown = shown;
    this.#findChange = createChangeLookUp(plan.changes);
    this.#writes = Map.groupBy(plan.writes, ({ address }) => address);
  }

  /** Returns what a write relies on. `undefined`: its state need not be read. `ids` are the known ids, by address. */
  find(write: Write, ids: CreatedIds): Reliance | undefined {
    const change = this.#findChange(write);
    if (change === undefined || !isReliantWrite(write, change)) return undefined;
    const kind = getKind(write.kind);
    const path = createPath(kind, write, ids);
    if (kind.role === 'attached') return this.#createModuleReliance(write, { kind, change, path });
    // The writes of the plan to the same resource: to an existing one, or to one that the plan creates.
    const siblings = (this.#writes.get(write.address) ?? []).filter(({ ids: other }) => other?.id === write.ids?.id);
    return {
      path,
      isModule: false,
      check: (json) => {
        const live = readShown(kind, json ?? {}, { path, shown: this.#shown });
        return checkResource(write, live, { kind, change, ids, plan: this.#plan, siblings });
      },
    };
  }

  #createModuleReliance(
    write: Write,
    { kind, change, path }: { readonly kind: Kind; readonly change: Change; readonly path: string },
  ): Reliance | undefined {
    const { module } = write;
    if (module === undefined) return undefined;
    const field = assertDefined(kind.fields[module], `${kind.name}.${module}`);
    return {
      path,
      isModule: true,
      check: (json) => {
        if (json !== null) assertModuleMatchesSchema(field, json, { place: `GET ${path}: the module` });
        this.#shown.note(kind, { [module]: json });
        const live = this.#shown.complete(kind, readAttachedResource(kind, {}, { [module]: json }));
        const context = { kind, change, plan: this.#plan, ids: new Map(), siblings: [] };
        checkFields(write, live.spec, context);
        return write.method === 'DELETE' ? write : rebuild(write, change, { live, stack: this.#plan.stack });
      },
    };
  }
}

/**
 * Throws unless a resource that this run created still has the mark that the run set, or none. Otherwise another stack has
 * taken it over.
 */
export function checkStillOwn({ mark: own }: CreateWrite, { mark }: LiveResource): void {
  if (mark === undefined) return;
  if (!hasMarkOf({ mark }, own)) throw createStaleError(OTHER_MARK);
  if (mark.protect && !own.protect) throw createStaleError(NOW_PROTECTED);
}

const OTHER_MARK = 'its mark was changed';
const NOW_PROTECTED = 'it is protected now';

/** Reads a resource that the service has just shown. */
export function readShown(
  kind: Kind,
  json: JsonObject,
  { path, shown }: { readonly path: string; readonly shown: ObservedResponseFields },
): LiveResource {
  const { json: checked } = parseListedResource(kind, json, { place: `GET ${path}: the resource` });
  shown.note(kind, checked);
  return shown.complete(kind, readResource(kind, checked));
}

/** Of a module that the resource itself does not show, the path of the module. */
function createPath(kind: Kind, { address, ids: planned, module }: Write, ids: CreatedIds): string {
  const idsInPath = planned ?? { id: assertDefined(ids.get(address), `id of ${address}`) };
  return kind.role === 'attached' && module !== undefined
    ? toModulePath(kind, idsInPath, module)
    : toResourcePath(kind, idsInPath);
}

const METADATA = 'metadata';

interface CheckContext {
  readonly kind: Kind;
  readonly change: Change;
  readonly plan: Plan;
  readonly ids: CreatedIds;
  /** The writes of the plan to the same resource. */
  readonly siblings: readonly Write[];
}

function checkResource(write: Write, live: LiveResource, context: CheckContext): Write {
  const { change, plan } = context;
  checkMark(write, live, context);
  // A release changes only the mark, and nothing was planned of a resource that this run created.
  if (change.action !== 'release' && write.ids !== undefined) checkFields(write, live.spec, context);
  return write.method === 'DELETE' ? write : rebuild(write, change, { live, stack: plan.stack });
}

/** Computes a write again, with the values that the plan leaves alone as they are now. */
function rebuild(
  write: Write,
  change: Change,
  { live, stack }: { readonly live: Pick<LiveResource, 'spec'>; readonly stack: string },
): Write {
  const { desired, sent, live: start } = change;
  const { ignored: left = [] } = change;
  const spec = { ...start?.spec, ...live.spec };
  const again = listWritesOfChange(
    {
      ...change,
      desired: desired && takeIgnoredParts(left, desired, spec),
      sent: sent && takeSent(left, sent, spec),
      live: start && { ...start, spec },
    },
    stack,
  );
  const found = again.find(({ id }) => id === write.id);
  return found === undefined ? write : { ...found, dependsOn: write.dependsOn, last: write.last };
}

/** Values that are sent in another form than the normal one. A wholly ignored field is sent in normal form. */
function takeSent(left: readonly string[], sent: Spec, live: Spec): Spec {
  const parts = left
    .map((path) => ({ path, ...parseIgnoredPart(path) }))
    .filter(({ field }) => Object.hasOwn(sent, field));
  const [whole, inner] = [true, false].map((isWhole) =>
    parts.filter(({ member }) => (member === undefined) === isWhole).map(({ path }) => path),
  );
  return takeIgnoredParts(inner ?? [], omitIgnoredParts(whole ?? [], sent), live);
}

/** Throws unless the mark is as planned, or as a write of this plan sets it. */
function checkMark(write: Write, { mark }: LiveResource, { kind, change, ids, siblings }: CheckContext): void {
  const own = siblings
    .flatMap((one) => one.mark ?? [])
    .filter(({ pending }) => listUnresolvedAddresses(kind, pending).every((address) => ids.has(address)))
    // The time of a retirement is not compared.
    .map((draft) => completeMarkDraft(kind, draft, { created: ids, now: new Date(0) }));
  const knownMarks: readonly (Mark | undefined)[] = write.ids === undefined ? own : [change.live?.mark, ...own];
  const isKnown = knownMarks.some((one) => isEqualMark(one, mark) || isDeliveredSince(write, one, mark));
  if (isKnown || (change.action === 'release' && mark === undefined)) return;
  const isNowProtected = mark?.protect === true && knownMarks.every((one) => one?.protect !== true);
  throw createStaleError(isNowProtected ? NOW_PROTECTED : OTHER_MARK);
}

/**
 * Whether the mark changed only because a concurrent apply of the stack has just delivered the token of a credential
 * that this plan replaces as undelivered. The delete is sent all the same: the new token is delivered after it.
 */
function isDeliveredSince(write: Write, planned: Mark | undefined, mark: Mark | undefined): boolean {
  if (!isDelete(write) || planned === undefined || mark === undefined || planned.delivered) return false;
  return isEqualMark({ ...planned, delivered: true }, mark);
}

/**
 * Throws unless each field that a write sets or deletes is as planned, or as a write of this plan sets it. Parts that
 * are left alone may differ.
 */
function checkFields(write: Write, live: Spec, context: CheckContext): void {
  const { kind, change } = context;
  const names = isDelete(write) ? kind.specFields.map(([name]) => name) : listSentFieldNames(write);
  // A delete has no manifest that says what is left to others.
  const left = [...(change.ignored ?? []), ...listIgnoredInMark(change.live?.mark)];
  for (const name of names) {
    const now = omitIgnoredParts(left, live)[name];
    // A service that shows no value of a required field in its list may show it here.
    if (now === undefined || (kind.fields[name]?.required && change.live?.spec?.[name] === null)) continue;
    const knownValues = listKnownValues(name, context).map((value) => omitIgnoredParts(left, { [name]: value })[name]);
    const isAsPlanned = (value: Json | undefined) =>
      value !== undefined && listDifferentFields(kind, { [name]: value }, { [name]: now }).length === 0;
    if (knownValues.some(isAsPlanned)) continue;
    const planned = change.live?.spec?.[name];
    const from = planned === undefined ? 'not known' : formatComparedValue(planned);
    throw createStaleError(`${name} was ${from} and is ${formatComparedValue(live[name] ?? null)} now`);
  }
}

/** The planned, the desired and the sent values of a field, in normal form. A delete desires none. */
function listKnownValues(name: string, { kind, change, ids, siblings }: CheckContext): readonly Json[] {
  const planned = change.live?.spec?.[name] ?? canonical(kind, {}, AS_IF_COMPLETE)[name];
  const isDeleted = change.action === 'delete' || change.action === 'replace';
  const desired = isDeleted ? undefined : change.desired?.[name];
  const sent = siblings.flatMap((one) => getSentFields(one)[name] ?? []);
  const later = [...(desired === undefined ? [] : [desired]), ...(name === METADATA ? [] : sent)].map((value) => {
    const resolved = mapReferences(kind, { [name]: value }, (one) => ids.get(one.value) ?? one.value)[name] ?? null;
    const field = kind.fields[name];
    return field === undefined ? resolved : normalizeField(field, resolved);
  });
  return [...(planned === undefined ? [] : [planned]), ...later];
}
