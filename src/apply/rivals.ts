import { getKind } from '../kinds/tables/registry.ts';
import { compareAge, type LiveResource } from '../model/state.ts';
import type { CreateWrite, DeliverAgainWrite, DeliverWrite } from '../model/write.ts';
import type { LookUps } from './look-ups.ts';

/** A resource that this run made. */
export interface Made {
  readonly write: CreateWrite;
  readonly id: string;
}

/** Others that bear the mark of what this run made, and that its plan did not know. */
export interface Rivals {
  /** The one that stays instead of ours. */
  readonly winner: LiveResource | undefined;
  /** Those that have to go. */
  readonly losers: readonly LiveResource[];
  /** Ours is listed without its mark: no later run would know it as ours. */
  readonly isUnmarked: boolean;
}

/** What finding others takes. */
export interface RivalContext {
  readonly lookUps: LookUps;
  /** Ids that the plan knew. */
  readonly known: ReadonlySet<string>;
  readonly sleep: (ms: number) => Promise<void>;
}

/** How often a list that may be stale is read until it shows what was just created. */
const LOOKS = 3;
const PAUSE_MS = 1000;

/** Resources that bear the mark which a write leaves, and that the plan did not know, oldest first. */
export async function listBearers(write: MarkingWrite, context: RivalContext): Promise<readonly LiveResource[]> {
  return pickBearers(write, await context.lookUps.list(getKind(write.kind)), context);
}

/** A write that leaves the mark of a new resource. */
type MarkingWrite = CreateWrite | DeliverWrite | DeliverAgainWrite;

function pickBearers(
  write: MarkingWrite,
  all: readonly LiveResource[],
  { known }: RivalContext,
): readonly LiveResource[] {
  const { stack, name } = write.mark;
  const bearers = listNamed(all, name).filter(({ id, mark }) => mark?.stack === stack && !known.has(id));
  return bearers.toSorted(compareAge);
}

/** The members of a list whose marks have a name. Each creation of a run asks the same list for its own. */
function listNamed(all: readonly LiveResource[], name: string): readonly LiveResource[] {
  const groups = BY_NAME.get(all) ?? Map.groupBy(all, ({ mark }) => mark?.name);
  BY_NAME.set(all, groups);
  return groups.get(name) ?? [];
}

const BY_NAME = new WeakMap<readonly LiveResource[], ReadonlyMap<string | undefined, readonly LiveResource[]>>();

/**
 * Finds resources that a concurrent apply created in addition to ours. The oldest stays: the oldest with a delivered token if there is one. A list
 * that does not show ours is stale and is read again. Rejects as the client does.
 */
export async function findRivals({ write, id }: Made, context: RivalContext): Promise<Rivals> {
  for (let look = 1; ; look += 1) {
    const all = await context.lookUps.list(getKind(write.kind));
    const bearers = pickBearers(write, all, context);
    const isShown = bearers.some((bearer) => bearer.id === id);
    if (isShown || look === LOOKS)
      return { ...rankBearers(bearers, id), isUnmarked: !isShown && all.some((one) => one.id === id) };
    await context.sleep(PAUSE_MS);
  }
}

/** The same choice as a plan makes, except for kinds that expire: there a plan keeps the younger one, but an apply only sees those created before its own. */
function rankBearers(bearers: readonly LiveResource[], id: string): Omit<Rivals, 'isUnmarked'> {
  const delivered = bearers.filter(({ mark }) => mark?.delivered === true);
  const [oldest] = delivered.length > 0 ? delivered : bearers;
  if (oldest !== undefined && oldest.id !== id) return { winner: oldest, losers: [] };
  return { winner: undefined, losers: bearers.filter((bearer) => bearer.id !== id) };
}
