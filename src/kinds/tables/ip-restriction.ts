import { boolean, field, oneOf, refTo, setOf } from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

export const IP_RESTRICTION = defineKind({
  name: 'IPRestriction',
  role: 'owned',
  title: 'IP restriction',
  description: 'Applies IP policies to one type of traffic of the whole account. There is one per type.',
  words: {
    ip: '',
    cidr: 'ip_policy_ids',
    allowlist: '',
    whitelist: '',
    denylist: '',
    blocklist: '',
    firewall: '',
  },
  example: {
    spec: {
      description: 'Endpoints are reached from the office only',
      metadata: { team: 'platform' },
      type: 'endpoints',
      enforced: true,
      ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'],
    },
    lifecycle: { protect: true },
  },
  idPrefix: 'ipx',
  path: '/ip_restrictions',
  listKey: 'ip_restrictions',
  restrictsAccess: true,
  canLockOut: (spec) => spec['enforced'] === true && spec['type'] !== 'endpoints',
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    enforced: field(boolean, 'True: the restriction is enforced. False: only warnings are issued.', {
      default: false,
      absentWhenDefault: true,
      restriction: 'while-on',
      summary: { prefix: 'is enforced', unset: 'only warns' },
      whenUnset: {
        code: 'restriction-not-enforced',
        message: 'it is not enforced, so it blocks no request',
        remedy: 'Set `enforced: true` once its warnings are only about callers that should have no access.',
      },
    }),
    type: field(
      oneOf('dashboard', 'api', 'agent', 'endpoints'),
      'Which traffic is restricted. One restriction per type.',
      {
        lifecycle: 'immutable',
        required: true,
        unique: true,
        restriction: 'by-each',
        summary: { prefix: 'is for' },
      },
    ),
    ip_policy_ids: field(
      setOf(refTo('ipp'), { minItems: 1 }),
      'The IP policies used to enforce the restriction. At least one.',
      {
        required: true,
        responseName: 'ip_policies',
        alwaysSent: true,
        restriction: 'unproven',
        summary: { prefix: 'admits' },
      },
    ),
  },
});
