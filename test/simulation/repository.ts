import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { listClaims } from '../../src/kinds/claims.ts';
import type { FieldType } from '../../src/kinds/field.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { isReferable, listReferences, mapReferences } from '../../src/kinds/references.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { listSelfAndNestedTypes } from '../../src/kinds/walk.ts';
import { toAddress } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { isOwnedPrefix } from '../laws/known-ids.ts';
import { renderStack } from '../laws/render-stack.ts';
import { settleStack, toExternalId } from '../laws/settle-stack.ts';
import { REPOSITORY_STACKS, type TestResource, type TestStack } from '../laws/stack.ts';
import type { SeededRandom } from './random.ts';

/** One stack of a repository. Its references to other stacks are addresses. */
export interface RepositoryStack {
  readonly name: string;
  /** The URL of its service. */
  readonly baseUrl: string;
  readonly members: TestStack;
  /** The resources that it says it hands over: `Kind/name`. */
  readonly handedOver: readonly string[];
  /** The variable of its API key. Absent: the default. */
  readonly keyEnv?: string;
  /** Whether one of its documents with a hand-over is invalid YAML. */
  readonly isBroken?: boolean;
}

/** Several stacks in one tree of folders. Each refers only to stacks before it. */
export type Repository = readonly RepositoryStack[];

/**
 * Divides the resources of a history among stacks. Each resource is handed over at most once. A unique value stays in one stack, because no
 * stack claims a value of another. A resource that is handed over claims no value of another one that is: the two stacks would wait for each
 * other, as in a swap of two values.
 */
export function toRepositories(
  unlinked: readonly TestStack[],
  chance: SeededRandom,
  { moving = 0.35 }: { readonly moving?: number } = {},
): readonly Repository[] {
  const history = unlinked.map((stack) => settleStack(stack.map((resource) => addReferences(resource, stack, chance))));
  const homes = new StackAssignment(chance, { steady: listSteady(history), moving });
  const toBaseUrl = (name: string): string => chance.fork(`URL of ${name}`).pick(BASE_URLS);
  return history.map((stack, step) => {
    const members = homes.settle(stack.map(withoutProtection), step);
    return homes.names.map((name) => {
      const own = members.filter((member) => homes.of(member) === name);
      return {
        name,
        baseUrl: toBaseUrl(name),
        members: own.map((member) => homes.sayOrigin(member)),
        handedOver: homes.listHandedOver(name, members),
      };
    });
  });
}

/** Ways to write one URL. */
const BASE_URLS = [BASE_URL, BASE_URL, `${BASE_URL.toUpperCase()}/`] as const;

/** Consent is for one stack, and these runs apply all stacks. */
function withoutProtection(resource: TestResource): TestResource {
  return { ...resource, lifecycle: { ...resource.lifecycle, protect: false } };
}

/** The kinds with references that a stack can create, and their targets. */
export const LINKED_KINDS: readonly Kind[] = OWNED_KINDS.filter(
  (kind) =>
    isReferable(kind) || Object.values(kind.fields).some(({ type }) => listSelfAndNestedTypes(type).some(isToOwned)),
);

function isToOwned(type: FieldType): boolean {
  return type.type === 'reference' && type.prefixes.some(isOwnedPrefix);
}

/** Adds references to other resources of the stack if the kind has any, because random data seldom has them. */
function addReferences(resource: TestResource, stack: TestStack, chance: SeededRandom): TestResource {
  const spec = mapReferences(getKind(resource.kind), resource.spec, ({ path, type, value }) => {
    const fitting = stack.filter(
      ({ kind }) => kind !== resource.kind && type.prefixes.includes(getKind(kind).idPrefix),
    );
    const target = chance.fork(`${toKey(resource)} ${path.join('.')}`).pickAny(fitting);
    return target === undefined ? value : toKey(target);
  });
  return { ...resource, spec };
}

/** Removes some modules of the edges. */
export function dropModules(stack: TestStack, chance: SeededRandom): TestStack {
  const isDropped = ({ kind, name }: TestResource, field: string) =>
    getKind(kind).fields[field]?.clear === 'delete' && chance.fork(`${kind}/${name} ${field}`).isLucky(0.7);
  return stack.map((resource) => {
    const spec = Object.entries(resource.spec).filter(([field]) => !isDropped(resource, field));
    return { ...resource, spec: Object.fromEntries(spec) };
  });
}

/** The repository after all hand-overs, without the lines that declare them. */
export function withoutHandOvers(repository: Repository): Repository {
  return repository.map(({ members, ...stack }) => ({
    ...stack,
    handedOver: [],
    members: members.map((member) => {
      const { takenFrom: _, ...lifecycle } = member.lifecycle;
      return { ...member, lifecycle };
    }),
  }));
}

/** Lists resources that are never replaced: a hand-over that replaces is refused. */
function listSteady(history: readonly TestStack[]): ReadonlySet<string> {
  const versions = Map.groupBy(history.flat(), toKey);
  const isSteady = (members: TestStack): boolean => new Set(members.map(toImmutable)).size === 1;
  return new Set([...versions].flatMap(([address, members]) => (isSteady(members) ? [address] : [])));
}

function toImmutable({ kind, spec }: TestResource): string {
  const fields = getKind(kind).specFields.filter(([, { lifecycle }]) => lifecycle !== 'mutable');
  return JSON.stringify(fields.map(([name]) => [name, spec[name]]));
}

/** Assigns resources to stacks. */
class StackAssignment {
  readonly names: readonly string[];
  readonly #chance: SeededRandom;
  readonly #steady: ReadonlySet<string>;
  /** The probability that a resource is handed over, if it may be. */
  readonly #moving: number;
  readonly #homes = new Map<string, number>();
  /** The former stacks of resources that were handed over. */
  readonly #origins = new Map<string, { readonly stack: string; readonly isHandedOver: boolean }>();
  readonly #claims = new Map<string, { readonly address: string; readonly home: number }>();

  constructor(
    chance: SeededRandom,
    { steady, moving }: { readonly steady: ReadonlySet<string>; readonly moving: number },
  ) {
    this.#steady = steady;
    this.#moving = moving;
    this.names = REPOSITORY_STACKS.slice(0, chance.int(2, REPOSITORY_STACKS.length));
    this.#chance = chance;
  }

  of(resource: TestResource): string | undefined {
    return this.names[this.#homes.get(toKey(resource)) ?? 0];
  }

  sayOrigin(resource: TestResource): TestResource {
    const origin = this.#origins.get(toKey(resource));
    if (origin === undefined) return resource;
    const takenFrom = { stack: origin.stack, name: resource.name };
    return { ...resource, lifecycle: { ...resource.lifecycle, takenFrom } };
  }

  listHandedOver(name: string, members: TestStack): readonly string[] {
    const addresses = new Set(members.map(toKey));
    return [...this.#origins].flatMap(([address, { stack, isHandedOver }]) =>
      isHandedOver && stack === name && addresses.has(address) ? [address] : [],
    );
  }

  /** The resources with a stack. */
  settle(stack: TestStack, step: number): TestStack {
    const homes = this.#findHomes(stack, step);
    const fitting = stack.filter((resource) => this.#fits(resource, homes));
    if (fitting.length < stack.length) return this.settle(settleStack(fitting), step);
    for (const [address, home] of homes) {
      const before = this.#homes.get(address);
      if (before !== undefined && before !== home)
        this.#origins.set(address, {
          stack: this.names[before] ?? '',
          isHandedOver: this.#chance.fork(`${address} is released`).isLucky(0.5),
        });
      this.#homes.set(address, home);
    }
    for (const resource of stack)
      for (const key of listClaimKeys(resource))
        this.#claims.set(key, { address: toKey(resource), home: homes.get(toKey(resource)) ?? 0 });
    return stack;
  }

  /** A stack refers only to those before it. The targets of modules have no mark, so all of them are in the last stack. */
  #findHomes(stack: TestStack, step: number): ReadonlyMap<string, number> {
    const byAddress = new Map(stack.map((resource) => [toKey(resource), resource]));
    const homes = new Map<string, number>();
    const find = (resource: TestResource): number => {
      const address = toKey(resource);
      const known = homes.get(address);
      if (known !== undefined) return known;
      const needed = listNeeded(resource, byAddress).map(find);
      const home = Math.max(this.#choose(resource, step), ...needed);
      homes.set(address, home);
      return home;
    };
    for (const resource of stack) find(resource);
    return homes;
  }

  #choose({ kind, name }: TestResource, step: number): number {
    const address = toAddress(kind, name);
    const last = this.names.length - 1;
    if (getKind(kind).role === 'attached') return last;
    const known = this.#homes.get(address);
    if (known === undefined) return this.#chance.fork(address).int(0, last);
    const chance = this.#chance.fork(`${address} at ${step}`);
    return this.#canCauseGap(address) && chance.isLucky(this.#moving) ? chance.int(0, last) : known;
  }

  #canCauseGap(address: string): boolean {
    return this.#steady.has(address) && !this.#origins.has(address);
  }

  #fits(resource: TestResource, homes: ReadonlyMap<string, number>): boolean {
    const address = toKey(resource);
    const isMoving = this.#moves(address, homes);
    if (isMoving && !this.#canCauseGap(address)) return false;
    return listClaimKeys(resource).every((key) => {
      const holder = this.#claims.get(key);
      if (holder === undefined || holder.address === address) return true;
      return holder.home === homes.get(address) && !(isMoving && this.#moves(holder.address, homes));
    });
  }

  #moves(address: string, homes: ReadonlyMap<string, number>): boolean {
    const [before, after] = [this.#homes.get(address), homes.get(address)];
    return before !== undefined && after !== undefined && before !== after;
  }
}

function toKey({ kind, name }: TestResource): string {
  return toAddress(kind, name);
}

function listNeeded(
  { kind, spec }: TestResource,
  byAddress: ReadonlyMap<string, TestResource>,
): readonly TestResource[] {
  return listReferences(getKind(kind), spec).flatMap(({ value }) => byAddress.get(value) ?? []);
}

/** Lists the unique values that a resource claims. */
export function listClaimKeys({ kind: name, spec }: TestResource): readonly string[] {
  const kind = getKind(name);
  const resolved = mapReferences(kind, spec, ({ value }) => toExternalId(value));
  return listClaims(kind, canonical(kind, resolved, AS_WRITTEN)).map(({ key }) => key);
}

/** Writes a repository below a folder, in place of the last one. The last stack is a folder inside of another one. */
export function writeRepository(repository: Repository, root: string, api: JsonObject): void {
  rmSync(root, { recursive: true, force: true });
  for (const stack of repository) {
    const file = join(root, toFolder(stack.name), 'edgewise.yaml');
    mkdirSync(dirname(file), { recursive: true });
    const text = renderMember(stack, { repository, api });
    writeFileSync(file, stack.isBroken ? text.replace('renamed_from:', 'renamed_from: [') : text);
  }
}

/** Writes two stacks that refer to each other below a folder, beside the existing ones. */
export function writeCircle(root: string, api: JsonObject): void {
  const names = ['ring-a', 'ring-b'] as const;
  for (const [name, stack] of [names, names.toReversed()] as const) {
    const foreign = new Map([['other', { stack: stack ?? '', resource: 'WeightedBackend/pool' }]]);
    mkdirSync(join(root, name ?? ''), { recursive: true });
    for (const { file, bytes } of renderStack([], undefined, { name: name ?? '', baseUrl: BASE_URL, foreign, api }))
      writeFileSync(join(root, name ?? '', file), bytes);
  }
}

/** The folder of a stack, below the root. */
export function toFolder(name: string): string {
  return join(findStackAround(name) ?? '', name);
}

/** The name of the stack in whose folder a stack is. */
export function findStackAround(name: string): string | undefined {
  return name === REPOSITORY_STACKS[2] ? REPOSITORY_STACKS[1] : undefined;
}

/** Renders a stack. Each resource of another stack gets its own External. */
export function renderMember(
  { members, ...head }: RepositoryStack,
  { repository, api }: { readonly repository: Repository; readonly api: JsonObject },
): string {
  const { name } = head;
  const elsewhere = new Map(
    repository
      .filter((stack) => stack.name !== name)
      .flatMap((stack) => stack.members.map((member) => [toKey(member), stack.name] as const)),
  );
  const foreign = new Map<string, { readonly stack: string; readonly resource: string }>();
  const own = members.map((member) => {
    const spec = mapReferences(getKind(member.kind), member.spec, ({ value }) => {
      const stack = elsewhere.get(value);
      if (stack === undefined) return value;
      const external = `foreign-${[...elsewhere.keys()].indexOf(value)}`;
      foreign.set(external, { stack, resource: value });
      return `External/${external}`;
    });
    return { ...member, spec };
  });
  const tokens = relative(join('/live', toFolder(name)), '/tokens');
  const files = renderStack(own, undefined, { ...head, tokens, foreign, api });
  return files.map(({ bytes }) => Buffer.from(bytes).toString()).join('---\n');
}
