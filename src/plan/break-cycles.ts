import { assertDefined, InvariantError } from '../model/errors.ts';
import { isJsonArray, type Json } from '../model/json.ts';
import type { Decision } from './decide.ts';
import type { Needs, Planned } from './needs.ts';
import type { WriteDraft } from './writes.ts';

/** The writes by id, with those that were added, and their ids in an order that is valid when they are made one after another. */
export interface Ordered {
  readonly drafts: ReadonlyMap<string, WriteDraft>;
  readonly order: readonly string[];
}

/**
 * Orders the writes. Two resources that swap a unique value wait for each other; such a circle is broken where a replace can
 * delete first, or else by one more write that releases what is to be handed over.
 */
export function breakCycles(planned: readonly Planned[], needs: Needs): Ordered {
  const drafts = new Map(planned.flatMap(({ writes }) => writes.map((write) => [write.id, write] as const)));
  const owners = new Map(
    planned.flatMap(({ decision, writes }) => writes.map((write) => [write.id, decision] as const)),
  );
  for (;;) {
    const { order, blocked } = sortByNeeds(drafts, needs);
    if (blocked.size === 0) return { drafts, order };
    for (const cycle of findCycles(blocked, needs)) breakCycle(cycle, { drafts, owners, needs });
  }
}

interface Breaking {
  readonly drafts: Map<string, WriteDraft>;
  readonly owners: ReadonlyMap<string, Decision>;
  readonly needs: Needs;
}

function breakCycle(cycle: readonly string[], breaking: Breaking): void {
  const isBroken = cycle.some((id) => canDeleteFirst(id, breaking)) || cycle.some((id) => canRelease(id, breaking));
  if (!isBroken) throw new InvariantError(`These writes wait for each other: ${cycle.join(', ')}`);
}

function canDeleteFirst(id: string, { owners, needs }: Breaking): boolean {
  const decision = owners.get(id);
  if (decision?.action !== 'replace' || id !== `delete ${decision.pair.address}`) return false;
  for (const needed of [...needs.of(id)]) if (/^(create|deliver) /.test(needed)) needs.remove(id, needed);
  return true;
}

function canRelease(id: string, { drafts, owners, needs }: Breaking): boolean {
  const decision = owners.get(id);
  const draft = drafts.get(id);
  const release = decision && draft?.method === 'PATCH' ? toReleaseWrite(decision, draft) : undefined;
  if (release === undefined || drafts.has(release.id)) return false;
  drafts.set(release.id, release);
  needs.moveClaims(id, release.id);
  needs.add(id, release.id);
  return true;
}

/** A PATCH that gives up what a later PATCH of the same resource replaces, and keeps what stays. */
function toReleaseWrite(decision: Decision, draft: WriteDraft): WriteDraft | undefined {
  const { kind, live } = decision.pair;
  const name = Object.keys(draft.body ?? {}).find(
    (key) => kind.fields[key]?.unique && kind.fields[key]?.type.type === 'list',
  );
  if (name === undefined || live === undefined) return undefined;
  const after = toMembers(decision.form?.normal[name]);
  const kept = toMembers(live.spec[name]).filter((member) => after.includes(member));
  const { mark: _, ...rest } = draft;
  return {
    ...rest,
    id: `release ${name} of ${decision.pair.address}`,
    body: { [name]: kept },
    needs: [],
    reason: `gives up ${name} that another resource takes over while this one takes over others`,
  };
}

function toMembers(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

/** Kahn's algorithm: always the first write, in plan order, that waits for nothing. What is left over is blocked by circles. */
function sortByNeeds(
  drafts: ReadonlyMap<string, WriteDraft>,
  needs: Needs,
): { readonly order: readonly string[]; readonly blocked: ReadonlySet<string> } {
  const { waiting, dependents } = countNeeds(drafts, needs);
  const order = [...drafts.keys()].filter((id) => waiting.get(id) === 0);
  for (const id of order) {
    waiting.delete(id);
    for (const dependent of dependents.get(id) ?? []) {
      const left = assertDefined(waiting.get(dependent), dependent) - 1;
      waiting.set(dependent, left);
      if (left === 0) order.push(dependent);
    }
  }
  return { order, blocked: new Set(waiting.keys()) };
}

/** How many writes each waits for, and who waits for each. A need for a write that is not in the plan is none. */
function countNeeds(
  drafts: ReadonlyMap<string, WriteDraft>,
  needs: Needs,
): { readonly waiting: Map<string, number>; readonly dependents: ReadonlyMap<string, readonly string[]> } {
  const dependents = new Map([...drafts.keys()].map((id): [string, string[]] => [id, []]));
  const waiting = new Map<string, number>();
  for (const id of drafts.keys()) {
    const lists = [...needs.of(id)].map((needed) => dependents.get(needed)).filter((list) => list !== undefined);
    for (const list of lists) list.push(id);
    waiting.set(id, lists.length);
  }
  return { waiting, dependents };
}

/** One circle for each group of blocked writes that wait for each other. */
function findCycles(blocked: ReadonlySet<string>, needs: Needs): readonly (readonly string[])[] {
  const seen = new Set<string>();
  const cycles: string[][] = [];
  for (const start of blocked) {
    const trail: string[] = [];
    let id: string | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      trail.push(id);
      id = [...needs.of(id)].find((needed) => blocked.has(needed));
    }
    if (id !== undefined && trail.includes(id)) cycles.push(trail.slice(trail.indexOf(id)));
  }
  return cycles;
}
