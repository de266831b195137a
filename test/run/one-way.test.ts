import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { ApiError, InvalidManifests, openStack, parsePlan, StackError } from '../../src/index.ts';
import { sendByHand } from '../by-hand.ts';
import { BASE_URL, NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from '../repository/tree.ts';

/** An apply with a question. What is not set is the simplest that there is. */
interface Case {
  readonly files: Readonly<Record<string, string>>;
  /** What happens at first. */
  readonly prepare?: (workspace: Workspace) => Promise<void>;
  /** Whether a plan is approved after that. */
  readonly isApproved?: boolean;
  /** What happens between the approval and the apply. */
  readonly change?: (workspace: Workspace) => Promise<unknown>;
  /** What happens before the answer. */
  readonly beforeAnswer?: (workspace: Workspace) => Promise<unknown>;
  /** Whether the service answers no read after the answer. */
  readonly isUnreadable?: boolean;
  /** Default: yes. */
  readonly isDeclined?: boolean;
  readonly flags?: string;
  readonly options?: { readonly allowDeletes?: boolean; readonly policies?: readonly string[] };
  readonly exitCode: number;
  readonly isAsked?: boolean;
  readonly writes?: readonly string[];
}

const MANIFEST = 'live/a/edgewise.yaml';
const EDGE = { [MANIFEST]: toStack('a') + toEdge('x', 20_001) };
const POLICY = {
  'policy/both.yaml': `${STACK.replace('kind: Stack', 'kind: Policy').replace('name: test', 'name: both')}spec: { match: {}, require: plan.totals.create == 2, message: Create both. }\n`,
};
const TAKEN = toManifest(
  'TCPEdge',
  'shop',
  { hostports: ['1.tcp.example.net:20001'] },
  { lifecycle: { renamed_from: { stack: 'b', name: 'x' } } },
);
const CREATED = ['POST /edges/tcp'];

async function apply({ edgewise }: Workspace): Promise<void> {
  expect(await edgewise('apply live/a --yes')).toMatchObject({ exitCode: 0 });
}

async function changePort(workspace: Workspace): Promise<void> {
  const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
  await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.['id']}`, { hostports: ['1.tcp.example.net:20009'] });
}

const CASES: Readonly<Record<string, Case>> = {
  'a new edge': { files: EDGE, exitCode: 0, isAsked: true, writes: CREATED },
  'nothing to do': { files: EDGE, prepare: apply, exitCode: 0 },
  'an answer that declines': { files: EDGE, isDeclined: true, exitCode: EXIT.interrupted, isAsked: true },
  'a change at the service before the answer': {
    files: EDGE,
    prepare: apply,
    change: ({ write }) => write({ [MANIFEST]: toStack('a') + toEdge('x', 20_002) }),
    beforeAnswer: changePort,
    exitCode: EXIT.stale,
    isAsked: true,
  },
  'another run that does everything before the answer': {
    files: EDGE,
    beforeAnswer: apply,
    exitCode: 0,
    isAsked: true,
  },
  'another run that does a part before the answer': {
    files: { [MANIFEST]: EDGE[MANIFEST] + toEdge('y', 20_002) },
    beforeAnswer: ({ edgewise }) => edgewise('apply live/a --target TCPEdge/x --yes'),
    exitCode: 0,
    isAsked: true,
    writes: CREATED,
  },
  'a policy that the plan violates only after the answer': {
    files: { [MANIFEST]: EDGE[MANIFEST] + toEdge('y', 20_002), ...POLICY },
    flags: '--policies policy',
    options: { policies: ['policy'] },
    beforeAnswer: ({ edgewise }) => edgewise('apply live/a --target TCPEdge/x --yes'),
    exitCode: EXIT.refused,
    isAsked: true,
  },
  'a service that can not be read after the answer': {
    files: EDGE,
    isUnreadable: true,
    exitCode: EXIT.failed,
    isAsked: true,
  },
  'an approved plan': { files: EDGE, isApproved: true, exitCode: 0, isAsked: true, writes: CREATED },
  'a manifest that changed since the approval': {
    files: EDGE,
    isApproved: true,
    change: ({ write }) => write({ [MANIFEST]: toStack('a') + toEdge('x', 20_002) }),
    exitCode: EXIT.stale,
  },
  'a change at the service since the approval': {
    files: EDGE,
    prepare: async (workspace) => {
      await apply(workspace);
      await workspace.write({ [MANIFEST]: toStack('a') + toEdge('x', 20_002) });
    },
    isApproved: true,
    change: changePort,
    exitCode: EXIT.stale,
  },
  'an approved plan that a change before the answer makes another one': {
    files: EDGE,
    prepare: async (workspace) => {
      await apply(workspace);
      await workspace.write({ [MANIFEST]: toStack('a') + toEdge('x', 20_002) });
    },
    isApproved: true,
    beforeAnswer: changePort,
    exitCode: EXIT.stale,
    isAsked: true,
  },
  'an approved plan of which another run did a part': {
    files: { [MANIFEST]: EDGE[MANIFEST] + toEdge('y', 20_002) },
    isApproved: true,
    change: ({ edgewise }) => edgewise('apply live/a --target TCPEdge/x --yes'),
    exitCode: 0,
    isAsked: true,
    writes: CREATED,
  },
  'more deletes than the guard allows': {
    files: { [MANIFEST]: `${toStack('a', { guard: { max_deletes: 0 } })}${toEdge('x', 20_001)}` },
    prepare: apply,
    change: ({ write }) => write({ [MANIFEST]: toStack('a', { guard: { max_deletes: 0 } }) }),
    exitCode: EXIT.refused,
  },
  'a consent to these deletes': {
    files: { [MANIFEST]: `${toStack('a', { guard: { max_deletes: 0 } })}${toEdge('x', 20_001)}` },
    prepare: apply,
    change: ({ write }) => write({ [MANIFEST]: toStack('a', { guard: { max_deletes: 0 } }) }),
    flags: '--allow-deletes',
    options: { allowDeletes: true },
    exitCode: 0,
    isAsked: true,
    writes: ['DELETE /edges/tcp/edgtcp'],
  },
  'a plan with an error': { files: { [MANIFEST]: toStack('a') + toCredential('deploy') }, exitCode: EXIT.invalid },
  'a token folder that gets into the way before the answer': {
    files: { [MANIFEST]: toStack('a', { tokens: { default: { directory: 'tokens' } } }) + toCredential('deploy') },
    beforeAnswer: ({ write }) => write({ 'live/a/tokens': 'a file' }),
    exitCode: EXIT.failed,
    isAsked: true,
  },
  'a resource of which the old stack got its manifest back': {
    files: { 'live/b/edgewise.yaml': toStack('b') + toEdge('x', 20_001), [MANIFEST]: toStack('a') },
    prepare: async ({ edgewise, write }) => {
      expect(await edgewise('apply live/b --yes')).toMatchObject({ exitCode: 0 });
      await write({ 'live/b/edgewise.yaml': toStack('b'), [MANIFEST]: toStack('a') + TAKEN });
      expect(await edgewise('apply live/a --yes --allow-take-over b')).toMatchObject({ exitCode: 0 });
    },
    change: ({ write }) =>
      write({
        'live/b/edgewise.yaml': toStack('b') + toEdge('x', 20_001),
        [MANIFEST]: toStack('a') + TAKEN.replace('20001', '20002'),
      }),
    exitCode: EXIT.invalid,
  },
};

/** Answers the question. */
type Answer = () => Promise<boolean>;

/** Each applies the stack a, and returns the exit code that this has, or would have. */
const WAYS: Readonly<Record<string, (one: Case, workspace: Workspace, answer: Answer) => Promise<number>>> = {
  'one stack on the command line': (one, workspace, answer) => applyLine('live/a', { one, workspace, answer }),
  'one of a list on the command line': (one, workspace, answer) =>
    applyLine('-R live --stack a', { one, workspace, answer }),
  'one stack in a program': applyInProgram,
};

async function applyLine(
  named: string,
  { one, workspace, answer }: { readonly one: Case; readonly workspace: Workspace; readonly answer: Answer },
): Promise<number> {
  const { isApproved = false, flags = '' } = one;
  if (isApproved) await workspace.edgewise(`plan ${named} -o approved`);
  await one.change?.(workspace);
  workspace.recorder.take();
  const words = [`apply ${named}`, isApproved ? '--approved approved' : '', flags].filter((word) => word !== '');
  const { exitCode } = await workspace.edgewise(words.join(' '), {
    transport: workspace.recorder.transport,
    answers: [one.isDeclined === true ? 'no' : 'yes'],
    onAsk: async () => {
      await answer();
    },
  });
  return exitCode;
}

async function applyInProgram(one: Case, workspace: Workspace, answer: Answer): Promise<number> {
  const { folder, recorder, edgewise } = workspace;
  if (one.isApproved === true) await edgewise('plan live/a -o approved');
  await one.change?.(workspace);
  recorder.take();
  const { policies = [], ...consents } = one.options ?? {};
  const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };
  const given = { paths: ['live/a'], cwd: folder, policies, env, transport: recorder.transport, now: () => NOW };
  try {
    const stack = await openStack(given);
    const plan =
      one.isApproved === true
        ? parsePlan(await readFile(join(folder, 'approved'), 'utf8'), 'approved')
        : await stack.plan();
    const { outcomes } = await stack.apply(plan, { ...consents, confirm: answer });
    return outcomes.every(({ outcome }) => outcome === 'applied') ? EXIT.success : EXIT.failed;
  } catch (error) {
    if (error instanceof InvalidManifests) return EXIT.invalid;
    if (error instanceof StackError) return EXIT[error.reason];
    if (error instanceof ApiError) return EXIT.failed;
    throw error;
  }
}

describe.each(Object.entries(CASES))('an apply with %s', (_, one) => {
  it.each(Object.entries(WAYS))('ends in the same way for %s', async (__, applyBy) => {
    const created = await createWorkspace(one.files);
    const writes: string[] = [];
    let isAsked = false;
    const transport = async (request: Request): Promise<Response> =>
      isAsked && one.isUnreadable === true && request.method === 'GET'
        ? new Response('{}', { status: 400 })
        : created.recorder.transport(request);
    const workspace = { ...created, recorder: { ...created.recorder, transport } };
    await one.prepare?.(workspace);
    const exitCode = await applyBy(one, workspace, async () => {
      isAsked = true;
      writes.push(...listWrites(workspace));
      await one.beforeAnswer?.(workspace);
      workspace.recorder.take();
      return one.isDeclined !== true;
    });
    writes.push(...listWrites(workspace));
    const { exitCode: expected, isAsked: asks = false, writes: sent = [] } = one;
    expect({ exitCode, isAsked, writes: writes.map((line) => line.replace(/_\w+/, '')) }).toEqual({
      exitCode: expected,
      isAsked: asks,
      writes: sent,
    });
  });
});

describe('an apply of several stacks with a question', () => {
  /** A stack that prunes an edge and creates one, and one that creates another. Returns what is written after `beforeAnswer`. */
  async function applyBoth(
    more: Readonly<Record<string, string>>,
    beforeAnswer: string,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly writes: readonly string[] }> {
    const rest = toStack('a') + toEdge('stays', 20_009);
    const workspace = await createWorkspace({ [MANIFEST]: rest + toEdge('gone', 20_001) });
    await apply(workspace);
    await workspace.write({
      [MANIFEST]: rest + toEdge('x', 20_002),
      'live/b/edgewise.yaml': toStack('b') + toEdge('y', 20_003),
      ...more,
    });
    const { stdout, stderr } = await workspace.edgewise('apply -R live', {
      answers: ['yes'],
      onAsk: async () => {
        await workspace.edgewise(beforeAnswer);
        workspace.recorder.take();
      },
    });
    return { stdout, stderr, writes: listWrites(workspace) };
  }

  it('applies the others if another run has done everything of one', async () => {
    const { stderr, writes } = await applyBoth({}, 'apply live/a --allow-deletes --yes');
    expect(writes).toEqual(['POST /edges/tcp']);
    expect(stderr).toContain('[1/1] b: create TCPEdge/y');
  });

  it('finds what a refused stack would rename, and applies the others', async () => {
    const toPool = (name: string, more: object = {}): string => toManifest('WeightedBackend', name, {}, more);
    const toUser = (pool: string): string =>
      toManifest('External', 'pool', { stack: 'a', resource: `WeightedBackend/${pool}` }) +
      toManifest('TCPEdge', 'user', { backend: { backend_id: 'External/pool' } });
    const guarded = toStack('a', { guard: { max_deletes: 0 } });
    const workspace = await createWorkspace({
      [MANIFEST]: guarded + toPool('old') + toEdge('gone', 20_001),
      'live/b/edgewise.yaml': toStack('b') + toUser('old'),
    });
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    await workspace.write({
      [MANIFEST]: guarded + toPool('new', { lifecycle: { renamed_from: 'old' } }),
      'live/b/edgewise.yaml': toStack('b') + toUser('new'),
      'live/c/edgewise.yaml': toStack('c') + toEdge('y', 20_003),
    });
    workspace.recorder.take();
    const { exitCode } = await workspace.edgewise('apply -R live', { answers: ['yes'] });
    expect({ exitCode, writes: listWrites(workspace) }).toEqual({
      exitCode: EXIT.refused,
      writes: ['POST /edges/tcp'],
    });
  });

  it('writes nothing, and shows the plan, if another run leaves of one only what is kept', async () => {
    const { stdout, writes } = await applyBoth(
      { 'live/c/edgewise.yaml': toStack('c'), 'live/c/pool.yaml': '}{' },
      'apply live/a --target TCPEdge/x --yes',
    );
    expect(writes).toEqual([]);
    expect(stdout.match(/warning.kept-prune.: TCPEdge\/gone/g)).toHaveLength(2);
  });
});
