import { field, listOf, objectOf, oneOf, text, textOfFormat } from '../field.ts';
import { defineKind } from '../kind.ts';
import { IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

/** The service's decisions about a host name. `PENDING` means that it has not decided yet. */
export const HOSTNAME_STATUSES = ['PENDING', 'BANNED', 'UNBANNED', 'IGNORE'] as const;

const HOSTNAME = objectOf({
  hostname: field(text(), 'Host name parsed from one of the reported URLs.'),
  status: field(oneOf(...HOSTNAME_STATUSES), 'The action taken against the host name.'),
});

export const ABUSE_REPORT = defineKind({
  name: 'AbuseReport',
  role: 'submitted',
  title: 'abuse report',
  description: 'URLs reported for review. Submitted once, then read by id.',
  idPrefix: 'abrp',
  path: '/abuse_reports',
  submission: {
    noun: 'report',
    purpose: 'report URLs with suspected abusive content',
    argumentField: 'urls',
    examples: ['https://phishing.example.com/login', 'https://b.example.com/'],
    status: { field: 'status', decided: 'PROCESSED' },
    parts: {
      field: 'hostnames',
      title: 'host name',
      name: 'hostname',
      status: 'status',
      decisions: { PENDING: 'open', BANNED: 'rejected', UNBANNED: 'accepted', IGNORE: 'ignored' },
    },
  },
  fields: {
    ...IDENTITY_FIELDS,
    urls: field(listOf(textOfFormat('http-url'), { minItems: 1 }), 'URLs with suspected abusive content.', {
      lifecycle: 'immutable',
      required: true,
    }),
    metadata: { ...METADATA, description: 'Your own data, at most 4096 bytes.', lifecycle: 'immutable' },
    status: field(oneOf('PENDING', 'PROCESSED', 'PARTIALLY_PROCESSED'), 'Whether the report has been processed.', {
      lifecycle: 'computed',
    }),
    hostnames: field(listOf(HOSTNAME), 'Status of each host name.', { lifecycle: 'computed' }),
  },
});
