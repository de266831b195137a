import type { Client } from '../client/client.ts';
import { listOneTimeFields } from '../kinds/kind.ts';
import { isId } from '../kinds/paths.ts';
import { getKind } from '../kinds/registry.ts';
import { toBaseAddress } from '../model/change.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { ApplyEvent, ApplyResult, Outcome } from '../model/outcome.ts';
import type { Plan, Write } from '../model/plan.ts';
import { toFileText } from '../plan/files.ts';
import type { WriteFile } from './certificate-file.ts';
import { listNotTaken } from './check-response.ts';
import { type ResolvedWrite, resolveWrite } from './resolve-write.ts';
import type { Recipient } from './token-sink.ts';
import type { TokenSinks } from './token-sinks.ts';
import { writePlannedFiles } from './write-files.ts';

/**
 * Does what a plan says and nothing else. Each write starts as soon as the writes that it needs have succeeded; when one fails,
 * what needs it is skipped and the rest goes on. Deliberately absent: reading, comparing and deciding.
 */
export interface ApplyContext {
  readonly client: Pick<Client, 'send' | 'limit'>;
  /** Where tokens go. Each credential that the plan creates has one. */
  readonly sinks: TokenSinks;
  readonly onEvent: (event: ApplyEvent) => void;
  /** When a write is made: what is valid for a time is valid from then on. */
  readonly now: () => Date;
  /** Aborted: no new write starts; those under way finish. */
  readonly signal: AbortSignal;
  /** Writes of the plan that were found done, with the id of their resource. */
  readonly done: ReadonlyMap<string, string | undefined>;
  /** Ids that are known already, by address. */
  readonly ids: ReadonlyMap<string, string>;
  /** Texts for files, of what was found done already, by address. */
  readonly texts: ReadonlyMap<string, string>;
  readonly writeFile: WriteFile;
}

/** Applies a plan. Never rejects because of the world: what failed is in the result. */
export async function applyPlan(plan: Plan, context: ApplyContext): Promise<ApplyResult> {
  const run = new Run(plan, context);
  const outcomes = await run.finish();
  const { writeFile: write, signal } = context;
  const files = await writePlannedFiles(plan, { write, texts: run.texts, signal });
  return { outcomes, tokens: run.tokens, files, interrupted: signal.aborted };
}

type Token = ApplyResult['tokens'][number];

class Run {
  readonly tokens: Token[] = [];
  readonly texts: Map<string, string>;
  readonly #plan: Plan;
  readonly #context: ApplyContext;
  readonly #ids: Map<string, string>;
  readonly #outcomes = new Map<string, Promise<Outcome>>();
  #ended = 0;

  constructor(plan: Plan, context: ApplyContext) {
    this.#plan = plan;
    this.#context = context;
    this.#ids = new Map(context.ids);
    this.texts = new Map(context.texts);
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
    const result = await this.#attempt(write, needed);
    this.#ended += 1;
    this.#context.onEvent({ event: 'write-ended', result, done: this.#ended, total: this.#plan.writes.length });
    return result;
  }

  async #attempt(write: Write, needed: readonly Outcome[]): Promise<Outcome> {
    if (this.#context.done.has(write.id))
      return { outcome: 'applied', write, id: this.#context.done.get(write.id), alreadyDone: true };
    const inVain = needed.filter(({ outcome }) => outcome !== 'applied').map((result) => result.write.id);
    if (inVain.length > 0)
      return { outcome: 'skipped', write, message: `waited for ${inVain.join(', ')}`, waitedFor: inVain };
    return this.#context.client.limit(async (): Promise<Outcome> => {
      if (this.#context.signal.aborted) return { outcome: 'skipped', write, message: 'interrupted', waitedFor: [] };
      this.#context.onEvent({ event: 'write-started', write });
      return this.#perform(write);
    });
  }

  async #perform(write: Write): Promise<Outcome> {
    try {
      const resolved = resolveWrite(write, this.#ids, this.#context.now());
      const answer = await this.#context.client.send(resolved.method, resolved.path, resolved.body);
      return await this.#accept(write, resolved, answer);
    } catch (error) {
      return toFailure(write, error);
    }
  }

  async #accept(write: Write, sent: ResolvedWrite, answer: JsonObject | null): Promise<Outcome> {
    if (write.method === 'POST') return this.#acceptCreation(write, sent, answer ?? {});
    const faults = answer === null ? [] : listNotTaken(write, sent, answer);
    const id = write.resourceId ?? this.#ids.get(toBaseAddress(write.address));
    return faults.length === 0 ? { outcome: 'applied', write, id } : fail(write, faults.join('; '));
  }

  /** What a creation answers is shown only once: first the token is brought to safety, then the rest is looked at. */
  async #acceptCreation(write: Write, sent: ResolvedWrite, answer: JsonObject): Promise<Outcome> {
    const { id } = answer;
    const undelivered = await this.#deliver(write, answer, typeof id === 'string' ? id : '');
    if (!isId(id)) {
      return fail(write, [...undelivered, 'the service did not say which id it has'].join('; '));
    }
    this.#ids.set(toBaseAddress(write.address), id);
    const text = toFileText(answer[getKind(write.kind).fileField ?? '']);
    if (text !== undefined) this.texts.set(write.address, text);
    const faults = [...undelivered, ...listNotTaken(write, sent, answer)];
    return faults.length === 0 ? { outcome: 'applied', write, id } : fail(write, faults.join('; '));
  }

  /** Hands the token of a new credential over. What is said of a failure names the place of the token, never the token. */
  async #deliver(write: Write, answer: JsonObject, id: string): Promise<readonly string[]> {
    const [field] = listOneTimeFields(getKind(write.kind));
    if (field === undefined) return [];
    const token = answer[field];
    if (typeof token !== 'string' || token === '') return [`it was created, but the service did not show its ${field}`];
    const { name, stack } = assertDefined(write.mark, `mark of ${write.id}`);
    const recipient: Recipient = { address: write.address, name, id, stack };
    try {
      const sink = assertDefined(this.#context.sinks.find(name), 'token sink');
      const place = await sink.deliver(recipient, token);
      this.tokens.push({ address: write.address, place, rescued: false });
      return [];
    } catch (error) {
      return [await this.#rescue(recipient, token, toMessage(error))];
    }
  }

  async #rescue(recipient: Recipient, token: string, why: string): Promise<string> {
    const { address } = recipient;
    try {
      const place = await this.#context.sinks.rescue.deliver(recipient, token);
      this.tokens.push({ address, place, rescued: true });
      return `it was created, but its token could not be delivered (${why}); the token is in ${place}. The next apply replaces the credential`;
    } catch (error) {
      return `it was created, but its token could neither be delivered (${why}) nor rescued (${toMessage(error)}). The next apply replaces the credential`;
    }
  }
}

const NOTHING = Promise.resolve();

/** Deleting what is gone already has come to the same end. */
function toFailure(write: Write, error: unknown): Outcome {
  if (error instanceof ApiError) {
    if (write.method === 'DELETE' && error.response.status === 404)
      return { outcome: 'applied', write, id: write.resourceId };
    const isUnknown = write.method === 'POST' && error.response.status >= 500;
    return { ...fail(write, error.message), isAuthentication: error.isAuthentication, isUnknown };
  }
  if (error instanceof NetworkError) {
    return { ...fail(write, error.message), isUnknown: write.method === 'POST' && !error.isUnsent };
  }
  throw error;
}

function fail(write: Write, message: string): Extract<Outcome, { outcome: 'failed' }> {
  return { outcome: 'failed', write, message, isAuthentication: false, isUnknown: false };
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
