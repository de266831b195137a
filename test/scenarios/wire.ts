import { isJsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { BASE_URL } from '../cli/fake-context.ts';

/** One request with its response. */
export interface SentRequest {
  readonly method: string;
  /** With the query, and with the origin if it is not that of the service. */
  readonly path: string;
  readonly body: string;
  /** Absent: no response arrived. */
  readonly status?: number;
  /** The id of a created resource. */
  readonly id?: string;
}

/** Records requests in the order in which they are sent. */
export class RequestLog {
  #sent: SentRequest[] = [];

  /** Returns a transport that records its requests. */
  watch(transport: Transport): Transport {
    return async (request) => {
      const body = await request.clone().text();
      const asked = { method: request.method, path: request.url.replace(BASE_URL, ''), body };
      const at = this.#sent.push(asked) - 1;
      const sent = this.#sent;
      const response = await transport(request);
      sent[at] = { ...asked, status: response.status, ...(await readId(request, response)) };
      return response;
    };
  }

  /** Returns the requests since the last call. */
  take(): readonly SentRequest[] {
    const taken = this.#sent;
    this.#sent = [];
    return taken;
  }
}

async function readId({ method }: Request, response: Response): Promise<{ readonly id?: string }> {
  if (method !== 'POST' || response.status !== 201) return {};
  const body: unknown = await response.clone().json();
  return isJsonObject(body) ? { id: String(body['id']) } : {};
}
