import type { Kind } from '../kinds/kind.ts';
import { findRetirements, isDeliveryInDoubt, isProtectedOriginal, sortByPrecedence } from '../kinds/precedence.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, formatAddress, toAddress } from '../model/address.ts';
import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { isCopiedMark, isRefusalRecord, isRetiring, type Retirement } from '../model/mark.ts';
import { isOwnedBy, listMarked, listOwned, type MarkedResource } from '../model/ownership.ts';
import type { ClaimingStack, OtherStacks } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, FieldPath, LiveResource, LiveState } from '../model/state.ts';
import { mustReplaceResource } from './unset-fields.ts';
import { findManifestValidForMs } from './validity.ts';

/** A desired resource and the matching live resource, or one of them alone. */
export interface ResourcePair {
  readonly address: Address;
  /** If `live` is a duplicate or retires: the id of the resource that is kept at the address. Otherwise absent. */
  readonly duplicateOf?: string;
  readonly kind: Kind;
  readonly desired: DesiredResource | undefined;
  readonly live: LiveResource | undefined;
  /**
   * How the pair was matched. `mark`: by the mark of the stack. `adopt`: the manifest adopts the live resource or takes
   * it over. `attachment`: modules on an existing edge or route. `duplicate`: the live resource has the same mark as
   * another one, and will be pruned. `retirement`: the live resource is an old one, which another one has replaced.
   */
  readonly by: 'mark' | 'adopt' | 'attachment' | 'duplicate' | 'retirement';
  /** The former name, if the live mark still has it because only the manifest was renamed so far. */
  readonly formerName?: string | undefined;
  /** Whether it is unknown if the token of the live resource or that of a duplicate was delivered last. */
  readonly isTokenInDoubt?: boolean;
  /** Only for a duplicate or an old one: whether it is protected, or may be the protected original. It needs consent. */
  readonly isOriginal?: boolean;
  /** The old resource that the live one replaced, and from when on it is deleted. Absent if there is none. */
  readonly retires?: Retirement;
}

/** A desired resource that exists. */
export interface ExistingPair extends ResourcePair {
  readonly desired: DesiredResource;
  readonly live: LiveResource;
}

/** The result of `matchResources`. The pairs are sorted by address. */
interface Matched {
  readonly pairs: readonly ResourcePair[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Whose resources a manifest may have. */
interface Ownership {
  readonly stack: string;
  /** Former names of the stack, from which its documents take resources over. */
  readonly formerNames: readonly string[];
  readonly others: OtherStacks;
}

interface MatchOptions extends Pick<Ownership, 'formerNames' | 'others'> {
  /** Whether the live resources at an address without a manifest are left alone instead of deleted. */
  readonly isLeft: (address: Address) => boolean;
}

/**
 * Pairs desired with live resources: by mark, by the mark of a former name of the stack, by `lifecycle.adopt`, or by
 * the ids of an attachment.
 */
export function matchResources(
  desired: DesiredState,
  live: LiveState,
  { formerNames, others, isLeft }: MatchOptions,
): Matched {
  const retirements = findRetirements([...live.resources.values()].flat());
  const isCounted = (one: MarkedResource) => !retirements.has(one.live);
  const owned = groupByAddress(listOwned(live, desired.stack.name).filter(isCounted));
  const ownership: Ownership = { stack: desired.stack.name, formerNames, others };
  const adoptions = new Adoptions(live, ownership, isCounted);
  const matches = Array.from(desired.resources.values(), (resource) =>
    matchManifest(resource, { owned, adoptions, live }),
  );
  const described = matches.flatMap(({ pairs }) => pairs);
  const undescribed = new Map([...owned].filter(([address]) => !desired.resources.has(address)));
  const gone = listGonePairs(undescribed, isLeft, described);
  const ofAddresses = [...described, ...gone];
  const pairs = [...ofAddresses, ...pairRetirements(ofAddresses, retirements)];
  const refused = matches.flatMap(({ diagnostic }) => diagnostic ?? []);
  const diagnostics = [
    ...listUnreadableMarkWarnings(live),
    ...joinRefusals(refused, { desired, adoptions, ownership }),
  ];
  const adopted = described.flatMap((pair) => (pair.by === 'adopt' ? (pair.live ?? []) : []));
  const keptMarks = hasErrors(diagnostics) ? [] : listKeptMarks(new Set(adopted), { desired, live, ownership });
  const duplicates = pairs.filter(isUnexplainedDuplicate).map(createDuplicateWarning);
  return {
    pairs: sortPairs(addRetirements(pairs)),
    diagnostics: sortDiagnostics([...diagnostics, ...keptMarks, ...duplicates]),
  };
}

/** The live resources with the mark of the stack, by the address in the mark. */
type Owned = ReadonlyMap<Address, readonly LiveResource[]>;

/** The live resources of a manifest. `formerName`: the name still in their marks, if only the manifest was renamed. */
interface MarkedResources {
  readonly live: readonly LiveResource[];
  readonly formerName?: string;
}

interface MatchContext {
  readonly owned: Owned;
  readonly adoptions: Adoptions;
  readonly live: LiveState;
}

/** The pairs of one manifest: none if it must not have the resource that it names. */
interface ManifestMatch {
  readonly pairs: readonly ResourcePair[];
  readonly diagnostic?: Diagnostic;
}

function matchManifest(resource: DesiredResource, { owned, adoptions, live }: MatchContext): ManifestMatch {
  const { address } = resource;
  const subject = { address, kind: getKind(resource.kind), desired: resource };
  if (subject.kind.role === 'attached')
    return { pairs: [{ ...subject, live: live.attachments.get(address), by: 'attachment' }] };
  const marked = selectMarked(resource, owned);
  const adoption = findAdoption(resource, marked.live, adoptions);
  if (adoption === undefined) return { pairs: pairMarked(subject, marked) };
  if ('code' in adoption)
    return { pairs: adoption.severity === 'error' ? [] : pairMarked(subject, marked), diagnostic: adoption };
  const isTokenInDoubt = adoptions.isTokenInDoubt(resource, adoption);
  const remaining = marked.live.map((old) => pairRemaining(subject, adoption, old));
  return { pairs: [{ ...subject, live: adoption, by: 'adopt', isTokenInDoubt }, ...remaining] };
}

/** Selects the live resources of a manifest: those with its name or, if there are none, those with its former name. */
function selectMarked({ address, kind, lifecycle: { renamedFrom } }: DesiredResource, owned: Owned): MarkedResources {
  const live = owned.get(address) ?? [];
  const isOwn = (one: LiveResource): boolean => !isRefusalRecord(one);
  if (live.some(isOwn) || renamedFrom === undefined) return { live };
  const former = (owned.get(toAddress(kind, renamedFrom)) ?? []).filter(isOwn);
  return former.length === 0 ? { live } : { live: [...former, ...live], formerName: renamedFrom };
}

/**
 * Pairs the owned resources that no manifest describes, also not under a new name. Records of refused creations are gone
 * with their manifest, whatever happens to a resource of their address.
 */
function listGonePairs(
  undescribed: Owned,
  isLeft: (address: Address) => boolean,
  described: readonly ResourcePair[],
): readonly ResourcePair[] {
  const renamed = new Set(
    described.flatMap(({ kind, formerName }) => (formerName === undefined ? [] : toAddress(kind.name, formerName))),
  );
  return [...undescribed].flatMap(([address, marked]) => {
    const live = isLeft(address) || renamed.has(address) ? marked.filter(isRefusalRecord) : marked;
    const [first] = live;
    if (first === undefined) return [];
    return pairMarked({ address, kind: getKind(first.kind), desired: undefined }, { live });
  });
}

/** Sorts by message, so that the result does not depend on the order of reading. */
function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((left, right) => (left.message < right.message ? -1 : 1));
}

function sortPairs(pairs: readonly ResourcePair[]): readonly ResourcePair[] {
  const shown = pairs.map((pair) => ({ pair, address: formatAddress({ ...pair, id: pair.live?.id }) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ pair }) => pair);
}

function groupByAddress(marked: readonly MarkedResource[]): ReadonlyMap<Address, readonly LiveResource[]> {
  const groups = Map.groupBy(marked, ({ address }) => address);
  return new Map([...groups].map(([address, members]) => [address, members.map(({ live }) => live)]));
}

/** Creates a pair for the live resource that is kept, and one for each of its duplicates. */
function pairMarked(
  subject: Pick<ResourcePair, 'address' | 'kind' | 'desired'>,
  { live: marked, formerName }: MarkedResources,
): readonly ResourcePair[] {
  const { address, kind, desired } = subject;
  const [kept, ...duplicates] = sortMarked(kind, desired, marked);
  if (kept === undefined) return [{ ...subject, live: kept, by: 'mark', formerName }];
  const isTokenInDoubt = isDeliveryInDoubt(kind, kept, duplicates);
  return [
    { ...subject, live: kept, by: 'mark', formerName, isTokenInDoubt },
    ...duplicates.map((live) => pairDuplicate({ address, kind, desired }, kept, live)),
  ];
}

type PairSubject = Pick<ResourcePair, 'address' | 'kind'> & Partial<Pick<ResourcePair, 'desired'>>;

function pairDuplicate(subject: PairSubject, kept: LiveResource, live: LiveResource): ResourcePair {
  const { address, kind } = subject;
  const isOriginal = isProtectedOriginal(kind, { duplicate: live, kept, isProtected: isProtected(subject, live) });
  return { address, kind, duplicateOf: kept.id, desired: undefined, live, by: 'duplicate', isOriginal };
}

/** Whether the mark or the manifest protects a resource. Whoever can write marks can remove the word of a mark. */
function isProtected({ desired }: PairSubject, { mark }: LiveResource): boolean {
  return mark?.protect === true || desired?.lifecycle.protect === true;
}

function pairRetirement(subject: PairSubject, kept: LiveResource, live: LiveResource): ResourcePair {
  const { address, kind } = subject;
  // Of one that records its own retirement, the delete had consent when it was replaced.
  const isOriginal = live.mark?.protect === true || (isProtected(subject, live) && !isRetiring(live));
  return { address, kind, duplicateOf: kept.id, desired: undefined, live, by: 'retirement', isOriginal };
}

/** Pairs an old resource of this stack that is left beside an adopted one. It retires if the adopted one names it. */
function pairRemaining(subject: PairSubject, kept: LiveResource, live: LiveResource): ResourcePair {
  return kept.mark?.retires?.id === live.id ? pairRetirement(subject, kept, live) : pairDuplicate(subject, kept, live);
}

/**
 * Creates a pair for each old resource that retires. It follows the resource that is kept and names it, also to another
 * name or stack. If only a duplicate names it, it is a duplicate too.
 */
function pairRetirements(
  pairs: readonly ResourcePair[],
  retirements: ReturnType<typeof findRetirements>,
): readonly ResourcePair[] {
  const byLive = new Map(pairs.map((pair) => [pair.live, pair]));
  const byId = new Map(pairs.map(({ live }) => [live?.id, live]));
  return [...retirements].flatMap(([old, all]): readonly ResourcePair[] => {
    const naming = all.flatMap((by) => byLive.get(by) ?? []);
    const pair = naming.find(({ by }) => by !== 'duplicate') ?? naming[0];
    if (pair?.live === undefined) return [];
    if (pair.by !== 'duplicate') return [pairRetirement(pair, pair.live, old)];
    const kept = byId.get(pair.duplicateOf);
    return kept === undefined ? [] : [pairDuplicate(pair, kept, old)];
  });
}

/** Adds to the pair of each resource that is kept which old one it retires, if that one is still there. */
function addRetirements(pairs: readonly ResourcePair[]): readonly ResourcePair[] {
  const old = new Map(pairs.flatMap((pair) => (pair.by === 'retirement' ? [[pair.live?.id, pair.duplicateOf]] : [])));
  return pairs.map((pair) => {
    const { retires } = pair.live?.mark ?? {};
    return retires !== undefined && old.get(retires.id) === pair.live?.id ? { ...pair, retires } : pair;
  });
}

/**
 * Finds what a manifest adopts, if the stack has no resource for it. An old one alone is none if the other one names it:
 * an interrupted hand-over wrote its mark before that of the other.
 */
function findAdoption(resource: DesiredResource, marked: readonly LiveResource[], adoptions: Adoptions): Adoption {
  const own = marked.filter((one) => !isRefusalRecord(one));
  if (!own.every(isRetiring)) return undefined;
  const adoption = adoptions.find(resource);
  if (own.length === 0 || adoption === undefined) return adoption;
  return !('code' in adoption) && own.some(({ id }) => id === adoption.mark?.retires?.id) ? adoption : undefined;
}

/** Sorts the live resources of a manifest; the one to keep comes first. */
function sortMarked(
  kind: Kind,
  desired: DesiredResource | undefined,
  marked: readonly LiveResource[],
): readonly LiveResource[] {
  return sortByPrecedence(kind, marked, (live) => desired !== undefined && isReplaced({ kind, desired, live }));
}

/** Whether a plan has to replace the live resource of a manifest. Of several with its mark, one that stays is kept. */
function isReplaced({
  kind,
  desired,
  live,
}: Readonly<{ kind: Kind; desired: DesiredResource; live: LiveResource }>): boolean {
  const { lifecycle, spec } = desired;
  return mustReplaceResource(
    { kind, live, ignored: lifecycle.ignore, validForMs: findManifestValidForMs(kind, desired) },
    spec,
  );
}

/** Whether a resource is a duplicate for a reason that the plan does not know. */
function isUnexplainedDuplicate({ by, live }: ResourcePair): boolean {
  return by === 'duplicate' && live !== undefined && !isRefusalRecord(live);
}

function createDuplicateWarning(pair: ResourcePair): Diagnostic {
  const { live } = pair;
  const marked = toAddress(pair.kind.name, live?.mark?.name ?? '');
  const isCopy = live !== undefined && isCopiedMark(live);
  const isOld = live !== undefined && isRetiring(live);
  return {
    code: 'duplicate-mark',
    severity: 'warning',
    message: isCopy
      ? `${live.id} has a copy of the mark of ${marked}: the mark names ${live.mark?.id}.`
      : `${live?.id} has the mark of ${marked}, ${isOld ? 'as an old one that was replaced' : 'and so does another live resource'}.`,
    remedy: isOld
      ? 'It is pruned, because the mark of the one that is kept does not say how long it stays.'
      : 'It is pruned. To keep a copy that was made by hand, remove the mark from its metadata.',
    address: pair.address,
  };
}

function listUnreadableMarkWarnings(live: LiveState): Diagnostic[] {
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

/**
 * The live resource that a manifest adopts or takes over. `undefined` if the manifest names none that exists, an error if
 * it must not have it, a warning if it is unclear which one it is.
 */
type Adoption = LiveResource | Diagnostic | undefined;

/** Finds the live resources that manifests adopt or take over. The cost of a search does not depend on their number. */
class Adoptions {
  readonly #ownership: Ownership;
  readonly #byId: ReadonlyMap<string, LiveResource>;
  /** Live resources of all stacks, by the address in their mark. Without copies, which are no resources of a stack. */
  readonly #marked: ReadonlyMap<Address, readonly LiveResource[]>;

  /** `isCounted`: whether a resource may be the one that its mark names. */
  constructor(
    { resources }: Pick<LiveState, 'resources'>,
    ownership: Ownership,
    isCounted: (marked: MarkedResource) => boolean,
  ) {
    this.#ownership = ownership;
    this.#byId = new Map([...resources.values()].flat().map((one) => [formatKey(one.kind, one.id), one]));
    this.#marked = groupByAddress(
      listMarked({ resources }).filter(
        (one) => !isCopiedMark(one.live) && !isRefusalRecord(one.live) && isCounted(one),
      ),
    );
  }

  /**
   * Finds the resource that a manifest adopts or takes over: by the id in `lifecycle.adopt`, by the stack and name in
   * `lifecycle.renamed_from`, or by the kind and name of the manifest under a former name of the stack. That no resource
   * has the id is no error, because an apply can still create the resource.
   */
  find(resource: DesiredResource): Adoption {
    const found = this.findById(resource);
    if (found !== undefined) return this.#check(resource, found);
    return this.#findHandedOver(resource) ?? this.#findByName(resource);
  }

  /** Finds the resource whose id is in `lifecycle.adopt`. */
  findById({ kind, lifecycle: { adopt } }: DesiredResource): LiveResource | undefined {
    return adopt === undefined ? undefined : this.#byId.get(formatKey(kind, adopt));
  }

  /** Whether it is unknown which token the former stack of a resource delivered last. */
  isTokenInDoubt(resource: DesiredResource, taken: LiveResource): boolean {
    const others = this.#listHandedOver(resource).filter(({ id }) => id !== taken.id);
    return isDeliveryInDoubt(getKind(resource.kind), taken, others);
  }

  #listHandedOver({ kind, lifecycle: { takenFrom } }: DesiredResource): readonly LiveResource[] {
    if (takenFrom === undefined) return [];
    return this.#listMarked(kind, takenFrom.name).filter((live) => isOwnedBy(live, takenFrom.stack));
  }

  /**
   * Finds the resource that `lifecycle.renamed_from` names in another stack. If several resources have its mark, takes
   * the one that the other stack would keep.
   */
  #findHandedOver(resource: DesiredResource): Adoption {
    const { takenFrom } = resource.lifecycle;
    if (takenFrom === undefined) return undefined;
    const marked = this.#listHandedOver(resource);
    const [first] = sortMarked(getKind(resource.kind), resource, marked);
    const formerNames = [...this.#ownership.formerNames, takenFrom.stack];
    return first && this.#check(resource, first, { ...this.#ownership, formerNames });
  }

  /** Finds the resource with the kind and name of a manifest under a former name of the stack. */
  #findByName(resource: DesiredResource): Adoption {
    const same = this.#listMarked(resource.kind, resource.name).filter(
      ({ mark }) => mark !== undefined && isOffered(mark.stack, this.#ownership),
    );
    const [first, ...more] = same;
    return more.length === 0 ? first && this.#check(resource, first) : createCandidatesWarning(resource, same);
  }

  /** The resource, or why the manifest must not have it: also because another stack of the repository describes it. */
  #check(resource: DesiredResource, found: LiveResource, ownership: Ownership = this.#ownership): Adoption {
    const checked = checkAdoption(resource, found, ownership);
    const { mark } = found;
    if ('code' in checked || mark === undefined) return checked;
    const isByLine = resource.lifecycle.takenFrom?.stack === mark.stack;
    const [claiming] = ownership.others
      .listClaiming(mark.stack, toAddress(resource.kind, mark.name))
      .filter(({ by, stack }) => (by === 'owner' || !this.#hasOwn(resource, stack)) && !(isByLine && by === 'name'));
    return claiming === undefined ? found : explainClaiming(resource, found, claiming);
  }

  /** Whether another stack has a resource of the address of a manifest already. Then it takes none. */
  #hasOwn({ kind, name }: DesiredResource, stack: string): boolean {
    return this.#listMarked(kind, name).some((live) => isOwnedBy(live, stack));
  }

  #listMarked(kind: string, name: string): readonly LiveResource[] {
    return this.#marked.get(toAddress(kind, name)) ?? [];
  }
}

/** Includes the kind, so that ids are compared only within a kind. */
function formatKey(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** More refused adoptions than these are no mistakes of single manifests. */
const MAX_SINGLE_REFUSALS = 5;

/** Many refused adoptions that one line in the Stack would allow are one error. */
function joinRefusals(
  refused: readonly Diagnostic[],
  {
    desired,
    adoptions,
    ownership,
  }: { readonly desired: DesiredState; readonly adoptions: Adoptions; readonly ownership: Ownership },
): readonly Diagnostic[] {
  const findOwner = ({ address = '' }: Diagnostic): string | undefined => {
    const resource = desired.resources.get(address as Address);
    const found = resource && adoptions.findById(resource);
    const { stack = ownership.stack, name } = found?.mark ?? {};
    const isRenamed = name === resource?.name && stack !== ownership.stack && !ownership.formerNames.includes(stack);
    return isRenamed ? stack : undefined;
  };
  const groups = [...Map.groupBy(refused, findOwner)];
  return groups.flatMap(([stack, members]) => {
    const [first] = members;
    if (stack === undefined || first === undefined || members.length <= MAX_SINGLE_REFUSALS) return members;
    return [
      {
        ...first,
        address: undefined,
        message: `${members.length} resources to adopt belong to the stack ${stack}, by the same names, such as ${first.address}`,
        remedy: `If that is the former name of this stack, or its documents come from there, add to the metadata of the Stack:\nrenamed_from: ${stack}\nOtherwise remove the documents here: that stack manages the resources.`,
      },
    ];
  });
}

/** The maximum number of resources that a warning lists. */
const MAX_LISTED = 10;

/**
 * Returns a warning for each former name whose mark resources keep, because no document describes them, or because the
 * stack has a resource of their address. What a stack of that name in the repository describes is its own.
 */
function listKeptMarks(
  taken: ReadonlySet<LiveResource>,
  {
    desired,
    live,
    ownership,
  }: { readonly desired: DesiredState; readonly live: LiveState; readonly ownership: Ownership },
): readonly Diagnostic[] {
  return ownership.formerNames.flatMap((stack): readonly Diagnostic[] => {
    const leftBehind = listOwned(live, stack).filter(
      ({ live: one }) => !taken.has(one) && !isCopiedMark(one) && !isRefusalRecord(one) && !isRetiring(one),
    );
    if (leftBehind.length === 0 || ownership.others.has(stack)) return [];
    const named = leftBehind.slice(0, MAX_LISTED).map(({ address, live: { id } }) => {
      const isThere = desired.resources.has(address);
      return `${address} (${id}, ${isThere ? 'which this stack has or finds twice' : 'in no document'})`;
    });
    const more = leftBehind.length > MAX_LISTED ? ` and ${leftBehind.length - MAX_LISTED} more` : '';
    const what = leftBehind.length === 1 ? '1 resource keeps' : `${leftBehind.length} resources keep`;
    return [
      {
        code: 'predecessor-unclear',
        severity: 'warning',
        message: `${what} the mark of ${stack}, a former name of this stack: ${named.sort().join(', ')}${more}`,
        remedy:
          'Describe what is missing by its kind and name. What is not needed any more, delete by hand. Then remove the name from renamed_from.',
      },
    ];
  });
}

function createCandidatesWarning(resource: DesiredResource, candidates: readonly LiveResource[]): Diagnostic {
  const named = candidates.map(({ id, mark }) => `${id} of ${mark?.stack}`).sort();
  return {
    code: 'predecessor-unclear',
    severity: 'warning',
    message: `${resource.address}: renamed_from of the Stack has no effect here, because several resources have this name: ${named.join(', ')}`,
    remedy: 'Write the id of the one that you mean in lifecycle.adopt. Otherwise an apply creates another one.',
    address: resource.address,
    place: resource.locate(['metadata', 'name']),
  };
}

function explainClaiming(resource: DesiredResource, { id, mark }: LiveResource, claiming: ClaimingStack): Diagnostic {
  const { stack, folder, by } = claiming;
  const does = by === 'owner' ? 'still describes it' : 'takes it over, too';
  return createMatchRefusal(resource, {
    message: `${id} has the mark of the stack ${mark?.stack}, and a document of ${stack} in ${folder} ${does}`,
    remedy:
      by === 'name'
        ? `Only one stack can have it. In that one, add to the lifecycle of its document: renamed_from: { stack: ${mark?.stack}, name: ${mark?.name} }`
        : 'Only one stack can have it: remove one of the documents, or give this one another name.',
  });
}

/**
 * Returns the resource, or an error if the manifest must not adopt it. A resource that the other stack protects must
 * also be protected by the new manifest. Users can remove the protection after the take-over.
 */
function checkAdoption(
  resource: DesiredResource,
  found: LiveResource,
  ownership: Ownership,
): LiveResource | Diagnostic {
  const { mark, id } = found;
  if (mark === undefined) return found;
  if (!isOffered(mark.stack, ownership)) return explainRefusal(resource, found, ownership);
  if (!mark.protect || resource.lifecycle.protect) return found;
  return createMatchRefusal(resource, {
    message: `${id} is protected by the stack ${mark.stack}, and would no longer be protected`,
    remedy: 'Add lifecycle.protect: true to the manifest. Once the resource is in this stack, you can remove it.',
  });
}

function isOffered(stack: string, ownership: Ownership): boolean {
  return stack !== ownership.stack && ownership.formerNames.includes(stack);
}

function explainRefusal(resource: DesiredResource, live: LiveResource, { stack }: Ownership): Diagnostic {
  const { id, mark } = live;
  const address = toAddress(resource.kind, mark?.name ?? '');
  if (isOwnedBy(live, stack))
    return createMatchRefusal(resource, {
      message: `${id} belongs to ${address} of this stack`,
      remedy: `If ${address} was renamed, use lifecycle.renamed_from: ${mark?.name} instead.`,
    });
  return createMatchRefusal(resource, {
    message: `${id} belongs to ${address} of the stack ${mark?.stack}`,
    remedy: [
      'Agree with the team of that stack that the resource moves here. Then remove its document there, and write here instead:',
      `renamed_from: { stack: ${mark?.stack}, name: ${mark?.name} }`,
      `If that is the former name of this stack, write it into the metadata of the Stack: renamed_from: ${mark?.stack}`,
    ].join('\n'),
  });
}

function createMatchRefusal(
  resource: DesiredResource,
  { message, remedy }: { readonly message: string; readonly remedy: string },
): Diagnostic {
  return {
    code: 'adopt-refused',
    severity: 'error',
    message: `${resource.address}: ${message}`,
    remedy,
    address: resource.address,
    place: resource.locate(pickAdoptionPath(resource.lifecycle)),
  };
}

function pickAdoptionPath({ adopt, takenFrom }: DesiredResource['lifecycle']): FieldPath {
  if (adopt !== undefined) return ['lifecycle', 'adopt'];
  return takenFrom === undefined ? ['metadata', 'name'] : ['lifecycle', 'renamed_from'];
}
