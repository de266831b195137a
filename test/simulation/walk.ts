import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { EXIT } from '../../src/cli/exit-code.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { arbitraryHistory, type StackOptions } from '../laws/arbitrary-manifests.ts';
import { arbitrarySpec } from '../laws/arbitrary-values.ts';
import { settleStack } from '../laws/settle-stack.ts';
import { STACK_NAME, type TestStack } from '../laws/stack.ts';
import { chooseDisruptions, QUICKLY, runAll, startCommand } from './commands.ts';
import { chooseFaults } from './faults.ts';
import { COUNTED, checkCounts, checkEnd, checkPlanOfFullService, checkRehearsal, listWanted } from './oracle.ts';
import {
  changeAsOtherUser,
  createCompleteResources,
  createDependentResource,
  deleteConflictingResources,
} from './other-user.ts';
import { toChanges } from './planned-changes.ts';
import type { FailedApply } from './predicted-failures.ts';
import { createRandom, type SeededRandom } from './random.ts';
import { dropModules, LINKED_KINDS, type Repository, toRepositories } from './repository.ts';
import { KIND_FATE, type Run } from './run-edgewise.ts';
import { runHandOverWalk, runRepositoryWalk } from './walk-repository.ts';
import { createWorld, type Mutant, type World } from './world.ts';

/** The result of a walk. */
export interface Walked {
  readonly seed: number;
  /** Broken promises. */
  readonly violations: readonly string[];
  /** Every step, request and fault. */
  readonly trace: readonly string[];
  /** Failed applies, each with the prediction of its rehearsal. */
  readonly failures: readonly FailedApply[];
}

/** One walk of that many has several stacks: each whose seed is a multiple of it. */
export const REPOSITORIES = 6;

/**
 * Runs a random walk that its seed determines: states of a stack, applied and planned in runs with faults, kills, interrupts, other users and
 * concurrent runs. At the end all faults stop, and one apply must repair everything.
 */
export async function runWalk(seed: number, mutant: Mutant = (inner) => inner): Promise<Walked> {
  const chance = createRandom(`plan ${seed}`);
  if (seed % REPOSITORIES > 0) {
    const stacks = sampleHistory(seed, chance.int(1, 3), { maxResources: chance.int(1, 7) });
    return runWalkInWorld(createWorld({ seed, stacks, mutant }), (world) => runStackWalk(world, stacks, chance));
  }
  const { repositories, way } = chance.isLucky(0.4)
    ? { repositories: sampleHandOver(seed, chance), way: runHandOverWalk }
    : { repositories: sampleRepositories(seed, chance), way: runRepositoryWalk };
  const stacks = repositories.map((repository) => repository.flatMap(({ members }) => members));
  return runWalkInWorld(createWorld({ seed, stacks, mutant }), (world) => way(world, repositories, chance));
}

function sampleRepositories(seed: number, chance: SeededRandom): readonly Repository[] {
  const options = {
    ...(chance.isLucky(0.7) && { kinds: LINKED_KINDS }),
    minResources: 3,
    maxResources: chance.int(3, 9),
  };
  return toRepositories(sampleHistory(seed, chance.int(1, 2), options), chance.fork('repository'));
}

/** Nearly everything is handed over, and changes: edges lose modules. */
function sampleHandOver(seed: number, chance: SeededRandom): readonly Repository[] {
  const options = { kinds: OWNED_KINDS, minResources: 4, maxResources: 9 };
  const [first = [], second = []] = sampleHistory(seed, 1, options);
  const after = settleStack(dropModules(second, chance.fork('modules')));
  return toRepositories([first, after], chance.fork('repository'), { moving: 0.9 });
}

function sampleHistory(seed: number, steps: number, options: StackOptions): readonly TestStack[] {
  return fc.sample(arbitraryHistory(steps, options), { seed, numRuns: 1 }).flat();
}

async function runWalkInWorld(world: World, way: (world: World) => Promise<void>): Promise<Walked> {
  const { seed, checker, trace, failures } = world;
  try {
    if (world.behaviours.leavesOut.length > 0) await createCompleteResources(world.shared);
    await way(world);
    return { seed, violations: checker.violations, trace, failures };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { seed, violations: [...checker.violations, error.stack ?? error.message], trace, failures };
  } finally {
    await world.close();
  }
}

async function runStackWalk(world: World, stacks: readonly TestStack[], chance: SeededRandom): Promise<void> {
  if (chance.isLucky(0.5)) await applyWithoutFaultsOnce(world, stacks[0] ?? [], chance.fork('begin'));
  for (const [index, stack] of stacks.entries())
    for (let count = chance.int(1, 2); count > 0; count -= 1)
      await runStep(world, stack, chance.fork(`${index} ${count}`));
  await applyWithoutFaults(world, stacks.at(-1) ?? []);
}

async function runStep(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  const step = chance.pick([
    applyOnce,
    applyOnce,
    applyRehearsed,
    applyDespiteDependents,
    applyInnerEdit,
    applyInnerEdit,
    applyTwiceAtOnce,
    applyLate,
    planOnly,
    runOtherUserStep,
  ]);
  await step(world, stack, chance);
}

async function applyWithoutFaultsOnce(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  await runAll(world, [startCommand(world, ['apply', '-', '--yes'], { stack, chance, disruptions: KIND_FATE })]);
}

async function applyOnce(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  const argv = ['apply', '-', '--yes', ...chooseFlags(stack, chance), ...(chance.isLucky(0.7) ? QUICKLY : [])];
  await runAll(world, [startCommand(world, argv, { stack, chance, disruptions: chooseDisruptions(chance) })]);
}

/** Rehearses a plan, applies it right after that without a rehearsal, and compares the prediction with the result. */
async function applyRehearsed(world: World, whole: TestStack, chance: SeededRandom): Promise<void> {
  const used = chance.isLucky(0.5) ? await createDependentResource({ service: world.shared, chance }) : undefined;
  if (used !== undefined) world.log(`others: refer to ${used}, which the manifests no longer have`);
  const stack = whole.filter(({ kind, name }) => toAddress(kind, name) !== used);
  const flags = chooseFlags(stack, chance);
  const plan = startCommand(world, ['plan', '-', ...flags], {
    stack,
    chance: chance.fork('plan'),
    disruptions: KIND_FATE,
  });
  await runAll(world, [plan]);
  const disruptions = chance.isLucky(0.5) ? KIND_FATE : chooseDisruptions(chance);
  const apply = startCommand(world, ['apply', '-', '--yes', ...QUICKLY, ...flags], { stack, chance, disruptions });
  await runAll(world, [apply]);
  if (!apply.isDead()) await checkRehearsal(world, { plan, apply, disruptions });
}

/** Other users refer to a resource that the manifests no longer have, so that its delete is rejected, as predicted. All other writes are applied. */
async function applyDespiteDependents(world: World, all: TestStack, chance: SeededRandom): Promise<void> {
  await applyWithoutFaultsOnce(world, all, chance.fork('before'));
  const used = await createDependentResource({ service: world.shared, chance });
  if (used === undefined) return;
  world.log(`others: refer to ${used}, which the manifests no longer have`);
  const stack = all.filter(({ kind, name }) => toAddress(kind, name) !== used);
  if (JSON.stringify(stack).includes(`"${used}"`)) return;
  const apply = async (name: string, flags: readonly string[]): Promise<Run> => {
    const argv = ['apply', '-', '--yes', ...flags, ...consentToAll(world)];
    const run = startCommand(world, argv, { stack, chance: chance.fork(name), disruptions: KIND_FATE });
    await runAll(world, [run]);
    return run;
  };
  const whole = await apply('whole', []);
  if ((await whole.result).exitCode === EXIT.failed)
    world.checker.reportViolation(`a rejected delete is not predicted:\n${whole.shown()}`);
  const rest = await apply('rest', ['--exclude', used]);
  const { exitCode } = await rest.result;
  if (exitCode !== EXIT.success && exitCode !== EXIT.invalid)
    world.checker.reportViolation(
      `what others do not use is not applied with --exclude (exit ${exitCode}):\n${rest.shown()}`,
    );
}

/** Changes several values of one object at once, saves the plan, and applies it unchanged. */
async function applyInnerEdit(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  const subject = chance.pickAny(stack);
  if (subject === undefined) return;
  const { kind, name } = subject;
  const [field] = chance.pickAny(getKind(kind).specFields.filter(([, { type }]) => type.type === 'object')) ?? [];
  if (field === undefined) return;
  const specs = fc.sample(arbitrarySpec(getKind(kind)), { seed: chance.int(0, 1e9), numRuns: INNER_SAMPLES });
  const values = specs
    .map((spec) => spec[field])
    .filter((value) => isJsonObject(value) && Object.keys(value).length > 1);
  const [before, after] = values.map((value) =>
    settleStack(
      stack.map((one) =>
        one.kind === kind && one.name === name ? { ...one, spec: { ...one.spec, [field]: value ?? null } } : one,
      ),
    ),
  );
  if (before === undefined || after === undefined) return;
  world.log(`git: several values of ${field} of ${kind}/${name} change`);
  await applyWithoutFaultsOnce(world, before, chance.fork('inner before'));
  const plan = ['plan', '-', '-o', 'inner.json', ...QUICKLY, ...consentToAll(world)];
  await runAll(world, [
    startCommand(world, plan, { stack: after, chance: chance.fork('inner plan'), disruptions: KIND_FATE }),
  ]);
  if (!existsSync(join(world.folder, 'inner.json'))) return;
  const apply = ['apply', '-', '--approved', 'inner.json', '--yes', ...QUICKLY, ...consentToAll(world)];
  await runAll(world, [
    startCommand(world, apply, { stack: after, chance: chance.fork('inner'), disruptions: KIND_FATE }),
  ]);
}

const INNER_SAMPLES = 20;

function consentToAll({ stacks }: World): readonly string[] {
  const addresses = new Set(stacks.flat().map(({ kind, name }) => toAddress(kind, name)));
  return ['--allow-deletes', ...[...addresses].flatMap((address) => ['--allow-protected', address])];
}

async function applyTwiceAtOnce(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  const other = chance.pickAny(world.stacks) ?? stack;
  const started = [stack, chance.isLucky(0.8) ? stack : other].map((each, index) => {
    const own = chance.fork(`run ${index}`);
    const disruptions = chance.isLucky(0.5) ? chooseDisruptions(own) : KIND_FATE;
    return startCommand(world, ['apply', '-', '--yes', '--allow-deletes', ...QUICKLY], {
      stack: each,
      chance: own,
      disruptions,
    });
  });
  await runAll(world, started);
}

/** Saves a plan, and applies it after other changes. */
async function applyLate(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  const argv = ['plan', '-', '-o', 'plan.json', '--allow-deletes'];
  await runAll(world, [
    startCommand(world, argv, {
      stack,
      chance: chance.fork('plan'),
      disruptions: chooseDisruptions(chance, { meddling: 0 }),
    }),
  ]);
  if (!existsSync(join(world.folder, 'plan.json'))) return;
  if (chance.isLucky(0.4)) await runOtherUserStep(world, stack, chance);
  if (chance.isLucky(0.3)) await applyOnce(world, chance.pickAny(world.stacks) ?? stack, chance.fork('between'));
  for (const round of chance.pick([['only'], ['first', 'second']])) {
    const apply = ['apply', '-', '--approved', 'plan.json', '--yes', '--allow-deletes', '--token-directory', 'tokens'];
    await runAll(world, [
      startCommand(world, apply, { stack, chance: chance.fork(round), disruptions: chooseDisruptions(chance) }),
    ]);
  }
}

/** A plan with faults fails, or equals the plan without them, unless the faults cannot be detected. */
async function planOnly(world: World, stack: TestStack, chance: SeededRandom): Promise<void> {
  const faults = chooseFaults(chance, { undetectable: false });
  const fates = [{ ...KIND_FATE, faults }, KIND_FATE];
  const plans: (string | undefined)[] = [];
  for (const disruptions of fates) {
    const file = `compared-${plans.length}.json`;
    const run = startCommand(world, ['plan', '-', '-o', file, '--allow-deletes'], {
      stack,
      chance: chance.fork(file),
      disruptions,
    });
    await runAll(world, [run]);
    const path = join(world.folder, file);
    plans.push(existsSync(path) ? toChanges(readFileSync(path, 'utf8')) : undefined);
  }
  const [faulty, truth] = plans;
  if (faulty !== undefined && faulty !== truth)
    world.checker.reportViolation(`a plan from faulty responses: ${faulty}, instead of: ${truth}`);
}

async function runOtherUserStep(world: World, _stack: TestStack, chance: SeededRandom): Promise<void> {
  for (let count = chance.int(1, 3); count > 0; count -= 1)
    world.log(
      await changeAsOtherUser({ service: world.shared, stacks: world.stacks, chance: chance.fork(`meddle ${count}`) }),
    );
}

function chooseFlags(stack: TestStack, chance: SeededRandom): readonly string[] {
  const { kind, name } = chance.pickAny(stack) ?? { kind: '', name: '' };
  const allowed = stack.flatMap((resource) => ['--allow-protected', toAddress(resource.kind, resource.name)]);
  return [
    ...(chance.isLucky(0.7) ? ['--allow-deletes'] : []),
    ...(chance.isLucky(0.5) ? allowed : []),
    ...(kind !== '' && chance.isLucky(0.15) ? ['--target', toAddress(kind, name)] : []),
    ...(kind !== '' && chance.isLucky(0.15) ? ['--exclude', toAddress(kind, name)] : []),
  ];
}

/** Without faults, one apply must do everything that is left to do. */
async function applyWithoutFaults(world: World, stack: TestStack): Promise<void> {
  world.log('all faults stop here');
  await deleteConflictingResources(world.shared);
  const consent = consentToAll(world);
  const chance = world.chance.fork('end');
  const apply = startCommand(world, ['apply', '-', '--yes', ...consent], { stack, chance, disruptions: KIND_FATE });
  await runAll(world, [apply]);
  const plan = startCommand(world, ['plan', '-', '--detailed-exitcode'], {
    stack,
    chance: chance.fork('plan'),
    disruptions: KIND_FATE,
  });
  await runAll(world, [plan]);
  const frank = startCommand(world, ['plan', '-', '--detailed-exitcode', ...COUNTED], {
    stack,
    chance: chance.fork('frank'),
    disruptions: { ...KIND_FATE, showsEverything: true },
  });
  await runAll(world, [frank]);
  await checkPlanOfFullService(world, frank);
  checkCounts(world, frank);
  await checkEnd(world, { wanted: listWanted(stack, STACK_NAME), apply, plan });
}
