import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitMetadata } from '../../src/model/mark.ts';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { LONG } from '../tries.ts';
import { createDyingTransport, type Death } from './dying-transport.ts';
import { holds } from './properties.ts';

/** A resource that stack `a` creates, and its hand-over. */
interface Member {
  readonly kind: (typeof KINDS)[number];
  /** Its name in stack `b`. Absent: it stays in `a`. */
  readonly becomes: string | undefined;
}

const KINDS = ['TCPEdge', 'WeightedBackend', 'AgentIngress', 'Credential'] as const;

/** One apply, of one stack or of both, which may be interrupted. */
interface Step {
  readonly of: 'a' | 'b' | 'both';
  readonly death: Death | undefined;
}

const arbitraryMembers = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), becomes: fc.constantFrom(undefined, 'same', 'other') }),
  { minLength: 1, maxLength: 5 },
);

const arbitrarySteps = fc.array(
  fc.record({
    of: fc.constantFrom<Step['of']>('a', 'b', 'both'),
    death: fc.option(fc.record({ request: fc.nat(14), when: fc.constantFrom<Death['when']>('before', 'after') }), {
      nil: undefined,
    }),
  }),
  { minLength: 1, maxLength: 4 },
);

const SETTINGS = { tokens: { default: { directory: 'tokens/{stack}' } } };

function toSpec({ kind }: Member, index: number): object {
  switch (kind) {
    case 'TCPEdge':
      return { hostports: [`1.tcp.example.net:${20_000 + index}`] };
    case 'WeightedBackend':
      return { backends: { bkdhr_1: index + 1 } };
    case 'AgentIngress':
      return { domain: `d${index}.example.com` };
    case 'Credential':
      return { description: `number ${index}` };
  }
}

const toOldName = (index: number): string => `r${index}`;
const toNewName = ({ becomes }: Member, index: number): string => (becomes === 'other' ? `n${index}` : `r${index}`);

/** The files after the hand-over. */
function toFiles(members: readonly Member[], isHandedOver: boolean): Readonly<Record<string, string>> {
  const moved = members.flatMap((member, index) => (member.becomes === undefined ? [] : [{ member, index }]));
  const handedOver = moved.map(({ member, index }) => `${member.kind}/${toOldName(index)}`);
  const stays = members.map((member, index) =>
    member.becomes === undefined ? toManifest(member.kind, toOldName(index), toSpec(member, index)) : '',
  );
  const taken = moved.map(({ member, index }) =>
    toManifest(member.kind, toNewName(member, index), toSpec(member, index), {
      lifecycle: { renamed_from: { stack: 'a', name: toOldName(index) } },
    }),
  );
  return {
    'live/a/edgewise.yaml': `${toStack('a', { ...SETTINGS, ...(isHandedOver && { handed_over: handedOver }) })}${stays.join('')}`,
    'live/b/edgewise.yaml': `${toStack('b', SETTINGS)}${taken.join('')}`,
  };
}

async function apply({ edgewise, recorder }: Workspace, { of, death }: Step): Promise<number> {
  const transport = death === undefined ? recorder.transport : createDyingTransport(death)(recorder.transport);
  const line = of === 'both' ? 'apply -R live --yes --allow-deletes' : `apply live/${of} --yes --allow-deletes`;
  return (await edgewise(line, { transport })).exitCode;
}

/** The owner of each live id: the stack and the name in its mark. */
function listOwners({ server }: Workspace): ReadonlyMap<string, string> {
  const all = Object.values(server.snapshot().resources ?? {}).flat();
  return new Map(
    all.map(({ id, metadata }) => {
      const { mark } = splitMetadata(String(metadata ?? ''));
      return [String(id), `${mark?.stack}/${mark?.name}`];
    }),
  );
}

async function expectHandedOver(
  members: readonly Member[],
  steps: readonly Step[],
  isHandedOver: boolean,
): Promise<void> {
  const all = members.map((member, index) => toManifest(member.kind, toOldName(index), toSpec(member, index)));
  const workspace = await createWorkspace({
    'live/a/edgewise.yaml': `${toStack('a', SETTINGS)}${all.join('')}`,
    'live/b/edgewise.yaml': toStack('b', SETTINGS),
  });
  await apply(workspace, { of: 'a', death: undefined });
  const before = listOwners(workspace);
  expect(before.size).toBe(members.length);
  await workspace.write(toFiles(members, isHandedOver));
  workspace.recorder.take();
  const whole: readonly Step[] = [...steps, { of: 'a', death: undefined }, { of: 'b', death: undefined }];
  let isTaken = isHandedOver;
  for (const step of whole) {
    // Without the line in the old stack, its apply deletes each resource that is not taken over yet: the new stack goes first, or both
    // together.
    const of = isTaken || step.of !== 'a' ? step.of : 'both';
    const exitCode = await apply(workspace, { ...step, of });
    isTaken ||= exitCode === 0 && of !== 'a';
    expect([...listOwners(workspace).keys()].sort()).toEqual([...before.keys()].sort());
  }
  const sent = workspace.recorder.take().map(({ method }) => method);
  expect(sent.filter((method) => method === 'DELETE' || method === 'POST')).toEqual([]);
  const owners = [...listOwners(workspace).values()].sort();
  const expected = members.map((member, index) =>
    member.becomes === undefined ? `a/${toOldName(index)}` : `b/${toNewName(member, index)}`,
  );
  expect(owners).toEqual(expected.sort());
  expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
}

describe('a resource that one stack hands over to another', () => {
  it('always exists, in any order of the applies and after any interruption', LONG, async () => {
    const property = fc.asyncProperty(arbitraryMembers, arbitrarySteps, (members, steps) =>
      expectHandedOver(members, steps, true),
    );
    await holds(property, 60);
  });

  it('needs nothing in the old stack if that is applied in the same run, or later', LONG, async () => {
    const property = fc.asyncProperty(arbitraryMembers, arbitrarySteps, (members, steps) =>
      expectHandedOver(members, steps, false),
    );
    await holds(property, 60);
  });
});
