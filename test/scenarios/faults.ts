import type { JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { changeResponseFields, isOmittableEmptyField } from '../../src/server/response-fields.ts';

/** A fault between edgewise and the service. */
export interface Fault {
  /** Method and path; `*` stands for any text. */
  readonly on: string;
  /** How often. Absent: each time. */
  readonly times?: number;
  /** The response in place of the one of the service. */
  readonly answer?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: JsonObject | null;
  };
  /** The request takes effect nevertheless. */
  readonly after?: boolean;
  /** The connection is closed without a response. */
  readonly lost?: boolean;
  /** Fields of the request that the service ignores. */
  readonly forget?: readonly string[];
  /** Fields of the response that differ. */
  readonly change?: JsonObject;
  /** The user presses Ctrl-C while the request is running. */
  readonly interrupt?: boolean;
}

/** A service with faults. */
export function withFaults(transport: Transport, faults: readonly Fault[], interrupt: () => void): Transport {
  const left = new Map(faults.map((fault) => [fault, fault.times ?? Number.POSITIVE_INFINITY]));
  return async (request) => {
    const fault = faults.find((one) => (left.get(one) ?? 0) > 0 && matchesRequest(one, request));
    if (fault === undefined) return transport(request);
    left.set(fault, (left.get(fault) ?? 0) - 1);
    if (fault.interrupt) interrupt();
    return respondWithFault(transport, request, fault);
  };
}

/** A service that leaves out empty, null and false values. */
export function createOmittingService(transport: Transport): Transport {
  return async (request) => {
    const response = await transport(request);
    const text = await response.text();
    const { status, headers } = response;
    if (!response.ok || text === '') return new Response(text === '' ? null : text, { status, headers });
    const thinned = changeResponseFields(JSON.parse(text), request, (shown) =>
      isOmittableEmptyField(shown) ? undefined : shown.value,
    );
    return new Response(JSON.stringify(thinned), { status, headers });
  };
}

async function respondWithFault(transport: Transport, request: Request, fault: Fault): Promise<Response> {
  if (fault.answer === undefined && !fault.lost)
    return changeResponse(await transport(await without(request, fault)), fault);
  if (fault.after) await transport(request);
  if (fault.lost) throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
  const { status = 500, headers = {}, body } = fault.answer ?? {};
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Response(body === undefined ? null : JSON.stringify(body), { status, headers: { ...type, ...headers } });
}

async function without(request: Request, { forget = [] }: Fault): Promise<Request> {
  if (forget.length === 0) return request;
  const body: JsonObject = JSON.parse(await request.text());
  const taken = Object.entries(body).filter(([name]) => !forget.includes(name));
  return new Request(request.url, { ...toInit(request), body: JSON.stringify(Object.fromEntries(taken)) });
}

function toInit({ method, headers }: Request): RequestInit {
  return { method, headers };
}

async function changeResponse(response: Response, { change }: Fault): Promise<Response> {
  if (change === undefined) return response;
  const body: JsonObject = JSON.parse(await response.text());
  return Response.json({ ...body, ...change }, { status: response.status });
}

function matchesRequest({ on }: Fault, { method, url }: Request): boolean {
  const { pathname, search } = new URL(url);
  const pattern = on.split('*').map((part) => part.replace(/[.?+^$()[\]{}|\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`).test(`${method} ${pathname}${search}`);
}
