import { listClaims } from '../kinds/claims.ts';
import { hasToken, type Kind } from '../kinds/kind.ts';
import { hasSameFields } from '../kinds/same-fields.ts';
import { foldProse } from '../kinds/spelling.ts';
import { type Address, toAddress } from '../model/address.ts';
import { isCreation } from '../model/change.ts';
import { toCanonicalJson, toJsonText } from '../model/json.ts';
import { findCutMark } from '../model/mark.ts';
import { isCutMarkOf } from '../model/ownership.ts';
import type { Place } from '../model/place.ts';
import type { DesiredResource, LiveResource, LiveState, Spec } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';
import { hasOwnValues, isUnmarked } from './duplicates.ts';
import type { ResourcePair } from './match.ts';
import { findManifestValidForMs, listValidityDifference, readFieldTime } from './validity.ts';

/**
 * Creations that a live resource speaks against: it is in the place of the new one, and its mark was lost. A service that
 * cuts or drops metadata would otherwise get another resource with each apply.
 */
interface LostMark {
  readonly address: string | undefined;
  readonly place: Place | undefined;
  /** Of the live resource. */
  readonly id: string;
  /** The manifest that can adopt it, because it has no resource yet. */
  readonly adopter: DesiredResource | undefined;
}

interface CutMark extends LostMark {
  /** What is not created, as a clause. */
  readonly what: string;
}

/** Finds resources that have only the beginning of a mark of the stack, of the kinds of which the plan creates some. */
export function findCutMarks(
  decisions: readonly ChangeDecision[],
  { live, stack }: { readonly live: LiveState; readonly stack: string },
): readonly CutMark[] {
  const planned = listPlannedIds(decisions);
  const byKind = Map.groupBy(decisions.filter(isCreation), ({ pair }) => pair.kind.name);
  return [...byKind].flatMap(([kind, ofKind]) => {
    const cut = (live.resources.get(kind) ?? []).flatMap((one) => {
      const mark = planned.has(one.id) ? undefined : findCutMark(one);
      return mark !== undefined && isCutMarkOf(mark, stack) ? [{ ...mark, id: one.id }] : [];
    });
    return cut.map(({ name, id }) => {
      const address = name === undefined ? undefined : toAddress(kind, name);
      const same = ofKind.find(({ pair }) => pair.address === address)?.pair;
      const what =
        same === undefined ? `no ${ofKind[0]?.pair.kind.title ?? kind} is created` : `${same.address} is not created`;
      return { ...toLostMark(id, same), what };
    });
  });
}

/** A live resource without a mark that looks like one to create. */
export interface LookAlike extends LostMark {
  readonly address: Address;
  /** What both have in common, as in `cr_1 has the same fields`. */
  readonly has: string;
  /** Whether users have such resources, too, so that it is no evidence. Otherwise no other one is created. */
  readonly isDoubtful: boolean;
  readonly done: 'created' | 'replaced';
}

interface LookAlikeContext {
  readonly live: LiveState;
  /** Ids of the live resources that have a place in the plan. */
  readonly paired: ReadonlySet<string | undefined>;
}

/**
 * Finds what an earlier apply may have created, without its mark. One with the same unique value is refused anyway
 * (`claims.ts`). What replaces a resource is younger than it.
 */
export function findLookAlikes(
  decisions: readonly ChangeDecision[],
  { live, now, paired }: LookAlikeContext & { readonly now: Date },
): readonly LookAlike[] {
  const creations = Map.groupBy(decisions.filter(isCreation), ({ pair }) => pair.kind.name);
  return [...creations].flatMap(([kind, ofKind]) => {
    const described = (live.resources.get(kind) ?? []).map((one) => ({ one, description: foldDescription(one.spec) }));
    const free = described.filter(({ one }) => isUnmarked(one) && !paired.has(one.id));
    if (free.length === 0) return [];
    // What is replaced has the description as well.
    const replaced = new Set(ofKind.map(({ pair }) => pair.live?.id));
    const others = described.filter(({ one }) => !replaced.has(one.id));
    const singles = new Set(listSingles(others.map(({ description }) => description)));
    const created = ofKind.map(({ form }) => foldDescription(form?.normal ?? {}));
    const telling = new Set(listSingles(created).filter((description) => singles.has(description)));
    return ofKind.flatMap((decision) => {
      const { address, live: before } = decision.pair;
      const compare = createComparison(decision, { telling, now });
      return free.flatMap((other): readonly LookAlike[] => {
        const { one } = other;
        const likeness = isOlder(one, before) ? undefined : compare(other);
        if (likeness === undefined) return [];
        const done = before === undefined ? 'created' : 'replaced';
        return [{ ...toLostMark(one.id, decision.pair), ...likeness, address, done }];
      });
    });
  });
}

/** The texts that are there once. */
function listSingles(texts: readonly string[]): readonly string[] {
  const counted = Map.groupBy(texts, (text) => text);
  return [...counted].filter(([, { length }]) => length === 1).map(([text]) => text);
}

interface Described {
  readonly one: LiveResource;
  /** What all spellings of its description have in common. */
  readonly description: string;
}

function foldDescription({ description = '' }: Spec): string {
  return foldProse(toJsonText(description));
}

/** Compares live resources with one to create. The result is `undefined` if they are not alike. */
function createComparison(
  { pair: { kind, desired }, form }: ChangeDecision,
  /** `telling`: descriptions that one live resource and one new resource of the kind have. */
  { telling, now }: { readonly telling: ReadonlySet<string>; readonly now: Date },
): (described: Described) => Pick<LookAlike, 'has' | 'isDoubtful'> | undefined {
  const normal = form?.normal ?? {};
  const { description: _, ...rest } = normal;
  const description = foldDescription(normal);
  const claims = new Set(listClaims(kind, normal).map(({ key }) => key));
  return ({ one: { spec }, description: text }) => {
    if (isOver(kind, spec, now)) return undefined;
    if (claims.size === 0 && hasSameFields(kind, spec, rest) && isSameValidity({ kind, spec, desired })) {
      const hasAll = hasSameFields(kind, spec, normal);
      if (hasAll && !hasOwnValues(kind, normal)) return { isDoubtful: true, has: 'no fields' };
      if (hasAll) return { isDoubtful: false, has: 'the same fields' };
      if (hasOwnValues(kind, rest)) return { isDoubtful: true, has: 'the same fields but for its description' };
    }
    if (description === '' || text !== description) return undefined;
    const isClaimed = listClaims(kind, spec).some(({ key }) => claims.has(key));
    return isClaimed ? undefined : { isDoubtful: !telling.has(description), has: 'the same description' };
  };
}

interface LostReplacement extends LostMark {
  readonly address: Address;
  /** Whether it has the beginning of its mark. */
  readonly isCut: boolean;
}

/** Finds credentials beside which a younger one may be what replaced it: its token was delivered, and its mark was lost. */
export function findLostReplacements(
  decisions: readonly ChangeDecision[],
  { live, paired, stack }: LookAlikeContext & { readonly stack: string },
): readonly LostReplacement[] {
  const kept = decisions.filter((one) => one.pair.by === 'mark' && hasToken(one.pair.kind) && !isCreation(one));
  const kinds = new Set(kept.map(({ pair }) => pair.kind.name));
  const free = [...kinds].flatMap((kind) => live.resources.get(kind) ?? []).filter(({ id }) => !paired.has(id));
  const byTrait = Map.groupBy(
    free.flatMap((one) => {
      const cut = findCutMark(one);
      const isOurs = cut === undefined ? isUnmarked(one) : isCutMarkOf(cut, stack);
      return isOurs ? listTraits(one, cut?.name).map((trait) => ({ trait, one })) : [];
    }),
    ({ trait }) => trait,
  );
  return kept.flatMap(({ pair, form }) => {
    const { kind, live: before, address } = pair;
    if (before === undefined || form === undefined) return [];
    const isTold = hasOwnValues(kind, form.normal);
    const traits = listTraits(before, before.mark?.name).filter((trait) => isTold || !trait.startsWith(FIELDS));
    const found = new Set(traits.flatMap((trait) => byTrait.get(trait) ?? []).map(({ one }) => one));
    return [...found]
      .filter((one) => !isOlder(one, before))
      .map((one) => ({ ...toLostMark(one.id, pair), address, isCut: findCutMark(one) !== undefined }));
  });
}

const FIELDS = 'fields';

/** What a credential has in common with the one that it replaces. */
function listTraits({ kind, spec }: LiveResource, name = ''): readonly string[] {
  const { metadata: _, ...fields } = spec;
  const description = foldDescription(spec);
  return [
    `${FIELDS} of ${kind} ${toCanonicalJson(fields)}`,
    ...(description === '' ? [] : [`description of ${kind} ${description}`]),
    ...(name === '' ? [] : [`name of ${kind} ${name}`]),
  ];
}

/** Without both times, none is older. */
function isOlder({ createdAt }: LiveResource, other: LiveResource | undefined): boolean {
  return other !== undefined && Date.parse(createdAt) < Date.parse(other.createdAt);
}

interface ComparedValidity {
  readonly kind: Kind;
  readonly spec: Spec;
  readonly desired: DesiredResource | undefined;
}

/** Whether a live resource is valid for as long as its manifest says. True for kinds without a validity. */
function isSameValidity({ kind, spec, desired }: ComparedValidity): boolean {
  return (
    listValidityDifference({ kind, live: { spec }, validForMs: findManifestValidForMs(kind, desired) }).length === 0
  );
}

function isOver({ validity }: Kind, spec: Spec, now: Date): boolean {
  const until = readFieldTime(spec, validity?.until);
  return until !== undefined && until <= now.getTime();
}

function listPlannedIds(decisions: readonly ChangeDecision[]): ReadonlySet<string | undefined> {
  return new Set(decisions.map(({ pair }) => pair.live?.id));
}

function toLostMark(id: string, pair: ResourcePair | undefined): LostMark {
  const { desired, live } = pair ?? {};
  const place = desired?.locate(['metadata', 'name']);
  return { id, address: desired?.address, place, adopter: live === undefined ? desired : undefined };
}
