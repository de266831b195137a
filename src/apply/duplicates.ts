import { getKind } from '../kinds/tables/registry.ts';
import { assertDefined, assertNever, getErrorMessage } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { CreateWrite } from '../model/write.ts';
import { isCreateWithoutClaims } from '../plan/duplicates.ts';
import type { ApplyRun } from './apply-run.ts';
import { isExternalError } from './external-error.ts';
import { PAUSES_MS } from './look-ups.ts';
import { createConcurrencyWarning } from './planned-live.ts';
import type { ApplyRequests, CreatedResource } from './requests.ts';
import { createWithdrawnOutcome, takeBack, takeBackUnmarked, type Withdrawal } from './take-back.ts';

/** Two concurrent applies of a stack can create a resource twice. The apply that created the later one deletes it. */

type DuplicatesRun = Pick<ApplyRun, 'settling' | 'note'>;

/**
 * After all writes, looks for duplicates of the resources that this run created. A resource with a unique value is not
 * checked, because the service rejects its second creation. Returns the outcomes; the creation of a deleted duplicate
 * counts as failed.
 */
export async function deleteOwnDuplicates(
  outcomes: readonly Outcome[],
  run: DuplicatesRun,
): Promise<readonly Outcome[]> {
  return Promise.all(outcomes.map((outcome) => settleOutcome(outcome, run)));
}

async function settleOutcome(outcome: Outcome, run: DuplicatesRun): Promise<Outcome> {
  const made = findCreatedResource(outcome);
  if (made === undefined) return outcome;
  const found = await findConcurrentDuplicates(made, run.settling);
  const warn = (text: string, remedy: string): void =>
    run.note(createConcurrencyWarning(outcome.write.address, text, remedy));
  if (found.is === 'unknown')
    warn(`the check for a concurrent apply failed: ${found.why}.`, 'If there is a duplicate, the next plan shows it.');
  const withdrawal = await takeBackUnlessKept(made, found, run);
  if (withdrawal === undefined) return outcome;
  if (found.is === 'duplicate') warn(`${withdrawal.message}.`, TOGETHER);
  return createWithdrawnOutcome(made.write, withdrawal);
}

/**
 * Returns the created resource if it must be checked for duplicates. `undefined` if the write created nothing, if the
 * service itself rejects duplicates, or if the check was done before the delivery of a token.
 */
function findCreatedResource(outcome: Outcome): CreatedResource | undefined {
  const { write } = outcome;
  if (outcome.outcome !== 'applied' || !isCreateWithoutClaims(write)) return undefined;
  if (getKind(write.kind).oneTimeFields.length > 0) return undefined;
  return { write, id: assertDefined(outcome.id, `id of ${write.id}`) };
}

/**
 * Checks a new credential for duplicates before its token is delivered. Returns the reason not to deliver the token;
 * `undefined` if it can be delivered.
 */
export async function withdrawCredentialIfDuplicate(
  made: CreatedResource,
  run: DuplicatesRun,
): Promise<Withdrawal | undefined> {
  const found = await findConcurrentDuplicates(made, run.settling);
  if (found.is !== 'unknown') return takeBackUnlessKept(made, found, run);
  const message = `it was created as ${made.id}, but the check for a concurrent apply failed (${found.why}), so its token was not delivered. The next apply replaces it`;
  return { message };
}

async function takeBackUnlessKept(
  made: CreatedResource,
  found: DuplicateSearch,
  { settling, note }: DuplicatesRun,
): Promise<Withdrawal | undefined> {
  switch (found.is) {
    case 'kept':
      for (const loser of found.losers) {
        const text = `another apply${formatAuthor(loser)} also created this resource, as ${loser.id}. The resource of this run, ${made.id}, stays.`;
        const remedy = `${TOGETHER} The other apply or the next apply deletes the duplicate.`;
        note(createConcurrencyWarning(made.write.address, text, remedy));
      }
      return undefined;
    case 'unknown':
      return undefined;
    case 'unmarked':
      return takeBackUnmarked(made, 'the service lists it without its metadata, which holds the mark', settling);
    case 'duplicate': {
      const first = `another apply${formatAuthor(found.winner)} created this resource first, as ${found.winner.id}`;
      return { message: `${first}: ${await takeBack(made, settling, 'The next apply prunes it')}` };
    }
    default:
      return assertNever(found);
  }
}

/** What a search for duplicates of a new resource found. A duplicate has the same mark and is not in the plan. */
type DuplicateSearch =
  /** The resource stays. `losers`: its duplicates, which the applies that created them delete. */
  | { readonly is: 'kept'; readonly losers: readonly LiveResource[] }
  /** `winner` stays instead of the resource. */
  | { readonly is: 'duplicate'; readonly winner: LiveResource }
  /** The service lists the resource without its mark, by which later runs would recognize it. */
  | { readonly is: 'unmarked' }
  /** A list request failed. */
  | { readonly is: 'unknown'; readonly why: string };

/** A resource that is listed without its mark is listed by a service that dropped the mark, or that is a little late. */
const MAX_PAUSES_FOR_MARK = 2;

/**
 * Finds duplicates of a resource that this run created, and decides which resource to keep: the oldest whose token was
 * delivered or, if no token was delivered, the oldest. A list without the created resource is stale and is read again.
 */
export async function findConcurrentDuplicates(
  { write, id }: CreatedResource,
  { lookUps, sleep }: Pick<ApplyRequests, 'lookUps' | 'sleep'>,
): Promise<DuplicateSearch> {
  try {
    for (let attempt = 0; ; attempt += 1) {
      const { marked, all } = await lookUps.listMarked(write);
      const isShown = marked.some((resource) => resource.id === id);
      const lacksMark = !isShown && all.some((one) => one.id === id);
      const pauseMs = lacksMark && attempt >= MAX_PAUSES_FOR_MARK ? undefined : PAUSES_MS[attempt];
      if (isShown || pauseMs === undefined) return lacksMark ? { is: 'unmarked' } : rankMarked(marked, id);
      await sleep(pauseMs);
    }
  } catch (error) {
    if (isExternalError(error)) return { is: 'unknown', why: getErrorMessage(error) };
    throw error;
  }
}

/**
 * Decides which resource to keep, like a plan does. Exception: of several delivered tokens, a plan keeps the youngest. An
 * apply keeps the oldest, because it is only certain to see resources that were created before its own.
 */
function rankMarked(marked: readonly LiveResource[], id: string): DuplicateSearch {
  const delivered = marked.filter(({ mark }) => mark?.delivered === true);
  const [oldest] = delivered.length > 0 ? delivered : marked;
  if (oldest !== undefined && oldest.id !== id) return { is: 'duplicate', winner: oldest };
  return { is: 'kept', losers: marked.filter((resource) => resource.id !== id) };
}

/**
 * Warns if a concurrent apply has created the resource, and resolves with true. Called when the service rejects a
 * creation as a duplicate. Looks up each kind once in a run. Ignores a failed look-up.
 */
export async function warnOfConcurrentCreation(
  write: CreateWrite,
  { settling, note }: DuplicatesRun,
): Promise<boolean> {
  try {
    const [other] = await settling.lookUps.listNewestMarked(write);
    if (other === undefined) return false;
    const text = `another apply of the stack${formatAuthor(other)} created this resource after the plan was made, as ${other.id}.`;
    const remedy = `${TOGETHER} This apply continues. Run it again when both have ended.`;
    note(createConcurrencyWarning(write.address, text, remedy));
    return true;
  } catch (error) {
    if (!isExternalError(error)) throw error;
    return false;
  }
}

/** Formats the pipeline that the mark records, in parentheses. Empty if the mark records none. */
function formatAuthor({ mark }: LiveResource): string {
  return mark?.by === undefined ? '' : ` (${mark.by})`;
}

const TOGETHER = 'Run only one apply of a stack at a time.';
