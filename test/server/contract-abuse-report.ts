import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { createCaller, getText } from './caller.ts';
import type { ContractTarget } from './contract-target.ts';

/** Reports cannot be deleted: another service keeps them. */
export function describeAbuseReports(target: ContractTarget): void {
  describe('abuse report', () => {
    const call = createCaller(target);
    const post = (body: Record<string, Json>) => call('POST', '/abuse_reports', { body });

    it('is submitted with 201, and waits with each of its host names', async () => {
      const urls = ['https://A.example.com/login', 'http://b.example.com:8080/', 'https://a.example.com/other'];
      const { status, body } = await post({ urls, metadata: 'contract' });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        id: expect.stringMatching(/^abrp_/),
        urls,
        metadata: 'contract',
        status: 'PENDING',
        hostnames: [
          { hostname: 'a.example.com', status: 'PENDING' },
          { hostname: 'b.example.com', status: 'PENDING' },
        ],
      });
    });

    it('is read by its id', async () => {
      const { body } = await post({ urls: ['https://a.example.com/'] });
      const read = await call('GET', `/abuse_reports/${getText(body['id'])}`);
      expect([read.status, read.body['id']]).toEqual([200, body['id']]);
      expect((await call('GET', '/abuse_reports/abrp_nobody')).status).toBe(404);
    });

    it.each<[string, Record<string, Json>]>([
      ['no URLs', {}],
      ['an empty list of URLs', { urls: [] }],
      ['a URL without a scheme', { urls: ['example.com'] }],
      ['a URL of another scheme', { urls: ['ftp://example.com/'] }],
      ['a URL that is no list', { urls: 'https://example.com/' }],
      ['too much metadata', { urls: ['https://example.com/'], metadata: 'x'.repeat(4097) }],
    ])('is refused with %s', async (_, body) => {
      expect((await post(body)).status).toBe(400);
    });
  });
}
