import type { UncodedFinding } from '../../model/finding.ts';
import type { Spec } from '../../model/state.ts';
import { parseDurationMs } from '../duration.ts';
import { field, idOf, setOf, text, textOfFormat } from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

export const CREDENTIAL = defineKind({
  name: 'Credential',
  role: 'owned',
  title: 'tunnel credential',
  description:
    'A token with which an agent starts tunnel sessions. The service returns it only once, and edgewise delivers it to the token sink in spec.tokens.',
  words: { tunnel: '', token: '', authtoken: '', agent: '', allowlist: 'acl', whitelist: 'acl', hostname: 'acl' },
  example: {
    spec: {
      description: 'The build agent',
      metadata: { team: 'platform' },
      acl: ['bind:*.build.example.com', 'bind:1.tcp.example.net:20004'],
      owner_id: 'bot_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
    },
    lifecycle: { rotate_after: '90d', keep_old_for: '24h' },
  },
  idPrefix: 'cr',
  path: '/credentials',
  listKey: 'credentials',
  checkLifecycle: checkRotation,
  lifecycle: {
    rotate_after: field(
      textOfFormat('duration'),
      'Maximum age. An older credential is replaced; the new token is delivered before the old credential is deleted.',
    ),
    keep_old_for: field(
      textOfFormat('duration'),
      'How long the old credential stays after it was replaced, so that agents can take the new token first. Default: it is deleted in the same apply.',
    ),
  },
  fields: {
    ...IDENTITY_FIELDS,
    description: DESCRIPTION,
    metadata: METADATA,
    token: field(text(), 'The authtoken. Only in the response to the creation; null afterwards.', {
      lifecycle: 'one-time',
      replacedConsequence: 'agents with the old token are disconnected',
    }),
    acl: field(
      setOf(textOfFormat('acl-rule'), { unrestricted: '*' }),
      'Bind rules: the domains, addresses and labels that the token may bind. Without rules, or with `*`: no restriction.',
      {
        restriction: 'allow-list-or-all',
        summary: { prefix: 'may bind', unset: 'may bind anything' },
        whenUnset: {
          code: 'unrestricted-access',
          message: 'no ACL restricts it, so its token may bind any domain, address and label',
          remedy: 'List in spec.acl what the agent binds, such as `bind:*.example.com`.',
        },
      },
    ),
    owner_id: field(
      idOf('usr', 'bot'),
      'User or bot of the credential. Only admins may name another user or bot than themselves.',
      {
        lifecycle: 'immutable',
        serviceDefault: true,
        keepsLiveValue: true,
      },
    ),
  },
});

function checkRotation({ rotate_after: rotateAfter, keep_old_for: keepOldFor }: Spec): readonly UncodedFinding[] {
  if (rotateAfter === undefined || keepOldFor === undefined) return [];
  const [period = 0, kept = 0] = [rotateAfter, keepOldFor].map((text) => parseDurationMs(String(text)));
  if (kept < period) return [];
  const message =
    'lifecycle.keep_old_for must be shorter than lifecycle.rotate_after, because only one old credential stays';
  return [{ path: ['keep_old_for'], message }];
}
