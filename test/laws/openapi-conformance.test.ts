import fc from 'fast-check';
import { describe, it } from 'vitest';
import { withConformanceChecks } from '../server/conformance.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import { World } from './world.ts';

describe('the requests and responses of edgewise and the bundled server', () => {
  it('conform to the OpenAPI document, for any stacks', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (stacks) => {
      const world = new World({ pageSize: 3 });
      world.interpose(withConformanceChecks);
      for (const stack of stacks) await world.migrate(stack);
      await world.migrate([], { mode: 'destroy' });
    });
    await holds(property, 10);
  });
});
