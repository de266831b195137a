import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { toAddress } from '../../src/model/address.ts';
import type { Mark } from '../../src/model/mark.ts';
import { selectShard } from '../../src/stacks/shard.ts';
import { chooseFate, QUICKLY, runAll, start } from './commands.ts';
import { findOurMark, listHeld, type Owns } from './ledger.ts';
import { judgeEnd, judgeReferences, listWanted } from './oracle.ts';
import { clearTheWay, meddle } from './outsider.ts';
import type { Chance } from './random.ts';
import { forgetHandOvers, type Repository, toFolder, writeRepository } from './repository.ts';
import { KIND_FATE, type Run } from './run-edgewise.ts';
import type { World } from './world.ts';

/** The folder of the repository, in that of the world. */
const ROOT = 'live';

/** Applies of all stacks after which nothing may be left: one stack may wait for what another one lets go of. */
const ROUNDS = 4;

const APPLY = ['--yes', '--allow-deletes'];

/** A walk with several stacks of one account, which refer to each other and hand resources over. */
export async function walkRepository(world: World, repositories: readonly Repository[], chance: Chance): Promise<void> {
  for (const [index, repository] of repositories.entries()) {
    writeRepository(repository, join(world.folder, ROOT));
    tellOfRepository(world, repository);
    for (let count = chance.int(1, 2); count > 0; count -= 1)
      await takeStep({ world, repository, chance: chance.fork(`${index} ${count}`) });
  }
  await settle(world, repositories.at(-1) ?? []);
}

function tellOfRepository({ tell }: World, repository: Repository): void {
  for (const { name, members, released } of repository) {
    const list = members.map(({ kind, name: own, lifecycle: { takenFrom } }) =>
      [toAddress(kind, own), ...(takenFrom === undefined ? [] : [`from ${takenFrom.stack}`])].join(' '),
    );
    const handedOver = released.length === 0 ? '' : `, without ${released.join(', ')}`;
    tell(`git: ${name} has ${list.join(', ') || 'nothing'}${handedOver}`);
  }
}

/** Where a step is taken. */
interface Place {
  readonly world: World;
  readonly repository: Repository;
  readonly chance: Chance;
}

async function takeStep(place: Place): Promise<void> {
  const step = place.chance.pick([
    applyAll,
    applyAll,
    applyOneByOne,
    applyOneByOne,
    applyShards,
    applyLate,
    applyWithoutOne,
    meddleOnly,
  ]);
  await step(place);
}

async function applyAll({ world, repository, chance }: Place): Promise<void> {
  const quickly = chance.isLucky(0.6) ? QUICKLY : [];
  const argv = ['apply', '-R', ROOT, ...APPLY, ...quickly];
  await runAll(world, [start(world, argv, { owns: toOwns(repository), chance, fate: chooseFate(chance) })]);
}

/** Each stack by a command of its own, in any order. */
async function applyOneByOne(place: Place): Promise<void> {
  const { chance } = place;
  for (const { name } of chance.shuffle(place.repository))
    await applyOne({ ...place, chance: chance.fork(name) }, name);
}

/** What hands something over without a word goes alone only when that is taken: until then it would delete it. */
async function applyOne({ world, repository, chance }: Place, name: string): Promise<void> {
  const isAlone = !chance.isLucky(0.3) && !hasToWait(world, repository, name);
  const paths = isAlone ? [join(ROOT, toFolder(name))] : ['-R', ROOT, '--stack', name];
  const argv = ['apply', ...paths, ...APPLY, ...QUICKLY];
  const fate = chance.isLucky(0.5) ? chooseFate(chance) : KIND_FATE;
  await runAll(world, [start(world, argv, { owns: toOwns(repository, [name]), chance, fate })]);
}

function hasToWait({ server }: World, repository: Repository, name: string): boolean {
  const released = repository.find((stack) => stack.name === name)?.released ?? [];
  return [...listHeld(server).values()].some(({ kind, resource }) => {
    const mark = findOurMark(resource);
    if (mark?.stack !== name) return false;
    return findTaker(repository, mark, kind) !== undefined && !released.includes(toAddress(kind, mark.name));
  });
}

/** Two machines, each with a part of the stacks. */
async function applyShards({ world, repository, chance }: Place): Promise<void> {
  const started = [1, 2].map((index) => {
    const names = selectShard(repository.map(toShardMember), { index, total: 2, from: '' }).map(({ name }) => name);
    const own = chance.fork(`shard ${index}`);
    const argv = ['apply', '-R', ROOT, '--shard', `${index}/2`, ...APPLY, ...QUICKLY];
    const fate = own.isLucky(0.5) ? chooseFate(own) : KIND_FATE;
    return start(world, argv, { owns: toOwns(repository, names), chance: own, fate });
  });
  await runAll(world, started);
}

function toShardMember({ name }: Repository[number]) {
  return {
    name,
    folder: name,
    file: name,
    baseUrl: undefined,
    inputs: [],
    policies: [],
    isRendered: false,
    needs: [],
    takes: [],
  };
}

/** Plans that are saved, and applied when other things have happened. */
async function applyLate(place: Place): Promise<void> {
  const { world, repository, chance } = place;
  const owns = toOwns(repository);
  const plan = ['plan', '-R', ROOT, '-o', 'plans', '--allow-deletes', ...QUICKLY];
  await runAll(world, [start(world, plan, { owns, chance: chance.fork('plan'), fate: KIND_FATE })]);
  if (chance.isLucky(0.4)) await meddleOnly(place);
  if (chance.isLucky(0.3)) await applyAll({ ...place, chance: chance.fork('between') });
  const apply = ['apply', 'plans', '--yes', '--allow-deletes', '--token-directory', 'tokens'];
  if (existsSync(join(world.folder, 'plans')))
    await runAll(world, [start(world, apply, { owns, chance: chance.fork('late'), fate: chooseFate(chance) })]);
  rmSync(join(world.folder, 'plans'), { recursive: true, force: true });
}

/** One stack is not in the tree for a while: nothing of it is touched, and what refers to it finds it all the same. */
async function applyWithoutOne(place: Place): Promise<void> {
  const { world, repository, chance } = place;
  const gone = chance.pickAny(repository.filter(({ members }) => !members.some(isTaken)));
  if (gone === undefined) return applyAll(place);
  const rest = repository.filter((stack) => stack !== gone);
  world.tell(`git: ${gone.name} is not there`);
  rmSync(join(world.folder, ROOT, toFolder(gone.name), 'edgewise.yaml'));
  await applyAll({ ...place, repository: rest });
  world.tell(`git: ${gone.name} is there again`);
  writeRepository(repository, join(world.folder, ROOT));
}

async function meddleOnly({ world, chance }: Place): Promise<void> {
  for (let count = chance.int(1, 2); count > 0; count -= 1)
    world.tell(await meddle({ service: world.shared, stacks: world.stacks, chance: chance.fork(`meddle ${count}`) }));
}

/** Whose resources a run of some stacks may touch; by default of all. */
function toOwns(repository: Repository, names: readonly string[] = repository.map(({ name }) => name)): Owns {
  return (mark, kind) => {
    const taker = findTaker(repository, mark, kind);
    if (taker !== undefined) return names.includes(taker) ? 'taken' : undefined;
    return names.includes(mark.stack) ? 'owned' : undefined;
  };
}

/** The stack to which another one hands over what bears a mark. */
function findTaker(repository: Repository, { stack, name }: Mark, kind: string): string | undefined {
  const isMeant = (member: Repository[number]['members'][number]) =>
    member.kind === kind && member.name === name && member.lifecycle.takenFrom?.stack === stack;
  return repository.find(({ members }) => members.some(isMeant))?.name;
}

function isTaken({ lifecycle }: Repository[number]['members'][number]): boolean {
  return lifecycle.takenFrom !== undefined;
}

/** All is well again: applies of all stacks make it right, and nothing is left when git says nothing of hand-overs any more. */
async function settle(world: World, repository: Repository): Promise<void> {
  world.tell('all is well from here on');
  await clearTheWay(world.shared);
  const final = forgetHandOvers(repository);
  if (repository.some(({ members }) => members.some(isTaken))) {
    await applyUntilDone(world, repository, 'handing over');
    writeRepository(final, join(world.folder, ROOT));
    world.tell('git: no stack says what it takes or gives away any more');
  }
  const last = await applyUntilDone(world, final, 'handed over');
  await judgeEnd(world, { ...last, wanted: final.flatMap(({ name, members }) => listWanted(members, name)) });
  judgeReferences(world, final);
}

async function applyUntilDone(
  world: World,
  repository: Repository,
  name: string,
): Promise<{ readonly apply: Run; readonly plan: Run }> {
  const chance = world.chance.fork(name);
  const run = async (argv: readonly string[], purpose: string): Promise<Run> => {
    const started = start(world, argv, { owns: toOwns(repository), chance: chance.fork(purpose), fate: KIND_FATE });
    await runAll(world, [started]);
    return started;
  };
  for (let round = 1; ; round += 1) {
    const apply = await run(['apply', '-R', ROOT, ...APPLY], `apply ${round}`);
    const plan = await run(['plan', '-R', ROOT, '--detailed-exitcode', ...QUICKLY], `plan ${round}`);
    if ((await plan.result).exitCode === 0) return { apply, plan };
    if (round < ROUNDS) continue;
    world.ledger.accuse(`something is left to do after ${ROUNDS} applies of all:\n${plan.shown()}`);
    return { apply, plan };
  }
}
