import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlanFileContent, type PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import type { Json } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import { verifyPlan } from '../../src/plan/saved/verify-plan.ts';
import { renderPlanText } from '../../src/report/text/plan.ts';
import { createPlanView } from '../../src/report/view/plan-view.ts';
import { PLAN_SCHEMA } from '../../src/schemas/plan.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { copyEverything } from './behind-the-back.ts';
import { type Edit, listEdits } from './edits.ts';
import { holds, LONG } from './properties.ts';
import type { TestStack } from './stack.ts';
import { loadStack, World } from './world.ts';

/**
 * What somebody edits in a plan file is refused, or is seen in what `show` prints, or changes nothing of what an apply does: so who approves
 * what is shown approves all that is done.
 */
describe('an edit of a plan file is refused or shown, or does nothing,', () => {
  it.each<[string, (history: readonly TestStack[]) => Promise<Planned>]>([
    ['when it changes resources', planChange],
    ['when it deletes them', (history) => planAll(history, 'destroy')],
    ['when it releases them', (history) => planAll(history, 'release')],
    ['when it prunes duplicates', planPruning],
    ['when it takes them over', planTakeOver],
  ])('%s', LONG, async (_, prepare) => {
    const property = fc.asyncProperty(
      arbitraryHistory(1, { maxResources: 5 }),
      fc.infiniteStream(fc.nat()),
      async (history, picks) => {
        const planned = await prepare(history);
        const edits = [...listPlanEdits(planned.plan)];
        for (let count = 0; count < EDITS && edits.length > 0; count += 1) {
          const [edit] = edits.splice(picks.next().value % edits.length, 1);
          if (edit !== undefined) await expectHarmless(planned, edit);
        }
      },
    );
    await holds(property, 8);
  });
});

/** How many edits of one plan are tried. */
const EDITS = 60;

/** A plan, and the world that it is for. */
interface Planned {
  readonly world: World;
  readonly plan: Plan;
}

async function migrate(stack: TestStack | undefined): Promise<World> {
  const world = new World();
  await world.migrate(stack ?? []);
  return world;
}

async function planChange([first, second]: readonly TestStack[]): Promise<Planned> {
  const world = await migrate(first);
  return { world, plan: await world.plan(second ?? []) };
}

async function planAll([first = []]: readonly TestStack[], mode: Plan['mode']): Promise<Planned> {
  const world = await migrate(first);
  const owned = first.filter(({ kind }) => getKind(kind).role === 'owned');
  const targets = mode === 'release' ? owned.map(({ kind, name }) => toAddress(kind, name)) : [];
  return { world, plan: await world.plan(mode === 'release' && targets.length === 0 ? [] : first, { mode, targets }) };
}

async function planPruning([first, second]: readonly TestStack[]): Promise<Planned> {
  const world = await migrate(first);
  await copyEverything(world);
  return { world, plan: await world.plan(second ?? []) };
}

async function planTakeOver([first = []]: readonly TestStack[]): Promise<Planned> {
  const world = await migrate(first);
  const state = loadStack(first);
  const heir = { ...state, stack: { ...state.stack, name: 'heir' } };
  return { world, plan: await world.plan(heir, { takeOver: [state.stack.name] }) };
}

/** The edits of the changes and of the writes of a plan. */
function listPlanEdits(plan: Plan): readonly Edit[] {
  const document: PlanFileContent = JSON.parse(JSON.stringify(createPlanFileContent(plan)));
  return (['changes', 'writes'] as const).flatMap((part) => {
    const edits = listEdits(document[part] as unknown as Json); // read from JSON
    return edits.map(({ what, document: edited }) => ({
      what: `${part}${what}`,
      document: { ...document, [part]: edited } as unknown as Json, // made of JSON
    }));
  });
}

async function expectHarmless({ plan, world }: Planned, { what, document }: Edit): Promise<void> {
  if (!PLAN_SCHEMA.safeParse(document).success) return;
  const edited = verifyPlan(document as unknown as PlanFileContent); // the schema says so
  if (typeof edited === 'string' || show(edited) !== show(plan)) return;
  expect(await listSent(edited, world), what).toEqual(await listSent(plan, world));
}

function show(plan: Plan): string {
  return renderPlanText(createPlanView(plan), { color: false, width: 0, verbose: true });
}

/** What an apply of a plan sends to a service that holds what this one does; nothing when the plan is stale there. */
async function listSent(plan: Plan, { server }: World): Promise<readonly unknown[] | undefined> {
  const world = new World({ seed: server.snapshot(), concurrency: 1 });
  const { stale, ...known } = await world.check(plan);
  if (stale.length > 0) return undefined;
  world.takeRequests();
  await world.apply(plan, known);
  return world.takeRequests();
}
