import { listClaims } from '../kinds/claims.ts';
import { compareSides, findAbsenceGroup, type ResourceSide } from '../kinds/dangers.ts';
import type { Kind } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, formatChangeAddress } from '../model/change.ts';
import { type Danger, sortDangers } from '../model/danger.ts';
import { type DriftedField, PROTECT_PATH, type ResourceDrift } from '../model/drift.ts';
import { isJsonArray } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import { parseRateLimit } from '../model/stack.ts';
import type { Spec } from '../model/state.ts';
import { describeTokenPlace } from '../model/token-place.ts';
import { formatWriteAddress, type Write } from '../model/write.ts';
import { isUndelivered } from './match.ts';
import { readTime } from './validity.ts';

/** What the dangers of a plan follow from. */
type Source = Pick<Plan, 'changes' | 'stack' | 'settings'> & { readonly writes: readonly Write[] };

/** The changes of a plan with their dangers added. These follow from the changes and from the order of their writes. */
export function withDangers(plan: Source): readonly Change[] {
  const scene = { stack: plan.stack, findGap: createFindGap(plan), findTaker: createFindTaker(plan.changes) };
  return plan.changes.map((change) => {
    const dangers = listDangers(change, scene);
    if (dangers.length > 0) return { ...change, dangers };
    if (change.dangers === undefined) return change;
    const { dangers: _, ...rest } = change;
    return rest;
  });
}

interface Scene {
  readonly stack: string;
  readonly findGap: (change: Change) => Gap | undefined;
  readonly findTaker: (kind: Kind, spec: Spec) => string | undefined;
}

function listDangers(change: Change, scene: Scene): readonly Danger[] {
  if (change.action === 'no-op') return [];
  const kind = getKind(change.kind);
  const { live } = change;
  if (change.duplicateOf !== undefined) return compareDuplicate(kind, change);
  const from = toLiveSide(change);
  const to = toDesiredSide(change, scene);
  const facts = compareSides(kind, from, to)
    .filter(({ danger }) => danger !== 'token-revoked' || isInUse(kind, live))
    .map((fact) => withTaker(fact, kind, scene));
  return sortDangers([
    ...facts,
    ...listLonger(kind, change),
    ...listNewValues(kind, change),
    ...listGaps(kind, change, scene),
  ]);
}

/** The resource itself stays, whatever becomes of its duplicates; but each has a token of its own. */
function compareDuplicate(kind: Kind, { live }: Change): readonly Danger[] {
  if (!isInUse(kind, live)) return [];
  return compareSides(kind, { spec: live?.spec ?? {} }, undefined).filter(({ danger }) => danger === 'token-revoked');
}

/** Whether its token may be in use. For a resource without our mark this is unknown, so it counts as used. */
function isInUse(kind: Kind, live: Change['live']): boolean {
  return live !== undefined && (live.mark === undefined || !isUndelivered(kind, { mark: live.mark }));
}

function toLiveSide({ live }: Change): ResourceSide | undefined {
  if (live === undefined) return undefined;
  const { spec = {}, mark } = live;
  return { spec, protect: mark?.protect, stack: mark?.stack };
}

/** Attached modules have no mark that says whose they are. */
function toDesiredSide({ action, live, desired, protect, kind }: Change, { stack }: Scene): ResourceSide | undefined {
  if (action === 'delete') return undefined;
  const spec = desired ?? live?.spec ?? {};
  if (action === 'release') return { spec };
  return { spec, protect, ...(getKind(kind).role === 'owned' && { stack }) };
}

/** Who serves an address that this resource serves no longer, as far as the same plan says it. */
function withTaker(fact: Danger, kind: Kind, { findTaker }: Scene): Danger {
  const { danger, path = '', from = null } = fact;
  if (danger !== 'address-released' && danger !== 'address-changed') return fact;
  const members = isJsonArray(from)
    ? from.map((member) => ({ member, spec: { [path]: [member] } }))
    : [{ member: from, spec: { [path]: from } }];
  const takers = members.map(({ member, spec }) => ({ member, taker: findTaker(kind, spec) }));
  const [first] = takers;
  if (danger === 'address-released' && first?.taker !== undefined && takers.every(({ taker }) => taker === first.taker))
    return { ...fact, consequence: `then served by ${first.taker}` };
  const taken = takers.filter(({ taker }) => taker !== undefined);
  const said = taken.map(({ member, taker }) => `${String(member)} is then served by ${taker}`);
  return taken.length === 0 ? fact : { ...fact, consequence: said.join(', ') };
}

/** Looks up which change of a plan claims what a spec claims. */
function createFindTaker(changes: readonly Change[]): Scene['findTaker'] {
  let takers: ReadonlyMap<string, string> | undefined;
  return (kind, spec) => {
    takers ??= new Map(
      changes.flatMap((change) =>
        change.desired === undefined || change.action === 'release'
          ? []
          : listClaims(getKind(change.kind), change.desired).map(({ key }) => [key, change.address] as const),
      ),
    );
    return listClaims(kind, spec).flatMap(({ key }) => takers?.get(key) ?? [])[0];
  };
}

/** A length is compared with a length where the manifest states one; ends are compared as all fields are. */
function listLonger(kind: Kind, { differences, live, validForMs }: Change): readonly Danger[] {
  const after = readTime(live?.spec ?? {}, kind.validity?.after);
  const until = readTime(live?.spec ?? {}, kind.validity?.until);
  const shown = differences.find(({ path }) => path === 'lifecycle.valid_for');
  if (validForMs === undefined || after === undefined || until === undefined || shown === undefined) return [];
  if (until - after >= validForMs) return [];
  const { path, from, to } = shown;
  return [
    {
      group: 'secrets',
      danger: 'longer-validity',
      path,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
  ];
}

/** Values that the service chooses for a new resource and that others have to know: a token, with its sink; values that users copy elsewhere. */
function listNewValues(kind: Kind, { action, live, token }: Change): readonly Danger[] {
  if (action !== 'create' && action !== 'replace') return [];
  const isReplaced = action === 'replace' && isInUse(kind, live);
  const place = token === undefined ? undefined : describeTokenPlace(token);
  const tokens = kind.oneTimeFields.map(
    (path): Danger => ({
      group: 'secrets',
      danger: 'token',
      path,
      ...(place !== undefined && { to: place }),
      ...(isReplaced && toConsequence(kind, path)),
    }),
  );
  if (action === 'create') return tokens;
  const computed = Object.entries(kind.fields).filter(
    ([, { lifecycle, whenReplaced }]) => lifecycle === 'computed' && whenReplaced !== undefined,
  );
  return [
    ...tokens,
    ...computed.map(
      ([path]): Danger => ({ group: 'traffic', danger: 'new-values', path, ...toConsequence(kind, path) }),
    ),
  ];
}

function toConsequence(kind: Kind, path: string): Pick<Danger, 'consequence'> {
  const consequence = kind.fields[path]?.whenReplaced;
  return consequence === undefined ? {} : { consequence };
}

/** The gap in which neither the old resource nor the new one exists. */
function listGaps(kind: Kind, change: Change, { findGap }: Scene): readonly Danger[] {
  const gap = findGap(change);
  const group = change.live?.spec === undefined ? undefined : findAbsenceGroup(kind, change.live.spec);
  return gap === undefined || group === undefined ? [] : [{ group, danger: 'gap', ...gap }];
}

type Gap = Pick<Danger, 'writes' | 'limitMs'>;

/** Looks up how many writes run from the delete of a resource to its creation, and how long that takes once the rate limit is reached. */
function createFindGap({ writes, settings }: Source): Scene['findGap'] {
  const deleted = new Map<string, number>();
  const gaps = new Map<string, number>();
  for (const [index, write] of writes.entries()) {
    const address = formatWriteAddress(write);
    if (write.type === 'delete') deleted.set(address, index);
    const start = write.type === 'create' ? deleted.get(address) : undefined;
    if (start !== undefined) gaps.set(address, index - start);
  }
  const limit = parseRateLimit(settings.rateLimit);
  return (change) => {
    const count = gaps.get(formatChangeAddress(change));
    if (count === undefined) return undefined;
    return {
      writes: count,
      ...(limit !== undefined && { limitMs: Math.round((count * limit.windowMs) / limit.requests) }),
    };
  };
}

/** A resource that is not as it should be, with both sides in normal form. */
interface Drifted {
  readonly kind: string;
  readonly fields: readonly DriftedField[];
  readonly expected: Spec | undefined;
  readonly live: Spec | undefined;
}

/** The dangers of changes at the service. Fields that only the manifest changed are left out. */
export function listDriftDangers({ kind, fields, expected, live }: Drifted): readonly Danger[] {
  const happened = fields.filter(({ origin }) => origin !== 'manifest');
  if (happened.length === 0 || expected === undefined || live === undefined) return [];
  const names = new Set(happened.map(({ field }) => field));
  const isUnprotected = happened.some(isLostProtection);
  const before = Object.fromEntries([
    ...Object.entries(live).filter(([name]) => !names.has(name)),
    ...Object.entries(expected).filter(([name]) => names.has(name)),
  ]);
  const dangers = compareSides(getKind(kind), { spec: before, protect: isUnprotected }, { spec: live });
  // Who looks at drift is let in; and if not, no report would come to be.
  return dangers.filter(({ danger }) => danger !== 'lockout');
}

function isLostProtection({ path, expected }: DriftedField): boolean {
  return path === PROTECT_PATH && expected === true;
}

/** Adds the danger of an expired validity. */
export function withExpiryDanger(resource: ResourceDrift, now: Date): ResourceDrift {
  const { kind, validUntil, dangers = [] } = resource;
  const path = getKind(kind).validity?.until;
  if (path === undefined || validUntil === undefined || Date.parse(validUntil) > now.getTime()) return resource;
  return { ...resource, dangers: [{ group: 'secrets', danger: 'ended', path, from: validUntil }, ...dangers] };
}

/** The dangers of a delete at the service. */
export function listDeletionDangers({ kind, expected }: Pick<Drifted, 'kind' | 'expected'>): readonly Danger[] {
  return expected === undefined ? [] : compareSides(getKind(kind), { spec: expected }, undefined);
}
