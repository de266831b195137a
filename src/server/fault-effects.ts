import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import { assertNever, NetworkError, TimeoutError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import type { Transport } from '../model/transport.ts';
import { parseRange } from '../schemas/faults.ts';
import type { ChosenFault, LatencyRule, OtherRule } from './choose-faults.ts';
import { cutResponse } from './cut-response.ts';

/** What a fault does to one request. */
export interface FaultScene {
  readonly request: Request;
  /** Has the request take effect. */
  readonly forward: Transport;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The service as it was so long ago. */
  readonly before: (ago: {
    readonly changes?: number | undefined;
    readonly requests?: number | undefined;
  }) => Transport;
}

/** Delays the answer. */
export async function delay({ rule, random }: ChosenFault<LatencyRule>, { request, sleep }: FaultScene): Promise<void> {
  const { from, to } = parseRange(rule.ms);
  await sleep(Math.round(from + (to - from) * random('latency')), request.signal);
}

/** The result of a request that meets a fault: a response, or the rejection of a transport without a response. */
export async function answerWithFault(chosen: ChosenFault<OtherRule>, scene: FaultScene): Promise<Response> {
  const { rule } = chosen;
  if ('when' in rule && rule.when === 'after') await scene.forward(scene.request.clone());
  switch (rule.fault) {
    case 'throttle':
      return refuse(
        429,
        'rate_limited',
        rule.retry_after === undefined ? {} : { 'retry-after': `${rule.retry_after}` },
      );
    case 'status':
      return refuse(rule.code ?? 500, 'fault', {});
    case 'reset':
      throw new NetworkError(`${nameOf(scene)}: the connection was lost`);
    case 'hang':
      return hang(rule.ms ?? PATIENCE_MS, scene);
    case 'content_type':
      return new Response(PAGE, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    case 'cut':
      return cutResponse(await scene.forward(scene.request), scene.request);
    case 'broken_json':
      return breakJson(await scene.forward(scene.request));
    case 'missing':
      return changePage(scene, (page) => dropSome(page, rule.resources ?? 1, chosen.random));
    case 'no_next':
      return changePage(scene, (page) => ({ ...page, next_page_uri: null }));
    case 'stale':
      return goBack(rule, scene);
    default:
      return assertNever(rule);
  }
}

/** Longer than clients wait. */
const PATIENCE_MS = 120_000;

const PAGE = '<!doctype html>\n<title>Sign in</title>\n<h1>Sign in to go on</h1>\n';

function nameOf({ request }: FaultScene): string {
  return `${request.method} ${request.url}`;
}

function refuse(status: number, code: string, headers: Readonly<Record<string, string>>): Response {
  const body = {
    error_code: code,
    status_code: status,
    msg: 'This failure comes from the faults file of the server',
    details: {},
  };
  return Response.json(body, { status, headers });
}

async function hang(ms: number, scene: FaultScene): Promise<never> {
  await scene.sleep(ms, scene.request.signal);
  throw new TimeoutError(`${nameOf(scene)}: no response in time`);
}

async function breakJson(response: Response): Promise<Response> {
  const { status, headers } = response;
  const text = await response.text();
  return text === ''
    ? new Response(null, { status, headers })
    : new Response(text.slice(0, text.length >> 1), { status, headers });
}

/** Responses other than list pages are unchanged. */
async function changePage(
  { request, forward }: FaultScene,
  change: (page: JsonObject) => JsonObject,
): Promise<Response> {
  const response = await forward(request);
  const { status, headers } = response;
  const text = await response.text();
  const page = response.ok ? parseJson(text) : undefined;
  const isPage = page !== undefined && isJsonObject(page) && 'next_page_uri' in page;
  return new Response(isPage ? JSON.stringify(change(page)) : text, { status, headers });
}

const LIST_KEYS = OWNED_KINDS.flatMap(({ listKey }) => listKey ?? []);

function dropSome(page: JsonObject, count: number, random: ChosenFault['random']): JsonObject {
  const dropped = LIST_KEYS.flatMap((key): [string, Json][] => {
    const list = page[key];
    if (list === undefined || !isJsonArray(list)) return [];
    const ranks = list.map((_, index) => random(`missing ${index}`));
    const lost = new Set([...ranks].sort((left, right) => left - right).slice(0, count));
    return [[key, list.filter((_, index) => !lost.has(ranks[index] ?? 1))]];
  });
  return { ...page, ...Object.fromEntries(dropped) };
}

/** If the requested page did not exist in the past, the current one is answered. */
async function goBack(
  ago: Parameters<FaultScene['before']>[0],
  { request, forward, before }: FaultScene,
): Promise<Response> {
  const past = await before(ago)(request.clone());
  const isList = past.ok && isJsonObject(parseJson(await past.clone().text()) ?? null);
  return isList ? past : forward(request);
}
