import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type JsonObject, parseJson } from '../../src/model/json.ts';
import { renderMetadata } from '../../src/model/mark.ts';
import type { Transport } from '../../src/model/transport.ts';
import { REPOSITORY_STACKS, STACK_NAME } from '../laws/stack.ts';
import { findOurMark } from './request-checker.ts';
import type { Mutant } from './world.ts';

/** A mistake in edgewise, and the message of the simulation about it. */
export interface MutantCase {
  readonly mutant: Mutant;
  readonly noticedAs: RegExp;
  /** Whether only walks with several stacks notice it. */
  readonly needsSeveral?: boolean;
  /** A walk that noticed it before. It runs first, to save time. */
  readonly seenAt?: number;
}

/** Mistakes of edgewise, each made by a transport between it and the service. They show what the simulation can notice. */
export const MUTANTS: Readonly<Record<string, MutantCase>> = {
  'repeats a POST whose outcome is unknown': {
    noticedAs: /without a look-up/,
    seenAt: 192,
    mutant: (inner) => async (request) => {
      if (request.method !== 'POST') return inner(request);
      const copy = request.clone();
      try {
        const response = await inner(request);
        return response.status >= 500 ? await inner(copy) : response;
      } catch {
        return inner(copy);
      }
    },
  },
  'treats an unmarked resource as its own': {
    noticedAs: /does not have our mark/,
    mutant: (inner) => async (request) =>
      changeList(await inner(request), request, (resource) =>
        findOurMark(resource) === undefined ? { ...resource, metadata: renderMetadata('', OURS) } : resource,
      ),
  },
  'treats a failed page as empty': {
    noticedAs: /a plan from faulty responses/,
    mutant: (inner) => async (request) => {
      const listKey = findListKey(request);
      if (listKey === undefined) return inner(request);
      const empty = (): Response => Response.json({ [listKey]: [], uri: request.url, next_page_uri: null });
      try {
        const response = await inner(request);
        return response.ok && isJsonObject(parseJson(await response.clone().text()) ?? null) ? response : empty();
      } catch {
        return empty();
      }
    },
  },
  'stops after the first page of a list': {
    noticedAs: /the last apply exits with 1|is left to do|the marked resources differ/,
    seenAt: 8,
    mutant: (inner) => async (request) => {
      const response = await inner(request);
      if (findListKey(request) === undefined || !response.ok) return response;
      return change(response, (page) => ({ ...page, next_page_uri: null }));
    },
  },
  'deletes a resource that its plan did not show': {
    noticedAs: /which no plan showed/,
    mutant: (inner) => async (request) => {
      const response = await inner(request);
      if (request.method === 'PATCH' && response.ok)
        await inner(new Request(request.url, { method: 'DELETE', headers: request.headers }));
      return response;
    },
  },
  'delivers a token that it did not get': {
    noticedAs: /the token file of/,
    mutant: (inner) => async (request) => {
      const response = await inner(request);
      if (!isCredentialMade(request, response)) return response;
      return change(response, (credential) => ({ ...credential, token: 'not-the-token' }));
    },
  },
  'records a delivery that failed': {
    noticedAs: /the token file of/,
    seenAt: 95,
    mutant: (inner) => async (request) => {
      if (request.method !== 'POST' || !request.url.endsWith(CREDENTIAL.path)) return inner(request);
      const body = (await request.clone().text()).replace(/\\"name\\":/, '\\"delivered\\":true,$&');
      return inner(new Request(request.url, { method: 'POST', headers: request.headers, body }));
    },
  },
  'loses an update': {
    noticedAs: /something is left to do/,
    mutant: (inner) => async (request) => {
      if (request.method !== 'PATCH') return inner(request);
      return inner(new Request(request.url, { headers: request.headers }));
    },
  },
  'sends every request twice, outside of its rate limit': {
    noticedAs: /sends more than/,
    mutant: (inner) => async (request) => {
      if (request.method === 'GET') await inner(request.clone()).catch(() => undefined);
      return inner(request);
    },
  },
  'shows a token': {
    noticedAs: /a secret/,
    mutant: (inner) => async (request) => {
      const response = await inner(request);
      if (!isCredentialMade(request, response)) return response;
      const { token } = JSON.parse(await response.text());
      return Response.json(
        { error_code: 'bad_request', status_code: 400, msg: `not ${token}`, details: {} },
        { status: 400 },
      );
    },
  },
  'deletes a resource that another stack takes over': {
    noticedAs: /which no plan showed/,
    needsSeveral: true,
    mutant: (inner) => async (request) => {
      const isMoved = await changesStack(inner, request);
      const response = await inner(request);
      if (isMoved && response.ok) await inner(new Request(request.url, { method: 'DELETE', headers: request.headers }));
      return response;
    },
  },
  'treats a resource of another stack as its own': {
    noticedAs: /which is not its own/,
    needsSeveral: true,
    mutant: (inner) => async (request) =>
      changeList(await inner(request), request, (resource) => {
        const text = String(resource['metadata'] ?? '');
        return { ...resource, metadata: text.replace(`"stack":"${OTHERS}"`, `"stack":"${FIRST}"`) };
      }),
  },
  'copies a resource that another stack takes over': {
    noticedAs: /the marked resources differ|is left to do/,
    needsSeveral: true,
    mutant: (inner) => async (request) => {
      if (!(await changesStack(inner, request))) return inner(request);
      const { headers, url } = request;
      const {
        id: _,
        created_at: __,
        state: ___,
        ...spec
      } = JSON.parse(await (await inner(new Request(url, { headers }))).text());
      const body = JSON.stringify({ ...spec, ...JSON.parse(await request.text()) });
      return inner(new Request(url.replace(/\/[^/]+$/, ''), { method: 'POST', headers, body }));
    },
  },
  'refers to an unmarked resource instead of one of another stack': {
    noticedAs: /does not refer to/,
    needsSeveral: true,
    mutant: (inner) => async (request) => {
      const { method, headers, url } = request;
      const body = method === 'GET' ? '' : await request.text();
      const sent = new Request(url, { method, headers, ...(body !== '' && { body: renameIds(body, UNMARKED) }) });
      const response = await inner(sent);
      const text = await response.text();
      const shown = text === '' ? null : renameIds(text, MARKED);
      return new Response(shown, { status: response.status, headers: response.headers });
    },
  },
  'waits forever': {
    noticedAs: /waits for something that never happens/,
    mutant: (inner) => (request) => (request.method === 'PATCH' ? new Promise(() => undefined) : inner(request)),
  },
};

/** Prefixes of two kinds that can replace each other: stacks create one, and no stack marks the other. */
const UNMARKED = { from: 'bkdwd', to: 'bkdhr' } as const;
const MARKED = { from: 'bkdhr', to: 'bkdwd' } as const;

/** Renames ids in references. Ids of one digit existed before, and are not renamed. */
function renameIds(text: string, { from, to }: { readonly from: string; readonly to: string }): string {
  return text.replace(new RegExp(`"${from}_(?!(\\d)\\1{26})(\\w+)"`, 'g'), `"${to}_$2"`);
}

/** Whether a request gives a resource of one of our stacks to another one. */
async function changesStack(inner: Transport, request: Request): Promise<boolean> {
  if (request.method !== 'PATCH') return false;
  const sent = findOurMark(toObject(await request.clone().text()));
  const { url, headers } = request;
  const held = findOurMark(toObject(await (await inner(new Request(url, { headers }))).text()));
  return sent !== undefined && held !== undefined && sent.stack !== held.stack;
}

function toObject(text: string): JsonObject {
  const value = parseJson(text) ?? null;
  return isJsonObject(value) ? value : {};
}

const [FIRST, OTHERS] = REPOSITORY_STACKS;

const OURS = { stack: STACK_NAME, name: 'a', protect: false, delivered: true, fields: {} };

function isCredentialMade({ method, url }: Request, response: Response): boolean {
  return method === 'POST' && url.endsWith(CREDENTIAL.path) && response.ok;
}

/** Finds the list key of the kind that a request lists. */
function findListKey({ method, url }: Request): string | undefined {
  const { pathname } = new URL(url);
  return method === 'GET' ? OWNED_KINDS.find(({ path }) => path === pathname)?.listKey : undefined;
}

async function changeList(
  response: Response,
  request: Request,
  toChanged: (resource: JsonObject) => JsonObject,
): Promise<Response> {
  const listKey = findListKey(request);
  if (listKey === undefined || !response.ok) return response;
  return change(response, (page) => {
    const list = page[listKey];
    if (list === undefined || !isJsonArray(list)) return page;
    return { ...page, [listKey]: list.map((member) => (isJsonObject(member) ? toChanged(member) : member)) };
  });
}

/** A body that is not a JSON object stays unchanged. */
async function change(response: Response, toChanged: (body: JsonObject) => JsonObject): Promise<Response> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parseJson(text) ?? null;
  return new Response(isJsonObject(body) ? JSON.stringify(toChanged(body)) : text, { status, headers });
}

/** Nothing is wrong. */
export const NO_MUTANT = (inner: Transport): Transport => inner;
