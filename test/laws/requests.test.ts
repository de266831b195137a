import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isModule } from '../../src/kinds/kind.ts';
import { isIdOf } from '../../src/kinds/paths.ts';
import { listReferences } from '../../src/kinds/references.ts';
import { createWriteRequestLine } from '../../src/kinds/request-body.ts';
import { ATTACHED_KINDS, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { WriteId } from '../../src/model/write.ts';
import { isCreateWithoutClaims } from '../../src/plan/duplicates.ts';
import { formatRequestSentence } from '../../src/report/view/plan-wording.ts';
import type { SentRequest } from '../cli/recorder.ts';
import { createWorkspace, STACK, toCredential } from '../cli/workspace.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import type { TestStack } from './stack.ts';
import { World } from './world.ts';

const SAID =
  /applying takes (\d+) writes?(?: and at least (\d+) look-ups?)?(?:.*, and up to (\d+) reads? right before writes)?/;

describe('the requests of a run', () => {
  it(
    'are GETs for a plan: one for each page of a kind, each module that a document may set, and each reference to an unlisted resource',
    LONG,
    async () => {
      const property = fc.asyncProperty(
        arbitraryHistory(1),
        fc.integer({ min: 1, max: 4 }),
        async (stacks, pageSize) => {
          const world = new World({ pageSize });
          for (const stack of stacks) {
            world.takeRequests();
            const plan = await world.plan(stack);
            const sent = world.takeRequests();
            expect(sent.filter(({ method }) => method !== 'GET')).toEqual([]);
            expect(sent).toHaveLength(countPages(world, pageSize) + countSlots(stack) + countUnlisted(world));
            expect(plan.requests.read).toBe(sent.length);
            await world.apply(plan);
          }
        },
      );
      await holds(property, 20);
    },
  );

  it(
    'are for an apply the writes of the plan, reads right before them, lists of what a concurrent apply could create, and one check of each kind with deletes and of each deleted module',
    LONG,
    async () => {
      const property = fc.asyncProperty(arbitraryHistory(1), async (stacks) => {
        const world = new World();
        for (const stack of stacks) {
          const plan = await world.plan(stack);
          world.takeRequests();
          await world.apply(plan);
          const sent = world.takeRequests();
          const writes = sent.filter(({ method }) => method !== 'GET');
          expect(writes.map(({ method }) => method).sort()).toEqual(
            plan.writes.map((write) => createWriteRequestLine(write).method).sort(),
          );
          const last = sent.findLastIndex(({ method }) => method !== 'GET') + 1;
          const deletes = plan.writes
            .filter(({ method }) => method === 'DELETE')
            .map((write) => ({
              write,
              path: createWriteRequestLine(write).path,
            }));
          const checks = deletes.map(({ write, path }) => (write.module === undefined ? dirname(path) : path));
          const checked = sent.slice(last).map(({ path }) => path.split('?')[0] ?? '');
          for (const path of new Set(checks)) expect(checked).toContain(path);
          for (const path of new Set(checks)) checked.splice(checked.lastIndexOf(path), 1);
          const read = [...sent.slice(0, last), ...checked.map((path) => ({ method: 'GET', path }))].flatMap(
            ({ method, path }) => (method === 'GET' ? [path.split('?')[0]] : []),
          );
          const made = plan.writes.filter(isCreateWithoutClaims).map((write) => createWriteRequestLine(write).path);
          const [listed, again] = [true, false].map((isList) =>
            read.filter((path) => made.includes(path ?? '') === isList),
          );
          expect(new Set(listed)).toEqual(new Set(made));
          expect(again?.length).toBeLessThanOrEqual(plan.requests.readAgain ?? 0);
          // The apply has another client than the plan, so it has read nothing yet.
          for (const [at, { method, path }] of sent.entries())
            if (method === 'DELETE') expect(listRead(sent, at)).toContain(path);
        }
      });
      await holds(property, 20);
    },
  );

  it('are as many in an apply as its plan says, or more if the plan gives a minimum', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.constantFrom(1, 2, 3, 100), async (stacks, pageSize) => {
      const world = new World({ pageSize });
      for (const stack of [...stacks, []]) {
        const plan = await world.plan(stack);
        world.takeRequests();
        await world.apply(plan);
        const sent = world.takeRequests().length;
        const sentence = formatRequestSentence(plan, { isApplied: true });
        const [, writes = '', lookUps = '0', again = '0'] = SAID.exec(sentence) ?? [];
        const said = Number(writes) + Number(lookUps);
        expect(plan.requests.apply).toBe(said);
        expect(sent).toBeGreaterThanOrEqual(said);
        if (lookUps === '0') expect(sent, sentence).toBeLessThanOrEqual(said + Number(again));
      }
    });
    await holds(property, 60);
  });

  it(
    'are 15 for a plan of 1,000 unchanged credentials, as three pages say: ten pages of them, one of each other kind',
    LONG,
    async () => {
      const credentials = Array.from({ length: 1_000 }, (_, index) => toCredential(`agent-${index}`)).join('');
      const { edgewise, recorder, write } = await createWorkspace({ 'edgewise.yaml': `${STACK}${credentials}` });
      const quickly = '--rate-limit none --no-rehearsal';
      expect((await edgewise(`apply --yes --token-directory ../tokens ${quickly}`)).exitCode).toBe(0);
      const countPlan = async () => {
        recorder.take();
        expect((await edgewise(`plan --detailed-exitcode ${quickly}`)).exitCode).toBe(0);
        return Object.groupBy(recorder.take(), ({ path }) => path.split('?')[0] ?? '');
      };
      const read = await countPlan();
      expect(
        Object.values(read)
          .map((requests) => requests?.length)
          .sort(),
      ).toEqual([...OWNED_KINDS.slice(1).map(() => 1), 10]);
      expect(read['/credentials']).toHaveLength(10);
      await write({ 'edgewise.yaml': `${STACK}spec: { kinds: [Credential] }\n${credentials}` });
      expect(await countPlan()).toEqual({ '/credentials': expect.objectContaining({ length: 10 }) });

      const pages = ['README.md', 'docs/explanation/compared.md', 'docs/reference/benchmarks.md'];
      const said = pages.map(
        (file) =>
          readFileSync(file, 'utf8')
            .match(/^.*1,000.*$/gm)
            ?.join('\n') ?? '',
      );
      for (const [index, text] of said.entries()) {
        expect(text, pages[index]).toMatch(/15 requests: 10 pages of them, 5 of other kinds/);
        expect(text, pages[index]).not.toMatch(/(?<!\d)10 requests(?! if)/);
      }
    },
  );

  it('depend on no later write of the plan', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (stacks) => {
      const world = new World();
      for (const stack of stacks) {
        const { writes } = await world.migrate(stack);
        const before = new Set<WriteId>();
        for (const { id, dependsOn } of writes) {
          expect(dependsOn.filter((needed) => !before.has(needed))).toEqual([]);
          expect(before).not.toContain(id);
          before.add(id);
        }
      }
    });
    await holds(property, 20);
  });
});

/** The paths of reads before a request: single resources, modules, and resources of modules. */
function listRead(sent: readonly SentRequest[], before: number): readonly string[] {
  const read = sent.slice(0, before).flatMap(({ method, path }) => (method === 'GET' ? [path] : []));
  const modules = MODULE_NAMES.flatMap((name) => read.map((path) => `${path}/${name}`));
  return [...read, ...modules];
}

const MODULE_NAMES = [...OWNED_KINDS, ...ATTACHED_KINDS].flatMap((kind) =>
  kind.specFields.flatMap(([name, field]) => (isModule(field) ? [name] : [])),
);

function countPages(world: World, pageSize: number): number {
  const resources = world.resources();
  return OWNED_KINDS.reduce(
    (count, { name }) => count + Math.max(1, Math.ceil((resources[name]?.length ?? 0) / pageSize)),
    0,
  );
}

/** Ids without a resource that a resource with a mark refers to. */
function countUnlisted(world: World): number {
  const all = OWNED_KINDS.flatMap((kind) => (world.resources()[kind.name] ?? []).map((live) => ({ kind, live })));
  const listed = new Set(all.map(({ live }) => live['id']));
  const marked = all.filter(({ live }) => JSON.stringify(live['metadata'] ?? '').includes('edgewise'));
  const referred = marked.flatMap(({ kind, live }) => listReferences(kind, live).map(({ value }) => value));
  const prefixes = OWNED_KINDS.map(({ idPrefix }) => idPrefix);
  const unlisted = referred.filter((id) => !listed.has(id) && isIdOf({ prefixes }, id));
  return new Set(unlisted).size;
}

function countSlots(stack: TestStack): number {
  return ATTACHED_KINDS.flatMap((kind) =>
    stack
      .filter((resource) => resource.kind === kind.name)
      .flatMap(({ lifecycle }) =>
        kind.specFields.filter(([name, field]) => isModule(field) && !lifecycle.ignore.includes(name)),
      ),
  ).length;
}
