import type { Finding, UncodedFinding } from '../../model/finding.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Spec } from '../../model/state.ts';
import { parseDurationMs, renderTimeSpan } from '../duration.ts';
import { field, idOf, mapOf, oneOf, setOf, text, textOfFormat, timestamp } from '../field.ts';
import { defineKind } from '../kind.ts';
import { DESCRIPTION, IDENTITY_FIELDS, METADATA } from './standard-fields.ts';

/** The default validity of a certificate. Source: section 8 of the API documentation. */
export const DEFAULT_VALIDITY_MS = 24 * 3_600_000;

/** Services backdate certificates, so that hosts whose clocks are slow accept them at once. */
const MAX_BACKDATED_MS = 5 * 60_000;

/** The extensions that sshd knows. None takes a value. Those of others contain an `@`. Source: OpenSSH PROTOCOL.certkeys. */
const EXTENSIONS = [
  'no-touch-required',
  'permit-X11-forwarding',
  'permit-agent-forwarding',
  'permit-port-forwarding',
  'permit-pty',
  'permit-user-rc',
];

export const SSH_USER_CERTIFICATE = defineKind({
  name: 'SSHUserCertificate',
  role: 'owned',
  title: 'SSH user certificate',
  description:
    'A certificate for an SSH public key, signed by an SSH certificate authority. Only its description and metadata can be updated.',
  example: {
    spec: {
      description: 'Alice signs in to the bastion',
      metadata: { team: 'platform' },
      ssh_certificate_authority_id: 'sshca_2k9XLSFdoQiJcVAxRrTtCDgMNpw',
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L alice@example.com',
      principals: ['alice'],
      critical_options: { 'source-address': '203.0.113.0/24' },
      extensions: { 'permit-pty': '' },
    },
    // instead of valid_after and valid_until
    lifecycle: { valid_for: '30d', renew_before: '7d', keep_old_for: '1d' },
  },
  idPrefix: 'sucrt',
  path: '/ssh_user_certificates',
  listKey: 'ssh_user_certificates',
  check: checkTimes,
  checkLifecycle: checkRenewal,
  issued: {
    field: 'certificate',
    check: (text, { public_key: publicKey }) => checkSshCertificate(text, publicKey),
  },
  validity: { after: 'valid_after', until: 'valid_until', defaultMs: DEFAULT_VALIDITY_MS },
  lifecycle: {
    valid_for: field(
      textOfFormat('duration'),
      'How long the certificate is valid, from its creation. Use it instead of valid_after and valid_until.',
    ),
    renew_before: field(
      textOfFormat('duration'),
      'The certificate is renewed this long before it expires. The new certificate is created first. Default: renewed after expiry.',
    ),
    keep_old_for: field(
      textOfFormat('duration'),
      'How long the old certificate stays listed after it was replaced, at most until it expires. Default: it is deleted in the same apply. A deleted certificate is valid until it expires, too.',
    ),
  },
  fields: {
    ...IDENTITY_FIELDS,
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
      setOf(textOfFormat('principal')),
      'User names that the holder may sign in as. Always set them: an empty list means any user in the API documentation, but no user in OpenSSH with TrustedUserCAKeys.',
      {
        lifecycle: 'immutable',
        restriction: 'allow-list-or-all',
        summary: { prefix: 'signs in as', unset: 'names no principals' },
        whenUnset: {
          code: 'unrestricted-access',
          message:
            'it names no principals, so a host accepts it for every user or for none, depending on the configuration of the host',
          remedy: 'List in spec.principals the users that its holder signs in as.',
        },
      },
    ),
    critical_options: field(
      mapOf(textOfFormat('critical-option'), text(), {
        valueTypes: { 'source-address': textOfFormat('source-addresses') },
      }),
      'Critical options of the certificate. Only two are defined: `force-command` is the command that runs instead of any other; `source-address` lists the addresses that may connect, in CIDR form, separated by commas: `203.0.113.0/24,2001:db8::/32`.',
      { lifecycle: 'immutable', restriction: 'by-each' },
    ),
    extensions: field(
      mapOf(textOfFormat('certificate-extension'), text(), {
        findMistakes: listExtensionMistakes,
        valueTypes: Object.fromEntries(EXTENSIONS.map((name) => [name, textOfFormat('no-value')])),
      }),
      'Extensions of the certificate. Default: `permit-pty` and `permit-user-rc`, each with an empty value.',
      { lifecycle: 'immutable', restriction: 'allow-list', default: { 'permit-pty': '', 'permit-user-rc': '' } },
    ),
    valid_after: field(timestamp, 'When it becomes valid. Default: its creation.', {
      lifecycle: 'immutable',
      serviceDefault: true,
      earlierByMs: MAX_BACKDATED_MS,
    }),
    valid_until: field(timestamp, 'When it expires. Default: 24 hours after valid_after.', {
      lifecycle: 'immutable',
      serviceDefault: true,
      earlierByMs: MAX_BACKDATED_MS,
    }),
    certificate: field(text(), 'The signed certificate in OpenSSH authorized-keys format.', { lifecycle: 'computed' }),
  },
});

function listExtensionMistakes(extensions: JsonObject): readonly Finding[] {
  const names = Object.keys(extensions);
  const unknown = names.filter((name) => !EXTENSIONS.includes(name) && !name.includes('@'));
  return [
    ...unknown.map((given): Finding => {
      const message = `has the extension \`${given}\`, which sshd does not know`;
      return { code: 'certificate-extensions', path: [given], message, unknown: { given, known: EXTENSIONS } };
    }),
    ...(names.includes('permit-pty')
      ? []
      : [
          {
            code: 'certificate-extensions',
            path: [],
            message: 'has no `permit-pty`, so the holder gets no terminal',
            remedy: 'Add `permit-pty: ""`. If the holder needs no terminal, suppress this rule with that reason.',
          } as const,
        ]),
  ];
}

function checkTimes(spec: Spec): readonly UncodedFinding[] {
  const { valid_after: after, valid_until: until } = spec;
  if (typeof after !== 'string' || typeof until !== 'string' || toSeconds(after) < toSeconds(until)) return [];
  return [{ path: ['valid_until'], message: 'valid_until must be later than valid_after' }];
}

/** Services store whole seconds. */
function toSeconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}

function checkRenewal(settings: Spec, spec: Spec): readonly UncodedFinding[] {
  const { valid_for: validFor, renew_before: renewBefore } = settings;
  const times = ['valid_after', 'valid_until'].filter((name) => spec[name] !== undefined);
  if (validFor !== undefined && times.length > 0)
    return [
      { path: ['valid_for'], message: `lifecycle.valid_for and spec.${times.join(', spec.')} are mutually exclusive` },
    ];
  if (renewBefore === undefined || spec['valid_until'] !== undefined) return [];
  const validMs = validFor === undefined ? DEFAULT_VALIDITY_MS : parseDurationMs(String(validFor));
  if (validMs === undefined || (parseDurationMs(String(renewBefore)) ?? 0) < validMs) return [];
  const message = `lifecycle.renew_before must be shorter than the ${renderTimeSpan(validMs)} for which the certificate is valid`;
  return [{ path: ['renew_before'], message }];
}

/**
 * Checks an SSH user certificate before another program gets it. The text must be a certificate for the requested key
 * on one line and nothing else, because other programs may read it line by line. Signatures are not checked,
 * because `sshd` checks them. Source: OpenSSH PROTOCOL.certkeys.
 */

/** Type, base64, and an optional comment without characters that a shell would interpret. */
const LINE = /^([a-z0-9-]+)-cert-v01@openssh\.com ([A-Za-z0-9+/]+={0,2})(?: [\w.@:+=,/ -]*)?$/;

/** The type of a user certificate in OpenSSH's format. */
export const USER_CERTIFICATE = 1;

/**
 * Returns why the text of a certificate is invalid. `undefined` if it is valid. The key is compared with `publicKey`
 * from the manifest unless that is `undefined`.
 */
function checkSshCertificate(text: string, publicKey: Json | undefined): string | undefined {
  const [, type = '', base64 = ''] = LINE.exec(text.replace(/\n$/, '')) ?? [];
  if (type === '') return 'is not one line with an SSH certificate';
  const bytes = Buffer.from(base64, 'base64');
  const key = readCertificateKey(bytes, type);
  if (key === undefined) return 'is not a whole SSH user certificate';
  if (typeof publicKey !== 'string') return undefined;
  const [asked = '', blob = ''] = publicKey.trim().split(/\s+/);
  const isSame = asked === type && key.equals(Buffer.from(blob, 'base64').subarray(4 + asked.length));
  return isSame ? undefined : 'is for another public key';
}

/**
 * Reads the whole certificate. Returns the bytes of its key, or `undefined` if it is not a complete user certificate.
 */
function readCertificateKey(bytes: Buffer, type: string): Buffer | undefined {
  let at = 0;
  const take = (length: number): Buffer => {
    const part = bytes.subarray(at, at + length);
    if (part.length < length) throw new RangeError('The certificate ends too early.');
    at += length;
    return part;
  };
  const takeField = (): Buffer => take(take(4).readUInt32BE(0));
  try {
    if (takeField().toString('latin1') !== `${type}-cert-v01@openssh.com`) return undefined;
    takeField(); // nonce
    const start = at;
    for (let left = KEY_FIELDS[type] ?? 0; left > 0; left -= 1) takeField();
    const key = bytes.subarray(start, at);
    take(8); // serial
    const isUser = take(4).readUInt32BE(0) === USER_CERTIFICATE;
    takeField(); // key id
    takeField(); // principals
    take(16); // validity
    // Critical options, extensions, reserved, the key of the authority, the signature.
    for (let left = 5; left > 0; left -= 1) takeField();
    return isUser && key.length > 0 && at === bytes.length ? key : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The number of fields after the type name in a key, by type. */
const KEY_FIELDS: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ssh-rsa': 2,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
};
