/** The bundled server, for programs: the package export `edgewise/server`. */
export type { FaultChoice, FaultRange, FaultRule, FaultTime, ServerFaults } from '../model/server-faults.ts';
export type { ExistingResource } from './existing.ts';
export { type FaultLogEntry, type FaultOptions, withFaults } from './faults.ts';
export { type Listener, listen } from './listen.ts';
export { parseServerFaults } from './parse-faults.ts';
export { parseServerSeed, type SeedResource, type ServerSeed, type ServerSnapshot } from './seed.ts';
export {
  type ApiKey,
  createServer,
  parseApiKey,
  type RateLimit,
  type RequestLogEntry,
  type Server,
  type ServerOptions,
} from './server.ts';
export { readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts';
