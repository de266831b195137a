import { z } from 'zod';
import { HOSTNAME_STATUSES } from '../kinds/tables/abuse-report.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { ANY_JSON } from './parts.ts';

/** What a resource in a seed has besides the fields of its kind, which are checked like a request's. */
const SEED_RESOURCE = z
  .looseObject({
    created_at: z.iso.datetime({ offset: true }).optional().describe('When it was created. Left out: now.'),
    deletable: z.boolean().optional().describe('False: the server does not let it go.'),
    state: z
      .record(z.string(), ANY_JSON)
      .optional()
      .describe('In snapshots: what the server remembers beside the fields.'),
  })
  .describe('An existing resource: the fields that a request to create it has, `id`, and these.');

const ABUSE_REPORT_RULE = z
  .strictObject({
    hostname: z
      .string()
      .min(1)
      .describe(
        'The host names that it is about: this one and all below it, so that `example.com` is about `a.example.com` too; `*` is about all.',
      )
      .meta({ examples: ['phishing.example.com', '*'] }),
    status: z.enum(HOSTNAME_STATUSES).describe('What is decided. `PENDING`: nothing, ever.'),
    after_seconds: z
      .int()
      .min(1)
      .max(31_536_000)
      .optional()
      .describe("Seconds from the submission to the decision, on the server's clock. Left out: 30."),
  })
  .describe('What becomes of some host names.');

/** Schema of a seed of the bundled server, and of a snapshot of it. */
export const SEED_SCHEMA = z
  .strictObject({
    externals: z
      .array(z.string())
      .optional()
      .describe(
        'The ids that exist besides those of the resources; `bkdhr_*` is every well-formed one with that prefix. Left out: every well-formed one of a kind that the interface cannot create.',
      ),
    resources: z
      .partialRecord(z.enum(KINDS.map(({ name }) => name)), z.array(SEED_RESOURCE))
      .optional()
      .describe('Existing resources by kind, in any order.'),
    abuse_report_rules: z
      .array(ABUSE_REPORT_RULE)
      .optional()
      .describe(
        'What becomes of the host names in abuse reports that are submitted from now on. The first rule that is about a host name holds; a host name that none is about stays PENDING. A report is PROCESSED when all its host names are decided, PARTIALLY_PROCESSED when some are. Left out: host names below `invalid` are ignored after 10 seconds, all others are banned after 30.',
      ),
    certificate_authorities: z
      .record(z.string(), z.string())
      .optional()
      .describe('The secrets of SSH certificate authorities, by id: 32 bytes in base64url.'),
    sequence: z.int().min(0).optional().describe('How many ids were made before.'),
  })
  .meta({
    title: 'Edgewise seed',
    description: 'What the bundled server begins with. A snapshot has the same form. Everything may be left out.',
  });
