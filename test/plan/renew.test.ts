import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { SSH_USER_CERTIFICATE } from '../../src/kinds/tables/ssh-user-certificate.ts';
import { assertDefined, InvariantError } from '../../src/model/errors.ts';
import type { Spec } from '../../src/model/state.ts';
import type { ExistingPair } from '../../src/plan/match.ts';
import { decideRenewal, findEndOfManifest } from '../../src/plan/renewal.ts';
import { findManifestValidForMs, listValidityDifference } from '../../src/plan/validity.ts';

const CREATED = '2026-03-01T12:00:00Z';
const DAY_MS = 86_400_000;

/** A resource that was created on the first of March, with these settings. */
function toPair(kind: Kind, settings: Spec, live: Spec = {}): ExistingPair {
  const address = `${kind.name}/it` as const;
  const mark = { stack: 'shop', name: 'it', protect: false, delivered: true, fields: {} };
  return {
    address,
    kind,
    by: 'mark',
    desired: {
      address,
      kind: kind.name,
      name: 'it',
      spec: {},
      written: {},
      allow: {},
      labels: {},
      annotations: {},
      readSource: () => '',
      manifest: { editFields: () => ({ refusals: [] }), remove: () => ({ refusals: [] }) },
      lifecycle: { protect: false, ignore: [], adopt: undefined, settings },
      locate: () => ({ file: 'm.yaml', line: 1, column: 1 }),
    },
    live: { kind: kind.name, id: 'x_1', createdAt: CREATED, spec: live, mark, markError: undefined, computed: {} },
  };
}

/** Days after the creation. */
function toDayAfter(days: number): Date {
  return new Date(Date.parse(CREATED) + days * DAY_MS);
}

/** The decision about the pair that many days after the creation. */
function renewalAfter(days: number, pair: ExistingPair, written: Spec = {}) {
  return decideRenewal(pair, written, { now: toDayAfter(days), rotate: [] });
}

/** A validity of that many days from the creation. */
function toValidity(days: number): Spec {
  return { valid_after: CREATED, valid_until: toDayAfter(days).toISOString() };
}

describe('a credential with rotate_after', () => {
  const pair = toPair(CREDENTIAL, { rotate_after: '90d' });

  it('is left alone until that moment, and rotated from then on', () => {
    expect(renewalAfter(90 - 1e-6, pair).reason).toBeUndefined();
    expect(renewalAfter(90, pair).reason).toBe('it is 90 days old, and is rotated after 90d');
  });

  it('shows when it is due', () => {
    expect(renewalAfter(78, pair).notes).toEqual(['rotates in 12 days']);
  });

  it('is left alone if the service does not return its age', () => {
    const { live, ...rest } = pair;
    if (live === undefined) throw new InvariantError('the pair has a live resource');
    expect(renewalAfter(900, { ...rest, live: { ...live, createdAt: '' } })).toMatchObject({
      reason: undefined,
      notes: [],
    });
  });
});

describe('a certificate', () => {
  const settings = { valid_for: '90d', renew_before: '14d' };
  const pair = toPair(SSH_USER_CERTIFICATE, settings, toValidity(90));

  it('is renewed from the moment of renew_before', () => {
    expect(renewalAfter(76 - 1e-6, pair).reason).toBeUndefined();
    expect(renewalAfter(76, pair).reason).toBe('it expires in 14 days, and is renewed 14d before that');
  });

  it('shows when it is due', () => {
    expect(renewalAfter(64, pair).notes).toEqual(['renews in 12 days']);
  });

  it('is replaced once it has expired, whatever else is set', () => {
    expect(renewalAfter(90, pair).reason).toBe('it expired less than a second ago');
    expect(renewalAfter(2, toPair(SSH_USER_CERTIFICATE, {}, toValidity(1))).reason).toBe('it expired 24 hours ago');
  });

  it.each([
    [86_401, '30d', '~24h'],
    [86_701, '24h', '86701s'],
    [7_776_007, '1d', '~90d'],
  ])('valid for %i s, with a wanted validity of %s, is shown as %s', (seconds, wanted, text) => {
    const live = {
      valid_after: CREATED,
      valid_until: new Date(Date.parse(CREATED) + seconds * 1000).toISOString(),
    };
    const { kind, desired, live: found } = toPair(SSH_USER_CERTIFICATE, { valid_for: wanted }, live);
    const compared = {
      kind,
      live: assertDefined(found, 'live certificate'),
      validForMs: findManifestValidForMs(kind, desired),
    };
    expect(listValidityDifference(compared)).toMatchObject([{ path: 'lifecycle.valid_for', from: text }]);
  });

  it.each([86_400, 86_401, 86_700, 86_100])('valid for %i s is valid for 24h', (seconds) => {
    const until = new Date(Date.parse(CREATED) + seconds * 1000).toISOString();
    const { kind, live } = toPair(SSH_USER_CERTIFICATE, {}, { valid_after: CREATED, valid_until: until });
    const found = assertDefined(live, 'live certificate');
    expect(listValidityDifference({ kind, live: found, validForMs: 86_400_000 })).toEqual([]);
  });

  it('is replaced if its manifest sets another validity, and both are named', () => {
    const short = toPair(SSH_USER_CERTIFICATE, settings, toValidity(1));
    const { kind, desired, live } = short;
    const validForMs = findManifestValidForMs(kind, desired);
    expect(listValidityDifference({ kind, live: assertDefined(live, 'live certificate'), validForMs })).toEqual([
      { path: 'lifecycle.valid_for', from: '1d', to: '90d', origin: 'manifest', forcesReplace: true },
    ]);
    expect(renewalAfter(0, short)).toEqual({ reason: undefined, notes: [] });
  });

  it('is never due if its manifest sets its end', () => {
    const written = { valid_until: toDayAfter(1).toISOString() };
    const stated = toPair(SSH_USER_CERTIFICATE, { renew_before: '1d' }, toValidity(1));
    expect(renewalAfter(0.5, stated, written)).toMatchObject({ reason: undefined, notes: ['expires in 12 hours'] });
    expect(renewalAfter(2, stated, written)).toMatchObject({ reason: undefined, notes: ['expired 24 hours ago'] });
  });

  it('is warned about if its manifest sets only a start that is longer ago than the default validity', () => {
    const written = { valid_after: CREATED };
    const stated = toPair(SSH_USER_CERTIFICATE, {}, toValidity(1));
    expect(findEndOfManifest(stated, written, toDayAfter(0.5))).toEqual([]);
    expect(findEndOfManifest(stated, written, toDayAfter(2))).toMatchObject([
      { address: 'SSHUserCertificate/it', leftMs: -DAY_MS, field: 'valid_after' },
    ]);
  });

  it.each([
    [-1, []],
    [0.5, [{ leftMs: DAY_MS / 2, field: 'valid_until' }]],
    [2, [{ leftMs: -DAY_MS, field: 'valid_until' }]],
  ])('is warned about %d days after its creation if its manifest sets its end', (days, found) => {
    const written = { valid_until: toDayAfter(1).toISOString() };
    const stated = toPair(SSH_USER_CERTIFICATE, { renew_before: '1d' }, toValidity(1));
    expect(findEndOfManifest(stated, written, toDayAfter(days))).toMatchObject(found);
  });

  it('is not renewed while it is taken over', () => {
    const adopted: ExistingPair = { ...toPair(SSH_USER_CERTIFICATE, {}, toValidity(1)), by: 'adopt' };
    expect(renewalAfter(2, adopted)).toMatchObject({
      reason: undefined,
      notes: ['it expired 24 hours ago: the next apply replaces it'],
    });
  });
});

describe('--rotate', () => {
  it('is a reason by itself', () => {
    const pair = toPair(CREDENTIAL, {});
    const rotate = (address: string) => decideRenewal(pair, {}, { now: toDayAfter(0), rotate: [address] }).reason;
    expect(rotate('Credential/it')).toBe('requested with --rotate');
    expect(rotate('Credential/other')).toBeUndefined();
  });
});

describe('a credential beside one whose token was not delivered', () => {
  it('is replaced too', () => {
    const pair = { ...toPair(CREDENTIAL, {}), isTokenInDoubt: true };
    expect(renewalAfter(0, pair).reason).toContain('it is unknown which of the two tokens was delivered');
  });
});
