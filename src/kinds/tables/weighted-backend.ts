import { field, idOf, integer, mapOf } from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY, METADATA } from './standard-fields.ts';

export const WEIGHTED_BACKEND = defineKind({
  name: 'WeightedBackend',
  role: 'owned',
  title: 'weighted backend',
  description: 'Spreads traffic over child backends, each with a share proportional to its weight.',
  idPrefix: 'bkdwd',
  path: '/backends/weighted',
  listKey: 'backends',
  fields: {
    ...IDENTITY,
    description: DESCRIPTION,
    metadata: METADATA,
    backends: field(
      mapOf(idOf('bkdhr', 'bkdtg'), integer(0, 10_000), { isShares: true }),
      'Child backend to weight, 0 to 10000. The share of traffic is proportional to the weight; 0 gives none. Children may not be weighted backends.',
      { alwaysSent: true },
    ),
  },
});
