import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Mark } from '../model/mark.ts';
import type { Plan, SuppressedDelete } from '../model/plan.ts';
import type { FindTaker } from '../model/stack-tree.ts';
import type { DesiredResource, FieldPath, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { Decision } from './decide.ts';
import { describeLifecycleLine } from './duplicates.ts';
import type { Pair } from './match.ts';

/** What conflicts are looked for in, and which resources stay though they would be deleted. */
interface ConflictContext {
  readonly stack: string;
  readonly suppressedDeletes: readonly SuppressedDelete[];
  /** Whether the same run applies another stack. */
  readonly isInRun?: ((stack: string) => boolean) | undefined;
  /** Finds another stack that takes over what no manifest describes. */
  readonly findTaker?: FindTaker | undefined;
}

/** Claims on values that another resource keeps in this plan: the service would refuse them. */
export function listConflicts(
  decisions: readonly Decision[],
  live: LiveState,
  { stack, suppressedDeletes, isInRun = () => false, findTaker }: ConflictContext,
): readonly Diagnostic[] {
  // An account may hold thousands of other resources: only those with one of the claimed values are compared.
  const claimed = new Map(
    decisions.flatMap((decision) => listClaimed(decision).map(({ key }) => [key, decision.pair])),
  );
  const kept = new Set(suppressedDeletes.map(({ id }) => id));
  const byId = new Map(decisions.map((decision) => [decision.pair.live?.id, decision]));
  const holders = new Map<string, Holder>();
  for (const { kind } of new Map([...claimed.values()].map((pair) => [pair.kind.name, pair])).values()) {
    for (const resource of live.resources.get(kind.name) ?? []) {
      const held = listClaims(kind, resource.spec).flatMap(({ key }) => (claimed.has(key) ? [key] : []));
      if (held.length === 0) continue;
      const isOurs = resource.mark?.stack === stack;
      const isLeftOut = isOurs && !byId.has(resource.id);
      const taker = isLeftOut ? findTaker?.(toAddress(kind.name, resource.mark?.name ?? ''))?.stack : undefined;
      const keeps = toKept(resource, byId.get(resource.id));
      const keys = new Set(listClaims(kind, keeps).map(({ key }) => key));
      for (const key of held)
        if (keys.has(key)) holders.set(key, { resource, isOurs, isLeftOut, taker, isWithheld: kept.has(resource.id) });
    }
  }
  return decisions.flatMap((decision) => listConflictsOf(decision, holders, isInRun));
}

/** The unique values that a decision claims, new or kept. */
function listClaimed({ action, pair, form }: Decision): readonly Claim[] {
  if (action === 'no-op' || form === undefined || pair.desired === undefined) return [];
  return listClaims(pair.kind, form.normal);
}

/** The values that a resource has after the plan. One that keeps its id also keeps the values of ignored fields. */
function toKept({ spec }: LiveResource, decision: Decision | undefined): Spec {
  if (decision === undefined || decision.action === 'no-op') return spec;
  return decision.form !== undefined && decision.action !== 'replace' ? decision.form.normal : {};
}

/** The resource that has a claimed value. */
interface Holder {
  readonly resource: LiveResource;
  readonly isOurs: boolean;
  /** It is ours, and the plan is narrowed to others. */
  readonly isLeftOut: boolean;
  /** It is ours, and handed over to this stack. */
  readonly taker: string | undefined;
  /** It would be deleted without `--no-delete`. */
  readonly isWithheld: boolean;
}

function listConflictsOf(
  decision: Decision,
  holders: ReadonlyMap<string, Holder>,
  isInRun: (stack: string) => boolean,
): readonly Diagnostic[] {
  const { pair } = decision;
  const { desired, address } = pair;
  return listClaimed(decision).flatMap(({ field, value, key }): Diagnostic[] => {
    const holder = holders.get(key);
    if (desired === undefined || holder === undefined || holder.resource.id === pair.live?.id) return [];
    const { resource } = holder;
    // No manifest of the run claims it there, or both stacks were stopped: it is given up.
    const owner = holder.isOurs ? holder.taker : resource.mark?.stack;
    const isLate = owner !== undefined && isInRun(owner);
    return [
      {
        code: LATE_CLAIM.code,
        severity: isLate ? LATE_CLAIM.severity : 'error',
        message: `${address}: ${field} ${value} is claimed by ${resource.kind} ${resource.id}, ${describeOwner(resource)}`,
        remedy: isLate ? LATE : toRemedy(holder, pair),
        address,
        place: desired.locate(['spec', ...toClaimPath(pair.kind, desired.spec, { field, key })]),
      },
    ];
  });
}

const LATE =
  'That stack is applied in the same run. This write follows its writes, and fails if they do not give the value up.';

const LATE_CLAIM = { code: 'claimed-elsewhere', severity: 'warning' } as const;

/** The addresses of a plan whose writes wait until another stack of the run has given up a value. */
export function listLateClaims({ diagnostics }: Pick<Plan, 'diagnostics'>): ReadonlySet<string> {
  const late = diagnostics.filter(({ code, severity }) => code === LATE_CLAIM.code && severity === LATE_CLAIM.severity);
  return new Set(late.flatMap(({ address }) => address ?? []));
}

/** Where a manifest makes a claim. */
function toClaimPath(kind: Kind, spec: Spec, { field, key }: Pick<Claim, 'field' | 'key'>): FieldPath {
  return listClaims(kind, spec).find((claim) => claim.key === key)?.path ?? [field];
}

function describeOwner({ kind, mark }: LiveResource): string {
  return mark === undefined ? 'which no stack manages' : `which is ${kind}/${mark.name} of the stack ${mark.stack}`;
}

function toRemedy({ resource, isLeftOut, isOurs, isWithheld, taker }: Holder, { desired, live }: Pair): string {
  const { kind, id, mark } = resource;
  if (isWithheld) return 'Remove --no-delete, so that the plan removes it there first.';
  if (taker !== undefined) return `Apply the stack ${taker} first, which takes it over, or both in one run.`;
  if (isLeftOut) return `Add --target ${kind}/${mark?.name}, so that the plan removes it there first.`;
  if (isOurs || live !== undefined || desired === undefined) return 'Remove it there first, or choose another value.';
  if (mark !== undefined) return toHandOver(desired, { id, mark });
  return `To adopt that resource as ${kind}/${desired.name}, ${describeLifecycleLine(desired, { name: 'adopt', value: id })}`;
}

/** Another stack manages the resource that has the value, so it may be in use. The remedy without that stack comes last. */
function toHandOver(
  desired: DesiredResource,
  { id, mark: { stack, name } }: Pick<LiveResource, 'id'> & { mark: Mark },
) {
  const line = describeLifecycleLine(desired, { name: 'renamed_from', value: { stack, name } });
  return [
    'Choose another value, or agree with the owner of that stack that its resource moves here.',
    `For that, remove its document there, and ${line}`,
    `In an emergency only: lifecycle.adopt: ${id} with --take-over ${stack} takes it while that stack may still describe it.`,
  ].join('\n');
}
