import assert from 'node:assert/strict';
import { openStack } from '../../src/index.ts';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import type { Prepare } from './steps/count.ts';

const STACK = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: sizes }\n';

/** Renders edges, each with its own backend, which could be created twice. `text`: their description. `from`: the first one. */
function render(count: number, { text, from = 0 }: { readonly text: string; readonly from?: number }): string {
  const edges = Array.from(
    { length: count },
    (_, index) => `apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool-${from + index} }
spec: { description: ${text}, backends: { bkdtg_${from + index}: 1 } }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: edge-${from + index} }
spec:
  description: ${text}
  hostports: ["e${from + index}.example.net:443"]
  backend: { backend_id: WeightedBackend/pool-${from + index} }
`,
  );
  return [STACK, ...edges].join('---\n');
}

/** Creates edges and pools, half of `count` each. Then changes one half of them, and replaces the other half. Each apply has a rehearsal. */
export const prepareStack: Prepare = async (count) => async () => {
  const server = createServer({ apiKeys: [parseApiKey('key:admin')], idSeed: 'sizes' });
  const edges = count / 2;
  const texts = [render(edges, { text: 'first' }), render(edges, { text: 'second', from: edges / 2 })];
  for (const text of texts) {
    const stack = await openStack({
      manifests: [{ file: 'edges.yaml', text }],
      baseUrl: 'http://sizes.test',
      apiKey: 'key',
      transport: server.handle,
      rateLimit: 'none',
      env: {},
    });
    const plan = await stack.plan();
    assert.equal(plan.rehearsal?.remaining, 0);
    const { outcomes } = await stack.apply(plan, { allowDeletes: true });
    assert.deepEqual(
      outcomes.filter(({ outcome }) => outcome !== 'applied'),
      [],
    );
    assert.deepEqual((await stack.plan()).writes, []);
    await stack.close();
  }
};
