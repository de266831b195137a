import { z } from 'zod';
import { KINDS } from './registry.ts';

/** What a resource in a seed has besides the fields of its kind, which are checked like a request's. */
const SEED_RESOURCE = z.looseObject({
  created_at: z.iso.datetime({ offset: true }).optional(),
  deletable: z.boolean().optional(),
  state: z.record(z.string(), z.json()).optional(),
});

/** Schema of a seed of the bundled server, and of a snapshot of it. */
export const SEED_SCHEMA = z.strictObject({
  externals: z.array(z.string()).optional(),
  resources: z.partialRecord(z.enum(KINDS.map(({ name }) => name)), z.array(SEED_RESOURCE)).optional(),
  certificate_authorities: z.record(z.string(), z.string()).optional(),
  sequence: z.int().min(0).optional(),
});
