import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../src/cli/exit-code.ts';
import { toAddress } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Mark } from '../../src/model/mark.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { checkChange } from './changed-stacks.ts';
import { chooseDisruptions, QUICKLY, runAll, startCommand } from './commands.ts';
import {
  COUNTED,
  checkCounts,
  checkEnd,
  checkMarks,
  checkPlanOfFullService,
  checkReferences,
  listWanted,
} from './oracle.ts';
import { changeAsOtherUser, createDependentResource, deleteConflictingResources } from './other-user.ts';
import type { SeededRandom } from './random.ts';
import { type Repository, toFolder, withoutHandOvers, writeCircle, writeRepository } from './repository.ts';
import { findOurMark, mapLiveResources, type Owns } from './request-checker.ts';
import { KIND_FATE, type Run } from './run-edgewise.ts';
import { chooseApi, type World } from './world.ts';

/** The folder of the repository, in that of the world. */
const ROOT = 'live';

/** Applies of all stacks after which nothing may be left to do. The second one prunes copies of the resources that the first one hands over. */
const ROUNDS = 2;

const APPLY = ['--yes', '--allow-deletes'];

/** A walk with several stacks of one account, which refer to each other and hand resources over. */
export async function runRepositoryWalk(
  world: World,
  repositories: readonly Repository[],
  chance: SeededRandom,
): Promise<void> {
  await checkChangedStacks(world, repositories);
  for (const [index, repository] of repositories.entries()) {
    changeRepository(world, repository);
    for (let count = chance.int(1, 2); count > 0; count -= 1)
      await runStep({ world, repository, chance: chance.fork(`${index} ${count}`) });
  }
  await applyAllWithoutFaults(world, repositories.at(-1) ?? []);
}

/** A walk in which most resources are handed over at once. The resources are applied before, sometimes without all of their tokens. */
export async function runHandOverWalk(
  world: World,
  repositories: readonly Repository[],
  chance: SeededRandom,
): Promise<void> {
  await checkChangedStacks(world, repositories);
  const [first = [], ...rest] = repositories;
  changeRepository(world, first);
  const lostSink = { request: chance.int(6, 30), isRescueLost: false };
  const disruptions = { ...KIND_FATE, ...(chance.isLucky(0.6) && { lostSink }) };
  await runAll(world, [
    startCommand(world, ['apply', '-R', ROOT, ...APPLY], { owns: createOwnershipCheck(first), chance, disruptions }),
  ]);
  for (const [index, repository] of rest.entries()) {
    changeRepository(world, repository);
    const slip = chance.fork(`slip ${index}`);
    if (slip.isLucky(0.3)) await applyWithTypo({ world, repository, chance: slip });
    if (chance.isLucky(0.4)) await runStep({ world, repository, chance: chance.fork(String(index)) });
  }
  await applyAllWithoutFaults(world, repositories.at(-1) ?? []);
}

/** In some walks, checks which stacks count as changed after each commit. */
async function checkChangedStacks(world: World, repositories: readonly Repository[]): Promise<void> {
  if (!world.chance.fork('changes').isLucky(0.3)) return;
  for (const [index, after] of repositories.entries()) {
    const before = repositories[index - 1];
    if (before !== undefined) await checkChange(world, before, after);
  }
}

function changeRepository(world: World, repository: Repository): void {
  write(world, repository);
  describeRepositoryWalk(world, repository);
}

function write(world: World, repository: Repository): void {
  writeRepository(repository, join(world.folder, ROOT), toApi(world));
}

/** Stacks of one account have the same connection. */
function toApi({ chance }: World): JsonObject {
  return chooseApi(chance.fork('api'));
}

function describeRepositoryWalk({ log }: World, repository: Repository): void {
  for (const { name, members, handedOver } of repository) {
    const list = members.map(({ kind, name: own, lifecycle: { takenFrom } }) =>
      [toAddress(kind, own), ...(takenFrom === undefined ? [] : [`from ${takenFrom.stack}`])].join(' '),
    );
    const without = handedOver.length === 0 ? '' : `, without ${handedOver.join(', ')}`;
    log(`git: ${name} has ${list.join(', ') || 'nothing'}${without}`);
  }
}

/** The context of a step. */
interface Place {
  readonly world: World;
  readonly repository: Repository;
  readonly chance: SeededRandom;
}

async function runStep(place: Place): Promise<void> {
  const step = place.chance.pick([
    applyAll,
    applyAll,
    applyOneByOne,
    applyOneByOne,
    applyByTwoMachines,
    applyLate,
    applyWithoutOne,
    applyWithTypo,
    applyWithTypo,
    applyDespiteDependents,
    applyBesideCircle,
    runOtherUserStep,
  ]);
  await step(place);
}

async function applyAll({ world, repository, chance }: Place): Promise<void> {
  const quickly = chance.isLucky(0.6) ? QUICKLY : [];
  const argv = ['apply', '-R', ROOT, ...APPLY, ...quickly];
  await runAll(world, [
    startCommand(world, argv, {
      owns: createOwnershipCheck(repository),
      chance,
      disruptions: chooseDisruptions(chance),
    }),
  ]);
}

/** Applies each stack with its own command, in random order. */
async function applyOneByOne(place: Place): Promise<void> {
  const { chance } = place;
  for (const { name } of chance.shuffle(place.repository))
    await applyOne({ ...place, chance: chance.fork(name) }, name);
}

/** A stack with an undeclared hand-over is applied alone only after the new stack has taken the resource over: before that it would delete it. */
async function applyOne({ world, repository, chance }: Place, name: string): Promise<void> {
  const isAlone = !chance.isLucky(0.3) && !mustWait(world, repository, name);
  const paths = isAlone ? [join(ROOT, toFolder(name))] : ['-R', ROOT, '--stack', name];
  const argv = ['apply', ...paths, ...APPLY, ...QUICKLY];
  const disruptions = chance.isLucky(0.5) ? chooseDisruptions(chance) : KIND_FATE;
  await runAll(world, [
    startCommand(world, argv, { owns: createOwnershipCheck(repository, [name]), chance, disruptions }),
  ]);
}

function mustWait({ server }: World, repository: Repository, name: string): boolean {
  const handedOver = repository.find((stack) => stack.name === name)?.handedOver ?? [];
  return [...mapLiveResources(server).values()].some(({ kind, resource }) => {
    const mark = findOurMark(resource);
    if (mark?.stack !== name) return false;
    return findNewStack(repository, mark, kind) !== undefined && !handedOver.includes(toAddress(kind, mark.name));
  });
}

/** Two machines, each with the names of some of the stacks. */
async function applyByTwoMachines({ world, repository, chance }: Place): Promise<void> {
  const names = chance.shuffle(repository).map(({ name }) => name);
  const half = Math.ceil(names.length / 2);
  const parts = [names.slice(0, half), names.slice(half)].filter((part) => part.length > 0);
  const started = parts.map((part, index) => {
    const own = chance.fork(`machine ${index}`);
    const argv = ['apply', '-R', ROOT, ...part.flatMap((name) => ['--stack', name]), ...APPLY, ...QUICKLY];
    const disruptions = own.isLucky(0.5) ? chooseDisruptions(own) : KIND_FATE;
    return startCommand(world, argv, { owns: createOwnershipCheck(repository, part), chance: own, disruptions });
  });
  await runAll(world, started);
}

/** Saves plans, and applies them after other changes. */
async function applyLate(place: Place): Promise<void> {
  const { world, repository, chance } = place;
  const owns = createOwnershipCheck(repository);
  const plan = ['plan', '-R', ROOT, '-o', 'plans', '--allow-deletes', ...QUICKLY];
  await runAll(world, [startCommand(world, plan, { owns, chance: chance.fork('plan'), disruptions: KIND_FATE })]);
  if (chance.isLucky(0.4)) await runOtherUserStep(place);
  if (chance.isLucky(0.3)) await applyAll({ ...place, chance: chance.fork('between') });
  const again = chance.fork('again');
  const folder = join(world.folder, 'plans');
  if (again.isLucky(0.3)) {
    // The plan that an earlier run left for a stack outside of this filter is removed.
    const narrowed = [...plan, '--stack', again.pickAny(repository)?.name ?? ''];
    await runAll(world, [startCommand(world, narrowed, { owns, chance: again, disruptions: KIND_FATE })]);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    if (names.length > 1) world.checker.reportViolation(`a folder has plans of an earlier run: ${names.join(', ')}`);
  }
  const options = ['--yes', '--allow-deletes', '--token-directory', 'tokens', '--base-url', BASE_URL];
  if (existsSync(folder)) {
    const run = startCommand(world, ['apply', '-R', ROOT, '--approved', 'plans', ...options], {
      owns,
      chance: chance.fork('late'),
      disruptions: chooseDisruptions(chance),
    });
    await runAll(world, [run]);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** One stack is missing in the tree for a while: none of its resources change, and references to it are still found. */
async function applyWithoutOne(place: Place): Promise<void> {
  const { world, repository, chance } = place;
  const gone = chance.pickAny(repository.filter(({ members }) => !members.some(isTaken)));
  if (gone === undefined) return applyAll(place);
  const rest = repository.filter((stack) => stack !== gone);
  world.log(`git: ${gone.name} is missing`);
  rmSync(join(world.folder, ROOT, toFolder(gone.name), 'edgewise.yaml'));
  await applyAll({ ...place, repository: rest });
  world.log(`git: ${gone.name} is restored`);
  write(world, repository);
}

/** The variable of one stack's key has a typo, or its manifests have one in their YAML: the resources that it takes over stay in their stack. */
async function applyWithTypo(place: Place): Promise<void> {
  const { world, repository, chance } = place;
  const unread = chance.pickAny(repository.filter(({ members }) => members.some(isTaken)));
  if (unread === undefined) return applyAll(place);
  const slip = chance.pick([{ keyEnv: 'EDGEWISE_API_KEY_SLIP' }, { isBroken: true }] as const);
  const slipped = repository.map((stack) => (stack === unread ? { ...stack, ...slip } : stack));
  write(world, slipped);
  world.log(`git: ${unread.name} ${'keyEnv' in slip ? 'names a variable that is not set' : 'is no valid YAML'}`);
  const names = repository.filter((stack) => stack !== unread).map(({ name }) => name);
  const argv = ['apply', '-R', ROOT, ...APPLY];
  await runAll(world, [
    startCommand(world, argv, {
      owns: createOwnershipCheck(repository, names),
      chance,
      disruptions: chooseDisruptions(chance),
    }),
  ]);
  write(world, repository);
  world.log(`git: ${unread.name} is valid again`);
}

/**
 * Other users refer to a resource that a stack deletes, so that the delete is rejected. All other writes are applied, with or without a
 * rehearsal.
 */
async function applyDespiteDependents(place: Place): Promise<void> {
  const { world, repository, chance } = place;
  const apply = async (name: string, owner: Repository, flags: readonly string[]): Promise<Run> => {
    const argv = ['apply', '-R', ROOT, ...APPLY, ...flags];
    const run = startCommand(world, argv, {
      owns: createOwnershipCheck(owner),
      chance: chance.fork(name),
      disruptions: KIND_FATE,
    });
    await runAll(world, [run]);
    return run;
  };
  await apply('before', repository, []);
  const used = await createDependentResource({ service: world.shared, chance });
  const rest = repository.map((stack) => ({ ...stack, members: stack.members.filter((one) => toKey(one) !== used) }));
  if (used === undefined || JSON.stringify(rest).includes(`"${used}"`)) return;
  world.log(`others: refer to ${used}, which the manifests no longer have`);
  write(world, rest);
  const flag = chance.isLucky(0.5) ? '--allow-rejected' : '--exclude';
  for (const { name } of repository.filter(({ members }) => members.some((one) => toKey(one) === used))) {
    const run = await apply(`around in ${name}`, rest, ['--stack', name, flag, used]);
    const { exitCode } = await run.result;
    if (exitCode === EXIT.refused)
      world.checker.reportViolation(`what others do not use is not applied with ${flag}:\n${run.shown()}`);
  }
  write(world, repository);
}

/** Two more stacks refer to each other: only these two are stopped. */
async function applyBesideCircle({ world, repository, chance }: Place): Promise<void> {
  writeCircle(join(world.folder, ROOT), toApi(world));
  world.log('git: two more stacks refer to each other');
  const argv = ['apply', '-R', ROOT, ...APPLY, ...QUICKLY];
  const run = startCommand(world, argv, { owns: createOwnershipCheck(repository), chance, disruptions: KIND_FATE });
  await runAll(world, [run]);
  if (run.sentMs.length === 0)
    world.checker.reportViolation(`a circle of two stacks stops every stack:\n${run.shown()}`);
  write(world, repository);
  world.log('git: the two stacks are removed');
}

async function runOtherUserStep({ world, chance }: Place): Promise<void> {
  for (let count = chance.int(1, 2); count > 0; count -= 1)
    world.log(
      await changeAsOtherUser({ service: world.shared, stacks: world.stacks, chance: chance.fork(`meddle ${count}`) }),
    );
}

/** Returns which resources a run of some stacks may change, by default of all. Copies of a resource that was taken over belong to the old stack. */
function createOwnershipCheck(
  repository: Repository,
  names: readonly string[] = repository.map(({ name }) => name),
): Owns {
  return (mark, kind, hasHad) => {
    const taker = findNewStack(repository, mark, kind);
    const isOpen = taker !== undefined && !hasHad({ stack: taker, name: mark.name }, kind);
    if (names.includes(mark.stack) && !isOpen) return 'owned';
    return taker !== undefined && names.includes(taker) ? 'taken' : undefined;
  };
}

/** Finds the stack that takes a resource over. */
function findNewStack(repository: Repository, { stack, name }: Mark, kind: string): string | undefined {
  const isMeant = (member: Repository[number]['members'][number]) =>
    member.kind === kind && member.name === name && member.lifecycle.takenFrom?.stack === stack;
  return repository.find(({ members }) => members.some(isMeant))?.name;
}

function toKey({ kind, name }: Repository[number]['members'][number]): string {
  return toAddress(kind, name);
}

function isTaken({ lifecycle }: Repository[number]['members'][number]): boolean {
  return lifecycle.takenFrom !== undefined;
}

/** Without faults, applies of all stacks repair everything, and nothing is left when the hand-overs are no longer declared. */
async function applyAllWithoutFaults(world: World, repository: Repository): Promise<void> {
  world.log('all faults stop here');
  await deleteConflictingResources(world.shared);
  const final = withoutHandOvers(repository);
  if (repository.some(({ members }) => members.some(isTaken))) {
    await applyUntilDone(world, repository, 'handing over');
    checkMarks(world, { wanted: listWantedResources(repository), spared: toReleased(repository) });
    write(world, final);
    world.log('git: no stack declares a hand-over any more');
  }
  const last = await applyUntilDone(world, final, 'handed over');
  const argv = ['plan', '-R', ROOT, '--detailed-exitcode', ...QUICKLY, ...COUNTED];
  const disruptions = { ...KIND_FATE, isFrank: true };
  const frank = startCommand(world, argv, {
    owns: createOwnershipCheck(final),
    chance: world.chance.fork('frank'),
    disruptions,
  });
  await runAll(world, [frank]);
  await checkPlanOfFullService(world, frank);
  checkCounts(world, frank);
  await checkEnd(world, { ...last, wanted: listWantedResources(final) });
  checkReferences(world, final);
}

function listWantedResources(repository: Repository): readonly string[] {
  return repository.flatMap(({ name, members }) => listWanted(members, name));
}

/** A resource that a stack declares as handed over stays if the other stack takes over fewer copies than there are. */
function toReleased(repository: Repository): readonly string[] {
  return repository.flatMap(({ name, handedOver }) => handedOver.map((address) => `${name}: ${address}`));
}

async function applyUntilDone(
  world: World,
  repository: Repository,
  name: string,
): Promise<{ readonly apply: Run; readonly plan: Run }> {
  const chance = world.chance.fork(name);
  const run = async (argv: readonly string[], purpose: string): Promise<Run> => {
    const started = startCommand(world, argv, {
      owns: createOwnershipCheck(repository),
      chance: chance.fork(purpose),
      disruptions: KIND_FATE,
    });
    await runAll(world, [started]);
    return started;
  };
  for (let round = 1; ; round += 1) {
    const apply = await run(['apply', '-R', ROOT, ...APPLY], `apply ${round}`);
    const plan = await run(['plan', '-R', ROOT, '--detailed-exitcode', ...QUICKLY], `plan ${round}`);
    if ((await plan.result).exitCode === 0) return { apply, plan };
    const isCopied = (await apply.result).exitCode === 0 && hasOnlyDeletes(plan.shown());
    if (round < ROUNDS && isCopied) continue;
    world.checker.reportViolation(`something is left to do after ${round} applies of all:\n${plan.shown()}`);
    return { apply, plan };
  }
}

/** Whether a report for people shows deletes, and no other change. */
function hasOnlyDeletes(shown: string): boolean {
  const changes = [...shown.matchAll(/^(\S) [A-Z]\w+\/\S+ /gm)].map(([, sign]) => sign);
  return changes.length > 0 && changes.every((sign) => sign === '-');
}
