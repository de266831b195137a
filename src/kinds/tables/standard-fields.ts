import { type Field, field, text, timestamp } from '../field.ts';

/** The fields that the service gives every resource, and the two that every resource may carry for people. */

export const DESCRIPTION: Field = field(text({ maxBytes: 255 }), 'What it is for, for people. At most 255 bytes.');

export const METADATA: Field = field(
  { type: 'metadata', maxBytes: 4096 },
  'Data of your own: text, or a mapping that is stored as JSON. At most 4096 bytes together with the mark that edgewise keeps there.',
);

/** `id`, `uri` and `created_at`. */
export const IDENTITY: Readonly<Record<string, Field>> = {
  id: field(text(), 'Identifier, given by the service.', { lifecycle: 'computed' }),
  uri: field(text(), 'URI of the resource in the API.', { lifecycle: 'computed' }),
  created_at: field(timestamp, 'When it was created.', { lifecycle: 'computed' }),
};
