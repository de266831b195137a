import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWriteRequestLine } from '../../src/kinds/request-body.ts';
import { IP_RESTRICTION } from '../../src/kinds/tables/ip-restriction.ts';
import { getKind, MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import { World } from './world.ts';

describe('a write that may lock out its caller', () => {
  it('is sent after all others', LONG, async () => {
    const kinds = [IP_RESTRICTION, IP_RESTRICTION, ...MANIFEST_KINDS];
    const property = fc.asyncProperty(arbitraryHistory(1, { kinds }), async (stacks) => {
      const world = new World({ concurrency: 16 });
      for (const stack of stacks) {
        const plan = await world.migrate(stack);
        const late = plan.writes.filter(({ last }) => last).length;
        const isDangerous = plan.changes.filter(
          ({ action, kind, desired }) =>
            action !== 'no-op' && isJsonObject(desired) && getKind(kind).canLockOut(desired),
        );
        expect(late).toBeGreaterThanOrEqual(isDangerous.length);
        expect(plan.diagnostics.filter(({ code }) => code === 'lockout')).toHaveLength(isDangerous.length);
        const sent = world.takeRequests().filter(({ method }) => method !== 'GET');
        const tail = sent.slice(sent.length - late).map(({ method, path }) => `${method} ${path}`);
        const expected = plan.writes
          .filter(({ last }) => last)
          .map((write) => createWriteRequestLine(write))
          .map(({ method, path }) => `${method} ${path}`);
        expect(tail.sort()).toEqual(expected.sort());
      }
    });
    await holds(property, 20);
  });
});
