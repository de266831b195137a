import { describe, expect, it } from 'vitest';
import { diff } from '../../src/kinds/diff.ts';
import { SSH_USER_CERTIFICATE } from '../../src/kinds/tables/ssh-user-certificate.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';

describe('the differences between two specs', () => {
  it('are found under keys that JavaScript treats specially', () => {
    const live = { extensions: { a: '1', '': '2' } };
    const desired = { extensions: { ['__proto__']: '3', constructor: '4', ':': '5' } };
    expect(diff(SSH_USER_CERTIFICATE, live, desired).map(({ path, from, to }) => ({ path, from, to }))).toEqual([
      { path: 'extensions[""]', from: '2', to: undefined },
      { path: 'extensions.a', from: '1', to: undefined },
      { path: 'extensions[":"]', from: undefined, to: '5' },
      { path: 'extensions.__proto__', from: undefined, to: '3' },
      { path: 'extensions.constructor', from: undefined, to: '4' },
    ]);
  });

  it('are in one order, whatever the order of the keys', () => {
    const desired = { metadata: { b: 1, a: { d: 1, c: 1 } }, backend: null };
    const shuffled = { backend: null, metadata: { a: { c: 1, d: 1 }, b: 1 } };
    const live = { metadata: { z: 1 }, backend: null };
    expect(diff(TCP_EDGE, live, shuffled)).toEqual(diff(TCP_EDGE, live, desired));
  });

  it('are in the order of the table, whatever the order of the fields within one', () => {
    const live = { backend: { enabled: false, backend_id: 'bkdhr_a' }, ip_restriction: null };
    const shuffled = { ip_restriction: null, backend: { backend_id: 'bkdhr_a', enabled: false } };
    const desired = { backend: { backend_id: 'bkdhr_b', enabled: true }, ip_restriction: null };
    const paths = [live, shuffled].map((from) => diff(TCP_EDGE, from, desired).map(({ path }) => path));
    expect(paths).toEqual([
      ['backend.enabled', 'backend.backend_id'],
      ['backend.enabled', 'backend.backend_id'],
    ]);
  });

  it('are found if only an empty key is added', () => {
    const differences = diff(TCP_EDGE, { metadata: { team: 'a' } }, { metadata: { team: 'a', '': 1 } });
    expect(differences).toMatchObject([{ path: 'metadata[""]', to: 1 }]);
  });
});
