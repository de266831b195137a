import { formatRoundedDuration, renderTimeSpan } from '../kinds/duration.ts';
import { isRotatable } from '../kinds/kind.ts';
import { isReferable, listReferences } from '../kinds/references.ts';
import { formatKindTitles, getKind } from '../kinds/tables/registry.ts';
import { suggestAddress } from '../manifest/suggest.ts';
import { toAddress } from '../model/address.ts';
import { isCreation, sendsNothing } from '../model/change.ts';
import { listClockSkewWarnings, NO_SKEW } from '../model/clock.ts';
import type { Diagnostic, DiagnosticCode } from '../model/diagnostic.ts';
import { findRefusedCreation, isAsAdopted, isRefusalRecord } from '../model/mark.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { DesiredResource, LiveResource } from '../model/state.ts';
import type { ClaimConflict } from './claims.ts';
import type { ChangeDecision } from './decide.ts';
import { findAdoptable, findMissingFormerNames, findRenames, formatLifecycleHint } from './duplicates.ts';
import { findMissingAdoptions } from './gone-ids.ts';
import { findKeptForTakers } from './handed-over.ts';
import { findHiddenFields, type HiddenFields } from './hidden-fields.ts';
import { findCutMarks, findLostReplacements, type LookAlike } from './lost-marks.ts';
import { lacksSink } from './new-tokens.ts';
import type { KeptPrunes, PlanInput } from './plan-input.ts';
import { canRotate, findEndOfManifest, VALIDITY_WARNING_SHARE } from './renewal.ts';
import { listPredecessorsByStack, type Predecessors } from './take-over.ts';
import { findManifestValidForMs, readFieldTime } from './validity.ts';

/** What a plan warns of, and what makes it invalid, beside its decisions: one table, in the order of the diagnostics. */

/** The decisions of a plan, and what else is known with them. */
export interface WarnedPlan {
  readonly decisions: readonly ChangeDecision[];
  /** Resources without a manifest that are kept because another stack of the run is unknown. */
  readonly kept: readonly ChangeDecision[];
  /** Ids of the live resources that are paired, also of those that are not among the targets. */
  readonly paired: ReadonlySet<string | undefined>;
  /** Addresses whose former resource is found and not renamed back, which is said already. */
  readonly unclear: ReadonlySet<string>;
  /** Claims of values that a stack of the same run will free. */
  readonly lateClaims: readonly ClaimConflict[];
  readonly predecessors: Predecessors;
  readonly lookAlikes: readonly LookAlike[];
  readonly input: PlanInput;
}

/** What an entry is about. */
type Subject = Pick<Diagnostic, 'address' | 'place'>;

interface PlanWarning<Fact extends Subject> {
  readonly code: DiagnosticCode;
  /** Default: a warning. */
  readonly severity?: 'error';
  readonly when: (plan: WarnedPlan) => readonly Fact[];
  readonly say: (fact: Fact) => Pick<Diagnostic, 'message' | 'remedy'>;
}

/** The diagnostics of the table. */
export function listPlanWarnings(plan: WarnedPlan): readonly Diagnostic[] {
  return WARNINGS.flatMap((list) => list(plan));
}

/** Fits an entry, whatever its facts are, into the table. */
function define<Fact extends Subject>({ code, severity, when, say }: PlanWarning<Fact>) {
  return (plan: WarnedPlan): readonly Diagnostic[] =>
    when(plan).map((fact) => ({
      code,
      severity: severity ?? 'warning',
      ...say(fact),
      address: fact.address,
      place: fact.place,
    }));
}

/** Like `define`, for what is found in one decision after the other. */
function defineInEach<Fact extends Subject>({
  when,
  ...entry
}: Omit<PlanWarning<Fact>, 'when'> & {
  readonly when: (decision: ChangeDecision, input: PlanInput) => readonly Fact[];
}) {
  return define<Fact>({
    ...entry,
    when: ({ decisions, input }) => decisions.flatMap((one) => when(one, input)),
  });
}

/** Like `define`, for what may be the predecessor of a resource. One that is found already is the only one to name. */
function definePredecessor<Fact extends Subject>({ when, say }: Pick<PlanWarning<Fact>, 'when' | 'say'>) {
  return define<Fact>({
    code: 'predecessor-unclear',
    when: (plan) => when(plan).filter(({ address }) => address === undefined || !plan.unclear.has(address)),
    say,
  });
}

const WARNINGS: readonly ((plan: WarnedPlan) => readonly Diagnostic[])[] = [
  defineInEach({
    code: 'adopt-refused',
    severity: 'error',
    when: ({ pair: { by, desired, live }, action, differences }) => {
      const forcing = differences.filter(({ forcesReplace }) => forcesReplace).map(({ path }) => path);
      // Without such a field, only a credential whose token was never delivered is replaced. This is not an error:
      // nothing can use the credential.
      if (by !== 'adopt' || action !== 'replace' || forcing.length === 0 || desired === undefined) return [];
      const path = desired.lifecycle.adopt === undefined ? ['spec'] : ['lifecycle', 'adopt'];
      return [{ address: desired.address, place: desired.locate(path), id: live?.id ?? '', forcing }];
    },
    say: ({ address, id, forcing }) => ({
      message: `${address}: adopting ${id} would replace it, because ${forcing.join(' and ')} cannot be changed`,
      remedy: 'Write the live values into the manifest and adopt it first.',
    }),
  }),
  define({
    code: 'unknown-target',
    severity: 'error',
    when: ({ decisions, input: { rotate = [], retire = [] } }) => {
      const rotatable = new Set<string>(
        decisions.filter(({ pair }) => canRotate(pair)).map(({ pair }) => pair.address),
      );
      return [...new Set([...rotate, ...retire])]
        .filter((named) => !rotatable.has(named))
        .map((named) => ({ address: undefined, named, nearest: suggestAddress(named, [...rotatable]) }));
    },
    say: ({ named, nearest }) => ({
      message: `${named} cannot be rotated: it is not in this plan, or its kind cannot be rotated`,
      remedy:
        nearest === undefined
          ? `Name a ${formatKindTitles(isRotatable)} that the manifests describe, as Kind/name.`
          : `Did you mean \`${nearest}\`?`,
    }),
  }),
  defineInEach({
    code: 'unknown-target',
    // A second run of the same command is no error.
    when: ({ pair: { address, by, retires }, action }, { retire = [] }) =>
      retire.includes(address) && by === 'mark' && action !== 'replace' && retires === undefined ? [{ address }] : [],
    say: ({ address }) => ({
      message: `--retire ${address} does nothing: it has no old one that is still there`,
      remedy: 'To get a new one and delete the present one at once, use --rotate with it.',
    }),
  }),
  defineInEach({
    code: 'certificate-validity',
    when: ({ pair, form }, { now }) => (form === undefined ? [] : findEndOfManifest(pair, form.written, now)),
    say: ({ address, leftMs, field }) => {
      const when = leftMs > 0 ? `ends in ${renderTimeSpan(leftMs)}` : `ended ${renderTimeSpan(-leftMs)} ago`;
      return {
        message: `${address} ${when}, and no apply changes that: its manifest fixes the end with spec.${field}`,
        remedy: `Change spec.${field}, or set lifecycle.valid_for instead of times.`,
      };
    },
  }),
  define({
    code: 'claimed-elsewhere',
    when: ({ lateClaims }) => lateClaims,
    say: ({ address, why, remedy }) => ({ message: `${address}: ${why}`, remedy }),
  }),
  define({
    code: 'used-elsewhere',
    when: findCrossStackUsers,
    say: ({ address, action, names }) => ({
      message: `${address} would be ${action === 'delete' ? 'deleted' : 'replaced'}, and ${names.join(', ')} ${names.length === 1 ? 'refers' : 'refer'} to it`,
      remedy: 'Change the resources that refer to it first: the service does not delete a resource in use.',
    }),
  }),
  define({
    code: 'kept-for-hand-over',
    when: ({ input, paired }) => findKeptForTakers(input, paired),
    say: ({ address, id, taker: { stack, folder, as, isByMark } }) => {
      const isOfNone = stack === '';
      const who = isOfNone ? `${folder}, which belongs to no stack,` : `the stack ${stack}`;
      const remedy = isOfNone
        ? `Add a Stack document to the folder of ${folder}, and apply it.`
        : `Apply the stack in ${folder}. The order does not matter.`;
      const statement = `${address} (${id}) is in no manifest, and is kept: ${who}`;
      return isByMark === true
        ? {
            message: `${statement} may take it back as ${as}`,
            remedy: `${remedy} If its plan does not take it back, that says why, and a run over both stacks (--recursive) deletes it here.`,
          }
        : { message: `${statement} takes it over as ${as}`, remedy };
    },
  }),
  define({
    code: 'kept-prune',
    when: ({ kept, input: { keptPrunes, allowAdopted } }) =>
      kept.map(({ pair }) => ({
        address: pair.address,
        place: undefined,
        id: pair.live?.id,
        ...(keptPrunes ?? explainKeptAdoption(pair, allowAdopted)),
      })),
    say: ({ address, id, why, remedy }) => ({
      message: `${address} (${id}) is in no manifest, and is kept in this run: ${why}`,
      remedy,
    }),
  }),
  definePredecessor({
    when: ({ decisions }) => {
      const missing = findMissingAdoptions(decisions);
      return isAnotherAccount(missing, decisions) ? [] : missing;
    },
    say: ({ address, kind, id }) => ({
      message: `${address}: there is no ${kind.name} ${id} to adopt, so an apply creates a new one`,
      remedy: 'If the id is wrong, correct it before you apply. If the resource was deleted, remove the line.',
    }),
  }),
  definePredecessor({
    when: ({ decisions }) => {
      const missing = findMissingAdoptions(decisions);
      const [first] = missing;
      if (first === undefined || !isAnotherAccount(missing, decisions)) return [];
      return [{ ...first, named: first.address, address: undefined, count: missing.length }];
    },
    say: ({ named, id, count }) => ({
      message: `None of the ${count} ids to adopt exists, such as ${id} of ${named}: another account?`,
      remedy:
        'Check the URL and the key: edgewise explain settings. If the account was emptied, an apply creates everything anew, with new ids. What has an old one, such as an External by id in another stack or a script, needs the new one: edgewise get --format value=id',
    }),
  }),
  definePredecessor({
    when: ({ decisions, input: { live, desired } }) =>
      findMissingFormerNames(decisions, { live, stack: desired.stack.name }),
    say: ({ address, former, owner, meant }) => ({
      message: `${address}: ${owner} has no ${former} to rename, so an apply creates a new resource`,
      remedy:
        meant ??
        'If the name is wrong, correct it before you apply. If the resource no longer exists, remove the line.',
    }),
  }),
  definePredecessor({
    when: ({ predecessors, input }) =>
      listPredecessorsByStack(predecessors, input).map((one) => ({
        ...one,
        address: undefined,
        place: input.desired.stack.layers[0]?.locate(['metadata', 'name']),
      })),
    say: ({ owner, named, count }) => ({
      message: `${count === 1 ? '1 resource' : `${count} resources`} would be created beside equal ones of the stack ${owner}: ${named}`,
      remedy: `If this stack had that name, or has documents of that stack, keep the resources: add to the metadata of the Stack:\nrenamed_from: ${owner}\nOtherwise both stay, or the stack ${owner} deletes its own.`,
    }),
  }),
  definePredecessor({
    when: ({ decisions, kept }) => {
      const ids = new Set(kept.map(({ pair }) => pair.live?.id));
      const renames = findRenames([...decisions, ...kept]);
      return renames.map((one) => ({ ...one, end: ids.has(one.before.id) ? 'in no manifest' : 'deleted' }));
    },
    say: ({ address, desired, kind, before: { name, id }, hasClaims, end }) => ({
      message: `${address} ${hasClaims ? 'claims all unique values' : 'has the fields'} of ${kind.name}/${name} (${id}), which is ${end}`,
      remedy: `If it was only renamed, keep the resource: ${formatLifecycleHint(desired, { name: 'renamed_from', value: name })}`,
    }),
  }),
  definePredecessor({
    when: ({ decisions, input }) => findAdoptable(decisions, input.live),
    say: ({ address, desired, id }) => ({
      message: `${address} would be created beside ${id}, which has the same fields and no mark`,
      remedy: `If it is the same resource, adopt it: ${formatLifecycleHint(desired, { name: 'adopt', value: id })}`,
    }),
  }),
  define({
    code: 'mark-lost',
    when: ({ lookAlikes }) => {
      const doubtful = lookAlikes.filter(({ isDoubtful }) => isDoubtful);
      return [...Map.groupBy(doubtful, ({ address }) => address).values()].flatMap(([one, ...others]) =>
        one === undefined ? [] : [{ ...one, others: others.length === 0 ? '' : `, as ${others.length} more do` }],
      );
    },
    say: ({ address, adopter, id, has, others }) => ({
      message: `${address} would be created beside ${id}, which has ${has} and no metadata${others}: an earlier apply may have created it`,
      remedy: `If it is another one, apply. ${formatLostMarkRemedy(id, adopter)}`,
    }),
  }),
  define({
    code: 'mark-lost',
    when: ({ decisions, paired, input: { live, desired } }) =>
      findLostReplacements(decisions, { live, paired, stack: desired.stack.name }),
    say: ({ address, id, isCut }) => ({
      message: `${address} stays beside ${id}, which is younger, looks like it, and has no mark: an earlier apply may have replaced it by that one, and delivered its token`,
      remedy: `Its token may be in use. Once the service keeps metadata, ${isCut ? `delete ${id} by hand, and apply with --rotate ${address} at once` : `set another \`description\`, apply with --rotate ${address}, and delete ${id} by hand`}.`,
    }),
  }),
  define({
    code: 'mark-lost',
    severity: 'error',
    when: ({ decisions, input: { live, desired } }) => findCutMarks(decisions, { live, stack: desired.stack.name }),
    say: ({ id, adopter, what }) => ({
      message: `${what}: ${id} has only the beginning of its mark, so the service cuts metadata and cannot be managed`,
      remedy: formatLostMarkRemedy(id, adopter),
    }),
  }),
  define({
    code: 'mark-lost',
    severity: 'error',
    when: ({ lookAlikes }) => lookAlikes.filter(({ isDoubtful }) => !isDoubtful),
    say: ({ address, id, adopter, has, done }) => ({
      message: `${address} is not ${done}: ${id} has ${has} and no metadata, so an earlier apply may have created it, and the service lost its mark`,
      remedy: `If it is another one, set a \`description\` that it does not have. ${formatLostMarkRemedy(id, adopter)}`,
    }),
  }),
  define({
    code: 'clock-skew',
    when: ({ input }) => listClockSkewWarnings(input.clock ?? NO_SKEW, renderTimeSpan),
    say: (fact) => fact,
  }),
  defineInEach({
    code: 'clock-skew',
    severity: 'error',
    // The validity of such a certificate begins when it is created: it would be valid at another time than meant.
    when: ({ action, pair: { kind, desired, address } }, { clock = NO_SKEW }) => {
      if (!clock.isDoubtful || !isCreation({ action }) || desired === undefined) return [];
      if (findManifestValidForMs(kind, desired) === undefined) return [];
      return [{ address, place: desired.locate(['lifecycle', 'valid_for']), skewMs: clock.skewMs }];
    },
    say: ({ address, skewMs }) => ({
      message: `${address} would begin now, and it is unknown which clock is right${skewMs === 0 ? '' : `, which differ by ${renderTimeSpan(Math.abs(skewMs))}`}`,
      remedy: 'Set the clock of this machine, or set times in the manifest instead of lifecycle.valid_for.',
    }),
  }),
  defineInEach({
    code: 'resource-unhealthy',
    when: (decision) =>
      listStaying(decision).flatMap(({ address, kind, live, desired }) =>
        kind
          .checkHealth(live?.computed ?? {})
          .map((blocked) => ({ ...blocked, address, place: desired.locate(['spec', blocked.field]) })),
      ),
    say: ({ address, message, remedy }) => ({ message: `${address}: ${message}`, remedy }),
  }),
  defineInEach({
    code: 'certificate-validity',
    // One with `renew_before` is replaced in time.
    when: (decision, { now }) =>
      listStaying(decision).flatMap(({ address, kind, live, desired }) => {
        const after = readFieldTime(live?.spec ?? {}, kind.validity?.after);
        const until = findUnstatedTime(decision, 'until');
        const isRenewed = desired.lifecycle.settings['renew_before'] !== undefined;
        if (after === undefined || until === undefined || isRenewed) return [];
        const leftMs = until - now.getTime();
        return leftMs > (until - after) * VALIDITY_WARNING_SHARE ? [] : [{ address, place: desired.locate(), leftMs }];
      }),
    say: ({ address, leftMs }) => ({
      message: `${address} ${leftMs > 0 ? `expires in ${renderTimeSpan(leftMs)}` : `expired ${renderTimeSpan(-leftMs)} ago`}; only an apply after its end replaces it`,
      remedy: `Set lifecycle.renew_before, so that it is replaced in time, or replace it now with --rotate ${address}.`,
    }),
  }),
  defineInEach({
    code: 'certificate-validity',
    // It begins later although its manifest does not say when: the clock was wrong.
    when: (decision, { now }) =>
      listStaying(decision).flatMap(({ address, desired }) => {
        const waitMs = (findUnstatedTime(decision, 'after') ?? 0) - now.getTime();
        return waitMs > 0 ? [{ address, place: desired.locate(), waitMs }] : [];
      }),
    say: ({ address, waitMs }) => ({
      message: `${address} is not valid yet: it begins in ${renderTimeSpan(waitMs)}`,
      remedy: `To replace it by one that is valid now, use --rotate ${address}.`,
    }),
  }),
  defineInEach({
    code: 'creation-withheld',
    when: ({ action, reason, pair: { address, live, desired } }) =>
      action === 'withhold' ? [{ address, place: desired?.locate(), reason, live }] : [],
    say: ({ address, reason, live }) => ({
      message: `${address} is not ${live !== undefined && isRefusalRecord(live) ? 'created' : 'replaced'}: ${reason}`,
      remedy: `Change the manifest, or try again with --rotate ${address}. Everything else is applied.`,
    }),
  }),
  defineInEach({
    code: 'creation-withheld',
    when: ({ action, pair: { address, live, desired } }) => {
      const isForged = live?.mark?.refused !== undefined && findRefusedCreation(live) === undefined;
      return isForged && action !== 'withhold' ? [{ address, place: desired?.locate(), id: live.id }] : [];
    },
    say: ({ address, id }) => ({
      message: `${address}: the mark of ${id} says that the service refused a creation, and does not name its own resource, so this does not count`,
      remedy: 'Find out who wrote it, and remove `refused` from its metadata. Nothing else depends on it.',
    }),
  }),
  defineInEach({
    code: 'unset-field-kept',
    when: ({ pair: { kind, desired, address }, action, differences }) =>
      desired === undefined || action === 'replace' || action === 'withhold'
        ? []
        : differences
            .filter(({ path, to }) => to === undefined && kind.fields[path]?.keepsLiveValue === true)
            .map(({ path, from }) => ({ address, place: desired.locate(['spec']), kind, path, from })),
    say: ({ address, kind, path, from }) => {
      const value = typeof from === 'string' ? from : JSON.stringify(from ?? null);
      const rotation = isRotatable(kind) ? ` To let the service choose again, add --rotate ${address}.` : '';
      return {
        message: `${address}: spec.${path} is no longer set in the manifest, but keeps the value ${value}, because the service chooses a value only for new resources`,
        remedy: `To keep the value, set ${path}: ${value}. Another value replaces the resource.${rotation}`,
      };
    },
  }),
  defineInEach({
    code: 'unset-field-kept',
    when: findLongValidity,
    say: ({ address, lengthMs, defaultMs }) => ({
      message: `${address}: it is valid for ${formatRoundedDuration(lengthMs)}, but its manifest sets no length; a replacement would be valid for ${formatRoundedDuration(defaultMs)}`,
      remedy: `To keep the length, set lifecycle.valid_for. To replace it now, add --rotate ${address}.`,
    }),
  }),
  define({
    code: 'shown-otherwise',
    when: ({ decisions }): readonly (Subject & HiddenFields)[] => findHiddenFields(decisions),
    say: ({ kind, paths }) => {
      const it = paths.length === 1 ? 'it' : 'them';
      const isWritten = getKind(kind).role === 'attached';
      return {
        message: `${kind}: the service does not show ${paths.join(', ')}, so ${paths.length === 1 ? 'it is' : 'they are'} not compared`,
        remedy: isWritten
          ? `Each apply writes ${it}, unless the value in the manifest is empty or the default. Edgewise cannot detect changes to ${it}: check ${it} at the service.`
          : `Edgewise cannot detect changes to ${it}. Check ${it} at the service, or leave ${it} to others with lifecycle.ignore: [${paths.join(', ')}].`,
      };
    },
  }),
  defineInEach({
    code: 'token-sink-missing',
    severity: 'error',
    when: (decision, input) =>
      lacksSink(decision, input) ? [{ address: decision.pair.address, place: decision.pair.desired?.locate() }] : [],
    say: ({ address }) => ({
      message: `${address} would be created, but no token sink is set for it, and the service shows the token only once`,
      remedy: 'Set spec.tokens in the Stack, or give plan and apply the same --token-directory or --token-command.',
    }),
  }),
  defineInEach({
    code: 'lockout',
    when: ({ action, form, pair: { address, kind, desired } }) =>
      !sendsNothing(action) && form !== undefined && kind.canLockOut(form.normal)
        ? [{ address, place: desired?.locate(['spec']) }]
        : [],
    say: ({ address }) => ({
      message: `${address} restricts the API, the dashboard or agents, and may lock out the user who applies it`,
      remedy: 'Make sure that its IP policies allow the address that edgewise runs from. It is written last.',
    }),
  }),
];

/** Why a plan keeps what was adopted, and what that needs. */
function explainKeptAdoption(
  { address, live }: ChangeDecision['pair'],
  allowed: PlanInput['allowAdopted'] = [],
): KeptPrunes {
  if (live === undefined || !isAsAdopted(live) || allowed.includes(address))
    return {
      why: 'what is kept refers to it',
      remedy: `It goes with that one, or stays with edgewise release ${address}.`,
    };
  return {
    why: 'it was adopted, and edgewise has changed nothing on it since',
    remedy: `To leave it as it was: edgewise release ${address}. To delete what people made, use --allow-adopted ${address}, or answer the question of edgewise apply in a terminal.`,
  };
}

function formatLostMarkRemedy(id: string, adopter: DesiredResource | undefined): string {
  const adopt = adopter && `, or adopt it: ${formatLifecycleHint(adopter, { name: 'adopt', value: id })}`;
  return `If it is not needed, delete ${id} by hand${adopt ?? ''}`;
}

/** More missing ids are no mistakes of single lines. */
const FEW = 5;

/** Whether many manifests name an id to adopt, and none of those resources exists. */
function isAnotherAccount(missing: readonly unknown[], decisions: readonly ChangeDecision[]): boolean {
  const adopting = decisions.filter(({ pair }) => pair.desired?.lifecycle.adopt !== undefined);
  return missing.length > FEW && missing.length === adopting.length;
}

/** The resource of a decision that keeps it: the plan may change it, but neither deletes nor replaces it. */
function listStaying({ action, pair }: ChangeDecision): readonly (ChangeDecision['pair'] & {
  readonly desired: DesiredResource;
})[] {
  const isSkipped = action === 'delete' || isCreation({ action });
  return isSkipped || pair.desired === undefined ? [] : [{ ...pair, desired: pair.desired }];
}

/** The start or end of a live certificate, in milliseconds. `undefined`: it has none, or its manifest states it. */
function findUnstatedTime({ pair, form }: ChangeDecision, end: 'after' | 'until'): number | undefined {
  const field = pair.kind.validity?.[end];
  const isEndSet = readFieldTime(form?.written ?? {}, field) !== undefined;
  return isEndSet ? undefined : readFieldTime(pair.live?.spec ?? {}, field);
}

/**
 * A validity longer than the default by this factor counts as set by a user. The factor is well above 1, because
 * services backdate validities a little.
 */
const MIN_LENGTH_RATIO = 2;

interface LongValidity extends Subject {
  readonly address: string;
  readonly lengthMs: number;
  readonly defaultMs: number;
}

/**
 * Finds a resource that is valid for much longer than the default although its manifest sets no validity. Probably
 * `lifecycle.valid_for` was removed; the mark does not record it.
 */
function findLongValidity({ pair, action, form }: ChangeDecision): readonly LongValidity[] {
  const { kind, desired, live, address } = pair;
  const { validity } = kind;
  if (validity === undefined || desired === undefined || live === undefined || form === undefined) return [];
  const { after, until, defaultMs } = validity;
  const isEndSet = form.written[until] !== undefined || findManifestValidForMs(kind, desired) !== undefined;
  const isOurs = pair.by === 'mark' && !desired.lifecycle.ignore.includes(until);
  if (action === 'replace' || isEndSet || !isOurs) return [];
  const lengthMs = (readFieldTime(live.spec, until) ?? 0) - (readFieldTime(live.spec, after) ?? 0);
  if (lengthMs <= MIN_LENGTH_RATIO * defaultMs) return [];
  return [{ address, place: desired.locate(['spec']), lengthMs, defaultMs }];
}

interface RemovedInUse extends Subject {
  readonly address: string;
  readonly action: ChangeDecision['action'];
  readonly names: readonly string[];
}

/** Finds deletes and replaces of resources to which resources of other stacks still refer. */
function findCrossStackUsers({ decisions, input }: WarnedPlan): readonly RemovedInUse[] {
  const { live, desired } = input;
  const removed = decisions.filter(
    ({ action, pair }) => (action === 'delete' || action === 'replace') && isReferable(pair.kind),
  );
  if (removed.length === 0) return [];
  const others = [...live.resources.values()].flat().filter((one) => !isOwnedBy(one, desired.stack.name));
  const users = Map.groupBy(others.flatMap(listUses), ({ id }) => id);
  return removed.flatMap(({ action, pair: { address, live: one } }) => {
    const names = [...new Set((users.get(one?.id ?? '') ?? []).map(({ user }) => user))].sort();
    return names.length === 0 ? [] : [{ address, action, names }];
  });
}

function listUses({ kind, spec, mark }: LiveResource): readonly { readonly id: string; readonly user: string }[] {
  if (mark === undefined) return [];
  const user = `${toAddress(kind, mark.name)} of the stack ${mark.stack}`;
  return listReferences(getKind(kind), spec).map(({ value }) => ({ id: value, user }));
}
