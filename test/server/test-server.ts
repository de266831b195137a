import { createServer, parseApiKey, type Server, type ServerOptions } from '../../src/server/server.ts';
import { EXTERNAL_IDS } from '../external-ids.ts';
import { type Call, createCaller } from './caller.ts';
import { withConformanceChecks } from './conformance.ts';

/** A bundled server for one test, with conformance checks and a clock that the test controls. */
export interface TestServer {
  readonly server: Server;
  /** Sends a request as an admin. */
  readonly call: Call;
  /** Sends a request with another key. */
  readonly callAs: (key: string) => Call;
  /** Advances the clock. */
  readonly wait: (seconds: number) => void;
}

export const BASE_URL = 'https://api.example.test';
export const START = '2026-01-31T12:00:00Z';
export const MEMBER = 'usr_member';

/** Keys: `admin`, `member` (MEMBER's, with no rights), `reporter` (may report abuse). */
export function createTestServer(options: ServerOptions = {}): TestServer {
  let time = Date.parse(START);
  const apiKeys = ['admin:admin', `member:${MEMBER}`, 'reporter:abuse'].map(parseApiKey);
  const server = createServer({
    apiKeys,
    now: () => new Date(time),
    idSeed: 'test',
    ...options,
    seed: { externals: EXTERNAL_IDS, ...options.seed },
  });
  const versionHeader = options.versionHeader ?? 'Service-Version';
  const callAs = (key: string): Call =>
    createCaller({ transport: withConformanceChecks(server.handle), baseUrl: BASE_URL, key, versionHeader });
  return {
    server,
    call: callAs('admin'),
    callAs,
    wait: (seconds) => {
      time += seconds * 1000;
    },
  };
}
