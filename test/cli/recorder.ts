import type { Transport } from '../../src/model/transport.ts';

/** One request that was sent. */
export interface SentRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string;
  readonly status: number;
}

/** A transport that records its requests. */
export interface Recorder {
  readonly transport: Transport;
  /** Returns the requests since the last call. */
  readonly take: () => readonly SentRequest[];
}

/** Records the requests to a transport. */
export function createRecorder(transport: Transport): Recorder {
  let sent: SentRequest[] = [];
  return {
    transport: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = await request.clone().text();
      const response = await transport(request);
      sent.push({ method: request.method, path: `${pathname}${search}`, body, status: response.status });
      return response;
    },
    take: () => {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}
