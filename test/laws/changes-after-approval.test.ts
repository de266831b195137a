import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toResourcePath } from '../../src/kinds/paths.ts';
import { getKind, MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { type Change, formatChangeAddress } from '../../src/model/change.ts';
import { parsePath } from '../../src/model/field-path.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import { type ExtraChange, isSamePlan, type Plan, type PlanComparison } from '../../src/model/plan.ts';
import type { SentRequest } from '../cli/recorder.ts';
import { LONG, SEED } from '../tries.ts';
import { arbitraryHistory, arbitraryResource } from './arbitrary-manifests.ts';
import { createDyingTransport } from './dying-transport.ts';
import { withField } from './mutate-stack.ts';
import { changeField, createOutsideResource, findOwned, listChangeable } from './other-user.ts';
import { holds } from './properties.ts';
import { settleStack } from './settle-stack.ts';
import type { TestResource, TestStack } from './stack.ts';
import { listTouched, type PlanOptions, World } from './world.ts';

/** Merges, user changes and settings after an approval. The plan is then applied exactly, or it is refused. */

/** The changes between approval and apply. */
interface ChangesAfterApproval {
  /** Whether other manifest changes are merged. */
  readonly isMerged: boolean;
  readonly outside: 'nothing' | 'sets a field' | 'does a part of it' | 'deletes' | 'creates another resource';
  readonly at: number;
  readonly field: number;
  readonly donors: readonly TestResource[];
  readonly approvedWith: PlanOptions;
  readonly appliedWith: PlanOptions;
  /** The request at which an earlier apply of the plan was interrupted. */
  readonly diedAt: number | undefined;
}

const PLAIN: PlanOptions = {};

function arbitraryChangesAfterApproval(): fc.Arbitrary<ChangesAfterApproval> {
  return fc.record({
    isMerged: fc.boolean(),
    outside: fc.constantFrom<ChangesAfterApproval['outside'][]>(
      'nothing',
      'nothing',
      'sets a field',
      'does a part of it',
      'deletes',
      'creates another resource',
    ),
    at: fc.nat(11),
    field: fc.nat(11),
    donors: fc.tuple(...MANIFEST_KINDS.map((kind) => arbitraryResource([kind]))),
    approvedWith: fc.constant(PLAIN),
    appliedWith: fc.constant(PLAIN),
    diedAt: fc.option(fc.nat(12), { nil: undefined }),
  });
}

describe('a change after an approval', () => {
  it('is applied exactly as approved, or refused with every difference', LONG, async () => {
    const counts = { applied: 0, refused: 0 };
    const property = fc.asyncProperty(
      arbitraryHistory(2),
      arbitraryChangesAfterApproval(),
      async (history, meanwhile) => {
        const [first = [], second = [], third = []] = history;
        const world = new World({ concurrency: 1 });
        await world.migrate(first);
        const approved: Plan = JSON.parse(JSON.stringify(await world.plan(second, meanwhile.approvedWith)));
        const known = await rehearse(world, approved);
        if (meanwhile.diedAt !== undefined)
          await world.applyOver(approved, createDyingTransport({ request: meanwhile.diedAt, when: 'after' }));
        await changeAsOtherUser(world, [first, second], meanwhile);
        const merged = meanwhile.isMerged ? third : second;
        const comparison = await world.compare(approved, merged, meanwhile.appliedWith);
        if (!isSamePlan(comparison)) {
          counts.refused += 1;
          if (meanwhile.diedAt === undefined) expectAllNamed(comparison);
          expectReason(comparison, meanwhile);
          return;
        }
        counts.applied += 1;
        world.takeRequests();
        await world.apply(comparison.after);
        expect(known.describe(world.takeRequests()).filter((line) => !known.lines.has(line))).toEqual([]);
        expect(listTouched(await world.plan(merged, meanwhile.appliedWith))).toEqual([]);
        expect((await world.compare(approved, second, meanwhile.approvedWith)).less).toEqual([]);
      },
    );
    await holds(property, 160);
    expect(Math.min(counts.applied, counts.refused), `seed ${SEED}`).toBeGreaterThan(0);
  });
});

/** If only this stack and another user sent requests, the plan is as approved. */
function expectReason(
  { members, more, less }: PlanComparison,
  { isMerged, outside, ...meanwhile }: ChangesAfterApproval,
): void {
  const isQuiet = outside === 'nothing' || outside === 'creates another resource';
  const isSameRun = meanwhile.approvedWith === meanwhile.appliedWith;
  // Another user may claim the unique value of a change. Then its resource is adopted or blocks the change.
  if (!isMerged && outside === 'nothing' && isSameRun) expect({ members, more, less }).toEqual({});
  if (isQuiet && !isMerged && !isSameRun) expect(members).not.toEqual([]);
}

/** The requests of the approved plan if it is applied at once. */
async function rehearse({ server }: World, approved: Plan) {
  const seed = server.snapshot();
  const ids = JSON.stringify([seed, approved]);
  const world = new World({ seed, concurrency: 1 });
  await world.apply(approved);
  const describe = (sent: readonly SentRequest[]) => sent.flatMap((one) => describeRequest(one, ids));
  return { describe, lines: new Set(describe(world.takeRequests())) };
}

/**
 * A line for each field of a write. Ids that were unknown at the approval, and digests in marks, differ from run to run. Metadata beside the
 * mark may stay as it has drifted. Resources that this plan created may be deleted and replaced, because their tokens were not delivered.
 */
function describeRequest({ method, path, body }: SentRequest, known: string): readonly string[] {
  if (method === 'GET') return [];
  const hide = (text: string): string => text.replace(/\b[a-z]+_\w{15,}/g, (id) => (known.includes(id) ? id : '…'));
  const head = `${method} ${hide(path)}`;
  if (method === 'DELETE' && head.includes('…')) return [];
  const fields: Readonly<Record<string, unknown>> = body === '' ? {} : JSON.parse(body);
  const lines = Object.entries(fields).map(([name, value]) => {
    const {
      fields: _,
      replaces,
      ...mark
    } = (name === 'metadata' && splitMetadata(String(value)).mark) || { fields: {} };
    const shown = replaces !== undefined && known.includes(replaces) ? { ...mark, replaces } : mark;
    return `${head} ${name} ${hide(JSON.stringify(name === 'metadata' ? shown : value))}`;
  });
  return [head, ...lines];
}

async function changeAsOtherUser(
  world: World,
  [first, second]: readonly [TestStack, TestStack],
  { outside, at, field: index, donors }: ChangesAfterApproval,
): Promise<void> {
  const subject = first[at % Math.max(1, first.length)];
  const donor = donors[at % donors.length];
  try {
    if (outside === 'creates another resource' && donor !== undefined)
      await createOutsideResource(world, donor, () => 'made by hand');
    if (subject === undefined) return;
    const kind = getKind(subject.kind);
    const fields = listChangeable(kind);
    const field = fields[index % fields.length] ?? '';
    const source = outside === 'does a part of it' ? second : donors;
    const like = source.find((one) => one.kind === subject.kind && (source === donors || one.name === subject.name));
    const live = kind.role === 'owned' ? findOwned(world, kind.name, subject.name) : undefined;
    if (outside === 'deletes' && live !== undefined) await world.call('DELETE', toResourcePath(kind, live));
    if ((outside === 'sets a field' || outside === 'does a part of it') && like !== undefined) {
      const changed = { ...subject, spec: withField(subject.spec, field, like.spec) };
      const resource = settleStack([...first.filter((one) => one !== subject), changed]).at(-1);
      if (resource?.name === subject.name && resource.kind === subject.kind)
        await changeField(world, { resource, stack: first }, field);
    }
  } catch {
    // The service rejects it: then nothing happened outside.
  }
}

/** Compares texts without knowledge of the live state: each difference is named with its path, or is done. */
function expectAllNamed(comparison: PlanComparison): void {
  const { before, after, more, less, done } = comparison;
  const ids = JSON.stringify(before);
  const [approved, now] = [before, after].map(({ changes }) => changes.flatMap((change) => listEffects(change, ids)));
  const named = new Set([...more, ...less].flatMap(listNamed));
  for (const { address, action, paths } of done)
    for (const path of paths ?? [action]) named.add(`${address} ${path}`).add(`${address} *`);
  const differing = [
    ...(approved ?? []).filter(({ text }) => !now?.some((one) => one.text === text)),
    ...(now ?? []).filter(({ text }) => !approved?.some((one) => one.text === text)),
  ];
  for (const { address, path, text } of differing)
    expect(named.has(`${address} *`) || named.has(`${address} ${path}`), text).toBe(true);
}

interface Effect {
  readonly address: string;
  readonly path: string;
  readonly text: string;
}

function listEffects(change: Change, known: string): readonly Effect[] {
  const { action, differences, desired = {} } = change;
  if (action === 'no-op') return [];
  const address = formatChangeAddress(change);
  // References to created resources are addresses first, and ids later.
  const hide = (value: unknown) =>
    JSON.stringify(value)?.replace(/"[A-Z]\w+\/[^"]+"|\b[a-z]+_\w{15,}/g, (id) => (known.includes(id) ? id : '…'));
  const toEffect = (path: string, value: unknown): Effect => ({
    address,
    path,
    text: `${address} ${action} ${path} ${hide(value)}`,
  });
  const created = action === 'create' || action === 'replace' ? Object.entries(desired) : [];
  return [
    toEffect('*', 0),
    ...differences.map(({ path, from, to }) => toEffect(path, { from, to })),
    ...created.map(([path, value]) => toEffect(path, value)),
  ];
}

function listNamed({ change, isWhole, fields, dangers }: ExtraChange): readonly string[] {
  const address = formatChangeAddress(change);
  if (isWhole) return [`${address} *`];
  const paths = fields.flatMap(({ difference: { path } }) => [path, String(parsePath(path)?.[0])]);
  return [...paths, ...dangers.map(({ path = '*' }) => path)].map((path) => `${address} ${path}`);
}
