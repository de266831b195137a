import { setImmediate } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import type { JsonObject } from '../model/json.ts';

type List = (kind: Kind, stop?: AbortController, patience?: AbortSignal) => Promise<readonly JsonObject[]>;

/**
 * A list that callers share who ask before it has started, so that it shows what each of them created before. It starts when the one under way is
 * over. Rejects as the client does.
 */
export function shareLists(list: Client['list']): List {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Promise<readonly JsonObject[]>>();
  const listAfter: List = async (kind, ...more) => {
    await running.get(kind.name);
    // Those who were released together ask one after another.
    await setImmediate();
    const answer = list(kind, ...more);
    waiting.delete(kind.name);
    running.set(kind.name, answer.then(NOTHING, NOTHING));
    return answer;
  };
  return (kind, ...more) => {
    const next = waiting.get(kind.name) ?? listAfter(kind, ...more);
    waiting.set(kind.name, next);
    return next;
  };
}

const NOTHING = (): void => undefined;
