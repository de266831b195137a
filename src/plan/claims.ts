import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Withheld } from '../model/plan.ts';
import type { FieldPath, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { Decision } from './decide.ts';
import { toPlacedLifecycleLine } from './lifecycle-line.ts';
import type { Pair } from './match.ts';

/** What conflicts are looked for in, and which resources stay though they would be deleted. */
export interface ConflictContext {
  readonly stack: string;
  readonly withheld: readonly Withheld[];
}

/** Claims on values that another resource keeps in this plan: the service would refuse them. */
export function listConflicts(
  decisions: readonly Decision[],
  live: LiveState,
  { stack, withheld }: ConflictContext,
): readonly Diagnostic[] {
  // An account may hold thousands of others' resources: only those are looked at that have something of what is claimed.
  const claimed = new Map(
    decisions.flatMap((decision) => listClaimed(decision).map(({ key }) => [key, decision.pair])),
  );
  const kept = new Set(withheld.map(({ id }) => id));
  const byId = new Map(decisions.map((decision) => [decision.pair.live?.id, decision]));
  const holders = new Map<string, Holder>();
  for (const { kind } of new Map([...claimed.values()].map((pair) => [pair.kind.name, pair])).values()) {
    for (const resource of live.resources.get(kind.name) ?? []) {
      const held = listHeld(kind, resource).filter((key) => claimed.has(key));
      if (held.length === 0) continue;
      const isOurs = resource.mark?.stack === stack;
      const isLeftOut = isOurs && !byId.has(resource.id);
      const keeps = toKept(resource, byId.get(resource.id));
      const keys = new Set(listClaims(kind, keeps).map(({ key }) => key));
      for (const key of held)
        if (keys.has(key)) holders.set(key, { resource, isOurs, isLeftOut, isWithheld: kept.has(resource.id) });
    }
  }
  return decisions.flatMap((decision) => listConflictsOf(decision, holders));
}

/** What a decision claims anew or goes on to claim. */
function listClaimed({ action, pair, form }: Decision): readonly Claim[] {
  if (action === 'no-op' || form === undefined || pair.desired === undefined) return [];
  return listClaims(pair.kind, form.normal);
}

/** What a live resource has, worked out once for all stacks of a run. */
function listHeld(kind: Kind, resource: LiveResource): readonly string[] {
  const known = HELD.get(resource) ?? listClaims(kind, resource.spec).map(({ key }) => key);
  HELD.set(resource, known);
  return known;
}

const HELD = new WeakMap<LiveResource, readonly string[]>();

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
  /** It would be deleted without `--no-delete`. */
  readonly isWithheld: boolean;
}

function listConflictsOf(decision: Decision, holders: ReadonlyMap<string, Holder>): readonly Diagnostic[] {
  const { pair } = decision;
  const { desired, address } = pair;
  return listClaimed(decision).flatMap(({ field, value, key }): Diagnostic[] => {
    const holder = holders.get(key);
    if (desired === undefined || holder === undefined || holder.resource.id === pair.live?.id) return [];
    const { resource } = holder;
    return [
      {
        code: 'claimed-elsewhere',
        severity: 'error',
        message: `${address}: ${field} ${value} is held by ${resource.kind} ${resource.id}, ${describeOwner(resource)}`,
        remedy: toRemedy(holder, pair),
        address,
        place: desired.locate(['spec', ...toClaimPath(pair.kind, desired.spec, { field, key })]),
      },
    ];
  });
}

/** Where a manifest makes a claim. */
function toClaimPath(kind: Kind, spec: Spec, { field, key }: Pick<Claim, 'field' | 'key'>): FieldPath {
  return listClaims(kind, spec).find((claim) => claim.key === key)?.path ?? [field];
}

function describeOwner({ kind, mark }: LiveResource): string {
  return mark === undefined ? 'which no stack manages' : `which is ${kind}/${mark.name} of the stack ${mark.stack}`;
}

function toRemedy({ resource, isLeftOut, isOurs, isWithheld }: Holder, { desired, live }: Pair): string {
  const { kind, id, mark } = resource;
  if (isWithheld) return 'Remove --no-delete, so that the plan releases it there first.';
  if (isLeftOut) return `Add --target ${kind}/${mark?.name}, so that the plan releases it there first.`;
  if (isOurs || live !== undefined || desired === undefined) return 'Remove it there first, or choose another value.';
  const consent = mark === undefined ? '' : `\nand run with --take-over ${mark.stack}`;
  return `To adopt that resource as ${kind}/${desired.name}, ${toPlacedLifecycleLine(desired, { name: 'adopt', value: id })}${consent}`;
}
