import { NetworkError } from '../../src/model/errors.ts';
import type { Transport } from '../../src/model/transport.ts';

/** When a run is interrupted: at the request with this number, from 0, before the server gets it or after it took effect. */
export interface Death {
  readonly request: number;
  readonly when: 'before' | 'after';
}

/** A transport that returns no response from one request on, as if the process or the network failed. */
export function createDyingTransport({ request: fatal, when }: Death): (inner: Transport) => Transport {
  let count = 0;
  let isDead = false;
  return (inner) => async (request) => {
    const index = count++;
    if (index === fatal && when === 'before') isDead = true;
    if (isDead) throw new NetworkError(`${request.method} ${request.url}: the connection is dead`);
    const response = await inner(request);
    if (index === fatal) isDead = true;
    if (isDead) throw new NetworkError(`${request.method} ${request.url}: the connection died`);
    return response;
  };
}
