import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toRepository, toStack } from '../repository/tree.ts';
import { changePlan, readOnlyStack } from '../results.ts';

/** The attacker can change the artifacts of a pipeline between the job that plans and the job that applies. */

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

/** The values of the manifests about the door, the agent and the certificate. */
interface ManifestValues {
  readonly port?: number;
  readonly restriction?: object;
  readonly acl?: string;
}

/** The deletes of two resources need consent. */
const GUARDED = `${STACK}spec: { guard: { max_deletes: 1 } }\n`;

function toManifests(text: string, { port = 20_002, restriction = ONLY_OFFICE, acl = 'office' }: ManifestValues = {}) {
  const hostports = [`1.tcp.example.net:${port}`];
  const certificate = { ssh_certificate_authority_id: 'sshca_1', principals: ['alice'], public_key: KEY };
  return [
    GUARDED,
    toManifest('TCPEdge', 'door', { hostports, ...restriction }),
    toManifest('Credential', 'agent', { acl: [acl === '*' ? acl : `bind:${acl}.example.com`] }),
    toManifest('SSHUserCertificate', 'alice', certificate),
    text,
  ].join('');
}

const ONLY_OFFICE = { ip_restriction: { enabled: true, ip_policy_ids: ['ipp_1'] } };
const THREE = [1, 2, 3].map((number) => toEdge(`gate${number}`, 20_010 + number)).join('');
const KEPT = toManifest('TCPEdge', 'kept', {}, { lifecycle: { protect: true } });

/** Three gates are live and stay in the manifests. The door, the agent and the certificate are to be created. */
async function createApprovedPlan(more = THREE): Promise<Workspace> {
  const workspace = await createWorkspace({ 'm/edgewise.yaml': `${GUARDED}${THREE}${KEPT}` });
  expect(await workspace.edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
  await workspace.write({ 'm/edgewise.yaml': toManifests(`${more}${KEPT}`) });
  await workspace.edgewise(`plan m -o plan.json${TOKENS}`);
  workspace.recorder.take();
  return workspace;
}

const TOKENS = ' --token-directory tokens';
const CONSENTS = ' --allow-deletes --allow-protected TCPEdge/kept';

/** Replaces the approved plan with a plan of the same stack that was made from other manifests. */
const createSwappedPlan = (said: ManifestValues, flags = '', rest = `${THREE}${KEPT}`): Attack => {
  return async ({ write, edgewise }) => {
    await write({ 'm-evil/.git/HEAD': '', 'm-evil/edgewise.yaml': toManifests(rest, said) });
    await edgewise(`plan m-evil -o plan.json${TOKENS}${flags}`);
  };
};

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8');

const edit = (change: (plan: PlanFileContent) => unknown): Attack => {
  return (workspace) => workspace.write({ 'plan.json': changePlan(read(workspace, 'plan.json'), change) });
};

const editChange = (address: string, parts: object): Attack =>
  edit((plan) => ({
    ...plan,
    changes: plan.changes.map((change) => (change.address === address ? { ...change, ...parts } : change)),
  }));

const editDoor = (parts: object): Attack => editChange('TCPEdge/door', parts);

type Attack = (workspace: Workspace) => Promise<unknown>;

const ATTACKS: readonly (readonly [string, string, Attack])[] = [
  [
    'another port',
    'hostports: approved: 1.tcp.example.net:26666, the manifests changed',
    createSwappedPlan({ port: 26_666 }),
  ],
  [
    'no restriction',
    'ip_restriction: added, approved: (none), the manifests changed',
    createSwappedPlan({ restriction: {} }),
  ],
  ['an ACL that permits everything', 'acl: approved: ', createSwappedPlan({ acl: '*' })],
  [
    'targets that keep three deletes from the guard',
    'Approved, but not in this plan:\n\n- TCPEdge/gate1',
    createSwappedPlan({}, [1, 2, 3].map((number) => ` --target TCPEdge/gate${number}`).join(''), KEPT),
  ],
  [
    'targets that were added to it',
    '--target: approved: TCPEdge/door; now: (none)',
    edit((plan) => ({ ...plan, targets: ['TCPEdge/door'] })),
  ],
  [
    'a limit of deletes that was raised',
    'guard.max_deletes: approved: 99; now: 1',
    edit((plan) => ({ ...plan, settings: { ...plan.settings, guard: { maxDeletes: 99, maxDeleteShare: 1 } } })),
  ],
  [
    'another stack to take over from',
    'the stacks to take over from: approved: theirs; now: (none)',
    edit((plan) => ({ ...plan, takeOver: ['theirs'] })),
  ],
  [
    'removed protection',
    'Approved, but not in this plan:\n\n~ TCPEdge/kept',
    createSwappedPlan({}, '', `${THREE}${KEPT.replace('"protect":true', '"protect":false')}`),
  ],
  ['no danger', 'not as approved: secrets', editChange('Credential/agent', { dangers: [] })],
  ['another kind of run', 'the mode: approved: destroy; now: apply', edit((plan) => ({ ...plan, mode: 'destroy' }))],
  [
    'another service',
    'the service: approved for https://evil.example, now https://api.test',
    edit((plan) => ({ ...plan, baseUrl: 'https://evil.example' })),
  ],
  [
    'another key',
    'the variable of the API key: approved for OTHER_KEY, now EDGEWISE_API_KEY',
    edit((plan) => ({ ...plan, settings: { ...plan.settings, keyEnv: 'OTHER_KEY' } })),
  ],
  [
    'another stack',
    'the stack: approved for other, now test',
    async ({ write, edgewise }) => {
      await write({ 'o/edgewise.yaml': `${toStack('other')}${toEdge('door', 26_666)}` });
      await edgewise('plan o -o plan.json');
    },
  ],
];

const APPLY = `apply m --approved plan.json --yes${TOKENS}`;

describe('a plan file is refused with the difference before any write if it has', () => {
  it.each(ATTACKS)('%s', async (_, difference, attack) => {
    const workspace = await createApprovedPlan();
    await attack(workspace);
    workspace.recorder.take();
    const { exitCode, stdout, stderr } = await workspace.edgewise(`${APPLY}${CONSENTS}`);
    expect(stdout + stderr).toContain(difference);
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('manifests that are older than those of the apply', async () => {
    const workspace = await createApprovedPlan();
    await workspace.write({ 'm/edgewise.yaml': toManifests(`${THREE}${KEPT}`, { port: 20_003 }) });
    const { exitCode, stdout } = await workspace.edgewise(APPLY);
    expect(stdout).toContain('1.tcp.example.net:20003');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });
});

/** Members that only readers of a plan file see. */
const INVENTED: readonly (readonly [string, Attack])[] = [
  ['a note', editDoor({ notes: ['reviewed by security'] })],
  ['a reason', editDoor({ reason: 'reviewed by security' })],
  ['an owner', editDoor({ labels: { owner: 'reviewed by security' } })],
  [
    'a diagnostic',
    edit((plan) => ({
      ...plan,
      diagnostics: [{ code: 'rehearsal-failed', severity: 'warning', message: 'reviewed by security' }],
    })),
  ],
  ['no diagnostics', edit((plan) => ({ ...plan, diagnostics: [] }))],
  ['a rehearsal', edit((plan) => ({ ...plan, rehearsal: { writes: 99, rejected: 0, remaining: 0, tokens: 0 } }))],
  ['no rehearsal', edit(({ rehearsal: _, ...plan }) => plan)],
  ['a name for an id', edit((plan) => ({ ...plan, externals: { 'External/reviewed-by-security': 'ipp_1' } }))],
  ['done changes', edit((plan) => ({ ...plan, done: [{ action: 'create', address: 'reviewed by security' }] }))],
  [
    'a write to another resource',
    edit((plan) => ({
      ...plan,
      writes: plan.writes.map((write) => ({ ...write, kind: 'TCPEdge', path: '/edges/tcp/theirs', method: 'DELETE' })),
    })),
  ],
  ['no writes', edit((plan) => ({ ...plan, writes: [] }))],
];

describe('an invented value in a plan file changes neither a request nor the output of an apply', () => {
  it.each(INVENTED)('%s', async (_, attack) => {
    const toOutput = async (workspace: Workspace) => {
      const { exitCode, stdout } = await workspace.edgewise(`${APPLY}${CONSENTS} --format json`);
      return { exitCode, shown: readOnlyStack(stdout).plan.changes, sent: listWrites(workspace) };
    };
    const [honest, edited] = [await createApprovedPlan(), await createApprovedPlan()];
    await attack(edited);
    expect(await toOutput(edited)).toEqual(await toOutput(honest));
  });
});

describe('a plan file gives no consent', () => {
  const WITHOUT: readonly (readonly [string, string, string, string])[] = [
    ['deletes', '', KEPT, '--allow-deletes'],
    ['what is protected', ' --allow-deletes', THREE, '--allow-protected TCPEdge/kept'],
  ];

  it.each(WITHOUT)('%s exit with 5 without consent of the apply', async (_, flags, left, remedy) => {
    const workspace = await createApprovedPlan();
    await workspace.write({ 'm/edgewise.yaml': toManifests(left) });
    await workspace.edgewise(`plan m -o plan.json${TOKENS}${CONSENTS}`);
    const refused = await workspace.edgewise(`${APPLY}${flags}`);
    expect(refused.stdout).toContain(remedy);
    expect(refused.exitCode).toBe(5);
    expect(listWrites(workspace)).toEqual([]);
  });

  it.each(WITHOUT)('%s exit with 6 if the violation was removed from it', async (_, flags, left) => {
    const workspace = await createApprovedPlan();
    await workspace.write({ 'm/edgewise.yaml': toManifests(left) });
    await workspace.edgewise(`plan m -o plan.json${TOKENS}`);
    await edit((plan) => ({ ...plan, violations: [] }))(workspace);
    const { exitCode, stdout } = await workspace.edgewise(`${APPLY}${flags}`);
    expect(stdout).toContain('the consents needed: approved: (none); now: ');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('a violation that was removed after an interrupted apply exits with 6', async () => {
    const workspace = await interruptAfterCreates();
    await edit((plan) => ({ ...plan, violations: [] }))(workspace);
    const { exitCode, stdout } = await workspace.edgewise(APPLY);
    expect(stdout).toContain('the consents needed: approved: (none); now: ');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('the rest of an interrupted plan is applied with it', async () => {
    const workspace = await interruptAfterCreates();
    const rest = await workspace.edgewise(`${APPLY}${CONSENTS}`);
    expect(rest.exitCode, rest.stdout).toBe(0);
  });
});

describe('a plan file that takes over', () => {
  it('is applied only if the apply is given that stack too', async () => {
    const workspace = await createWorkspace({
      'theirs.yaml': `${toStack('theirs')}${toEdge('door', 20_002)}`,
      'm/edgewise.yaml': `${STACK.replace('name: test', 'name: test\n  renamed_from: theirs')}${toEdge('door', 20_002)}`,
    });
    await workspace.edgewise('apply theirs.yaml --yes');
    await workspace.write({ 'theirs.yaml': toStack('theirs') });
    expect(await workspace.edgewise('plan m --allow-take-over theirs -o plan.json')).toMatchObject({ exitCode: 0 });
    expect(readOnlyStack(read(workspace, 'plan.json'))).toMatchObject({
      takeOver: ['theirs'],
      changes: [{ action: 'take-over' }],
    });
    workspace.recorder.take();
    for (const flags of ['', ' --allow-take-over others']) {
      const { exitCode, stdout } = await workspace.edgewise(`apply m --approved plan.json --yes${flags}`);
      expect(stdout).toContain('--allow-take-over theirs');
      expect(exitCode).toBe(5);
      expect(listWrites(workspace)).toEqual([]);
    }
    const taken = await workspace.edgewise('apply m --approved plan.json --yes --allow-take-over theirs');
    expect(taken, taken.stderr).toMatchObject({ exitCode: 0 });
  });
});

async function planFolder(): Promise<Workspace> {
  const workspace = await createWorkspace(toRepository(2));
  expect(await workspace.edgewise('plan -R live -o plans')).toMatchObject({ exitCode: 0 });
  return workspace;
}

describe('a folder of plans with an edited plan', () => {
  const FOLDER_ATTACKS: readonly (readonly [string, string, (plan: PlanFileContent) => unknown])[] = [
    ['targets', '--target: approved: TCPEdge/x; now: (none)', (plan) => ({ ...plan, targets: ['TCPEdge/x'] })],
    ['service', 'the service: approved for https://evil', (plan) => ({ ...plan, baseUrl: 'https://evil.example' })],
  ];

  it.each(FOLDER_ATTACKS)(
    'refuses a plan with another %s, and writes nothing of its stack',
    async (_, difference, change) => {
      const workspace = await planFolder();
      await workspace.write({ 'plans/s01.json': changePlan(read(workspace, 'plans/s01.json'), change) });
      workspace.recorder.take();
      const { exitCode, stdout } = await workspace.edgewise('apply -R live --approved plans --yes');
      expect(stdout).toContain(difference);
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
      expect(JSON.stringify(workspace.server.snapshot().resources)).not.toContain('20001');
    },
  );

  it('refuses a plan of other manifests, and one of no stack of the repository', async () => {
    for (const [name, said] of [
      ['s01', 'Approved, but not in this plan:\n\n+ TCPEdge/door'],
      ['evil', 'plans approves plans of evil on https://api.test, but there is no such stack below live'],
    ] as const) {
      const workspace = await planFolder();
      await workspace.write({
        'evil/.git/HEAD': '',
        'evil/edgewise.yaml': `${toStack(name)}${toEdge('door', 26_666)}`,
      });
      await workspace.edgewise('plan evil -o evil.json');
      await workspace.write({ 'plans/s01.json': readFileSync(join(workspace.folder, 'evil.json'), 'utf8') });
      workspace.recorder.take();
      const { exitCode, stdout, stderr } = await workspace.edgewise('apply -R live --approved plans --yes');
      expect(stdout + stderr).toContain(said);
      expect(exitCode).toBe(6);
      expect(JSON.stringify(workspace.server.snapshot().resources)).not.toContain('26666');
    }
  });
});

/** Creates come first: the door exists, and the resources to delete still exist. */
async function interruptAfterCreates(): Promise<Workspace> {
  const workspace = await createApprovedPlan();
  await workspace.write({ 'm/edgewise.yaml': toManifests('') });
  await workspace.edgewise(`plan m -o plan.json${TOKENS}${CONSENTS}`);
  const { transport } = workspace.recorder;
  let writes = 0;
  await workspace.edgewise(`${APPLY}${CONSENTS}`, {
    transport: async (request) => {
      if (request.method !== 'GET') writes += 1;
      if (writes > 2)
        throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
      return transport(request);
    },
  });
  expect(writes).toBeGreaterThan(2);
  workspace.recorder.take();
  return workspace;
}
