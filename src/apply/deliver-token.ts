import { toReason } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Recipient, TokenSink } from './token-sink.ts';

/** Where a token went. With a fault, it is somewhere else than it should be. */
export interface Delivery {
  /** Absent: it is lost. */
  readonly token?: ApplyResult['tokens'][number];
  readonly fault?: string;
}

/** Where a token may go. */
export interface DeliverySinks {
  readonly sink: TokenSink;
  /** Used when the first sink fails. */
  readonly rescue: TokenSink;
}

/** Delivers the token of a new credential. Never rejects: the message of a failure names the place of the token, never the token. */
export async function deliverToken(
  recipient: Recipient,
  token: string,
  { sink, rescue }: DeliverySinks,
): Promise<Delivery> {
  const { address } = recipient;
  try {
    return { token: { address, place: await sink.deliver(recipient, token), rescued: false } };
  } catch (error) {
    return rescueToken(recipient, token, { rescue, why: toReason(error) });
  }
}

async function rescueToken(
  recipient: Recipient,
  token: string,
  { rescue, why }: { readonly rescue: TokenSink; readonly why: string },
): Promise<Delivery> {
  const { address } = recipient;
  try {
    const place = await rescue.deliver(recipient, token);
    const fault = `it was created, but its token could not be delivered (${why}); the token is in ${place}. The next apply replaces the credential`;
    return { token: { address, place, rescued: true }, fault };
  } catch (error) {
    const fault = `it was created, but its token could neither be delivered (${why}) nor rescued (${toReason(error)}). The next apply replaces the credential`;
    return { fault };
  }
}
