import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { createCaller, getText } from '../server/caller.ts';
import { withConformanceChecks } from '../server/conformance.ts';
import { describeKind } from '../server/contract.ts';
import type { ContractTarget } from '../server/contract-target.ts';
import { createTestServer } from '../server/test-server.ts';
import { SEED } from './seed.ts';

const TARGET: ContractTarget = {
  transport: withConformanceChecks(createTestServer({ seed: SEED }).server.handle),
  baseUrl: 'https://coast.example.test',
  key: 'admin',
  versionHeader: 'Service-Version',
  ids: { ipp: 'ipp_1', ca: 'ca_1', sshca: 'sshca_1', bkdtg: 'bkdtg_1', edghts: 'edghts_1', edghtsrt: 'edghtsrt_1' },
};

const PATH = '/waters/water_1/buoys/buoy_1/bell';

describe('the interface of invented kinds', () => {
  describeKind(TARGET, {
    kind: getKind('Lighthouse'),
    create: (number) => ({
      harbour: `harbour-${number}.example.com`,
      channels: [`a.example.com:${number + 1}`],
      range: 7,
      notes: { domain: 'a.example.com', hostport: '' },
      labels: { 'X-A': 'b' },
      signalling: { signals: [{ meaning: 'danger' }] },
    }),
    update: ({ bkdtg }) => ({
      colour: 'red',
      is_lit: true,
      share: 0.5,
      sectors: { [bkdtg]: 7 },
      crew: ['agnes'],
      notes: null,
      signalling: { enabled: false },
      fog_horn: { signals: ['horn_1'] },
    }),
    immutable: { harbour: 'elsewhere.example.com' },
  });
  describeKind(TARGET, {
    kind: getKind('PilotPass'),
    create: (number) => ({ valid_until: `209${number}-01-01T00:00:00Z` }),
    immutable: { pilot_id: 'usr_1' },
  });

  const call = createCaller(TARGET);

  it('sets the fields that a table leaves to the service, and shows one-time fields once', async () => {
    const { body } = await call('POST', '/pilot_passes', { body: {} });
    expect(body).toMatchObject({
      pilot_id: 'usr_000000000000000000000000000',
      valid_after: body['created_at'],
      secret: expect.stringMatching(/./),
      paper: `pilot pass ${body['id']}`,
    });
    expect(Date.parse(getText(body['valid_until'])) - Date.parse(getText(body['valid_after']))).toBe(24 * 3_600_000);
    expect((await call('GET', `/pilot_passes/${getText(body['id'])}`)).body['secret']).toBeNull();
  });

  it('sets, shows and removes modules of an existing resource', async () => {
    expect((await call('GET', PATH)).status).toBe(404);
    const shown = { enabled: true, strikes: 3, password: '', tone: 0 };
    expect((await call('PUT', PATH, { body: { strikes: 3 } })).body).toEqual(shown);
    expect((await call('PUT', PATH, { body: { strikes: 9 } })).status).toBe(400);
    expect((await call('GET', PATH)).body).toEqual(shown);
    expect((await call('DELETE', PATH)).status).toBe(204);
    expect((await call('GET', PATH)).status).toBe(404);
  });

  it('accepts a submission, and shows it', async () => {
    const { body, status } = await call('POST', '/sightings', { body: { seen: ['a whale'] } });
    expect(status).toBe(201);
    expect((await call('GET', `/sightings/${getText(body['id'])}`)).body).toMatchObject({ seen: ['a whale'] });
    expect((await call('POST', '/sightings', { body: { seen: [] } })).status).toBe(400);
  });
});
