import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createServer, parseApiKey, type Server } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { BASE_URL, NOW } from '../cli/fake-context.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';
import type { Setup } from './setup.ts';

/** The service of a scenario: the bundled server with seeded ids, and a clock that only the scenario advances. */
export interface Service {
  readonly key: string;
  readonly transport: Transport;
  readonly now: () => Date;
  readonly wait: (seconds: number) => void;
  /** Sends a request of another user, which must succeed. */
  readonly call: (request: string, body?: Json) => Promise<void>;
  /** Every resource of the service, by kind. */
  readonly listResources: () => ReadonlyMap<string, readonly JsonObject[]>;
}

/** A long key, so that a search finds it in any output. */
const KEYS = ['api-key-of-the-pipeline:admin'];

/** Starts the service of a scenario. */
export function createService({ keys = KEYS, seed, accounts = [BASE_URL] }: Setup): Service {
  let elapsedMs = 0;
  const now = () => new Date(NOW.getTime() + elapsedMs);
  const create = (idSeed: string): Server =>
    createServer({ now, idSeed, apiKeys: keys.map(parseApiKey), seed: { externals: EXTERNAL_IDS, ...seed } });
  const servers = new Map(accounts.map((url, index) => [url, create(index === 0 ? 'scenario' : `scenario ${index}`)]));
  const server = servers.get(BASE_URL) ?? create('scenario');
  const transport: Transport = async (request) => (servers.get(new URL(request.url).origin) ?? server).handle(request);
  const listResources = (): ReadonlyMap<string, readonly JsonObject[]> => {
    const held = [...servers.values()].flatMap((one) => Object.entries(one.snapshot().resources));
    const byKind = Map.groupBy(held, ([kind]) => kind);
    return new Map([...byKind].map(([kind, lists]) => [kind, lists.flatMap(([, resources]) => [...resources])]));
  };
  const key = keys[0]?.split(':')[0] ?? '';
  return {
    key,
    transport,
    now,
    wait: (seconds) => {
      elapsedMs += seconds * 1000;
    },
    call: (request, body) => call(server, key, { request, body }),
    listResources,
  };
}

async function call(
  server: Server,
  key: string,
  { request, body }: { readonly request: string; readonly body: Json | undefined },
): Promise<void> {
  const [method = '', path = ''] = fillIds(server, request).split(' ');
  const content = body === undefined ? undefined : JSON.parse(fillIds(server, JSON.stringify(body)));
  await sendByHand({ server, key, baseUrl: BASE_URL }, method, path, content);
}

/** Replaces `{Kind/name}` with the id of the live resource with that mark. */
function fillIds(server: Server, text: string): string {
  return text.replace(/\{(\w+)\/([\w.-]+)\}/g, (_, kind: string, name: string) => {
    const resources = server.snapshot().resources[kind] ?? [];
    const found = resources.find(({ metadata }) => toMark(metadata)?.['name'] === name);
    if (found === undefined) throw new Error(`No ${kind} has the mark of ${name}.`);
    return String(found['id']);
  });
}

/** Reads the mark in a metadata text, as JSON. */
export function toMark(metadata: Json | undefined): JsonObject | undefined {
  if (typeof metadata !== 'string' || !metadata.startsWith('{')) return undefined;
  const value: Json = JSON.parse(metadata);
  const mark = isJsonObject(value) ? value['edgewise'] : undefined;
  return isJsonObject(mark) ? mark : undefined;
}
