import type { Client } from '../client/client.ts';
import { sleepFor } from '../client/retry.ts';
import { type Kind, listOneTimeFields } from '../kinds/kind.ts';
import { toResourcePath } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toBaseAddress } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import { type JsonObject, toDigest } from '../model/json.ts';
import type { ApplyEvent, ApplyResult, Outcome } from '../model/outcome.ts';
import type { Plan, Write } from '../model/plan.ts';
import type { LiveResource } from '../model/state.ts';
import { toFileText } from '../plan/files.ts';
import { listAbandoned } from '../plan/look-ups.ts';
import type { WriteFile } from './certificate-file.ts';
import { findChangedMeanwhile } from './changed-meanwhile.ts';
import { listNotKept, listNotTaken } from './check-response.ts';
import { createOnce, isUnknownCreation } from './create-once.ts';
import { type Delivery, deliverToken } from './deliver-token.ts';
import { type Journal, type JournalEntry, JournalError, journaled } from './journal.ts';
import { judgeCreation } from './judge-creation.ts';
import { LookUps } from './look-ups.ts';
import { disown, isOvertaken, isRecord } from './overtaken.ts';
import { toRefusal } from './refusal.ts';
import { type ResolvedWrite, resolveWrite } from './resolve-write.ts';
import { listBearers, listKnownIds, type Made, type RivalContext } from './rivals.ts';
import { settleRivals } from './settle-rivals.ts';
import type { TokenSinks } from './token-sinks.ts';
import { writePlannedFiles } from './write-files.ts';

/**
 * Does what a plan says. Each write starts as soon as the writes that it needs have succeeded; when one fails, what needs it is
 * skipped and the rest goes on. Besides, it lists a kind to find out what became of a creation, and whether somebody else made
 * the same at the same time; then it deletes what it made itself. Deliberately absent: comparing and deciding.
 */
export interface ApplyContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list'>;
  /** Where tokens go. Each credential that the plan creates has one. */
  readonly sinks: TokenSinks;
  readonly onEvent: (event: ApplyEvent) => void;
  /** When a write is made: what is valid for a time is valid from then on. */
  readonly now: () => Date;
  /** Resolves after a time, or as soon as the signal is aborted. Left out: by the clock of the system. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Aborted: no new write starts; those under way finish. */
  readonly signal: AbortSignal;
  /** Writes of the plan that were found done, with the id of their resource. */
  readonly done: ReadonlyMap<string, string | undefined>;
  /** Ids that are known already, by address. */
  readonly ids: ReadonlyMap<string, string>;
  /** Texts for files, of what was found done already, by address. */
  readonly texts: ReadonlyMap<string, string>;
  readonly writeFile: WriteFile;
  /** Gets a line before and after each request. */
  readonly journal?: Journal | undefined;
}

/** Applies a plan. Never rejects because of the world: what failed is in the result. */
export async function applyPlan(plan: Plan, context: ApplyContext): Promise<ApplyResult> {
  const run = new Run(plan, context);
  const outcomes = await settleRivals(await run.finish(), run);
  const { writeFile: write, signal } = context;
  const made = new Set(outcomes.flatMap((one) => (one.outcome === 'applied' ? [one.write.address] : [])));
  const texts = new Map([...run.texts].filter(([address]) => made.has(address) || context.texts.has(address)));
  const files = await writePlannedFiles(plan, { write, texts, signal });
  return {
    outcomes,
    tokens: run.tokens,
    files,
    diagnostics: run.diagnostics,
    lookUps: run.rivals.lookUps.count,
    interrupted: signal.aborted,
  };
}

type Token = ApplyResult['tokens'][number];

/** What was sent, and what was answered to it. */
interface Exchanged {
  readonly sent: ResolvedWrite;
  readonly answer: JsonObject | null;
}

class Run {
  readonly tokens: Token[] = [];
  readonly diagnostics: Diagnostic[] = [];
  readonly texts: Map<string, string>;
  readonly rivals: RivalContext;
  readonly #plan: Plan;
  readonly #context: ApplyContext;
  readonly #ids: Map<string, string>;
  readonly #outcomes = new Map<string, Promise<Outcome>>();
  /** Deliveries that may have to be made once more, by address. */
  readonly #again = new Map<string, () => Promise<Delivery>>();
  readonly #abandoned: ReadonlySet<Write>;
  /** Records of deliveries that the service did not take: the token is in its place, and what it replaces can go. */
  readonly #unrecorded = new Set<string>();
  #ended = 0;

  constructor(plan: Plan, context: ApplyContext) {
    const { signal, sleep = sleepFor } = context;
    this.#plan = plan;
    this.#context = context;
    this.#abandoned = listAbandoned(plan);
    this.#ids = new Map(context.ids);
    this.texts = new Map(context.texts);
    this.rivals = {
      lookUps: new LookUps((kind) => this.#list(kind)),
      known: listKnownIds(plan),
      sleep: (ms) => sleep(ms, signal),
    };
  }

  /** Takes back what this run itself made. Rejects as the client does. */
  async remove({ write, id }: Made): Promise<void> {
    const { client, signal } = this.#context;
    const path = toResourcePath(getKind(write.kind), { id });
    const { id: name, address } = write;
    const entry = { request: 'undo', write: name, method: 'DELETE', path, address, id } as const;
    const send = () => client.send('DELETE', path, undefined, { patience: signal });
    await client.limit(() => this.#aside(entry, send));
  }

  async #list(kind: Kind): Promise<readonly JsonObject[]> {
    const { client, signal } = this.#context;
    const entry = { request: 'look-up', method: 'GET', path: kind.path } as const;
    return this.#aside(entry, () => client.list(kind, undefined, signal));
  }

  /** A request beside the writes of the plan: interrupted before it was sent, it failed. */
  async #aside<T>(entry: Omit<JournalEntry, 'event'>, send: () => Promise<T>): Promise<T> {
    const { journal, signal } = this.#context;
    try {
      return await journaled(journal, entry, { send, signal });
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error;
      throw new NetworkError(`${entry.method} ${entry.path}: not sent, because the run was interrupted`, {
        cause: error,
      });
    }
  }

  /** Says what was seen of others. */
  note(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
    this.#context.onEvent({ event: 'diagnostic', diagnostic });
  }

  async finish(): Promise<readonly Outcome[]> {
    const early = this.#plan.writes.filter(({ last }) => !last).map((write) => this.#start(write, NOTHING));
    const late = this.#plan.writes.filter(({ last }) => last).map((write) => this.#start(write, Promise.all(early)));
    return Promise.all([...early, ...late]);
  }

  /** Writes stand in the plan behind those that they need, so those have started. */
  #start(write: Write, before: Promise<unknown>): Promise<Outcome> {
    const needed = write.needs.map((id) => assertDefined(this.#outcomes.get(id), `write ${id}`));
    const outcome = Promise.all([before, ...needed]).then(([, ...results]) => this.#settle(write, results));
    this.#outcomes.set(write.id, outcome);
    return outcome;
  }

  async #settle(write: Write, needed: readonly Outcome[]): Promise<Outcome> {
    const result = await this.#deliverAgain(await this.#attempt(write, needed));
    this.#ended += 1;
    this.#context.onEvent({ event: 'write-ended', result, done: this.#ended, total: this.#plan.writes.length });
    return result;
  }

  async #attempt(write: Write, needed: readonly Outcome[]): Promise<Outcome> {
    if (this.#context.done.has(write.id))
      return { outcome: 'applied', write, id: this.#context.done.get(write.id), alreadyDone: true };
    const inVain = needed
      .filter(({ outcome }) => outcome !== 'applied')
      .filter((result) => write.method !== 'DELETE' || !this.#unrecorded.has(result.write.id))
      .map((result) => result.write.id);
    if (inVain.length > 0)
      return { outcome: 'skipped', write, message: `waited for ${inVain.join(', ')}`, waitedFor: inVain };
    try {
      return (await this.#perform(write)) ?? { outcome: 'skipped', write, message: 'interrupted', waitedFor: [] };
    } catch (error) {
      return isOvertaken(write, error) ? this.#disown(write, write) : toFailure(write, error);
    }
  }

  /** See `overtaken.ts`: once the credential is gone that another apply may be delivering, the token that counts is delivered last. */
  async #deliverAgain(result: Outcome): Promise<Outcome> {
    const { write, outcome } = result;
    const deliver = this.#again.get(toBaseAddress(write.address));
    if (deliver === undefined || outcome !== 'applied' || !this.#abandoned.has(write)) return result;
    const { fault } = await deliver();
    return fault === undefined ? this.#recordAgain(result) : fail(write, fault);
  }

  /** A delivery counts once it is recorded on a credential that is still there. */
  async #recordAgain(result: Outcome): Promise<Outcome> {
    const id = `deliver ${toBaseAddress(result.write.address)}`;
    const record = this.#plan.writes.find((write) => write.id === id);
    if (record === undefined) return result;
    try {
      const sent = resolveWrite(record, this.#ids, this.#context.now());
      await this.#context.client.limit(() => this.#exchange(record, sent));
      return result;
    } catch (error) {
      return isOvertaken(record, error) ? this.#disown(result.write, record) : toFailure(result.write, error);
    }
  }

  async #disown(write: Write, record: Write): Promise<Outcome> {
    const patch = async ({ id, address }: Write, path: string, body: JsonObject): Promise<void> => {
      const entry = { request: 'undo', write: id, method: 'PATCH', path, address, body: toDigest(body) } as const;
      const { client, signal } = this.#context;
      await client.limit(() => this.#aside(entry, () => client.send('PATCH', path, body, { patience: signal })));
    };
    try {
      return fail(write, await disown(record, { rivals: this.rivals, patch }));
    } catch (error) {
      return toFailure(write, error);
    }
  }

  /** `undefined`: interrupted before anything was sent. */
  async #perform(write: Write): Promise<Outcome | undefined> {
    if (write.method === 'POST') return this.#create(write);
    const exchanged = await this.#send(write, () => resolveWrite(write, this.#ids, this.#context.now()));
    return exchanged && this.#accept(write, exchanged);
  }

  /** What is sent is resolved when its turn has come. */
  async #send(write: Write, resolve: () => ResolvedWrite): Promise<Exchanged | undefined> {
    return this.#context.client.limit(async () => {
      if (this.#context.signal.aborted) return undefined;
      this.#context.onEvent({ event: 'write-started', write });
      const sent = resolve();
      return this.#exchange(write, sent);
    });
  }

  /** A write that waits for its turn at the service is given up when the run is interrupted; one that is under way is not. */
  async #exchange(write: Write, sent: ResolvedWrite): Promise<Exchanged | undefined> {
    const { client, signal, journal } = this.#context;
    const { method, path, body } = sent;
    const send = () => client.send(method, path, body, { patience: signal });
    try {
      return { sent, answer: await journaled(journal, toEntry(write, sent), { send, toId, signal }) };
    } catch (error) {
      if (signal.aborted && error === signal.reason) return undefined;
      throw error;
    }
  }

  #accept(write: Write, { sent, answer }: Exchanged): Outcome {
    const faults = answer === null ? [] : listNotTaken(write, sent, answer);
    const meanwhile = answer === null ? undefined : findChangedMeanwhile(this.#plan, write, answer);
    if (meanwhile !== undefined) this.note(meanwhile);
    const id = write.resourceId ?? this.#ids.get(toBaseAddress(write.address));
    if (faults.length === 0) return { outcome: 'applied', write, id };
    if (isRecord(write)) this.#unrecorded.add(write.id);
    return fail(write, faults.join('; '));
  }

  /** What is sent again is the same: its times too. */
  async #create(write: Write): Promise<Outcome | undefined> {
    let sent: ResolvedWrite | undefined;
    const resolve = (): ResolvedWrite => {
      sent ??= resolveWrite(write, this.#ids, this.#context.now());
      return sent;
    };
    const created = await createOnce({
      send: () => this.#send(write, resolve),
      look: () => listBearers(write, this.rivals),
      sleep: this.rivals.sleep,
    });
    if (created === undefined) return undefined;
    if ('found' in created) return this.#acceptFound(write, resolve(), created.found);
    const { answer } = created.answer;
    return this.#acceptCreation(write, resolve(), answer ?? {});
  }

  /** A token that went down with an answer comes back by a new credential only. */
  #acceptFound(write: Write, sent: ResolvedWrite, live: LiveResource): Outcome {
    const [field] = listOneTimeFields(getKind(write.kind));
    if (field !== undefined) {
      const message = `no answer came to its creation; it was found as ${live.id}, and its ${field} is lost with the answer. The next apply replaces it, unless another apply made it and delivers the ${field}`;
      return fail(write, message);
    }
    const faults = this.#take(write, sent, live);
    if (faults.length > 0) return fail(write, faults.join('; '));
    return { outcome: 'applied', write, id: live.id, found: true };
  }

  /** What is not as it was sent is taken back while its token is nowhere else; only then is the token delivered. */
  async #acceptCreation(write: Write, sent: ResolvedWrite, answer: JsonObject): Promise<Outcome> {
    const judged = await judgeCreation(write, { sent, answer }, this);
    if (typeof judged === 'string') return fail(write, judged);
    const { live, token } = judged;
    const undelivered = token === undefined ? [] : await this.#deliver(write, token, live?.id ?? '');
    if (live === undefined) return fail(write, [...undelivered, 'the service did not say which id it has'].join('; '));
    const faults = [...undelivered, ...this.#take(write, sent, live)];
    return faults.length === 0 ? { outcome: 'applied', write, id: live.id } : fail(write, faults.join('; '));
  }

  /** Remembers a resource for what refers to it. Gives what is not as it was sent. */
  #take(write: Write, sent: ResolvedWrite, live: LiveResource): readonly string[] {
    this.#ids.set(toBaseAddress(write.address), live.id);
    const text = toFileText(live.computed[getKind(write.kind).fileField ?? '']);
    if (text !== undefined) this.texts.set(write.address, text);
    return listNotKept(write, sent, live);
  }

  async #deliver(write: Write, token: string, id: string): Promise<readonly string[]> {
    const { name, stack } = assertDefined(write.mark, `mark of ${write.id}`);
    const { sinks, client } = this.#context;
    const sink = assertDefined(sinks.find(name), 'token sink');
    const recipient = { address: write.address, name, id, stack };
    const deliver = () => client.limit(() => deliverToken(recipient, token, { sink, rescue: sinks.rescue }));
    this.#again.set(toBaseAddress(write.address), deliver);
    const { token: place, fault } = await deliver();
    if (place !== undefined) this.tokens.push(place);
    return fault === undefined ? [] : [fault];
  }
}

const NOTHING = Promise.resolve();

function toEntry({ id: write, address, resourceId }: Write, { method, path, body }: ResolvedWrite) {
  const known = resourceId === undefined ? {} : { id: resourceId };
  const digest = body === undefined ? {} : { body: toDigest(body) };
  return { request: 'write', write, method, path, address, ...digest, ...known } as const;
}

function toId(answer: JsonObject | null): string | undefined {
  return typeof answer?.['id'] === 'string' ? answer['id'] : undefined;
}

/** Deleting what is gone already has come to the same end. */
function toFailure(write: Write, error: unknown): Outcome {
  const isUnknown = write.method === 'POST' && isUnknownCreation(error);
  if (error instanceof ApiError) {
    if (write.method === 'DELETE' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.resourceId };
    return { ...fail(write, error.message), ...toRefusal(write, error), isUnknown };
  }
  if (error instanceof NetworkError) return { ...fail(write, error.message), isUnknown };
  if (error instanceof JournalError) return fail(write, error.message);
  throw error;
}

function fail(write: Write, message: string): Extract<Outcome, { outcome: 'failed' }> {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}
