import { toKeyType } from '../kinds/formats.ts';
import { type Key, parseSshPublicKey } from '../kinds/ssh-key.ts';
import { DEFAULT_VALIDITY_MS } from '../kinds/tables/ssh-user-certificate.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { Behaviour, Tools } from './behaviour.ts';
import { Failure } from './failure.ts';
import { renderSshCertificate } from './ssh-certificate.ts';
import type { StoredResource } from './store.ts';
import { toTimestamp } from './timestamp.ts';

const YEAR_10000 = Date.UTC(10_000, 0);

/** Chooses the time of validity, and signs at creation. */
export const SSH_CERTIFICATE_BEHAVIOUR: Behaviour = {
  complete: (spec, _caller, now) => {
    parsePublicKey(spec);
    const after = parseTime(spec, 'valid_after') ?? new Date(toTimestamp(now));
    const until = parseTime(spec, 'valid_until') ?? toDefaultUntil(after);
    return { ...spec, valid_after: toTimestamp(after), valid_until: toTimestamp(until) };
  },
  remember: (resource, before, tools) => before?.state ?? { certificate: sign(resource, tools) },
  recall: (_resource, { certificate = null }) => ({ certificate }),
  compute: ({ spec, state }) => ({
    key_type: toKeyType(String(spec['public_key'])) ?? null,
    certificate: state['certificate'] ?? null,
  }),
};

function sign({ id, spec }: StoredResource, { identities, authorities }: Tools): string {
  const certificate = {
    publicKey: parsePublicKey(spec),
    keyId: id,
    principals: isJsonArray(spec['principals']) ? spec['principals'].map(String) : [],
    validAfter: new Date(String(spec['valid_after'])),
    validBefore: new Date(String(spec['valid_until'])),
    criticalOptions: toTexts(spec['critical_options']),
    extensions: toTexts(spec['extensions']),
    nonce: identities.derive(`nonce ${id}`),
  };
  return renderSshCertificate(certificate, authorities.getKey(String(spec['ssh_certificate_authority_id'])));
}

function parsePublicKey(spec: Spec): Key {
  const key = parseSshPublicKey(String(spec['public_key']));
  if (key === undefined) throw refuse('public_key', 'is not a complete SSH public key');
  return key;
}

function refuse(field: string, message: string): Failure {
  return new Failure(`${field} ${message}`, { code: 'invalid_field', details: { field } });
}

function parseTime(spec: Spec, field: string): Date | undefined {
  const value = spec[field];
  if (typeof value !== 'string') return undefined;
  const time = new Date(value);
  if (time.getTime() >= 0 && time.getTime() < YEAR_10000) return time;
  throw refuse(field, 'must be between the years 1970 and 9999');
}

function toDefaultUntil(after: Date): Date {
  const until = new Date(after.getTime() + DEFAULT_VALIDITY_MS);
  if (until.getTime() < YEAR_10000) return until;
  throw refuse('valid_after', 'is too late: the default of valid_until would be after the year 9999');
}

function toTexts(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}
