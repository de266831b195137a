import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseApiKey } from '../../src/server/index.ts';
import { toStack } from '../repository/tree.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from './workspace.ts';

/**
 * What an apply refuses before its first write, and what a plan of the same manifests, invoked in the same way, says of it.
 * Beside docs/reference/command-line.md. `HERE` and `REFUSALS` together list everything that the code refuses: a new refusal has to be added to one of them.
 */
interface Refusal {
  readonly files: Readonly<Record<string, string>>;
  /** Prepares the account, after an apply of the files. */
  readonly prepare?: (workspace: Workspace) => Promise<unknown>;
  readonly arguments: string;
  readonly exitCode: number;
}

const TOKENS = { tokens: { default: { command: ['sh', '-c', 'curl -H "authorization: key-of-the-account"'] } } };

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'a manifest with an error': { files: { 'm.yaml': `${STACK}}{` }, arguments: 'm.yaml', exitCode: 3 },
  'no token sink': { files: { 'm.yaml': STACK + toCredential('agent') }, arguments: 'm.yaml', exitCode: 3 },
  'a secret in the settings of a token sink': {
    files: { 'm.yaml': toStack('test', TOKENS) + toCredential('agent') },
    arguments: 'm.yaml',
    exitCode: 3,
  },
  'a secret in a flag for the token sink': {
    files: { 'm.yaml': STACK + toCredential('agent') },
    arguments: 'm.yaml --token-directory key-of-the-account',
    exitCode: 3,
  },
  'two token sinks': {
    files: { 'm.yaml': STACK + toCredential('agent') },
    arguments: 'm.yaml --token-directory a --token-command ["b"]',
    exitCode: 3,
  },
  'an address that the stack does not have': {
    files: { 'm.yaml': STACK + toEdge('a', 20_001) },
    arguments: 'm.yaml --target TCPEdge/b',
    exitCode: 3,
  },
  'a reference to a stack that is not applied yet': {
    files: {
      'm.yaml': `${STACK}${toManifest('External', 'pool', { stack: 'other', resource: 'WeightedBackend/pool' })}${toManifest('TCPEdge', 'a', { backend: { backend_id: 'External/pool' } })}`,
    },
    arguments: 'm.yaml',
    exitCode: 3,
  },
  'more deletes than the guard allows': {
    files: { 'm.yaml': toStack('test', { guard: { max_deletes: 0, max_delete_share: 0 } }) + toEdge('a', 20_001) },
    prepare: async ({ edgewise, write }) => {
      await edgewise('apply m.yaml --yes');
      await write({ 'm.yaml': toStack('test', { guard: { max_deletes: 0, max_delete_share: 0 } }) });
    },
    arguments: 'm.yaml',
    exitCode: 5,
  },
  'a protected resource': {
    files: { 'm.yaml': `${STACK}${toEdge('a', 20_001)}lifecycle: { protect: true }\n${toEdge('b', 20_002)}` },
    prepare: async ({ edgewise, write }) => {
      await edgewise('apply m.yaml --yes');
      await write({ 'm.yaml': STACK + toEdge('b', 20_002) });
    },
    arguments: 'm.yaml',
    exitCode: 5,
  },
  'a policy': {
    files: {
      'm.yaml': `${STACK}${toEdge('a', 20_001)}`,
      'p.yaml': toManifest('Policy', 'no-edges', {
        match: { kinds: ['TCPEdge'] },
        require: 'false',
        message: 'no edges',
      }),
    },
    arguments: 'm.yaml --policies p.yaml',
    exitCode: 5,
  },
  'a write that the rehearsal rejects': {
    files: { 'm.yaml': `${STACK}${toManifest('TCPEdge', 'a', { backend: { backend_id: 'bkdwd_none' } })}` },
    arguments: 'm.yaml',
    exitCode: 5,
  },
  'a value of another stack': {
    files: { 'm.yaml': `${STACK}${toEdge('a', 20_001)}`, 'o/m.yaml': `${toStack('other')}${toEdge('b', 20_001)}` },
    prepare: ({ edgewise }) => edgewise('apply o/m.yaml --yes'),
    arguments: 'm.yaml',
    exitCode: 5,
  },
  'a stack that depends on an invalid one': {
    files: createDependentStacks('}{'),
    prepare: async ({ edgewise, write }) => {
      await write(createDependentStacks(''));
      await edgewise('apply -R live --yes');
      await write({ ...createDependentStacks('}{'), 'live/b/more.yaml': toEdge('more', 20_009) });
    },
    arguments: '-R live',
    exitCode: 3,
  },
  'stacks that depend on a refused one, directly and through another': {
    files: createDependentStacks(''),
    prepare: async ({ edgewise, write }) => {
      await edgewise('apply -R live --yes');
      const guard = { guard: { max_deletes: 0, max_delete_share: 0 } };
      const gone = toManifest('WeightedBackend', 'gone', { backends: { bkdhr_blue: 1 } });
      await write({ 'live/a/gone.yaml': gone });
      await edgewise('apply -R live --yes');
      await write({
        'live/a/edgewise.yaml': toStack('a', guard),
        'live/a/gone.yaml': '',
        'live/b/more.yaml': toEdge('more', 20_009),
        'live/c/edgewise.yaml': `${toStack('c')}${toManifest('External', 'edge', { stack: 'b', resource: 'TCPEdge/more' })}`,
        'live/c/more.yaml': toEdge('last', 20_010),
      });
    },
    arguments: '-R live',
    exitCode: 5,
  },
};

/** The stack b refers to a pool of the stack a. */
function createDependentStacks(more: string): Readonly<Record<string, string>> {
  const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_blue: 1 } });
  const external = toManifest('External', 'pool', { stack: 'a', resource: 'WeightedBackend/pool' });
  const edge = toManifest('TCPEdge', 'web', { backend: { backend_id: 'External/pool' } });
  return {
    'live/a/edgewise.yaml': toStack('a'),
    'live/a/pool.yaml': pool + more,
    'live/b/edgewise.yaml': toStack('b') + external + edge,
  };
}

/**
 * Refusals of an apply that belong to the place where it runs, or to the time between plan and apply, so that a plan made
 * elsewhere or earlier cannot know them. Each with the file and the start of its message in the code.
 */
const HERE = [
  ['stack/settings.ts', 'The manifests are not trusted', 'who starts a run decides whether it trusts the manifests'],
  ['cli/reconcile/question.ts', 'Edgewise cannot ask', 'a plan asks nothing'],
  ['cli/reconcile/question.ts', 'Declined', 'a plan asks nothing'],
  ['cli/reconcile/question.ts', 'This apply takes over', 'without an answer, as the plan without consent'],
  ['open-stack.ts', 'Declined', 'a plan asks nothing'],
  [
    'stack/choose-sinks.ts',
    'new Set(unknownSecrets.map',
    'a plan may be made without the secrets; each is a line of the plan',
  ],
  [
    'stack/choose-sinks.ts',
    'could not be saved either',
    'a plan is made elsewhere than its apply: the folder of rescued tokens',
  ],
  [
    'stack/choose-sinks.ts',
    '...findings.flatMap(({ remedy }) => remedy ?? [])',
    'git said so since the plan; a plan has it as an error',
  ],
  [
    'stack/choose-sinks.ts',
    'The token sink does not work',
    'a plan is made elsewhere than its apply: a folder, a program',
  ],
  ['stack/stack.ts', 'first. Nothing was written', 'the other stack was to be created before, in the same run'],
  ['run/apply-stacks.ts', "'Interrupted.'", 'an interrupt of the apply'],
  ['run/apply-stacks.ts', 'the service could not be reached', 'a failure of the apply of another stack'],
  ['run/apply-stacks.ts', 'did not succeed', 'a failure of the apply of another stack'],
  ['run/apply-stacks.ts', 'the service cannot be managed', 'a failure of the apply of another stack'],
] as const;

/** The other refusals in these files, by the start of their messages. A plan ends with their exit code too. */
const IN_BOTH = [
  ['stack/choose-sinks.ts', 'mutually exclusive', 'two token sinks'],
  ['stack/choose-sinks.ts', 'The token sink contains', 'a secret in the settings of a token sink'],
  ['run/session.ts', "new StackError(message, { reason: 'refused'", 'more deletes than the guard allows'],
  ['run/session.ts', 'new InvalidManifests(refusal.plan.diagnostics)', 'no token sink'],
  ['stack/stack.ts', 'No resource with modules', 'export only'],
] as const;

const FILES = [
  ...['stack/choose-sinks.ts', 'stack/stack.ts', 'cli/reconcile/question.ts'],
  ...['run/session.ts', 'run/apply-stacks.ts'],
];

const ENV = { env: { EDGEWISE_API_KEY: 'key-of-the-account' } };
const KEYS = { apiKeys: [parseApiKey('key-of-the-account:admin')] };

describe('what an apply refuses because of the manifests, the settings or what is live', () => {
  for (const [name, { files, prepare, exitCode, ...one }] of Object.entries(REFUSALS))
    it(`ends the plan with the same exit code: ${name}`, async () => {
      const workspace = await createWorkspace(files, KEYS);
      await prepare?.({ ...workspace, edgewise: (line) => workspace.edgewise(line, ENV) });
      workspace.recorder.take();
      const planned = await workspace.edgewise(`plan ${one.arguments}`, ENV);
      const detailed = await workspace.edgewise(`plan ${one.arguments} --detailed-exitcode`, ENV);
      const applied = await workspace.edgewise(`apply ${one.arguments} --yes`, ENV);
      expect({ plan: planned.exitCode, detailed: detailed.exitCode, apply: applied.exitCode }, planned.stderr).toEqual({
        plan: exitCode,
        detailed: exitCode,
        apply: exitCode,
      });
      expect(planned.stdout).not.toContain('Rehearsed on a copy');
      expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
      if (/^(Plan for|──)/.test(planned.stdout) && planned.stdout.includes('Plan for'))
        expect(planned.stdout).toMatch(new RegExp(`^edgewise apply would .*end with exit code ${exitCode}\\.$`, 'm'));
    });

  it('is every refusal in the code', () => {
    const known = [...HERE, ...IN_BOTH];
    for (const file of FILES) {
      const text = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
      const thrown = text.match(/(?:throw|return) new (?:StackError|InvalidManifests)\([\s\S]*?\n?.*?;/g) ?? [];
      const unknown = thrown.filter((one) => !known.some(([at, start]) => at === file && one.includes(start)));
      expect(unknown, file).toEqual([]);
    }
    for (const [file, start] of known)
      expect(readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'), start).toContain(start);
    for (const [, , name] of IN_BOTH) if (name !== 'export only') expect(Object.keys(REFUSALS)).toContain(name);
  });
});

describe('what belongs to the place where a plan is made', () => {
  const EDGE = { 'm.yaml': STACK + toEdge('a', 20_001) };

  it('leaves the exit code of a plan: untrusted manifests', async () => {
    const { edgewise } = await createWorkspace(EDGE);
    expect((await edgewise('plan m.yaml --untrusted')).exitCode).toBe(0);
    for (const line of ['apply m.yaml', 'destroy m.yaml', 'release TCPEdge/a m.yaml'])
      expect((await edgewise(`${line} --untrusted --yes`)).exitCode, line).toBe(5);
  });

  it('leaves the exit code of a plan: no terminal', async () => {
    const { edgewise } = await createWorkspace(EDGE);
    expect((await edgewise('plan m.yaml')).exitCode).toBe(0);
    expect((await edgewise('apply m.yaml')).exitCode).toBe(3);
  });

  it('leaves the exit code of a plan: a token sink that works elsewhere', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + toCredential('agent') });
    const sink = '--token-command ["no-such-program-anywhere"]';
    expect((await edgewise(`plan m.yaml ${sink}`)).exitCode).toBe(0);
    expect((await edgewise(`apply m.yaml ${sink} --yes`)).exitCode).toBe(1);
  });
});

describe('plan and drift', () => {
  it('take the same --detailed-exitcode', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': STACK + toEdge('a', 20_001) });
    expect((await edgewise('plan m.yaml --detailed-exitcode')).exitCode).toBe(2);
    expect((await edgewise('drift m.yaml --detailed-exitcode')).exitCode).toBe(2);
    await edgewise('apply m.yaml --yes');
    expect((await edgewise('plan m.yaml --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('drift m.yaml --detailed-exitcode')).exitCode).toBe(0);
  });
});

/** The stack b takes over an edge that the stack a still describes. */
const TAKEN = {
  'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001),
  'live/b/edgewise.yaml':
    toStack('b') +
    toManifest(
      'TCPEdge',
      'x',
      { hostports: ['1.tcp.example.net:20002'] },
      { lifecycle: { renamed_from: { stack: 'a', name: 'x' } } },
    ),
};

/** What a plan refuses because of the manifests and their settings alone, so that `validate` does too. */
const INVALID: Readonly<Record<string, Pick<Refusal, 'files' | 'arguments' | 'exitCode'>>> = {
  'a manifest with an error': { files: { 'm.yaml': `${STACK}}{` }, arguments: 'm.yaml', exitCode: 3 },
  'a setting with an error': {
    files: { 'm.yaml': toStack('test', { api: { rate_limit: 'fast' } }) },
    arguments: 'm.yaml',
    exitCode: 3,
  },
  'an account with other settings in each stack': {
    files: {
      'live/a/edgewise.yaml': toStack('a', { api: { base_url: 'https://api.test', page_size: 10 } }),
      'live/b/edgewise.yaml': toStack('b', { api: { base_url: 'https://api.test', page_size: 20 } }),
    },
    arguments: '-R live',
    exitCode: 3,
  },
  'a value that two stacks claim': {
    files: {
      'live/a/edgewise.yaml': toStack('a') + toEdge('x', 20_001),
      'live/b/edgewise.yaml': toStack('b') + toEdge('y', 20_001),
    },
    arguments: '-R live',
    exitCode: 3,
  },
  'stacks that refer to each other in a cycle': {
    files: {
      'live/a/edgewise.yaml': toStack('a') + toManifest('External', 'x', { stack: 'b', resource: 'WeightedBackend/x' }),
      'live/b/edgewise.yaml': toStack('b') + toManifest('External', 'x', { stack: 'a', resource: 'WeightedBackend/x' }),
    },
    arguments: '-R live',
    exitCode: 3,
  },
  'a resource that two stacks describe': {
    files: TAKEN,
    arguments: '-R live',
    exitCode: 3,
  },
  'a resource that another stack describes, with one stack named': {
    files: TAKEN,
    arguments: 'live/b',
    exitCode: 3,
  },
  'two stacks of one name': {
    files: {
      'live/a/edgewise.yaml': toStack('a', { api: { base_url: 'https://api.test' } }),
      'live/b/edgewise.yaml': toStack('a', { api: { base_url: 'https://api.test' } }),
    },
    arguments: 'live/a',
    exitCode: 3,
  },
  'a report over a manifest': {
    files: { 'm.yaml': STACK + toEdge('a', 20_001) },
    arguments: 'm.yaml --report json=m.yaml',
    exitCode: 3,
  },
  'a policy about manifests': {
    files: REFUSALS['a policy']?.files ?? {},
    arguments: 'm.yaml --policies p.yaml',
    exitCode: 5,
  },
};

describe('what a plan refuses because of the manifests and their settings alone', () => {
  for (const [name, { files, exitCode, ...one }] of Object.entries(INVALID))
    it(`ends validate with the same exit code: ${name}`, async () => {
      const { edgewise, recorder } = await createWorkspace(files);
      const valid = await edgewise(`validate ${one.arguments}`);
      expect(recorder.take()).toEqual([]);
      const planned = await edgewise(`plan ${one.arguments}`);
      expect({ validate: valid.exitCode, plan: planned.exitCode }, valid.stdout + planned.stderr).toEqual({
        validate: exitCode,
        plan: exitCode,
      });
    });

  it('is not the base URL, the key or the name of the stack: a checkout is validated without them', async () => {
    const { edgewise } = await createWorkspace({ 'm.yaml': toEdge('a', 20_001) });
    const env = { EDGEWISE_BASE_URL: '', EDGEWISE_API_KEY: '' };
    expect((await edgewise('validate m.yaml', { env })).exitCode).toBe(0);
    expect((await edgewise('plan m.yaml', { env })).exitCode).toBe(3);
  });
});
