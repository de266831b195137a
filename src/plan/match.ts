import { isRotatable, type Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, formatAddress, toAddress } from '../model/address.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { once } from '../model/once.ts';
import {
  compareAge,
  type DesiredResource,
  type DesiredState,
  type FieldPath,
  type LiveResource,
  type LiveState,
} from '../model/state.ts';
import { forcesReplace } from './diff.ts';
import { findValidForMs } from './validity.ts';

/** A desired and a live resource that are the same one, or either alone. */
export interface Pair {
  readonly address: Address;
  /** Id of the live resource that keeps the address; absent if this is not a duplicate. */
  readonly duplicateOf?: string;
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  readonly live: LiveResource | undefined;
  /** `mark`: it bears our mark; `adopt`: the manifest takes it over; `attachment`: modules on what exists; `duplicate`: to be pruned. */
  readonly by: 'mark' | 'adopt' | 'attachment' | 'duplicate';
  /** The former name in the mark, until the manifest's name replaces it. */
  readonly formerName?: string | undefined;
  /** The former name that the mark will record. */
  readonly was?: string | undefined;
  /** Among its duplicates is a credential whose token was not delivered: a replacement broke off. */
  readonly hasUndelivered?: boolean;
}

/** The pairs, sorted by address, and the diagnostics. */
interface Matched {
  readonly pairs: readonly Pair[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Pairs desired with live resources: by mark, by `lifecycle.adopt`, or by the ids of an attachment. */
export function matchResources(
  desired: DesiredState,
  live: LiveState,
  { takeOver, isLeft }: { readonly takeOver: readonly string[]; readonly isLeft: (address: Address) => boolean },
): Matched {
  const owned = groupOwned(desired, live);
  const renames = new Renames(desired, owned);
  const ownership: Ownership = { stack: desired.stack.name, takeOver };
  const adoptions = new Adoptions(live, ownership);
  const diagnostics: Diagnostic[] = listMarkErrors(live);
  const pairs: Pair[] = [];
  for (const resource of desired.resources.values()) {
    const kind = getKind(resource.kind);
    const bearers = renames.bearersOf(resource);
    if (kind.role === 'attached') {
      pairs.push({
        address: resource.address,
        kind,
        desired: resource,
        live: live.attachments.get(resource.address),
        by: 'attachment',
      });
      continue;
    }
    const subject = { address: resource.address, kind, desired: resource, was: renames.toRemember(resource) };
    const adoption = bearers.live.length === 0 ? adoptions.find(resource) : undefined;
    if (adoption !== undefined && 'code' in adoption) diagnostics.push(adoption);
    if (adoption !== undefined && !('code' in adoption))
      pairs.push({ ...subject, live: adoption, by: 'adopt', hasUndelivered: adoptions.hasUndelivered(resource) });
    else if (adoption?.severity !== 'error') pairs.push(...pairBearers(subject, bearers));
  }
  for (const [address, bearers] of owned) {
    const [first] = bearers;
    const isGone = !desired.resources.has(address) && !renames.isTaken(address) && !isLeft(address);
    if (first !== undefined && isGone)
      pairs.push(...pairBearers({ address, kind: getKind(first.kind), desired: undefined }, { live: bearers }));
  }
  const adopted = pairs.flatMap((pair) => (pair.by === 'adopt' ? (pair.live ?? []) : []));
  if (!hasErrors(diagnostics)) diagnostics.push(...listIdleTakeOvers(adopted, live, ownership));
  return {
    pairs: sortPairs(pairs),
    diagnostics: sortDiagnostics([...diagnostics, ...pairs.filter(isDuplicate).map(toDuplicateWarning)]),
  };
}

/** Sorted by message, so that the order of reading does not show. */
function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((left, right) => (left.message < right.message ? -1 : 1));
}

function sortPairs(pairs: readonly Pair[]): readonly Pair[] {
  const shown = pairs.map((pair) => ({ pair, address: formatAddress({ ...pair, id: pair.live?.id }) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ pair }) => pair);
}

function groupOwned(desired: DesiredState, live: LiveState): Owned {
  const marked = [...live.resources.values()].flat().filter(({ mark }) => mark?.stack === desired.stack.name);
  return Map.groupBy(marked, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
}

/** The resource that is kept, and its duplicates. */
function pairBearers(
  subject: Pick<Pair, 'address' | 'kind' | 'desired' | 'was'>,
  { live: bearers, formerName }: MarkedResources,
): readonly Pair[] {
  const { address, kind, desired } = subject;
  const [kept, ...duplicates] = bearers.toSorted((left, right) => compareByPrecedence(kind, desired, { left, right }));
  const hasUndelivered = duplicates.some((live) => isUndelivered(kind, live));
  return [
    { ...subject, live: kept, by: 'mark', formerName, hasUndelivered },
    ...(kept === undefined
      ? []
      : duplicates.map((live): Pair => toDuplicate({ address, kind, duplicateOf: kept.id }, live))),
  ];
}

function toDuplicate(kept: Pick<Pair, 'address' | 'kind' | 'duplicateOf'>, live: LiveResource): Pair {
  return { ...kept, desired: undefined, live, by: 'duplicate' };
}

function isDuplicate(pair: Pair): boolean {
  return pair.by === 'duplicate';
}

function toDuplicateWarning(pair: Pair): Diagnostic {
  const marked = toAddress(pair.kind.name, pair.live?.mark?.name ?? '');
  return {
    code: 'duplicate-mark',
    severity: 'warning',
    message: `${pair.live?.id} has the mark of ${marked}, and so does another live resource.`,
    remedy: 'It is pruned. To keep a copy that was made by hand, remove the mark from its metadata.',
    address: pair.address,
  };
}

function listMarkErrors(live: LiveState): Diagnostic[] {
  return [...live.resources.values()].flat().flatMap(({ kind, id, markError }) => {
    if (markError === undefined) return [];
    const message = `The mark of ${kind} ${id} cannot be read: ${markError}. It counts as unmanaged and is left alone.`;
    return [
      {
        code: 'mark-invalid',
        severity: 'warning',
        message,
        remedy: 'Correct its metadata by hand, or adopt it.',
      } as const,
    ];
  });
}

/** Whose resources a plan may take. */
interface Ownership {
  readonly stack: string;
  /** Other stacks whose resources may be taken over. */
  readonly takeOver: readonly string[];
}

/** What a manifest without a resource takes over: a resource, nothing, or nothing with a warning; or an error that says why it cannot. */
type Adoption = LiveResource | Diagnostic | undefined;

/** What manifests without a resource take over. Costs the same for each manifest, however much is live. */
class Adoptions {
  readonly #ownership: Ownership;
  // Most plans take over nothing. Made when asked for: each stack of a run would index all that is live, so the cost would grow with stacks times resources.
  readonly #byId: () => ReadonlyMap<string, LiveResource>;
  /** By the address in the mark. */
  readonly #marked: () => ReadonlyMap<Address, readonly LiveResource[]>;

  constructor({ resources }: Pick<LiveState, 'resources'>, ownership: Ownership) {
    const listAll = () => [...resources.values()].flat();
    this.#ownership = ownership;
    this.#byId = once(() => new Map(listAll().map((one) => [toKey(one.kind, one.id), one])));
    this.#marked = once(() => {
      const marked = listAll().filter(({ mark }) => mark !== undefined);
      return Map.groupBy(marked, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
    });
  }

  /**
   * The resource that a manifest takes over: the one with the id that it names or, of a stack that may be taken over, the one of its own
   * kind and name. What the id named may be gone: the manifest still describes what should exist, so that is a warning.
   */
  find(resource: DesiredResource): Adoption {
    const { adopt } = resource.lifecycle;
    const found = adopt === undefined ? undefined : this.#byId().get(toKey(resource.kind, adopt));
    if (found !== undefined) return accept(resource, found, this.#ownership);
    return (
      this.#findHandedOver(resource) ??
      this.#findByName(resource) ??
      (adopt === undefined ? undefined : toMissing(resource, adopt))
    );
  }

  /** Whether among what its former stack had is a credential whose token was not delivered: a replacement broke off there. */
  hasUndelivered(resource: DesiredResource): boolean {
    const kind = getKind(resource.kind);
    return this.#listHandedOver(resource).some((live) => isUndelivered(kind, live));
  }

  #listHandedOver({ kind, lifecycle: { takenFrom } }: DesiredResource): readonly LiveResource[] {
    if (takenFrom === undefined) return [];
    return this.#bearing(kind, takenFrom.name).filter(({ mark }) => mark?.stack === takenFrom.stack);
  }

  /** Of several with one mark the one that its own stack would keep. */
  #findHandedOver(resource: DesiredResource): Adoption {
    const { takenFrom } = resource.lifecycle;
    if (takenFrom === undefined) return undefined;
    const bearing = this.#listHandedOver(resource);
    const kind = getKind(resource.kind);
    const [first] = bearing.toSorted((left, right) => compareByPrecedence(kind, resource, { left, right }));
    const takeOver = [...this.#ownership.takeOver, takenFrom.stack];
    return first && accept(resource, first, { ...this.#ownership, takeOver });
  }

  #findByName(resource: DesiredResource): Adoption {
    const same = this.#bearing(resource.kind, resource.name).filter(
      ({ mark }) => mark !== undefined && isOffered(mark.stack, this.#ownership),
    );
    const [first, ...more] = same;
    if (first === undefined || more.length === 0) return first && accept(resource, first, this.#ownership);
    const ids = same.map(({ id }) => id).sort();
    return refuse(resource, {
      message: `${ids.join(', ')} all have its name in the stacks of --take-over`,
      remedy: 'Name the one that you mean by its id, in lifecycle.adopt.',
    });
  }

  #bearing(kind: string, name: string): readonly LiveResource[] {
    return this.#marked().get(toAddress(kind, name)) ?? [];
  }
}

/** Ids are looked for within a kind only. */
function toKey(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** Warnings on `--take-over` without effect: otherwise a misspelled stack name would go unnoticed and new resources would be created. */
function listIdleTakeOvers(
  adopted: readonly LiveResource[],
  live: LiveState,
  ownership: Ownership,
): readonly Diagnostic[] {
  const taken = new Set(adopted.map(({ mark }) => mark?.stack));
  const all = [...live.resources.values()].flat();
  return ownership.takeOver
    .filter((stack) => !taken.has(stack))
    .map((stack) => {
      const bearing = all.flatMap(({ kind, mark }) => (mark?.stack === stack ? [toAddress(kind, mark.name)] : []));
      const [why, remedy] = explainIdle({ stack, bearing: bearing.sort() }, ownership);
      const message = `--take-over ${stack} takes nothing over: ${why}`;
      return { code: 'take-over-unused', severity: 'warning', message, remedy };
    });
}

/** Addresses that a warning lists. */
const MAX_LISTED = 3;

function explainIdle(
  { stack, bearing }: { readonly stack: string; readonly bearing: readonly string[] },
  { stack: own }: Ownership,
): readonly [why: string, remedy: string] {
  if (stack === own) return ['it is the stack of these manifests', 'Name the stack that owns the resources now.'];
  if (bearing.length === 0)
    return [
      'no resource that was read has its mark',
      'Correct the name. If everything is already moved, remove the flag.',
    ];
  const more = bearing.length > MAX_LISTED ? ` and ${bearing.length - MAX_LISTED} more` : '';
  return [
    `no new manifest has the kind and name of one of its resources (${bearing.slice(0, MAX_LISTED).join(', ')}${more})`,
    'Give a manifest that kind and name, or write the id of the resource in lifecycle.adopt.',
  ];
}

/** Protection by the other stack remains until a user removes it from the manifest. */
function accept(resource: DesiredResource, found: LiveResource, ownership: Ownership): LiveResource | Diagnostic {
  const { mark, id } = found;
  if (mark === undefined) return found;
  if (!isOffered(mark.stack, ownership)) return toRefusal(resource, found, ownership);
  if (!mark.protect || resource.lifecycle.protect) return found;
  return refuse(resource, {
    message: `${id} is protected by the stack ${mark.stack}, and would no longer be protected`,
    remedy: 'Add lifecycle.protect: true to the manifest. Once the resource is in this stack, you can remove it.',
  });
}

function isOffered(stack: string, ownership: Ownership): boolean {
  return stack !== ownership.stack && ownership.takeOver.includes(stack);
}

function toRefusal(resource: DesiredResource, { id, mark }: LiveResource, { stack }: Ownership): Diagnostic {
  const owner = toAddress(resource.kind, mark?.name ?? '');
  if (mark?.stack === stack)
    return refuse(resource, {
      message: `${id} belongs to ${owner} of this stack`,
      remedy: `If ${owner} was renamed, use lifecycle.renamed_from: ${mark.name} instead.`,
    });
  return refuse(resource, {
    message: `${id} belongs to ${owner} of the stack ${mark?.stack}`,
    remedy: [
      'Agree with the owner of that stack that the resource moves here. Then remove its document there, and write here instead:',
      `renamed_from: { stack: ${mark?.stack}, name: ${mark?.name} }`,
      `In an emergency only: --take-over ${mark?.stack} takes it while that stack may still describe it.`,
    ].join('\n'),
  });
}

function toMissing(resource: DesiredResource, id: string): Diagnostic {
  return {
    code: 'adopt-missing',
    severity: 'warning',
    message: `${resource.address}: there is no ${resource.kind} ${id} to adopt, so an apply creates a new one`,
    remedy: 'If the id is wrong, correct it before you apply. If the resource was deleted, remove the line.',
    address: resource.address,
    place: resource.locate(['lifecycle', 'adopt']),
  };
}

function refuse(
  resource: DesiredResource,
  { message, remedy }: { readonly message: string; readonly remedy: string },
): Diagnostic {
  return {
    code: 'adopt-refused',
    severity: 'error',
    message: `${resource.address}: ${message}`,
    remedy,
    address: resource.address,
    place: resource.locate(toPath(resource.lifecycle)),
  };
}

function toPath({ adopt, takenFrom }: DesiredResource['lifecycle']): FieldPath {
  if (adopt !== undefined) return ['lifecycle', 'adopt'];
  return takenFrom === undefined ? ['metadata', 'name'] : ['lifecycle', 'renamed_from'];
}

/** The live resources with our mark, by the address in it. */
type Owned = ReadonlyMap<Address, readonly LiveResource[]>;

/** The live resources of a manifest, and the name that they bear if it is not its own yet. */
interface MarkedResources {
  readonly live: readonly LiveResource[];
  readonly formerName?: string;
}

/**
 * Finds the live resources of a manifest: those with its name or, if there are none, with the name that it was renamed from.
 * When names are swapped or passed on between resources, the mark records the former name of each: without it, a completed
 * rename could not be told from a pending one.
 */
class Renames {
  readonly #desired: DesiredState;
  readonly #owned: Owned;
  readonly #successors: ReadonlyMap<Address, DesiredResource>;

  constructor(desired: DesiredState, owned: Owned) {
    this.#desired = desired;
    this.#owned = owned;
    const renamed = [...desired.resources.values()].flatMap((resource) => {
      const before = toFormerAddress(resource);
      return before === undefined ? [] : [[before, resource] as const];
    });
    this.#successors = new Map(renamed);
  }

  /** What belongs to a manifest. */
  bearersOf(resource: DesiredResource): MarkedResources {
    const formerName = resource.lifecycle.renamedFrom;
    const settled = this.#settled(resource);
    if (formerName !== undefined && this.#takes(resource)) return { live: this.#offered(resource), formerName };
    const successor = this.#successors.get(resource.address);
    const isTaken = successor !== undefined && this.#takes(successor);
    return { live: isTaken ? settled : this.#bearing(resource.address) };
  }

  /** Whether a resource whose name has no manifest any more belongs to a renamed one. */
  isTaken(address: Address): boolean {
    const successor = this.#successors.get(address);
    return successor !== undefined && this.#takes(successor);
  }

  /** The name to remember in the mark of a resource whose own name another one takes. */
  toRemember(resource: DesiredResource): string | undefined {
    return this.#successors.has(resource.address) ? resource.lifecycle.renamedFrom : undefined;
  }

  #takes(resource: DesiredResource): boolean {
    return this.#settled(resource).length === 0 && this.#offered(resource).length > 0;
  }

  /** The resources that keep the name: all, unless another manifest was renamed from it. */
  #settled(resource: DesiredResource): readonly LiveResource[] {
    const bearing = this.#bearing(resource.address);
    const successor = this.#successors.get(resource.address);
    const isGivenAway = successor !== undefined && (this.#isInCircle(resource) || this.#takes(successor));
    return isGivenAway ? bearing.filter((live) => hasArrived(resource, live)) : bearing;
  }

  /** The resources with the former name, except those that have just received it. */
  #offered(resource: DesiredResource): readonly LiveResource[] {
    const before = toFormerAddress(resource);
    if (before === undefined) return [];
    const holder = this.#desired.resources.get(before);
    return this.#bearing(before).filter((live) => holder === undefined || !hasArrived(holder, live));
  }

  #isInCircle({ address }: DesiredResource): boolean {
    const seen = new Set<Address>();
    let next = this.#successors.get(address);
    while (next !== undefined && next.address !== address && !seen.has(next.address)) {
      seen.add(next.address);
      next = this.#successors.get(next.address);
    }
    return next?.address === address;
  }

  #bearing(address: Address): readonly LiveResource[] {
    return this.#owned.get(address) ?? [];
  }
}

function hasArrived({ lifecycle }: DesiredResource, { mark }: LiveResource): boolean {
  return lifecycle.renamedFrom !== undefined && mark?.was === lifecycle.renamedFrom;
}

function toFormerAddress({ kind, lifecycle }: DesiredResource): Address | undefined {
  return lifecycle.renamedFrom === undefined ? undefined : toAddress(kind, lifecycle.renamedFrom);
}

/**
 * Which of several is kept: the one whose token was delivered, then one that need not be replaced (an interrupted replace left both), then
 * the older. Of kinds that expire the younger one is kept: it was made to replace the other.
 */
function compareByPrecedence(
  kind: Kind,
  desired: DesiredResource | undefined,
  { left, right }: Readonly<Record<'left' | 'right', LiveResource>>,
): number {
  const isOutdated = (live: LiveResource) => desired !== undefined && isReplaced({ kind, desired, live });
  return (
    Number(isUndelivered(kind, left)) - Number(isUndelivered(kind, right)) ||
    Number(isOutdated(left)) - Number(isOutdated(right)) ||
    (isRotatable(kind) ? compareAge(right, left) : compareAge(left, right))
  );
}

function isReplaced({
  kind,
  desired,
  live,
}: Readonly<{ kind: Kind; desired: DesiredResource; live: LiveResource }>): boolean {
  const { lifecycle, spec } = desired;
  return forcesReplace({ kind, live, ignored: lifecycle.ignore, validForMs: findValidForMs(kind, desired) }, spec);
}

/** Whether the mark does not record the delivery of a one-time value. */
export function isUndelivered(kind: Kind, { mark }: Pick<LiveResource, 'mark'>): boolean {
  return kind.oneTimeFields.length > 0 && mark?.delivered !== true;
}
