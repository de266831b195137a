/** The bundled server, for programs: the package export `edgewise/server`. */
export type {
  FaultRequestSelector,
  FaultRule,
  FaultTime,
  NumberOrRange,
  ServerFaults,
} from '../model/server-faults.ts';
export { type Accounts, createAccounts } from './accounts.ts';
export type { AdminCalls, ClockMove, ReceivedRequest } from './admin-routes.ts';
export {
  type AdminServer,
  type AdminServerOptions,
  createAdminServer,
} from './admin-server.ts';
export { type FaultInjectionOptions, type FaultLogEntry, parseServerFaults, withFaults } from './faults.ts';
export { type Listener, type ListenOptions, listen } from './listen.ts';
export type { ImportedResource, SeedResource, ServerSeed, ServerSnapshot } from './seed.ts';
export {
  type ApiKey,
  createServer,
  parseApiKey,
  type RateLimit,
  type RequestLogEntry,
  type Server,
  type ServerOptions,
} from './server.ts';
export { parseServerSeed, readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts';
export type { ServerChange } from './store.ts';
