import { type ApiKey, findBearerKey } from './admission.ts';
import type { Server } from './server.ts';

/** Several accounts behind one address: each API key has one of its own. `listen` and `createMswHandlers` accept it. */
export interface Accounts<Account extends Server = Server>
  extends Pick<Server, 'send' | 'handle' | 'mountAt' | 'reject' | 'hasAdmin'> {
  /** Returns the account of an API key. `undefined` if no account has it. */
  readonly find: (key: string) => Account | undefined;
  readonly list: () => readonly Account[];
}

/**
 * Creates an account for each key. `create` makes the server of one key, and gets it as the only one. Throws `RangeError`
 * if there is no key, or two are the same.
 */
export function createAccounts<Account extends Server>(
  apiKeys: readonly ApiKey[],
  create: (apiKey: ApiKey) => Account,
): Accounts<Account> {
  const servers = new Map(apiKeys.map((apiKey) => [apiKey.key, create(apiKey)]));
  const [first] = servers.values();
  if (first === undefined) throw new RangeError('There is no API key');
  if (servers.size < apiKeys.length) throw new RangeError('Two API keys are the same');
  // A request without a known key gets the response of any account: that the key is missing or unknown.
  const find = (header: string | null | undefined): Account => servers.get(findBearerKey(header) ?? '') ?? first;
  return {
    find: (key) => servers.get(key),
    list: () => [...servers.values()],
    send: (request) => find(request.headers['authorization']).send(request),
    handle: (request) => find(request.headers.get('authorization')).handle(request),
    mountAt: (baseUrl) => {
      const mounted = new Map([...servers.values()].map((server) => [server, server.mountAt(baseUrl)] as const));
      return (request) => {
        const server = find(request.headers.get('authorization'));
        return (mounted.get(server) ?? server.mountAt(baseUrl))(request);
      };
    },
    reject: first.reject,
    hasAdmin: first.hasAdmin,
  };
}
