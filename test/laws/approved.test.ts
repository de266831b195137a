import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlanFileContent, type PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { type Change, formatChangeAddress } from '../../src/model/change.ts';
import type { Json } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import { isCoveredByApproval, isSamePlan } from '../../src/model/plan.ts';
import { comparePlans } from '../../src/plan/compare/compare-plans.ts';
import { computeChangesWithDangers } from '../../src/plan/dangers.ts';
import { createOrderedWrites } from '../../src/plan/order.ts';
import { restoreCreationsOfAbandonedResources } from '../../src/plan/saved/live-resource-look-up.ts';
import { verifyPlan } from '../../src/plan/saved/verify-plan.ts';
import { PLAN_SCHEMA } from '../../src/schemas/plan.ts';
import type { SentRequest } from '../cli/recorder.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { changeField, copyEverything, listChangeable } from './behind-the-back.ts';
import { dieAt } from './dying-transport.ts';
import { listEdits } from './edits.ts';
import { holds, LONG, SEED } from './properties.ts';
import { shuffleStack } from './shuffle.ts';
import type { TestResource, TestStack } from './stack.ts';
import { World } from './world.ts';

/** Whoever approved a plan has approved what does the same or less, and nothing else. */
describe('an approved plan', () => {
  it('approves itself, whatever the order of the input', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (history) => {
      const { world, second, plan } = await prepare(history);
      expect(isSamePlan(comparePlans(plan, plan))).toBe(true);
      expect(isSamePlan(comparePlans(plan, await world.plan(shuffleStack(second))))).toBe(true);
    });
    await holds(property, 30);
  });

  it('approves what does a part of it, and is not approved by that', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.infiniteStream(fc.boolean()), async (history, picks) => {
      const { plan } = await prepare(history);
      const part = withChanges(
        plan,
        plan.changes.filter(() => picks.next().value),
      );
      expect(comparePlans(plan, part).more).toEqual(NOTHING);
      expect(isCoveredByApproval(comparePlans(part, plan))).toBe(listDone(part).length === listDone(plan).length);
    });
    await holds(property, 40);
  });

  it('does not approve a single change more, or a single field, and says which', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (history) => {
      const { plan } = await prepare(history);
      for (const change of listDone(plan)) {
        const before = withChanges(
          plan,
          plan.changes.filter((one) => one !== change),
        );
        const { more, less } = comparePlans(before, plan);
        // Without the one, another may have been less dangerous: a unique value is free sooner.
        const others = more.changes.filter((excess) => excess.other === undefined || excess.fields.length > 0);
        expect(others.map((excess) => excess.change.address)).toEqual([change.address]);
        expect(less.changes).toEqual([]);
        for (const difference of change.differences) expectRefused(plan, change, difference);
      }
    });
    await holds(property, 30);
  });

  it('approves what is left when drift is healed by others', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.nat(), async ([first = [], second = []], pick) => {
      const world = new World();
      await world.migrate(first);
      const drifted = await driftOne(world, [first, second], pick);
      if (drifted === undefined) return;
      const approved = await world.plan(second);
      await drifted.heal();
      const comparison = comparePlans(approved, await world.plan(second));
      if (drifted.isHealed()) expect(comparison.more).toEqual(NOTHING);
    });
    await holds(property, 25);
  });

  it('approves what is left of it when an apply dies, and new tokens for those that were lost', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryHistory(1),
      fc.nat(20),
      fc.constantFrom('before', 'after'),
      async (history, request, when) => {
        const { world, second, plan } = await prepare(history);
        await world.applyOver(plan, dieAt({ request, when }));
        const again = restoreCreationsOfAbandonedResources(await world.plan(second), plan);
        expect(comparePlans(plan, again.plan).more).toEqual(NOTHING);
      },
    );
    await holds(property, 40);
  });

  it('approves nothing that sends what it would not, however a plan is edited', LONG, async () => {
    const judged = { approved: 0, refused: 0 };
    const property = fc.asyncProperty(
      arbitraryHistory(1, { maxResources: 5 }),
      fc.infiniteStream(fc.nat()),
      fc.boolean(),
      async (history, picks, isCopied) => {
        const { plan, world } = await prepare(history, isCopied);
        const known = new Set((await listSent(plan, world)).map(toComparable));
        const document: PlanFileContent = JSON.parse(JSON.stringify(createPlanFileContent(plan)));
        // A form that means the same may be sent instead, and a resource of ours may have another id: neither is what was approved.
        const edits = listEdits(document.changes as unknown as Json).filter(({ what }) => !/sent|live[.]id/.test(what)); // read from JSON
        for (let count = 0; count < 40 && edits.length > 0; count += 1) {
          const [edit] = edits.splice(picks.next().value % edits.length, 1);
          const edited = edit && toPlan({ ...document, changes: edit.document as unknown as readonly Change[] }); // its schema says so
          if (edited === undefined) continue;
          const isApproved = isCoveredByApproval(comparePlans(plan, edited));
          judged[isApproved ? 'approved' : 'refused'] += 1;
          if (!isApproved) continue;
          const sent = await listSent(edited, world);
          expect(
            sent.map(toComparable).filter((one) => !known.has(one)),
            edit?.what,
          ).toEqual([]);
        }
      },
    );
    // Fewer tries may judge nothing in one of the two ways.
    await fc.assert(property, { seed: SEED, numRuns: 12 });
    expect(Math.min(judged.approved, judged.refused)).toBeGreaterThan(0);
  });
});

const NOTHING = { changes: [], files: [] };

interface Prepared {
  readonly world: World;
  readonly second: TestStack;
  readonly plan: Plan;
}

async function prepare([first = [], second = []]: readonly TestStack[], isCopied = false): Promise<Prepared> {
  const world = new World();
  await world.migrate(first);
  if (isCopied) await copyEverything(world);
  return { world, second, plan: await world.plan(second) };
}

function listDone({ changes }: Plan): readonly Change[] {
  return changes.filter(({ action }) => action !== 'no-op');
}

function withChanges(plan: Plan, changes: readonly Change[]): Plan {
  const writes = createOrderedWrites(changes, plan.stack);
  return { ...plan, changes: computeChangesWithDangers({ ...plan, changes, writes }), writes };
}

/** Whoever approved the change without one of its differences has not approved it. */
function expectRefused(plan: Plan, change: Change, difference: Change['differences'][number]): void {
  const rest = change.differences.filter((one) => one !== difference);
  const fewer = plan.changes.map((one) => (one === change ? { ...one, differences: rest } : one));
  const { more } = comparePlans({ ...plan, changes: fewer }, plan);
  const paths = more.changes.flatMap(({ fields }) => fields.map((field) => field.difference.path));
  expect(paths, formatChangeAddress(change)).toEqual([difference.path]);
}

/** Somebody changes a field of a resource that stays, and changes it back. What goes is approved with the values that it has. */
async function driftOne(world: World, [first, second]: readonly [TestStack, TestStack], pick: number) {
  const stays = (one: TestResource) => second.some(({ kind, name }) => kind === one.kind && name === one.name);
  const owned = first.filter((one) => getKind(one.kind).role === 'owned' && stays(one));
  const resource = owned[pick % Math.max(1, owned.length)];
  const donor = second.find(({ kind }) => kind === resource?.kind);
  if (resource === undefined || donor === undefined) return undefined;
  const fields = listChangeable(getKind(resource.kind)).filter((name) => name !== 'metadata');
  const field = fields[pick % fields.length];
  if (field === undefined) return undefined;
  const before = JSON.stringify(world.resources());
  const set = (spec: typeof donor.spec) => changeField(world, { resource: { ...resource, spec }, stack: first }, field);
  try {
    await set(donor.spec);
  } catch {
    return undefined;
  }
  return { heal: () => set(resource.spec), isHealed: () => JSON.stringify(world.resources()) === before };
}

/** The plan that an edited file holds, with the writes and dangers that follow; nothing when it is none. */
function toPlan(document: PlanFileContent): Plan | undefined {
  if (!PLAN_SCHEMA.safeParse(document).success) return undefined;
  try {
    const verified = verifyPlan(createPlanFileContent(withChanges(document, document.changes)));
    return typeof verified === 'string' ? undefined : verified;
  } catch {
    // No writes follow from it.
    return undefined;
  }
}

async function listSent(plan: Plan, { server }: World): Promise<readonly SentRequest[]> {
  const world = new World({ seed: server.snapshot(), concurrency: 1 });
  await world.apply(plan);
  return world.takeRequests();
}

/** Which digests a mark holds tells of what was there before; what it stands for is the fields. */
function toComparable({ method, path, body }: SentRequest): string {
  return JSON.stringify({ method, path, body }).replace(/\\"fields\\":\{[^}]*\}/g, '');
}
