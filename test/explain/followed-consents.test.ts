import { describe, expect, it } from 'vitest';
import type { SafetyViolation } from '../../src/model/plan.ts';
import { VIOLATION_SCHEMA } from '../../src/schemas/plan.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { commitAll, git, toStack } from '../repository/tree.ts';

/** What a refused plan says to do is done, with the words that are printed. Then nothing refuses it. */

type Files = Readonly<Record<string, string>>;

/** A plan that a safety rule refuses, and a way that its remedy offers. */
interface Refused {
  readonly rule: SafetyViolation['rule'];
  /** Files that are applied, one set after the other. */
  readonly applied: readonly Files[];
  /** The seed of the account. */
  readonly seed?: NonNullable<Parameters<typeof createWorkspace>[1]>['seed'];
  /** The files whose plan is refused. */
  readonly files: Files;
  /** Absent: `apply` of the folder. */
  readonly line?: string;
  /** The words of the remedy. What their group captures is followed. */
  readonly says: RegExp;
  /** Does what was said, and returns the next line. */
  readonly follow: (said: string, workspace: Workspace, line: string) => string | Promise<string>;
  readonly answers?: readonly string[];
  /** 1: it is sent, and the service rejects it as predicted. */
  readonly exitCode?: 0 | 1;
}

const APPLY = 'apply --yes --token-directory tokens';

const addWords: Refused['follow'] = (said, _, line) => `${line} ${said}`;

/** Writes and applies files, as the remedy asks, and then the refused ones again. */
function applyFirst(toFiles: (said: string) => Files, again: Files): Refused['follow'] {
  return async (said, { edgewise, write }, line) => {
    await write(toFiles(said));
    expect(await edgewise(line)).toMatchObject({ exitCode: 0 });
    await write(again);
    return line;
  };
}

/** Writes a line after the `{` of the lifecycle of the first resource. */
const insertIntoLifecycle: Refused['follow'] = async (said, { write }, line) => {
  await write({ 'm.yaml': CLAIMED.files['m.yaml'].replace('"lifecycle":{', (start) => `${start}\n${said}\n`) });
  return line;
};

const toPool = (name: string, lifecycle: object = {}) =>
  toManifest('WeightedBackend', name, { backends: { bkdhr_blue: 1 } }, { lifecycle });
const toIngress = (domain: string, isProtected = true) =>
  toManifest('AgentIngress', 'agents', { domain }, { lifecycle: { protect: isProtected } });
const toMetadata = (stack: string, name: string) => JSON.stringify({ edgewise: { stack, name } });

const TWO_POOLS: Files = { 'm.yaml': STACK + toPool('a', { protect: true }) + toPool('b') };
const ONE_POOL: Files = { 'm.yaml': STACK + toPool('b') };
const PROTECT = { rule: 'protect', applied: [TWO_POOLS], files: ONE_POOL } as const;
const DESTROY = { rule: 'protect', applied: [TWO_POOLS], files: {}, line: 'destroy --yes' } as const;
const DOMAIN = {
  rule: 'protect',
  applied: [{ 'm.yaml': STACK + toIngress('a.example.com') }],
  files: { 'm.yaml': STACK + toIngress('b.example.com') },
} as const;
const MANY = {
  rule: 'delete-share',
  applied: [{ 'm.yaml': STACK + [...'abcdefgh'].map((name) => toPool(name)).join('') }],
  files: { 'm.yaml': STACK + toPool('a') + toPool('b') },
} as const;
const NOTHING = { rule: 'nothing-described', applied: [ONE_POOL], files: { 'm.yaml': STACK } } as const;
const OTHERS = { rule: 'nothing-described', applied: [ONE_POOL], files: { 'm.yaml': STACK + toPool('c') } } as const;
const MISSING = {
  rule: 'manifests-missing',
  applied: [{ 'web/edgewise.yaml': toStack('web'), 'web/kept/a.yaml': toPool('a'), 'web/more/b.yaml': toPool('b') }],
  files: {},
  line: 'apply web --yes',
} as const;
const TAKEN = { renamed_from: { stack: 'staging', name: 'pool' } };
const TAKE_OVER = {
  rule: 'take-over',
  applied: [],
  seed: {
    resources: {
      WeightedBackend: [{ id: 'bkdwd_pool', backends: { bkdhr_blue: 1 }, metadata: toMetadata('staging', 'pool') }],
    },
  },
  files: { 'm.yaml': STACK + toPool('pool', TAKEN) },
} as const;
const RENAMED_BACK = {
  rule: 'renamed-back',
  applied: [
    { 'm.yaml': STACK + toCredential('a') },
    { 'm.yaml': `${STACK}${toCredential('b')}lifecycle: { renamed_from: a }\n` },
  ],
  files: { 'm.yaml': STACK + toCredential('a') },
} as const;
const LIVE_INGRESS = { id: 'agin_live', domain: 'a.example.com' };
const CLAIMED = {
  rule: 'claimed-elsewhere',
  applied: [],
  seed: { resources: { AgentIngress: [LIVE_INGRESS] } },
  files: { 'm.yaml': STACK + toIngress('a.example.com', false) + toPool('b') },
} as const;
const CLAIMED_BY_STACK = {
  ...CLAIMED,
  seed: { resources: { AgentIngress: [{ ...LIVE_INGRESS, metadata: toMetadata('staging', 'agents') }] } },
} as const;
const REJECTED = {
  rule: 'rejected-write',
  applied: [],
  files: { 'm.yaml': STACK + toManifest('TCPEdge', 'a', { backend: { backend_id: 'bkdwd_none' } }) + toPool('b') },
} as const;
const toStacks = (a: number, b: number): Files => ({
  'a/edgewise.yaml': toStack('a') + toEdge('web', a),
  'b/edgewise.yaml': toStack('b') + toEdge('web', b),
});
const EXCHANGE = {
  rule: 'value-exchange',
  applied: [toStacks(20_001, 20_002)],
  files: toStacks(20_002, 20_001),
  line: 'apply -R . --yes',
} as const;

const WAYS: readonly Refused[] = [
  { ...PROTECT, says: /or allow it with (--allow-protected \S+)\.\n/, follow: addWords },
  {
    ...PROTECT,
    says: /Restore its manifest with lifecycle\.(protect: false) and apply that first/,
    follow: applyFirst(
      (said) => ({ 'm.yaml': STACK + toPool('b') + toPool('a').replace('"lifecycle":{}', `"lifecycle":{ ${said} }`) }),
      ONE_POOL,
    ),
  },
  { ...DOMAIN, says: /or allow it with (--allow-protected \S+)\.\n/, follow: addWords },
  {
    ...DOMAIN,
    says: /Undo the change that forces the replacement, set lifecycle\.(protect: false) and apply that first/,
    follow: applyFirst(() => ({ 'm.yaml': STACK + toIngress('a.example.com', false) }), {
      'm.yaml': STACK + toIngress('b.example.com', false),
    }),
  },
  { ...DESTROY, says: /or allow it with (--allow-protected \S+)\.\n/, follow: addWords },
  {
    ...DESTROY,
    says: /Set lifecycle\.(protect: false) in its manifest and apply that first/,
    follow: async (_, { edgewise, write }, line) => {
      await write({ 'm.yaml': STACK + toPool('a', { protect: false }) + toPool('b') });
      expect(await edgewise(APPLY)).toMatchObject({ exitCode: 0 });
      return line;
    },
  },
  { ...MANY, says: /If that is intended, use (--\S+)\./, follow: addWords },
  {
    ...MANY,
    says: /(spec\.guard) in the Stack sets the limits/,
    follow: async (_, { write }, line) => {
      await write({ 'm.yaml': `${STACK}spec: { guard: { max_deletes: 6 } }\n${toPool('a')}${toPool('b')}` });
      return line;
    },
  },
  { ...NOTHING, says: /If that is intended, use (--\S+) or/, follow: addWords },
  { ...NOTHING, says: /or edgewise (destroy)\./, follow: (said) => `${said} --yes` },
  { ...OTHERS, says: /If the deletes are intended, use (--\S+)\./, follow: addWords },
  {
    ...OTHERS,
    says: /give their Stack another (metadata\.name)/,
    follow: async (_, { write }, line) => {
      await write({ 'm.yaml': toStack('another') + toPool('c') });
      return line;
    },
  },
  { ...MISSING, says: /If the deletes are intended, use (--\S+)\./, follow: addWords },
  {
    ...MISSING,
    says: /git (sparse-checkout disable) for a sparse checkout/,
    follow: (said, { folder }, line) => {
      git(folder, ...said.split(' '));
      return line;
    },
  },
  { ...TAKE_OVER, says: /allow it with (--allow-take-over \S+),/, follow: addWords },
  {
    ...TAKE_OVER,
    says: /or answer the question of edgewise (apply) in a terminal/,
    follow: (said) => said,
    answers: ['staging'],
  },
  {
    ...RENAMED_BACK,
    says: /answer the question of edgewise (apply) in a terminal/,
    follow: (said) => said,
    answers: ['yes'],
  },
  {
    ...RENAMED_BACK,
    says: /in a terminal, or add to this document:\n +(.+)\n/,
    follow: async (said, { write }, line) => {
      await write({ 'm.yaml': `${STACK}${toCredential('a')}${said}\n` });
      return line;
    },
  },
  { ...CLAIMED, says: /use (--exclude \S+)\. /, follow: addWords },
  { ...CLAIMED, says: /To send it anyway, use (--allow-rejected \S+)\. /, follow: addWords, exitCode: 1 },
  {
    ...CLAIMED,
    says: /To adopt that resource as \S+, add after the \{ of its lifecycle at \S+:\n +(.+)\n/,
    follow: insertIntoLifecycle,
  },
  {
    ...CLAIMED_BY_STACK,
    says: /remove its document there, and add after the \{ of its lifecycle at \S+:\n +(.+)\n/,
    follow: async (said, workspace, line) =>
      `${await insertIntoLifecycle(said, workspace, line)} --allow-take-over staging`,
  },
  { ...REJECTED, says: /use (--exclude \S+)\. /, follow: addWords },
  { ...REJECTED, says: /To send it anyway, use (--allow-rejected \S+)\.\n/, follow: addWords, exitCode: 1 },
  {
    ...EXCHANGE,
    says: /in the first, one of these resources (takes a third value) or is removed, and the others take theirs; in the second, it takes the value that is free then/,
    follow: applyFirst(() => toStacks(20_003, 20_001), toStacks(20_002, 20_001)),
  },
];

describe('a refusal whose remedy is followed', () => {
  it.each(WAYS)('ends: $rule, $says', async ({ rule, applied, seed, files, line = APPLY, ...way }) => {
    if (rule === 'manifests-missing') requireProgramOrSkip('git');
    const workspace = await createWorkspace({}, seed && { seed });
    const { edgewise, write, folder } = workspace;
    for (const step of applied) {
      await write(step);
      expect(await edgewise(line.replace('destroy', 'apply'))).toMatchObject({ exitCode: 0 });
    }
    if (rule === 'manifests-missing') {
      commitAll(folder);
      git(folder, 'sparse-checkout', 'set', '--cone', 'web/kept');
    }
    await write(files);
    const { exitCode, stdout, stderr } = await edgewise(line);
    expect({ exitCode, printed: stdout + stderr }).toEqual({
      exitCode: 5,
      printed: expect.stringContaining(`refused[${rule}]`),
    });
    expect(stdout + stderr).toMatch(way.says);
    const [, said = ''] = way.says.exec(stdout + stderr) ?? [];
    const { answers } = way;
    const after = await edgewise(await way.follow(said, workspace, line), answers && { answers });
    expect(after.stdout + after.stderr).not.toContain('refused[');
    expect(after.exitCode, after.stdout + after.stderr).toBe(way.exitCode ?? 0);
  });

  // `policy` is in followed-remedies.test.ts, because its refusal has a code.
  it('is known for every rule', () => {
    const known = new Set<string>(['policy', ...WAYS.map(({ rule }) => rule)]);
    expect([...known].toSorted()).toEqual(VIOLATION_SCHEMA.shape.rule.options.toSorted());
  });
});
