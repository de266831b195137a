import { isRotatable } from '../kinds/kind.ts';
import { sortByPrecedence } from '../kinds/precedence.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { findFormerName, isRefusalRecord, isRetiring } from '../model/mark.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { SafetyViolation } from '../model/plan.ts';
import { NO_OTHER_STACKS, type OtherStacks } from '../model/stack-tree.ts';
import type { DesiredResource, DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { type ChangeDecision, listPairDifferences } from './decide.ts';
import { formatLifecycleHint } from './duplicates.ts';
import { createHandOverCheck } from './handed-over.ts';
import { matchResources, type ResourcePair } from './match.ts';
import { omitAllDesiredResources, type PlanInput } from './plan-input.ts';

/**
 * The way back from a rename or a move: a manifest of the former name is there again, that of the present name is gone,
 * and it says what is live. Then it is the same resource, as if the manifest had the line `renamed_from`.
 */

/** The pairs of a plan, with the way back. */
interface MatchedWithWayBack {
  readonly pairs: readonly ResourcePair[];
  readonly diagnostics: readonly Diagnostic[];
  /** The desired state, in which each manifest that gets its resource back names it. */
  readonly wanted: DesiredState;
  /** Addresses of manifests whose former resource is not renamed back. A warning says why. */
  readonly unclear: ReadonlySet<string>;
}

/** Pairs desired with live resources, first as the manifests are, then with the lines that the way back adds. */
export function matchWithWayBack(input: PlanInput): MatchedWithWayBack {
  const { desired, live, mode, others = NO_OTHER_STACKS } = input;
  const asked = mode === 'release' ? omitAllDesiredResources(desired) : desired;
  const formerNames = mode === 'apply' ? (desired.stack.formerNames ?? []) : [];
  const options = { formerNames, others, isLeft: createHandOverCheck(input) };
  const matched = matchResources(asked, live, options);
  const { wanted, unclear } = findWayBack({ wanted: asked, live, pairs: matched.pairs, ...options });
  const again = wanted === asked ? matched : matchResources(wanted, live, options);
  return {
    pairs: again.pairs,
    diagnostics: [...again.diagnostics, ...unclear.values()],
    wanted,
    unclear: new Set(unclear.keys()),
  };
}

interface WayBackInput {
  readonly wanted: DesiredState;
  readonly live: LiveState;
  readonly others: OtherStacks;
  /** Whether the resource at an address without a manifest is left alone. */
  readonly isLeft: (address: Address) => boolean;
  /** The pairs without the way back. */
  readonly pairs: readonly ResourcePair[];
}

interface WayBack {
  /** The desired state, in which each manifest that gets its resource back names it. */
  readonly wanted: DesiredState;
  /** Warnings on resources that had the name of a manifest and are not renamed back, by its address. */
  readonly unclear: ReadonlyMap<Address, Diagnostic>;
}

function findWayBack(input: WayBackInput): WayBack {
  const { wanted, pairs } = input;
  const search = new FormerResources(input);
  const ids = new Map(
    pairs.flatMap(({ address, desired, live }) => (desired && live ? [[address, live.id] as const] : [])),
  );
  const open = new Map(
    [...wanted.resources].flatMap(([address, resource]) => {
      const found = search.listFree(resource);
      return found.length === 0 ? [] : [[address, { resource, found }]];
    }),
  );
  const back = new Map<Address, LiveResource>();
  // What others refer to may be found after them.
  for (let before = -1; before < back.size; ) {
    before = back.size;
    for (const [address, { resource, found }] of open) {
      const [only, ...more] = found;
      const isOpen = only !== undefined && more.length === 0 && !ids.has(address) && search.isHere(only);
      if (!isOpen || listOtherPaths(resource, only, { ids, wanted }).length > 0) continue;
      back.set(address, only);
      ids.set(address, only.id);
    }
  }
  const resources = new Map(
    Array.from(wanted.resources, ([address, resource]) => {
      const live = back.get(address);
      return [address, live === undefined ? resource : withFormerName(resource, live, wanted)];
    }),
  );
  const unclear = [...open].flatMap(([address, { resource, found }]) => {
    if (back.has(address)) return [];
    const own = pairs.find((pair) => pair.address === address && pair.desired !== undefined)?.live;
    const warning = explainUnclear(resource, found, { own, ids, wanted, search });
    return warning === undefined ? [] : [[address, warning] as const];
  });
  return { wanted: back.size === 0 ? wanted : { ...wanted, resources }, unclear: new Map(unclear) };
}

/** Finds the live resources whose marks say that they had the name of a manifest. */
class FormerResources {
  readonly #input: WayBackInput;
  readonly #byAddress: ReadonlyMap<Address, readonly LiveResource[]>;
  readonly #taken: ReadonlySet<LiveResource | undefined>;
  readonly #ids: ReadonlySet<string>;
  /** The resources with one mark, by what it names. */
  readonly #byMark: ReadonlyMap<string, readonly LiveResource[]>;

  constructor(input: WayBackInput) {
    const { wanted, live, pairs } = input;
    this.#input = input;
    const all = [...live.resources.values()].flat();
    this.#ids = new Set(all.map(({ kind, id }) => `${kind} ${id}`));
    this.#byMark = Map.groupBy(all, formatMark);
    const former = all.flatMap((one) => {
      const name = findFormerName(one);
      if (name === undefined || name.stack !== wanted.stack.name || isRetiring(one) || isRefusalRecord(one)) return [];
      return [{ address: toAddress(one.kind, name.name), one }];
    });
    const groups = Map.groupBy(former, ({ address }) => address);
    this.#byAddress = new Map(Array.from(groups, ([address, all]) => [address, all.map(({ one }) => one)]));
    this.#taken = new Set(pairs.flatMap(({ desired, live: one }) => (desired === undefined ? [] : [one])));
  }

  /** The resources that had the name of a manifest, and that no manifest describes now. */
  listFree({ address, kind, lifecycle: { adopt } }: DesiredResource): readonly LiveResource[] {
    const isOther = ({ id }: LiveResource): boolean => adopt !== id && this.#ids.has(`${kind} ${adopt}`);
    return (this.#byAddress.get(address) ?? []).filter(
      (one) => !this.#taken.has(one) && !isOther(one) && this.#isKept(one) && !this.#isDescribed(one),
    );
  }

  /** Whether it has the mark of this stack, or of another one that this repository has. */
  isHere(live: LiveResource): boolean {
    const { wanted, others } = this.#input;
    return isOwnedBy(live, wanted.stack.name) || others.has(live.mark?.stack ?? '');
  }

  /** Whether it is the one that its stack keeps, of all with its mark. */
  #isKept(live: LiveResource): boolean {
    return sortByPrecedence(getKind(live.kind), this.#byMark.get(formatMark(live)) ?? [])[0] === live;
  }

  #isDescribed({ kind, mark }: LiveResource): boolean {
    const { wanted, others, isLeft } = this.#input;
    const { stack = '', name = '' } = mark ?? {};
    const address = toAddress(kind, name);
    if (isOwnedBy({ mark }, wanted.stack.name)) return wanted.resources.has(address) || isLeft(address);
    return others.listClaiming(stack, address).length > 0;
  }
}

function formatMark({ kind, mark }: LiveResource): string {
  return mark === undefined ? '' : `${mark.stack} ${toAddress(kind, mark.name)}`;
}

interface Compared {
  readonly ids: ReadonlyMap<string, string>;
  readonly wanted: DesiredState;
}

/** The paths at which a manifest differs from a live resource, beside the name and the stack. */
function listOtherPaths(
  desired: DesiredResource,
  live: LiveResource,
  { ids, wanted: { stack } }: Compared,
): readonly string[] {
  const pair = { address: desired.address, kind: getKind(desired.kind), desired, live, by: 'mark' } as const;
  return listPairDifferences(pair, ids, stack.name)
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('mark.'));
}

/** The manifest with the line that it would need. */
function withFormerName(resource: DesiredResource, live: LiveResource, { stack }: DesiredState): DesiredResource {
  const { renamedFrom: _, takenFrom: __, ...lifecycle } = resource.lifecycle;
  const { stack: owner = '', name = '' } = live.mark ?? {};
  const former = isOwnedBy(live, stack.name) ? { renamedFrom: name } : { takenFrom: { stack: owner, name } };
  return { ...resource, lifecycle: { ...lifecycle, ...former, adopt: undefined, isRenamedBack: true } };
}

function explainUnclear(
  resource: DesiredResource,
  found: readonly LiveResource[],
  { own, search, ...compared }: Compared & { readonly own: LiveResource | undefined; readonly search: FormerResources },
): Diagnostic | undefined {
  const { address } = resource;
  const [live] = found;
  if (live === undefined) return undefined;
  const named = found.map((one) => describePresent(one, compared.wanted)).sort();
  const warn = (why: string, remedy: string): Diagnostic => ({
    code: 'predecessor-unclear',
    severity: 'warning',
    message: `${named.join(' and ')} had the name ${address} before, and ${named.length === 1 ? 'is' : 'are'} not renamed back: ${why}`,
    remedy,
    address,
    place: resource.locate(['metadata', 'name']),
  });
  if (own !== undefined && !isRefusalRecord(own))
    return warn(`${own.id} has this name`, 'To keep it, restore the manifest of its present name.');
  const keep = `If it is the same resource, keep it: ${formatLineBack(resource, live, compared.wanted)}`;
  if (found.length > 1) return warn('it is unclear which of them is meant', keep);
  const paths = listOtherPaths(resource, live, compared);
  if (paths.length > 0) return warn(`the manifest differs from it in ${paths.join(', ')}`, keep);
  // An equal one of a stack that this repository does not have has a warning of its own.
  return search.isHere(live) ? warn('it waits for what it refers to', keep) : undefined;
}

function describePresent({ kind, id, mark }: LiveResource, { stack }: DesiredState): string {
  const address = toAddress(kind, mark?.name ?? '');
  return isOwnedBy({ mark }, stack.name) ? `${address} (${id})` : `${address} of the stack ${mark?.stack} (${id})`;
}

/** The line of a manifest that takes a resource back. */
function formatLineBack(
  resource: DesiredResource,
  { mark }: Pick<LiveResource, 'mark'>,
  { stack }: DesiredState,
): string {
  const { stack: owner = '', name = '' } = mark ?? {};
  const value = isOwnedBy({ mark }, stack.name) ? name : { stack: owner, name };
  return formatLifecycleHint(resource, { name: 'renamed_from', value });
}

/** Whether a decision renames a credential or certificate back because of its mark alone. A new one needs no consent. */
export function keepsSecret({ action, pair: { kind, desired } }: ChangeDecision): boolean {
  return desired?.lifecycle.isRenamedBack === true && isRotatable(kind) && action !== 'replace';
}

/** The maximum number of lines that a violation prints. */
const MAX_LINES = 10;

/**
 * Credentials are often equal, and one whose token leaked must not live on: so its way back needs an answer, or the line.
 */
export function listRenamedBackViolations(
  decisions: readonly ChangeDecision[],
  { desired }: { readonly desired: DesiredState },
): readonly SafetyViolation[] {
  const kept = decisions.filter(keepsSecret);
  const [first] = kept;
  const resource = first && desired.resources.get(first.pair.address);
  if (first?.pair.live === undefined || resource === undefined) return [];
  const { live } = first.pair;
  const lines = kept.map(({ pair }) => `${pair.address}: renamed_from: ${formatPresentName(pair.live, desired)}`);
  const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more, as their changes show`] : [];
  const line =
    kept.length === 1
      ? formatLineBack(resource, live, desired)
      : ['write into the lifecycle of each document:', ...lines.slice(0, MAX_LINES), ...more].join('\n');
  return [
    {
      rule: 'renamed-back',
      message:
        kept.length === 1
          ? `${first.pair.address} would be ${live.id} again, with what was handed out of it.`
          : `${kept.length} credentials or certificates would be renamed back, with what was handed out of them.`,
      remedy: `If that has not leaked, answer the question of edgewise apply in a terminal, or ${line}`,
      addresses: kept.map(({ pair }) => pair.address).sort(),
    },
  ];
}

function formatPresentName(live: LiveResource | undefined, { stack }: DesiredState): string {
  const { mark } = live ?? {};
  const { stack: owner = '', name = '' } = mark ?? {};
  return isOwnedBy({ mark }, stack.name) ? name : `{ stack: ${owner}, name: ${name} }`;
}
