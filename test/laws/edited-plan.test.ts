import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPlanFileContent, type PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { hasErrors } from '../../src/model/diagnostic.ts';
import { NetworkError } from '../../src/model/errors.ts';
import type { Json } from '../../src/model/json.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { DesiredState } from '../../src/model/state.ts';
import type { Transport } from '../../src/model/transport.ts';
import { StackError } from '../../src/model/user-errors.ts';
import { renderPlanJson } from '../../src/report/machine/json.ts';

import { parsePlan } from '../../src/stack/parse-plan.ts';
import type { PlanOptions } from '../../src/stack/plan-live.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { createDyingTransport, type Death } from './dying-transport.ts';
import { type Edit, listEdits } from './edits.ts';
import { copyEverything } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { openStackOf } from './stack-of-world.ts';
import { listTouched, loadStack, World } from './world.ts';

/** Consent to everything that a plan may need, so that only the comparison can refuse it. */
function toConsents({ changes, violations }: Plan) {
  const addresses = changes.map(({ address }) => address);
  const allowTakeOver = violations.flatMap(({ stack }) => stack ?? []);
  return { allowDeletes: true, allowProtected: addresses, allowRejected: addresses, allowTakeOver };
}

/** A saved plan, its manifests, and its world. */
interface Planned {
  readonly world: World;
  readonly plan: Plan;
  readonly state: DesiredState;
  readonly options: PlanOptions;
}

type Prepare = (history: readonly TestStack[]) => Promise<Planned>;

const WAYS: readonly (readonly [string, Prepare])[] = [
  ['changes resources', ([first, second]) => createSavedPlan(first, second)],
  ['prunes duplicates', ([first, second]) => createSavedPlan(first, second, copyEverything)],
  ['is narrowed', ([first, second = []]) => createSavedPlan(first, second, undefined, toTargets(second))],
  ['takes over', createTakeOverPlan],
];

/** The state of an interrupted apply, before a user edits the plan file. */
const BROKEN: readonly (readonly [string, Prepare])[] = [...WAYS, ['broke off', createUndeliveredPlan]];

function toTargets(stack: TestStack): PlanOptions {
  const owned = stack.filter(({ kind }) => getKind(kind).role === 'owned');
  return { targets: owned.slice(0, 2).map(({ kind, name }) => `${kind}/${name}`) };
}

async function createSavedPlan(
  first: TestStack = [],
  second: TestStack = [],
  meddle: (world: World) => Promise<unknown> = async () => undefined,
  options: PlanOptions = {},
): Promise<Planned> {
  const world = new World();
  await world.migrate(first);
  await meddle(world);
  return createSavedPlanIn(world, loadStack(second), options);
}

async function createTakeOverPlan([first = []]: readonly TestStack[]): Promise<Planned> {
  const world = new World();
  await world.migrate(first);
  const state = loadStack(first);
  const heir = { ...state.stack, name: 'heir', formerNames: [state.stack.name] };
  return createSavedPlanIn(world, { ...state, stack: heir }, {});
}

/**
 * An apply that is interrupted while it records the delivery of its first token: nothing shows whether the token of the credential was
 * delivered.
 */
async function createUndeliveredPlan([first, second = []]: readonly TestStack[]): Promise<Planned> {
  const agent = { kind: CREDENTIAL.name, name: 'agent', spec: {}, lifecycle: { protect: false, ignore: [] } };
  const planned = await createSavedPlan(first, [...second.filter(({ name }) => name !== agent.name), agent]);
  const { world, plan, state, options } = planned;
  if (hasErrors(plan.diagnostics)) return planned;
  world.interpose(withFailingDelivery);
  await openStackOf(world, state, toFolder())
    .apply(plan, { ...options, ...toConsents(plan) })
    .catch(expectRevokedToken);
  world.interpose();
  return planned;
}

const withFailingDelivery: (inner: Transport) => Transport = (inner) => {
  let isDead = false;
  return async (request) => {
    isDead ||= request.method === 'PATCH' && new URL(request.url).pathname.startsWith(CREDENTIAL.path);
    if (isDead) throw new NetworkError('the connection is dead');
    return inner(request);
  };
};

async function createSavedPlanIn(world: World, state: DesiredState, options: PlanOptions): Promise<Planned> {
  const plan = await openStackOf(world, state, toFolder()).plan(options);
  return { world, state, options, plan: parsePlan(renderPlanJson(plan)) };
}

function toFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'edgewise-law-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a plan file', () => {
  it.each(BROKEN)('applies the manifests or nothing if it was edited: %s', LONG, async (_, prepare) => {
    const picks = fc.infiniteStream(fc.nat());
    const property = fc.asyncProperty(arbitraryHistory(1, { maxResources: 5 }), picks, async (history, picked) => {
      const planned = await prepare(history);
      if (hasErrors(planned.plan.diagnostics)) return;
      const honest = await listSent(planned, planned.plan);
      expect(honest).not.toBe('refused');
      const edits = [...listEdits(createPlanFileContent(planned.plan) as unknown as Json)]; // a plan is JSON
      for (let count = 0; count < EDITS && edits.length > 0; count += 1) {
        const [edit] = edits.splice(picked.next().value % edits.length, 1);
        if (edit !== undefined) await expectRefusedOrSame(planned, edit, honest);
      }
    });
    await holds(property, 8);
  });

  it('applies the manifests of the apply or nothing if it was made from others', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(2), async ([first, second = [], third]) => {
      const planned = await createSavedPlan(first, third);
      if (hasErrors(planned.plan.diagnostics)) return;
      const other = await openStackOf(planned.world, loadStack(second), toFolder()).plan();
      const sent = await listSent(planned, other);
      if (sent !== 'refused') expect(sent).toEqual(await listSent(planned, planned.plan));
    });
    await holds(property, 60);
  });

  it.each(WAYS)('is applied from any point of interruption if %s and it was not edited', LONG, async (_, prepare) => {
    const property = fc.asyncProperty(arbitraryHistory(1), arbitraryDeath(), async (history, death) => {
      const planned = await prepare(history);
      const { world, plan, state, options } = planned;
      // A unique value of another resource cannot be claimed, with or without an approval.
      if (hasErrors(plan.diagnostics) || plan.violations.some(({ rule }) => rule === 'claimed-elsewhere')) return;
      const folder = toFolder();
      const apply = () => openStackOf(world, state, folder).apply(plan, { ...options, ...toConsents(plan) });
      world.interpose(createDyingTransport(death));
      await apply().catch(expectRevokedToken);
      world.interpose();
      const { outcomes } = await apply();
      expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
      expect(listTouched(await openStackOf(world, state, folder).plan(options))).toEqual([]);
    });
    await holds(property, 40);
  });
});

/** The number of edits of each plan. */
const EDITS = 40;

function arbitraryDeath(): fc.Arbitrary<Death> {
  return fc.record({ request: fc.integer({ min: 0, max: 40 }), when: fc.constantFrom('before', 'after') });
}

function expectRevokedToken(error: unknown): void {
  if (!(error instanceof NetworkError)) throw error;
}

async function expectRefusedOrSame(planned: Planned, { what, document }: Edit, honest: unknown): Promise<void> {
  const sent = await listSent(planned, document as unknown as PlanFileContent); // any value is read as a plan
  if (sent !== 'refused') expect(sent, what).toEqual(honest);
}

/** The writes that an apply of a plan file sends to a copy of this service. */
async function listSent(
  { world: { server }, state, options }: Planned,
  file: Plan | PlanFileContent,
): Promise<unknown> {
  const world = new World({ seed: server.snapshot(), concurrency: 1 });
  const toWrites = () => world.takeRequests().filter(({ method }) => method !== 'GET');
  try {
    const text = 'totals' in file ? JSON.stringify(file) : renderPlanJson(file);
    const plan = parsePlan(text);
    await openStackOf(world, state, toFolder()).apply(plan, { ...options, ...toConsents(plan) });
    return toWrites();
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    expect(['invalid', 'stale']).toContain(error.reason);
    expect(toWrites()).toEqual([]);
    return 'refused';
  }
}
