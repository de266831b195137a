import { API_VERSION } from '../model/transport.ts';
import { type ApiKey, authenticate } from './api-key.ts';
import type { Ask } from './ask.ts';
import { Failure } from './failure.ts';

/** The checks that every request passes first. */
export interface Admission {
  readonly keyring: ReadonlyMap<string, ApiKey>;
  readonly versionHeader: string;
  /** Counts a request; the seconds to wait when it is one too many. */
  readonly countRequest: () => number | undefined;
}

/** Who makes the request. Refuses it without a known key, for another version, or over the rate limit. */
export function admit(admission: Admission, header: Ask['header']): ApiKey {
  const { keyring, versionHeader, countRequest } = admission;
  const caller = authenticate(keyring, header('authorization'));
  if (header(versionHeader) !== API_VERSION)
    throw new Failure(`The request needs the header \`${versionHeader}: ${API_VERSION}\``, { code: 'bad_version' });
  const waitSeconds = countRequest();
  if (waitSeconds === undefined) return caller;
  const message = `Too many requests: wait ${waitSeconds} s`;
  throw new Failure(message, { code: 'rate_limited', headers: { 'retry-after': String(waitSeconds) } });
}
