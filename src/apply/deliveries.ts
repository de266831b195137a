import type { Client } from '../client/client.ts';
import type { Address } from '../model/address.ts';
import { assertDefined } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { CreateWrite } from '../model/write.ts';
import { type Delivery, deliverToken } from './deliver-token.ts';
import type { TokenSinks } from './token-sinks.ts';

/** What delivering takes. */
export interface DeliveryContext {
  readonly client: Pick<Client, 'limit'>;
  /** Each credential that the plan creates has one. */
  readonly sinks: TokenSinks;
  /** Addresses of which a credential was known before. */
  readonly known: ReadonlySet<Address>;
}

/** The deliveries of a run: where the one-time values of what it makes go. */
export class Deliveries {
  /** Where they went. */
  readonly tokens: ApplyResult['tokens'][number][] = [];
  readonly #context: DeliveryContext;
  readonly #made = new Map<Address, () => Promise<Delivery>>();

  constructor(context: DeliveryContext) {
    this.#context = context;
  }

  /** Delivers the one-time value of what a write made. Gives why that failed. */
  async deliver(write: CreateWrite, token: string, id: string): Promise<string | undefined> {
    const { name, stack } = write.mark;
    const { sinks, client, known } = this.#context;
    const sink = assertDefined(sinks.find(name), 'token sink');
    let isFirst = !known.has(write.address);
    const deliver = () => {
      const recipient = { address: write.address, name, id, stack, isFirst };
      isFirst = false;
      return client.limit(() => deliverToken(recipient, token, { sink, rescue: sinks.rescue }));
    };
    this.#made.set(write.address, deliver);
    const { token: place, fault } = await deliver();
    if (place !== undefined) this.tokens.push(place);
    return fault;
  }

  /** Whether this run delivered the value of a resource. */
  has(address: Address): boolean {
    return this.#made.has(address);
  }

  /** Delivers a value once more. Gives why that failed. */
  async deliverAgain(address: Address): Promise<string | undefined> {
    const { fault } = (await this.#made.get(address)?.()) ?? {};
    return fault;
  }
}
