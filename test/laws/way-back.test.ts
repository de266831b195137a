import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMember, isJsonArray, type Json, parseJson } from '../../src/model/json.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { ED25519_KEY } from '../server/ssh-keys.ts';
import { LONG } from '../tries.ts';
import { holds } from './properties.ts';

const KINDS = ['TCPEdge', 'WeightedBackend', 'Credential', 'SSHUserCertificate'] as const;

/** What was handed out of these may not live on without consent. */
const SECRET: readonly string[] = ['Credential', 'SSHUserCertificate'];

const PATHS = {
  TCPEdge: '/edges/tcp',
  WeightedBackend: '/backends/weighted',
  Credential: '/credentials',
  SSHUserCertificate: '/ssh_user_certificates',
} as const;

type Stack = 'a' | 'b';

/** A resource as one commit describes it. `line`: what it says of the commit before. */
interface Described {
  readonly kind: (typeof KINDS)[number];
  readonly stack: Stack;
  readonly name: string;
  readonly value: number;
  readonly line?: object;
}

/** What a commit does to a resource. */
interface Step {
  readonly name: boolean;
  readonly stack: boolean;
  readonly value: boolean;
}

const arbitraryKinds = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 4 });

/** A commit: a step for each resource, or the revert of the last one. */
const toArbitraryCommits = (isEdited: boolean) =>
  fc.array(
    fc.option(
      fc.array(
        fc.record({ name: fc.boolean(), stack: fc.boolean(), value: isEdited ? fc.boolean() : fc.constant(false) }),
        { minLength: 4, maxLength: 4 },
      ),
      { nil: 'revert' as const },
    ),
    { minLength: 2, maxLength: 5 },
  );

const SETTINGS = { tokens: { default: { directory: 'tokens/{stack}' } } };

const KEY = { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1', principals: ['alice'] };

function toSpec({ kind, value }: Described, index: number): object {
  switch (kind) {
    case 'TCPEdge':
      return { hostports: [`1.tcp.example.net:${20_000 + index}`], description: `${value}` };
    case 'WeightedBackend':
      return { backends: { bkdhr_1: value + 1 } };
    case 'Credential':
      return { description: `${value}` };
    case 'SSHUserCertificate':
      return { ...KEY, description: `${value}` };
  }
}

function toFiles(described: readonly Described[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (['a', 'b'] as const).map((stack) => {
      const own = described.map((one, index) =>
        one.stack === stack ? toManifest(one.kind, one.name, toSpec(one, index), { lifecycle: one.line ?? {} }) : '',
      );
      return [`live/${stack}/edgewise.yaml`, `${toStack(stack, SETTINGS)}${own.join('')}`];
    }),
  );
}

/** Renames and moves with the line that says so; a line of an earlier commit stays. No new name was used before. */
function change(one: Described, { name, stack, value }: Step, commit: number): Described {
  const to = stack ? (one.stack === 'a' ? 'b' : 'a') : one.stack;
  const renamed = name ? `${one.name.split('-')[0]}-${commit}` : one.name;
  const line = { renamed_from: stack ? { stack: one.stack, name: one.name } : one.name };
  return {
    ...one,
    stack: to,
    name: renamed,
    value: value ? one.value + 1 : one.value,
    ...((name || stack) && { line }),
  };
}

function listOwners({ server }: Workspace): ReadonlyMap<string, string> {
  const all = Object.values(server.snapshot().resources ?? {}).flat();
  return new Map(
    all.map(({ id, metadata }) => {
      const { mark } = splitMetadata(String(metadata ?? ''));
      return [String(id), `${mark?.stack}/${mark?.name}`];
    }),
  );
}

const toOwners = (described: readonly Described[]): readonly string[] =>
  described.map(({ stack, name }) => `${stack}/${name}`).sort();

const CONSENTS = '--allow-deletes --allow-take-over a --allow-take-over b';

/** Applies one commit after the other, and calls `check` around each. */
async function play(
  kinds: readonly (typeof KINDS)[number][],
  commits: readonly (readonly Step[] | 'revert')[],
  check: (step: {
    readonly workspace: Workspace;
    readonly before: ReadonlyMap<string, string>;
    readonly from: readonly Described[];
    readonly to: readonly Described[];
    readonly planned: Json;
  }) => Promise<void>,
): Promise<void> {
  let now: readonly Described[] = kinds.map((kind, index) => ({ kind, stack: 'a', name: `r${index}`, value: 0 }));
  let last = now;
  const workspace = await createWorkspace(toFiles(now));
  expect(await workspace.edgewise('apply -R live --yes')).toMatchObject({ exitCode: 0 });
  for (const [index, commit] of commits.entries()) {
    const before = listOwners(workspace);
    const from = now;
    const next = commit === 'revert' ? last : now.map((one, at) => change(one, commit[at] ?? NO_STEP, index));
    last = now;
    now = next;
    await workspace.write(toFiles(now));
    const plan = await workspace.edgewise(`plan -R live ${CONSENTS} --format json`);
    const { exitCode, stdout, stderr } = await workspace.edgewise(`apply -R live ${CONSENTS}`, { answers: ['yes'] });
    expect(exitCode, stdout + stderr).toBe(0);
    await check({ workspace, before, from, to: now, planned: parseJson(plan.stdout) ?? null });
  }
}

const NO_STEP: Step = { name: false, stack: false, value: false };

/** The changes in the JSON of a plan over stacks. */
function listChanges(planned: Json): readonly Json[] {
  const stacks = findMember(planned, 'stacks');
  return (isJsonArray(stacks) ? stacks : []).flatMap((one) => {
    const changes = findMember(findMember(one, 'plan'), 'changes');
    return isJsonArray(changes) ? changes : [];
  });
}

describe('a history of renames, moves and reverts', () => {
  it('deletes and creates nothing', LONG, async () => {
    const property = fc.asyncProperty(arbitraryKinds, toArbitraryCommits(false), (kinds, commits) =>
      play(kinds, commits, async ({ workspace, before, to }) => {
        const after = listOwners(workspace);
        expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
        expect([...after.values()].sort()).toEqual(toOwners(to));
        expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
      }),
    );
    await holds(property, 25);
  });

  it('deletes nothing but what a commit changed as well, and no token without a danger', LONG, async () => {
    const property = fc.asyncProperty(arbitraryKinds, toArbitraryCommits(true), (kinds, commits) =>
      play(kinds, commits, async ({ workspace, before, from, to, planned }) => {
        const after = listOwners(workspace);
        const gone = [...before].filter(([id]) => !after.has(id));
        const changed = new Set(toOwners(from.filter((one, index) => one.value !== to[index]?.value)));
        expect(gone.filter(([, owner]) => !changed.has(owner))).toEqual([]);
        expect([...after.values()].sort()).toEqual(toOwners(to));
        for (const [id] of gone.filter(([one]) => one.startsWith('cr_'))) {
          const found = listChanges(planned).find((one) => findMember(findMember(one, 'live'), 'id') === id);
          expect(JSON.stringify(findMember(found ?? null, 'dangers') ?? '')).toContain('token-revoked');
        }
      }),
    );
    await holds(property, 25);
  });
});

/** A resource of another user of the account, whose mark says that it had the name of a manifest. */
const arbitraryForgery = fc.record({
  kind: fc.constantFrom(...KINDS),
  stack: fc.constantFrom<Stack>('a', 'b'),
  former: fc.constantFrom<Stack>('a', 'b'),
  // Mostly what comes close to a resource of the stack.
  isEqual: fc.constantFrom(true, true, true, false),
  isCopy: fc.constantFrom(false, false, false, true),
});

describe('a forged or copied mark that remembers a name', () => {
  it(
    'moves nothing across stacks, no credential or certificate, and nothing that differs from its manifest',
    LONG,
    async () => {
      const property = fc.asyncProperty(
        fc.array(arbitraryForgery, { minLength: 1, maxLength: 4 }),
        async (forgeries) => {
          const toMember = (one: (typeof forgeries)[number], index: number): Described => ({
            kind: one.kind,
            stack: one.former,
            name: `r${index}`,
            value: 0,
          });
          const workspace = await createWorkspace(toFiles(forgeries.map(toMember)));
          const made = await Promise.all(
            forgeries.map(async (one, index) => {
              const member = { ...toMember(one, index), value: one.isEqual ? 0 : 1 };
              const { id } = await sendByHand(workspace, 'POST', PATHS[one.kind], toSpec(member, index));
              const mark = { stack: one.stack, name: `z${index}`, delivered: true, id: one.isCopy ? `${id}x` : id };
              const former = { name: `r${index}`, ...(one.former !== one.stack && { stack: one.former }) };
              const metadata = JSON.stringify({ edgewise: { ...mark, former } });
              const body = one.kind === 'SSHUserCertificate' ? { metadata } : { ...toSpec(member, index), metadata };
              await sendByHand(workspace, 'PATCH', `${PATHS[one.kind]}/${id}`, body);
              return { ...one, id: String(id), owner: `${one.stack}/z${index}` };
            }),
          );
          await workspace.edgewise('apply -R live --yes --allow-deletes');
          const after = listOwners(workspace);
          for (const { id, owner, kind, stack, former, isEqual, isCopy } of made) {
            const now = after.get(id);
            const mayBeMeant = !SECRET.includes(kind) && stack === former && isEqual && !isCopy;
            if (now !== undefined && now !== owner) expect([kind, mayBeMeant]).toEqual([kind, true]);
          }
        },
      );
      await holds(property, 60);
    },
  );
});
