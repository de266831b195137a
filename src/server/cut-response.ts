import { NetworkError } from '../model/errors.ts';

/** The part of a body that is sent before it breaks off, and how long the body says that it is. */
export interface Cut {
  readonly part: Uint8Array<ArrayBuffer>;
  readonly length: number;
}

const CUTS = new WeakMap<Response, Cut>();

/** The response with half of its body, after which reading it fails. Without a body there is nothing to cut. */
export async function cutResponse(response: Response, request: Request): Promise<Response> {
  const body = new Uint8Array(await response.arrayBuffer());
  const cut = { part: body.slice(0, body.length >> 1), length: body.length };
  const broken = new Response(toBrokenStream(cut.part, request), {
    status: response.status,
    headers: response.headers,
  });
  broken.headers.set('content-length', String(cut.length));
  CUTS.set(broken, cut);
  return broken;
}

/** What a socket has to send of a response that breaks off; `undefined` for a whole one. */
export function findCut(response: Response): Cut | undefined {
  return CUTS.get(response);
}

function toBrokenStream(
  part: Uint8Array<ArrayBuffer>,
  { method, url }: Request,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isSent = part.length === 0;
  return new ReadableStream({
    pull: (controller) => {
      if (isSent) controller.error(new NetworkError(`${method} ${url}: the connection was lost`));
      else controller.enqueue(part);
      isSent = true;
    },
  });
}
