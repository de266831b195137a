import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listPages } from '../../client/fake-service.ts';
import { expectWithinLimit } from '../../client/simulated-limiter.ts';
import { holds } from '../properties.ts';

it('lets the service count no more requests than its limit in any window, however long they take', async () => {
  const request = fc.record({ takesMs: fc.nat(90), countedAt: fc.double({ min: 0, max: 1, noNaN: true }) });
  const requests = fc.array(request, { maxLength: 60 });
  await holds(fc.asyncProperty(requests, fc.integer({ min: 1, max: 7 }), expectWithinLimit), 100);
});

it('returns the same list for any page size, with one request for each page', async () => {
  const pages = fc.array(fc.array(fc.nat({ max: 50 }), { maxLength: 5 }), { minLength: 1, maxLength: 8 });
  await holds(
    fc.asyncProperty(pages, async (ids) => {
      expect(await listPages(ids)).toEqual({ ids: [...new Set(ids.flat())], requests: ids.length });
    }),
    50,
  );
});
