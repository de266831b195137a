import { isJsonObject } from '../../model/json.ts';
import type { Spec } from '../../model/state.ts';
import { renderTimeSpan, toDurationMs } from '../duration.ts';
import { field, formatted, idOf, mapOf, oneOf, setOf, text, timestamp } from '../field.ts';
import { defineKind, type SpecProblem } from '../kind.ts';
import { checkSourceAddress } from '../source-address.ts';
import { DESCRIPTION, IDENTITY, METADATA } from './standard-fields.ts';

/** How long a certificate is valid by default. Source: section 8 of the interface. */
export const DEFAULT_VALIDITY_MS = 24 * 3_600_000;

export const SSH_USER_CERTIFICATE = defineKind({
  name: 'SSHUserCertificate',
  role: 'owned',
  title: 'SSH user certificate',
  description:
    'A certificate for an SSH public key, signed by an SSH certificate authority. Only its description and metadata can be updated.',
  idPrefix: 'sucrt',
  path: '/ssh_user_certificates',
  listKey: 'ssh_user_certificates',
  check: checkTimesAndOptions,
  checkLifecycle: checkRenewal,
  fileField: 'certificate',
  validity: { after: 'valid_after', until: 'valid_until', defaultMs: DEFAULT_VALIDITY_MS },
  lifecycle: {
    valid_for: field(
      formatted('duration'),
      'How long it is valid, from its creation. Replaces valid_after and valid_until.',
    ),
    renew_before: field(
      formatted('duration'),
      'How long before its end it is renewed. The new certificate is created first. Default: renewed after it has expired.',
    ),
    write_to: field(
      text({ isPath: true }),
      'File that apply keeps equal to the certificate, relative to the folder of the manifest.',
    ),
  },
  fields: {
    ...IDENTITY,
    description: DESCRIPTION,
    metadata: METADATA,
    public_key: field(
      text({ format: 'ssh-public-key', orFile: true }),
      'Public key to certify, in OpenSSH authorized-keys format.',
      { lifecycle: 'immutable', required: true },
    ),
    key_type: field(oneOf('rsa', 'ecdsa', 'ed25519'), 'Type of the public key.', { lifecycle: 'computed' }),
    ssh_certificate_authority_id: field(idOf('sshca'), 'The SSH certificate authority that signs.', {
      lifecycle: 'immutable',
      required: true,
    }),
    principals: field(
      setOf(formatted('principal')),
      'User names that the holder may sign in as. Always state them: without any, the API documentation says any user, but OpenSSH with TrustedUserCAKeys accepts nobody.',
      {
        lifecycle: 'immutable',
        protects: 'but-each-or-all',
        tells: { said: 'signs in as', unset: 'names no principals' },
        whenUnset: {
          code: 'certificate-without-principals',
          message:
            'it names no principals, so a host accepts it for every user or for none, depending on the configuration of the host',
        },
      },
    ),
    critical_options: field(
      mapOf(formatted('critical-option'), text()),
      'Critical options of the certificate. Only `force-command` and `source-address` are defined.',
      { lifecycle: 'immutable', protects: 'by-each' },
    ),
    extensions: field(
      mapOf(formatted('certificate-extension'), text()),
      'Extensions of the certificate. Default: `permit-pty` and `permit-user-rc`, each with an empty value.',
      { lifecycle: 'immutable', protects: 'but-each', default: { 'permit-pty': '', 'permit-user-rc': '' } },
    ),
    valid_after: field(timestamp, 'When it becomes valid. Default: its creation.', {
      lifecycle: 'immutable',
      serviceDefault: true,
    }),
    valid_until: field(timestamp, 'When it expires. Default: 24 hours after valid_after.', {
      lifecycle: 'immutable',
      serviceDefault: true,
    }),
    certificate: field(text(), 'The signed certificate in OpenSSH authorized-keys format.', { lifecycle: 'computed' }),
  },
});

function checkTimesAndOptions(spec: Spec): readonly SpecProblem[] {
  return [...checkTimes(spec), ...checkAddresses(spec)];
}

function checkTimes(spec: Spec): readonly SpecProblem[] {
  const { valid_after: after, valid_until: until } = spec;
  if (typeof after !== 'string' || typeof until !== 'string' || toSeconds(after) < toSeconds(until)) return [];
  return [{ path: ['valid_until'], message: 'valid_until must be later than valid_after' }];
}

/** Services keep whole seconds. */
function toSeconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}

function checkAddresses({ critical_options: options }: Spec): readonly SpecProblem[] {
  const addresses = isJsonObject(options) ? options['source-address'] : undefined;
  const wrong = typeof addresses === 'string' ? checkSourceAddress(addresses) : undefined;
  if (wrong === undefined) return [];
  return [{ path: ['critical_options', 'source-address'], message: `critical_options.source-address ${wrong}` }];
}

function checkRenewal(settings: Spec, spec: Spec): readonly SpecProblem[] {
  const { valid_for: validFor, renew_before: renewBefore } = settings;
  const stated = ['valid_after', 'valid_until'].filter((name) => spec[name] !== undefined);
  if (validFor !== undefined && stated.length > 0)
    return [
      { path: ['valid_for'], message: `lifecycle.valid_for and spec.${stated.join(', spec.')} exclude each other` },
    ];
  if (renewBefore === undefined || spec['valid_until'] !== undefined) return [];
  const validMs = validFor === undefined ? DEFAULT_VALIDITY_MS : toDurationMs(String(validFor));
  if (validMs === undefined || (toDurationMs(String(renewBefore)) ?? 0) < validMs) return [];
  const message = `lifecycle.renew_before must be shorter than the ${renderTimeSpan(validMs)} for which the certificate is valid`;
  return [{ path: ['renew_before'], message }];
}
