import { z } from 'zod';
import { HOSTNAME_STATUSES } from '../kinds/tables/abuse-report.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import { toAnyJson } from './parts.ts';

/** What a resource in a seed has besides the fields of its kind, which are checked like a request's. */
const SEED_RESOURCE = z
  .looseObject({
    created_at: z.iso.datetime({ offset: true }).optional().describe('When it was created. Default: now.'),
    deletable: z.boolean().optional().describe('False: the server refuses to delete it.'),
    state: z.record(z.string(), toAnyJson()).optional().describe('In snapshots: data of the server beside the fields.'),
  })
  .describe('An existing resource: the fields of a create request, `id`, and these.');

const ABUSE_REPORT_RULE = z
  .strictObject({
    hostname: z
      .string()
      .min(1)
      .describe(
        'The host name that the rule applies to, with all names below it: `example.com` matches `a.example.com` too. `*` matches all.',
      )
      .meta({ examples: ['phishing.example.com', '*'] }),
    status: z.enum(HOSTNAME_STATUSES).describe('The decision. `PENDING`: never decided.'),
    after_seconds: z
      .int()
      .min(1)
      .max(31_536_000)
      .optional()
      .describe("Seconds from the submission to the decision, on the server's clock. Default: 30."),
  })
  .describe('The decision about some host names.');

/** Schema of a seed of the bundled server, and of a snapshot of it. */
export const SEED_SCHEMA = z
  .strictObject({
    externals: z
      .array(z.string())
      .optional()
      .describe(
        'Existing ids in addition to those of the resources; `bkdhr_*` is every well-formed id with that prefix. Default: every well-formed id of kinds that the API cannot create.',
      ),
    resources: z
      .partialRecord(z.enum(KINDS.map(({ name }) => name)), z.array(SEED_RESOURCE))
      .optional()
      .describe('Existing resources by kind, in any order.'),
    abuse_report_rules: z
      .array(ABUSE_REPORT_RULE)
      .optional()
      .describe(
        'Decisions about the host names in new abuse reports. The first matching rule applies; a host name without a rule stays PENDING. A report is PROCESSED when all its host names are decided, PARTIALLY_PROCESSED when some are. Default: host names below `invalid` are ignored after 10 seconds, all others are banned after 30.',
      ),
    certificate_authorities: z
      .record(z.string(), z.string())
      .optional()
      .describe('The secrets of SSH certificate authorities, by id: 32 bytes in base64url.'),
    sequence: z.int().min(0).optional().describe('How many ids have been assigned.'),
  })
  .meta({
    title: 'Edgewise seed',
    description: 'The initial data of the bundled server. A snapshot has the same form. Every part is optional.',
  });
