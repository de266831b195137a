import { field, idOf, integer, mapOf } from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

export const WEIGHTED_BACKEND = defineKind({
  name: 'WeightedBackend',
  role: 'owned',
  title: 'weighted backend',
  description: 'Spreads traffic over child backends in proportion to their weights.',
  words: { backend: '', upstream: '', pool: '', load_balancer: '', canary: 'backends', weight: 'backends' },
  example: {
    spec: {
      description: 'Nine in ten connections to blue',
      metadata: { team: 'data' },
      backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 90, bkdtg_2k9XLQdTnSXvQJzqDPzZxhCBmHm: 10 },
    },
  },
  idPrefix: 'bkdwd',
  path: '/backends/weighted',
  listKey: 'backends',
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    backends: field(
      mapOf(idOf('bkdhr', 'bkdtg'), integer(0, 10_000), { isShares: true }),
      'The weight of each child backend, 0 to 10000. Traffic is shared in proportion to the weights; 0 gets none. Children cannot be weighted backends.',
      { alwaysSent: true, carries: 'by-share', summary: { prefix: 'leads to', unset: 'leads nowhere' } },
    ),
  },
});
