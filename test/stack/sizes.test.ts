import { afterAll, beforeAll, expect } from 'vitest';
import { StepCounter } from '../count-steps.ts';
import { itLong } from '../effort.ts';

/** Of many resources each takes as many steps as of few, as the engine counts them: nothing that looks at all of them for each. */

const [FEW, MANY] = [30, 240];

const counter = new StepCounter();

beforeAll(() => counter.start());

afterAll(() => counter.stop());

const STACK = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: sizes }\n';

/** Edges, each with a backend of its own, which could be made twice; what their description is, and whether the newer half is there. */
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

/** Creates, changes, replaces by others and plans once more, each with a rehearsal. */
async function runThrough(count: number): Promise<void> {
  const { openStack } = await import('../../src/index.ts');
  const { createServer, parseApiKey } = await import('../../src/server/index.ts');
  const server = createServer({ apiKeys: [parseApiKey('key:admin')], idSeed: 'sizes' });
  const half = count / 2;
  const texts = [
    render(count, { text: 'first' }),
    render(count, { text: 'second' }),
    render(count, { text: 'second', from: half }),
  ];
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
    expect(plan.rehearsal?.left).toBe(0);
    const { outcomes } = await stack.apply(plan, { allowDeletes: true });
    expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
    expect((await stack.plan()).writes).toEqual([]);
    await stack.close();
  }
}

/** A block that runs for each resource, of each resource, runs more often than this; what sorts does not. */
const MOST = (2 * MANY) / FEW;

itLong('a plan, its rehearsal and its apply take steps in proportion to what they are about', async () => {
  await runThrough(FEW);
  // The engine forgets some counts when it throws code away: it does not count too many.
  const runs = [
    await counter.count(() => runThrough(FEW)),
    await counter.count(() => runThrough(FEW)),
    await counter.count(() => runThrough(FEW)),
  ];
  const many = await counter.count(() => runThrough(MANY));
  const blocks = [...many].map(([block, count]) => {
    return { block, count, before: Math.max(...runs.map((few) => few.get(block) ?? 0)) };
  });
  expect(blocks.filter(({ before }) => before >= FEW).length).toBeGreaterThan(500);
  expect(blocks.filter(({ before, count }) => before >= FEW && count > MOST * before)).toEqual([]);
});
