import { describe, expect, it } from 'vitest';
import { createIdGenerator } from '../../src/server/id-generator.ts';
import { getText } from './caller.ts';
import { createTestServer } from './test-server.ts';

const NOW = new Date('2026-01-31T12:00:00Z');

describe('ids', () => {
  it('are the prefix and 27 characters of base62', () => {
    expect(createIdGenerator('seed', 0).createId('edgtcp', NOW)).toMatch(/^edgtcp_[0-9A-Za-z]{27}$/);
  });

  it('sort by the time of creation, and by their order within a second', () => {
    const identities = createIdGenerator('seed', 0);
    const times = [0, 0, 0, 1, 1, 3600, 86_400, 3_000_000_000].map(
      (seconds) => new Date(NOW.getTime() + seconds * 1000),
    );
    const ids = times.map((time) => identities.createId('cr', time));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are the same for the same calls and seed, and others for another seed', async () => {
    const createOne = async (idSeed: string | number): Promise<string> => {
      const { call } = createTestServer({ idSeed });
      const { body, headers } = await call('POST', '/credentials', { body: {} });
      return [body['id'], body['token'], headers.get('operation-id')].map((text) => getText(text)).join(' ');
    };
    expect(await createOne('a')).toBe(await createOne('a'));
    expect(await createOne(1)).toBe(await createOne('1'));
    expect(await createOne('a')).not.toBe(await createOne('b'));
  });

  it('exist for every clock', () => {
    const identities = createIdGenerator('seed', 0);
    const early = identities.createId('cr', new Date(0));
    const late = identities.createId('cr', new Date('9999-12-31T00:00:00Z'));
    expect([early.length, late.length, early < late]).toEqual([30, 30, true]);
  });
});
