import { field, formatted, idOf, setOf, text } from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY, METADATA } from './standard-fields.ts';

export const CREDENTIAL = defineKind({
  name: 'Credential',
  role: 'owned',
  title: 'tunnel credential',
  description:
    'A token with which an agent starts tunnel sessions. The token is shown once, at creation, and goes to the token sink.',
  idPrefix: 'cr',
  path: '/credentials',
  listKey: 'credentials',
  lifecycle: {
    rotate_after: field(
      formatted('duration'),
      'How old it may become. A credential that is older is replaced: the token of the new one is delivered before the old one is deleted.',
    ),
  },
  fields: {
    ...IDENTITY,
    description: DESCRIPTION,
    metadata: METADATA,
    token: field(text(), 'The authtoken. Only in the response to the creation; null ever after.', {
      lifecycle: 'one-time',
    }),
    acl: field(
      setOf(formatted('acl-rule'), { unrestricted: '*' }),
      'Bind rules that say what the token may bind: domains, addresses and labels. None, or `*`: no restriction.',
      {
        whenUnset: {
          code: 'credential-unrestricted',
          message: 'no ACL restricts it, so that its token may bind any domain, address and label',
        },
      },
    ),
    owner_id: field(
      idOf('usr', 'bot'),
      'User or bot that owns the credential. Only admins may name another than themselves.',
      {
        lifecycle: 'immutable',
        serviceDefault: true,
      },
    ),
  },
});
