import { type Field, field, text, timestamp } from '../field.ts';

/**
 * Fields of every resource: those that only the service sets, and description and metadata, which a manifest may set.
 */

export const DESCRIPTION: Field = field(
  text({ maxBytes: 255, ignoresFinalSpace: true }),
  'Free text for people. At most 255 bytes.',
  {
    absentWhenDefault: true,
    mayBeSpelledOtherwise: true,
  },
);

export const METADATA: Field = field(
  { type: 'metadata', maxBytes: 4096 },
  'Your own data: text, or a mapping that is stored as JSON. At most 4096 bytes, including the mark that edgewise stores there.',
  { absentWhenDefault: true, mayBeSpelledOtherwise: true },
);

export const IDENTITY_FIELDS: Readonly<Record<string, Field>> = {
  id: field(text(), 'Id, assigned by the service.', { lifecycle: 'computed' }),
  uri: field(text(), 'URI of the resource in the API.', { lifecycle: 'computed' }),
  created_at: field(timestamp, 'When it was created.', { lifecycle: 'computed' }),
};
