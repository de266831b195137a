import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical, type Evidence } from '../../src/kinds/canonical.ts';
import { AS_IF_COMPLETE, AS_SHOWN, like, likeEmpty } from '../../src/kinds/evidence.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { SSH_USER_CERTIFICATE } from '../../src/kinds/tables/ssh-user-certificate.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';
import type { Spec } from '../../src/model/state.ts';

const MANIFEST: Spec = {
  description: 'a',
  hostports: ['a.example.com:1'],
  policy: { enabled: true, inbound: [], outbound: [{ name: 'deny', expressions: [], actions: [] }] },
};

const toEdge = (spec: Spec, evidence: Evidence): Spec => canonical(TCP_EDGE, spec, evidence);

describe('a field that is left out', () => {
  it('has its default in a manifest, and is absent if the service chooses it', () => {
    expect(toEdge({}, AS_WRITTEN)).toEqual({
      description: '',
      metadata: '',
      hostports: [],
      backend: null,
      ip_restriction: null,
      policy: null,
    });
    expect(canonical(CREDENTIAL, { acl: [] }, AS_WRITTEN)).toEqual({ description: '', metadata: '', acl: [] });
  });

  it('is absent in a response, except for those that a service leaves out at their default', () => {
    expect(toEdge({}, AS_SHOWN)).toEqual({ description: '', metadata: '' });
    expect(toEdge({ policy: { enabled: true } }, AS_SHOWN)['policy']).toEqual({ enabled: true });
  });

  it('is empty in a response that is compared with another one', () => {
    expect(toEdge({ policy: { enabled: true } }, AS_IF_COMPLETE)['policy']).toEqual({
      enabled: true,
      inbound: [],
      outbound: [],
    });
  });

  it('is as in the spec beside it', () => {
    expect(toEdge({ policy: { enabled: true } }, like(toEdge(MANIFEST, AS_WRITTEN)))).toEqual(
      toEdge(MANIFEST, AS_WRITTEN),
    );
  });

  it('is as in the spec beside it only where that is empty', () => {
    expect(toEdge({ policy: { enabled: true } }, likeEmpty(toEdge(MANIFEST, AS_WRITTEN)))['policy']).toEqual({
      enabled: true,
      inbound: [],
    });
  });
});

describe('a live spec beside another one', () => {
  it('has no value where the other one leaves the choice to the service', () => {
    expect(canonical(CREDENTIAL, { owner_id: 'usr_1' }, like({ description: '' }))).not.toHaveProperty('owner_id');
  });

  it('has the time of the other one if the service stored it a little earlier', () => {
    const wanted = { valid_after: '2031-01-01T00:00:30Z' };
    const toTime = (valid_after: string) =>
      canonical(SSH_USER_CERTIFICATE, { valid_after }, like(wanted))['valid_after'];
    expect(toTime('2031-01-01T00:00:10Z')).toBe('2031-01-01T00:00:30Z');
    expect(toTime('2031-01-01T00:00:40Z')).toBe('2031-01-01T00:00:40Z');
  });

  it('keeps what free JSON contains, also null', () => {
    const toPolicy = (ip_policies: readonly (string | null)[]): Spec => ({
      policy: { inbound: [{ name: 'a', actions: [{ type: 'restrict-ips', config: { ip_policies } }] }] },
    });
    const shown = toEdge(toPolicy(['ipp_1', null]), AS_SHOWN);
    expect(toEdge(shown, like(toEdge(toPolicy(['ipp_1', 'ipp_2']), AS_WRITTEN)))['policy']).toMatchObject({
      inbound: [{ actions: [{ config: { ip_policies: ['ipp_1', null] } }] }],
    });
  });
});
