import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT, exitCodeOfPlan } from '../../src/cli/exit-code.ts';
import { readLive } from '../../src/client/read-live.ts';
import { ATTACHED_KINDS, getKind } from '../../src/kinds/tables/registry.ts';
import { type Difference, isHiddenChange } from '../../src/model/change.ts';
import { hasDrift } from '../../src/model/drift.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { type Mark, renderMetadata, splitMetadata } from '../../src/model/mark.ts';
import type { Plan } from '../../src/model/plan.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { computeDrift } from '../../src/plan/compute-drift.ts';
import { createReadRequest } from '../../src/plan/select-targets.ts';
import { withFaults } from '../../src/server/index.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { copyEverything } from './other-user.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { loadStack, World } from './world.ts';

/** Parts of modules without a mark that a service may hide, as responses name them. */
const HIDEABLE = [
  ...new Set(
    ATTACHED_KINDS.flatMap(({ specFields }) =>
      specFields.flatMap(([, { type }]) => (type.type === 'object' ? Object.entries(type.fields) : [])),
    ).flatMap(([name, { absentWhenDefault, responseName = name }]) => (absentWhenDefault ? [] : [responseName])),
  ),
];

function createHidingService({ server }: World, fields: readonly string[]): (inner: Transport) => Transport {
  const rules = [{ on: '*', fault: 'left_out', fields }] as const;
  return (handle) =>
    withFaults(
      server.behind(() => toSend(handle)),
      { seed: 1, rules },
    ).handle;
}

/** What happens between two applies that no field of a spec shows. */
type Event = 'nothing' | 'copies' | 'lost deliveries' | 'other protection' | 'former names' | 'copied marks';

async function happen(world: World, event: Event): Promise<void> {
  switch (event) {
    case 'nothing':
      return;
    case 'copies':
      return copyEverything(world);
    case 'lost deliveries':
      return changeMarks(world, ({ delivered: _, ...mark }) => ({ ...mark, delivered: false }));
    case 'other protection':
      return changeMarks(world, (mark) => ({ ...mark, protect: !mark.protect }));
    case 'former names':
      return changeMarks(world, (mark) => ({ ...mark, name: `${mark.name.slice(0, 40)}-former` }));
    case 'copied marks':
      return changeMarks(world, (mark) => ({ ...mark, id: 'another' }));
  }
}

async function changeMarks(world: World, change: (mark: Mark) => Mark): Promise<void> {
  for (const [name, resources] of Object.entries(world.resources()))
    for (const { id, metadata } of resources) {
      const { user, mark } = splitMetadata(String(metadata ?? ''));
      if (mark !== undefined)
        await world.call('PATCH', `${getKind(name).path}/${id}`, { metadata: renderMetadata(user, change(mark)) });
    }
}

/** What a run shows of a plan, and the writes that its apply sends. */
interface Step {
  readonly plan: Plan;
  readonly isChange: boolean;
  readonly isDrift: boolean;
  readonly writes: readonly string[];
}

async function applyStep(world: World, stack: TestStack): Promise<Step> {
  const plan = await world.plan(stack);
  const live = await readLive(world.connect(), createReadRequest(loadStack(stack), []));
  const drift = computeDrift(plan, { live, now: world.now() });
  world.takeRequests();
  const { outcomes } = await world.apply(plan);
  // A service that hides everything of a module seems to have removed it.
  fc.pre(outcomes.every(({ outcome }) => outcome === 'applied'));
  return {
    plan,
    isChange: exitCodeOfPlan(plan, [], { detailedExitcode: true }) === EXIT.changes,
    isDrift: hasDrift(drift),
    writes: world
      .takeRequests()
      .flatMap(({ method, path, body }) => (method === 'GET' ? [] : [toText({ method, path, body })])),
  };
}

function toText(request: JsonObject | { readonly body?: unknown }): string {
  return JSON.stringify(request);
}

/** The differences that no exit code counts, as warnings name them. */
function listUncounted({ changes }: Plan): readonly string[] {
  return changes
    .filter(isHiddenChange)
    .flatMap(({ kind, differences }) =>
      differences.map(({ path }: Difference) => `${kind} ${path.replaceAll(/\[\d+\]/g, '')}`),
    );
}

function isNamed({ diagnostics }: Plan, uncounted: string): boolean {
  const [kind = '', path = ''] = uncounted.split(' ');
  return diagnostics.some(
    ({ code, message }) =>
      code === 'shown-otherwise' && message.startsWith(`${kind}: `) && message.split(/[ ,]+/).includes(path),
  );
}

describe('the exit code of plan --detailed-exitcode and of drift', () => {
  it(
    'is 2 whenever an apply sends a write, but for parts that no response shows, that each apply writes, and that a warning names',
    LONG,
    async () => {
      let uncounted = 0;
      const events = fc.constantFrom<Event>(
        'nothing',
        'copies',
        'lost deliveries',
        'other protection',
        'former names',
        'copied marks',
      );
      const hidden = fc.oneof(
        fc.constant([]),
        fc.uniqueArray(fc.constantFrom(...HIDEABLE), { minLength: 1, maxLength: 5 }),
      );
      const options = { minResources: 1, maxResources: 5 };
      const histories = fc.oneof(
        arbitraryHistory(1, options),
        arbitraryHistory(1, { ...options, kinds: ATTACHED_KINDS }),
      );
      const arbitrary = fc.tuple(histories, fc.tuple(events, events), hidden);
      const property = fc.asyncProperty(arbitrary, async ([stacks, happening, fields]) => {
        const world = new World();
        for (const [at, stack] of stacks.entries()) {
          world.interpose();
          await happen(world, happening[at] ?? 'nothing');
          if (fields.length > 0) world.interpose(createHidingService(world, fields));
          const first = await applyStep(world, stack);
          const again = await applyStep(world, stack);
          const once = first.writes.filter((write) => !again.writes.includes(write));
          if (once.length > 0) expect([first.isChange, first.isDrift], once.join('\n')).toEqual([true, true]);
          if (first.writes.length === 0) expect([first.isChange, first.isDrift]).toEqual([false, false]);
          expect([again.isChange, again.isDrift]).toEqual([false, false]);
          for (const step of [first, again])
            for (const one of listUncounted(step.plan)) expect(isNamed(step.plan, one), one).toBe(true);
          uncounted += again.writes.length;
        }
      });
      await holds(property, 60);
      expect(uncounted).toBeGreaterThan(0);
    },
  );
});
