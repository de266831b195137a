import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds } from '../laws/properties.ts';
import type { TestResource, TestStack } from '../laws/stack.ts';
import { listTouched, World } from '../laws/world.ts';
import { LONG } from '../tries.ts';

const LIFECYCLE = { protect: false, ignore: [] } as const;
const TYPES = ['dashboard', 'api', 'agent', 'endpoints'];

describe('unique values', () => {
  it('move between ten edges in any rotation, with fewer extra writes than changed edges', LONG, async () => {
    const rounds = fc.array(arbitraryAssignment(10, 12), { minLength: 2, maxLength: 4 });
    const property = fc.asyncProperty(rounds, fc.boolean(), async (assignments, isParallel) => {
      const world = new World({ concurrency: isParallel ? 16 : 1 });
      for (const assignment of assignments) {
        const stack = toEdges(assignment);
        const { writes } = await world.migrate(stack);
        expect(listTouched(await world.plan(stack))).toEqual([]);
        const updates = writes.filter(({ id }) => id.startsWith('update'));
        const releases = writes.filter(({ id }) => id.startsWith('release'));
        expect(releases.length).toBeLessThanOrEqual(Math.max(0, updates.length - 1));
      }
      await world.migrate([], { mode: 'destroy' });
      expect(world.resources()['TCPEdge']).toEqual([]);
    });
    await holds(property, 25);
  });

  it('move around one circle of up to ten edges with one extra write', LONG, async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 2, max: 10 }),
      fc.integer({ min: 1, max: 9 }),
      async (size, step) => {
        const world = new World();
        const place = (shift: number) => toEdges(Array.from({ length: size }, (_, port) => (port + shift) % size));
        await world.migrate(place(0));
        const { writes } = await world.migrate(place(step));
        expect(listTouched(await world.plan(place(step)))).toEqual([]);
        const circles = step % size === 0 ? 0 : toGreatestDivisor(size, step % size);
        expect(writes).toHaveLength(circles === 0 ? 0 : size + circles);
      },
    );
    await holds(property, 15);
  });

  it('move from restriction to restriction and from ingress to ingress, which are replaced', LONG, async () => {
    const orders = fc.array(fc.shuffledSubarray([0, 1, 2, 3]), { minLength: 2, maxLength: 4 });
    const property = fc.asyncProperty(
      orders,
      fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      async (rounds, enforced) => {
        const world = new World();
        for (const order of rounds) {
          const stack = order.flatMap((place, index) => toUnique(index, place, enforced[place] ?? false));
          await world.migrate(stack);
          expect(listTouched(await world.plan(stack))).toEqual([]);
        }
      },
    );
    await holds(property, 25);
  });
});

/** For each hostport the edge that claims it, if there is one. */
function arbitraryAssignment(edges: number, hostports: number): fc.Arbitrary<readonly (number | null)[]> {
  return fc.array(fc.option(fc.nat(edges - 1), { freq: 6 }), { minLength: hostports, maxLength: hostports });
}

function toEdges(assignment: readonly (number | null)[]): TestStack {
  const owners = [...new Set(assignment.filter((edge) => edge !== null))];
  return owners.map((owner) => ({
    kind: 'TCPEdge',
    name: `edge-${owner}`,
    spec: {
      hostports: assignment.flatMap((edge, port) => (edge === owner ? [`1.tcp.example.net:${20_000 + port}`] : [])),
    },
    lifecycle: LIFECYCLE,
  }));
}

function toUnique(name: number, place: number, enforced: boolean): readonly TestResource[] {
  const type = TYPES[place] ?? '';
  return [
    {
      kind: 'IPRestriction',
      name: `r${name}`,
      spec: { type, enforced, ip_policy_ids: ['ipp_a'] },
      lifecycle: LIFECYCLE,
    },
    { kind: 'AgentIngress', name: `i${name}`, spec: { domain: `${place}.example.com` }, lifecycle: LIFECYCLE },
  ];
}

function toGreatestDivisor(left: number, right: number): number {
  return right === 0 ? left : toGreatestDivisor(right, left % right);
}
