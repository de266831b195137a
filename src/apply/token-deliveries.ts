import type { Client } from '../client/client.ts';
import type { Address } from '../model/address.ts';
import { assertDefined, getErrorMessage } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { type CreateWrite, isDelete } from '../model/write.ts';
import type { TokenCredential, TokenSinks } from './token-sinks.ts';

interface DeliveryContext {
  readonly client: Pick<Client, 'limit'>;
  /** Must contain a sink for each credential that the plan creates. */
  readonly sinks: TokenSinks;
}

/** The token of a created credential. `id`: empty if the service returned none. */
interface NewToken {
  readonly write: CreateWrite;
  readonly token: string;
  readonly id: string;
}

/** Delivers the tokens of a run, each once. Never rejects. No message contains a token. */
export class TokenDeliveries {
  /** Where each delivered or rescued token is. */
  readonly tokens: ApplyResult['tokens'][number][] = [];
  readonly #context: DeliveryContext;
  /** The addresses that had a live resource when the plan was made. */
  readonly #known: ReadonlySet<Address>;
  /** The new credentials whose tokens are delivered after a delete: see the order of writes in a plan. */
  readonly #late: ReadonlySet<Address>;
  readonly #postponed = new Map<Address, NewToken>();
  readonly #failed = new Map<Address, string>();

  constructor({ changes, writes }: Plan, context: DeliveryContext) {
    this.#context = context;
    this.#known = new Set(changes.flatMap(({ address, live }) => (live === undefined ? [] : [address])));
    const deletes = new Set(writes.filter(isDelete).map(({ id }) => id));
    this.#late = new Set(
      writes.flatMap(({ purpose, dependsOn, address }) =>
        purpose === 'deliver' && dependsOn.some((id) => deletes.has(id)) ? [address] : [],
      ),
    );
  }

  /** Delivers the token of a created credential or, if its `deliver` write does so, keeps it in memory until `finish`. */
  async start(one: NewToken): Promise<void> {
    const { address } = one.write;
    if (this.#late.has(address)) this.#postponed.set(address, one);
    else await this.#deliver(one);
  }

  /** Delivers a postponed token. Resolves with the reason if the token of the credential could not be delivered. */
  async finish(address: Address): Promise<string | undefined> {
    const one = this.#postponed.get(address);
    this.#postponed.delete(address);
    if (one !== undefined) await this.#deliver(one);
    return this.#failed.get(address);
  }

  /**
   * Rescues a token whose credential is not known to be that of the write. Resolves with a message that says where the
   * token is.
   */
  async rescue(one: NewToken): Promise<string> {
    return this.#context.client.limit(async () => {
      try {
        return `the token in the response is in ${await this.#saveToRescue(one)}`;
      } catch (error) {
        return `the token in the response could not be rescued (${getErrorMessage(error)})`;
      }
    });
  }

  async #deliver(one: NewToken): Promise<void> {
    const { address, mark } = one.write;
    const { sinks, client } = this.#context;
    const sink = assertDefined(sinks.find(mark.name), 'token sink');
    await client.limit(async () => {
      try {
        const deliveredTo = await sink.deliver(this.#toRecipient(one), one.token);
        this.tokens.push({ address, deliveredTo, rescued: false });
      } catch (error) {
        this.#failed.set(address, await this.#describeFailure(one, getErrorMessage(error)));
      }
    });
  }

  /** Rescues a token that its own sink did not take: `why`. Says where it is. */
  async #describeFailure(one: NewToken, why: string): Promise<string> {
    try {
      const place = await this.#saveToRescue(one);
      return `the credential was created, but its token could not be delivered (${why}); the token is in ${place}. The next apply replaces the credential`;
    } catch (error) {
      return `the credential was created, but its token could neither be delivered (${why}) nor rescued (${getErrorMessage(error)}). The next apply replaces the credential`;
    }
  }

  async #saveToRescue(one: NewToken): Promise<string> {
    const deliveredTo = await this.#context.sinks.rescue.deliver(this.#toRecipient(one), one.token);
    this.tokens.push({ address: one.write.address, deliveredTo, rescued: true });
    return deliveredTo;
  }

  #toRecipient({ write: { address, mark }, id }: NewToken): TokenCredential {
    const { name, stack } = mark;
    return { address, name, id, stack, isFirst: !this.#known.has(address) };
  }
}
