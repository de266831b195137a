import { describe, expect, it } from 'vitest';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import type { Json } from '../../src/model/json.ts';
import { getList, getText } from './caller.ts';
import { describeKind, expectSpec, type Sample, useCleanCaller } from './contract.ts';
import type { ContractTarget } from './contract-target.ts';

const SAMPLE: Sample = {
  kind: CREDENTIAL,
  create: () => ({
    acl: ['bind:*.example.com', 'bind:1.tcp.example.com:20001', 'bind:env=*', 'bind:*=prod', 'bind:*'],
  }),
  update: () => ({ acl: ['bind:example.com'] }),
  immutable: { owner_id: 'usr_somebody' },
};

export function describeCredentials(target: ContractTarget): void {
  describeKind(target, SAMPLE);

  describe('tunnel credential, its token', () => {
    const call = useCleanCaller(target);
    const post = (body: Record<string, Json> = {}) => call('POST', '/credentials', { body });

    it('is shown by the creation and never after it', async () => {
      const { body } = await post();
      expect(getText(body['token']).length).toBeGreaterThan(20);
      const path = `/credentials/${getText(body['id'])}`;
      expect((await call('GET', path)).body['token']).toBeNull();
      expect((await call('PATCH', path, { body: { description: 'x' } })).body['token']).toBeNull();
      const listed = getList((await call('GET', '/credentials')).body['credentials']);
      expect(listed.map(({ token }) => token).filter((token) => token !== null)).toEqual([]);
    });

    it('is another one for each credential', async () => {
      expect((await post()).body['token']).not.toBe((await post()).body['token']);
    });

    it('belongs to the caller unless something else is said', async () => {
      expect(getText((await post()).body['owner_id'])).toMatch(/^(usr|bot)_/);
    });

    it('may do everything without an ACL, or with *', async () => {
      expectSpec(CREDENTIAL, (await post()).body, { acl: [] });
      expectSpec(CREDENTIAL, (await post({ acl: ['*'] })).body, { acl: [] });
    });

    it('gets its freedom back with an empty ACL', async () => {
      const { body } = await post({ acl: ['bind:example.com'] });
      const path = `/credentials/${getText(body['id'])}`;
      await call('PATCH', path, { body: { acl: [] } });
      expectSpec(CREDENTIAL, (await call('GET', path)).body, { acl: [] });
    });

    it.each(['connect:example.com', 'bind:', 'bind:a*b.example.com', 'bind:x=y=z', 'bind:host:99999', ''])(
      'has no ACL rule such as `%s`',
      async (rule) => {
        expect((await post({ acl: [rule] })).status).toBe(400);
      },
    );
  });
}
