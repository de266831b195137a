import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanFileContent } from '../../src/kinds/plan-file-content.ts';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toRepository, toStack } from '../repository/tree.ts';

/** Somebody who can change the artifacts of a pipeline, between the job that plans and the job that applies with `--manifests`. */

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

/** What the manifests say of the door, the agent and the certificate. */
interface Said {
  readonly port?: number;
  readonly restriction?: object;
  readonly acl?: string;
  readonly file?: string;
}

/** The deletes of two resources need consent. */
const GUARDED = `${STACK}spec: { guard: { max_deletes: 1 } }\n`;

function toManifests(
  text: string,
  { port = 20_002, restriction = ONLY_OFFICE, acl = 'office', file = 'a' }: Said = {},
) {
  const hostports = [`1.tcp.example.net:${port}`];
  const certificate = { ssh_certificate_authority_id: 'sshca_1', principals: ['alice'], public_key: KEY };
  return [
    GUARDED,
    toManifest('TCPEdge', 'door', { hostports, ...restriction }),
    toManifest('Credential', 'agent', { acl: [acl === '*' ? acl : `bind:${acl}.example.com`] }),
    toManifest('SSHUserCertificate', 'alice', certificate, { lifecycle: { write_to: `${file}-cert.pub` } }),
    text,
  ].join('');
}

const ONLY_OFFICE = { ip_restriction: { enabled: true, ip_policy_ids: ['ipp_1'] } };
const THREE = [1, 2, 3].map((number) => toEdge(`gate${number}`, 20_010 + number)).join('');
const KEPT = toManifest('TCPEdge', 'kept', {}, { lifecycle: { protect: true } });

/** Three gates are live, and the manifests go on declaring them; the door, the agent and the certificate are to be made. */
async function planHonest(more = THREE): Promise<Workspace> {
  const workspace = await createWorkspace({ 'm/edgewise.yaml': `${GUARDED}${THREE}${KEPT}` });
  expect(await workspace.edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
  await workspace.write({ 'm/edgewise.yaml': toManifests(`${more}${KEPT}`) });
  await workspace.edgewise(`plan m -o plan.json${TOKENS}`);
  workspace.recorder.take();
  return workspace;
}

const TOKENS = ' --token-directory tokens';
const CONSENTS = ' --allow-deletes --allow-protected TCPEdge/kept';

/** A plan of the same stack that somebody made of other manifests, in the place of the plan that was approved. */
const swap = (said: Said, flags = '', rest = `${THREE}${KEPT}`): Attack => {
  return async ({ write, edgewise }) => {
    await write({ 'm-evil/edgewise.yaml': toManifests(rest, said) });
    await edgewise(`plan m-evil -o plan.json${TOKENS}${flags}`);
  };
};

const read = ({ folder }: Workspace, file: string): PlanFileContent =>
  JSON.parse(readFileSync(join(folder, file), 'utf8'));

const edit = (change: (plan: PlanFileContent) => unknown): Attack => {
  return (workspace) => workspace.write({ 'plan.json': JSON.stringify(change(read(workspace, 'plan.json'))) });
};

/** Says something else of the door. */
const editDoor = (parts: object): Attack =>
  edit((plan) => ({
    ...plan,
    changes: plan.changes.map((change) => (change.address === 'TCPEdge/door' ? { ...change, ...parts } : change)),
  }));

type Attack = (workspace: Workspace) => Promise<unknown>;

const ATTACKS: readonly (readonly [string, string, Attack])[] = [
  ['another port', '1.tcp.example.net:26666', swap({ port: 26_666 })],
  ['no restriction', 'ip_restriction', swap({ restriction: {} })],
  [
    'an ACL of everything',
    'Credential/agent: acl is ["bind:office.example.com"] by the manifests, [] by the file',
    swap({ acl: '*' }),
  ],
  [
    'targets that keep three deletes from the guard',
    'TCPEdge/gate1: delete by the file, nothing by the manifests',
    swap({}, [1, 2, 3].map((number) => ` --target TCPEdge/gate${number}`).join(''), KEPT),
  ],
  [
    'targets that were added to it',
    'the targets: ["TCPEdge/door"] by the file, [] by',
    edit((plan) => ({ ...plan, targets: ['TCPEdge/door'] })),
  ],
  [
    'a file at another path',
    'm-evil/b-cert.pub: the plan file writes it, and the manifests do not',
    swap({ file: 'b' }),
  ],
  [
    'a file at a path that was written into it',
    '/etc/cron.d/x: the plan file writes it',
    edit((plan) => ({ ...plan, files: plan.files.map((file) => ({ ...file, path: '/etc/cron.d/x' })) })),
  ],
  [
    'a note that was invented',
    '["TCPEdge/door: reviewed by security"] by the file',
    editDoor({ notes: ['reviewed by security'] }),
  ],
  [
    'a rehearsal that was invented',
    'the rehearsal: {',
    edit((plan) => ({ ...plan, rehearsal: { writes: 99, rejected: 0, remaining: 0, tokens: 0 } })),
  ],
  ['a rehearsal that was taken out', 'the rehearsal: null by the file', edit(({ rehearsal: _, ...plan }) => plan)],
  [
    'diagnostics that were taken out',
    'the diagnostics: [] by the file',
    edit((plan) => ({ ...plan, diagnostics: [] })),
  ],
  // What nobody did before.
  [
    'a diagnostic that was invented',
    '["warning rehearsal-failed: all is well"] by the file',
    edit((plan) => ({
      ...plan,
      diagnostics: [...plan.diagnostics, { code: 'rehearsal-failed', severity: 'warning', message: 'all is well' }],
    })),
  ],
  [
    'a limit of deletes that was raised',
    'the guard: {"maxDeleteShare":1,"maxDeletes":99} by the file',
    edit((plan) => ({ ...plan, settings: { ...plan.settings, guard: { maxDeletes: 99, maxDeleteShare: 1 } } })),
  ],
  [
    'another stack to take over from',
    'the stacks to take over from: ["theirs"] by the file',
    edit((plan) => ({ ...plan, takeOver: ['theirs'] })),
  ],
  [
    'a stack that it waits for',
    'the cross-stack references',
    edit((plan) => ({ ...plan, crossStackReferences: { 'External/x': { stack: 'theirs', resource: 'TCPEdge/x' } } })),
  ],
  [
    'a name for an id',
    'the names of ids: {"External/office":"ipp_1"} by the file',
    edit((plan) => ({ ...plan, externals: { 'External/office': 'ipp_1' } })),
  ],
  [
    'a delete that it says is suppressed',
    'the kept resources: ["TCPEdge/x edgtcp_x"] by the file',
    edit((plan) => ({
      ...plan,
      suppressedDeletes: [
        { address: 'TCPEdge/x', kind: 'TCPEdge', id: 'edgtcp_x', reason: 'no longer in the manifests' },
      ],
    })),
  ],
  ['an owner that was invented', 'TCPEdge/door: owner=security', editDoor({ labels: { owner: 'security' } })],
  [
    'no protection any more',
    'TCPEdge/kept: update by the file, nothing by the manifests',
    swap({}, '', `${THREE}${KEPT.replace('"protect":true', '"protect":false')}`),
  ],
  ['another kind of run', 'to apply', edit((plan) => ({ ...plan, mode: 'destroy' }))],
  [
    'another service',
    'was made for https://evil.example, not for https://api.test',
    edit((plan) => ({ ...plan, baseUrl: 'https://evil.example' })),
  ],
  [
    'another key',
    'was made with the key in OTHER_KEY',
    edit((plan) => ({ ...plan, settings: { ...plan.settings, keyEnv: 'OTHER_KEY' } })),
  ],
  [
    'another stack',
    'was made for the stack other',
    async ({ write, edgewise }) => {
      await write({ 'o/edgewise.yaml': `${toStack('other')}${toEdge('door', 26_666)}` });
      await edgewise('plan o -o plan.json');
    },
  ],
];

describe('with --manifests, a plan file is refused with what differs, and no write is sent, when it has', () => {
  it.each(ATTACKS)('%s', async (_, difference, attack) => {
    const workspace = await planHonest();
    await attack(workspace);
    workspace.recorder.take();
    const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${CONSENTS}`);
    expect(stderr).toContain(difference);
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('manifests that are older than those of the apply', async () => {
    const workspace = await planHonest();
    await workspace.write({ 'm/edgewise.yaml': toManifests(`${THREE}${KEPT}`, { port: 20_003 }) });
    const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}`);
    expect(stderr).toContain('1.tcp.example.net:20003');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });
});

describe('with --manifests, a plan file gives no consent:', () => {
  const WITHOUT: readonly (readonly [string, string, string, string])[] = [
    ['deletes', '', KEPT, '--allow-deletes'],
    ['what is protected', ' --allow-deletes', THREE, '--allow-protected TCPEdge/kept'],
  ];

  it.each(WITHOUT)('%s end with 5 when the apply does not allow them', async (_, flags, left, remedy) => {
    const workspace = await planHonest();
    await workspace.write({ 'm/edgewise.yaml': toManifests(left) });
    await workspace.edgewise(`plan m -o plan.json${TOKENS}${CONSENTS}`);
    const refused = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${flags}`);
    expect(refused.stdout).toContain(remedy);
    expect(refused.exitCode).toBe(5);
    expect(listWrites(workspace)).toEqual([]);
  });

  it.each(WITHOUT)('%s end with 6 when the violation was taken out of it', async (_, flags, left) => {
    const workspace = await planHonest();
    await workspace.write({ 'm/edgewise.yaml': toManifests(left) });
    await workspace.edgewise(`plan m -o plan.json${TOKENS}`);
    await edit((plan) => ({ ...plan, violations: [] }))(workspace);
    const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${flags}`);
    expect(stderr).toContain('the violated safety rules: [] by the file');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });
});

describe('with --manifests, a plan file that takes over', () => {
  it('counts only where the apply is given that stack, too', async () => {
    const workspace = await createWorkspace({
      'theirs.yaml': `${toStack('theirs')}${toEdge('door', 20_002)}`,
      'm/edgewise.yaml': `${STACK}${toEdge('door', 20_002)}`,
    });
    await workspace.edgewise('apply theirs.yaml --yes');
    expect(await workspace.edgewise('plan m --take-over theirs -o plan.json')).toMatchObject({ exitCode: 0 });
    expect(read(workspace, 'plan.json')).toMatchObject({ takeOver: ['theirs'], changes: [{ action: 'take-over' }] });
    workspace.recorder.take();
    for (const flags of ['', ' --take-over others']) {
      const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${flags}`);
      expect(stderr).toContain('TCPEdge/door: create by the manifests, take over by the file');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual([]);
    }
    const taken = await workspace.edgewise('apply plan.json --manifests m --yes --take-over theirs');
    expect(taken, taken.stderr).toMatchObject({ exitCode: 0 });
  });
});

/** Puts a plan in the place of another, and writes the index for it. */
async function swapInFolder(workspace: Workspace, file: string, plan: string): Promise<void> {
  const index = JSON.parse(readFileSync(join(workspace.folder, 'plans/_index.json'), 'utf8'));
  const sha256 = createHash('sha256').update(plan).digest('hex');
  const plans = index.plans.map((one: { readonly file: string }) => (one.file === file ? { ...one, sha256 } : one));
  await workspace.write({ [`plans/${file}`]: plan, 'plans/_index.json': JSON.stringify({ ...index, plans }) });
}

async function planFolder(): Promise<Workspace> {
  const workspace = await createWorkspace(toRepository(2));
  expect(await workspace.edgewise('plan -R live -o plans')).toMatchObject({ exitCode: 0 });
  return workspace;
}

describe('with --manifests, of a folder of plans whose index was written anew', () => {
  const FOLDER_ATTACKS: readonly (readonly [string, string, (plan: PlanFileContent) => unknown])[] = [
    ['targets', 'the targets: ["TCPEdge/x"] by the file', (plan) => ({ ...plan, targets: ['TCPEdge/x'] })],
    ['diagnostics', 'the diagnostics: [] by the file', (plan) => ({ ...plan, diagnostics: [] })],
    ['another service', 'was made for https://evil.example', (plan) => ({ ...plan, baseUrl: 'https://evil.example' })],
  ];

  it.each(FOLDER_ATTACKS)(
    'a plan with other %s is refused, and nothing of its stack is written',
    async (_, difference, change) => {
      const workspace = await planFolder();
      await swapInFolder(workspace, 's01.json', JSON.stringify(change(read(workspace, 'plans/s01.json'))));
      workspace.recorder.take();
      const { exitCode, stdout } = await workspace.edgewise('apply plans --manifests live --yes');
      expect(stdout).toContain(difference);
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
      expect(JSON.stringify(workspace.server.snapshot().resources)).not.toContain('20001');
    },
  );

  it('a plan of other manifests is refused, and a plan of no stack of the repository, too', async () => {
    for (const [name, said] of [
      ['s01', 'TCPEdge/door: create by the file, nothing by the manifests'],
      ['evil', 'no stack below live has that name'],
    ] as const) {
      const workspace = await planFolder();
      await workspace.write({ 'evil/edgewise.yaml': `${toStack(name)}${toEdge('door', 26_666)}` });
      await workspace.edgewise('plan evil -o evil.json');
      await swapInFolder(workspace, 's01.json', readFileSync(join(workspace.folder, 'evil.json'), 'utf8'));
      workspace.recorder.take();
      const { exitCode, stdout, stderr } = await workspace.edgewise('apply plans --manifests live --yes');
      expect(stdout + stderr).toContain(said);
      expect(exitCode).toBe(6);
      expect(JSON.stringify(workspace.server.snapshot().resources)).not.toContain('26666');
    }
  });
});

type Findings = Partial<Pick<PlanFileContent, 'diagnostics' | 'rehearsal' | 'violations'>>;

const toWarning = (code: string, message: string, address: string) =>
  ({ code, severity: 'warning', message, address }) as PlanFileContent['diagnostics'][number]; // codes are those of the product

const addWarnings =
  (...more: PlanFileContent['diagnostics']) =>
  (plan: PlanFileContent): PlanFileContent => ({ ...plan, diagnostics: [...plan.diagnostics, ...more] });

const withFindings =
  (findings: Findings) =>
  (plan: PlanFileContent): PlanFileContent => ({ ...plan, ...findings });

const BEAUTIFUL = { writes: 99, rejected: 0, remaining: 0, tokens: 0 };

/** What can be invented of a plan as a whole, and what is said of it. */
const INVENTED: readonly (readonly [string, string, (plan: PlanFileContent) => PlanFileContent])[] = [
  ...(
    [
      ['rehearsal-failed', 'TCPEdge/door: the service may reject the request to TCPEdge/door#create: nothing serious.'],
      ['taken-elsewhere', 'TCPEdge/door would be deleted here, and the stack safe takes it over as TCPEdge/door'],
      ['taken-elsewhere', 'approved by security'],
      ['used-elsewhere', 'TCPEdge/door would be deleted, and TCPEdge/a of the stack s00 refers to it'],
      [
        'claimed-elsewhere',
        'TCPEdge/door: hostports 1.tcp.example.net:1 is claimed by TCPEdge edgtcp_1, which is TCPEdge/a of the stack s00',
      ],
    ] as const
  ).map(
    ([code, message]) =>
      [
        `a warning of ${code}: ${message}`,
        'the diagnostics: ["warning',
        addWarnings(toWarning(code, message, 'TCPEdge/door')),
      ] as const,
  ),
  [
    'a rehearsal',
    'the rehearsal: {"rejected":0,"remaining":0,"tokens":0,"writes":99} by the file',
    withFindings({ rehearsal: BEAUTIFUL }),
  ],
  [
    'a worse rehearsal',
    'the rehearsal: {',
    ({ rehearsal = BEAUTIFUL, ...plan }) => ({ ...plan, rehearsal: { ...rehearsal, rejected: 1, remaining: 1 } }),
  ],
  ['no rehearsal', 'the rehearsal: null by the file', ({ rehearsal: _, ...plan }) => plan],
];

describe('with --manifests, nothing is invented of a plan as a whole', () => {
  it.each(INVENTED)('with %s', async (_, difference, change) => {
    const workspace = await planHonest();
    await edit(change)(workspace);
    const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${CONSENTS}`);
    expect(stderr).toContain(difference);
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it.each(INVENTED)('with %s, in a folder of plans of which a part was applied', async (_, difference, change) => {
    const workspace = await planFolder();
    await swapInFolder(workspace, 's01.json', JSON.stringify(change(read(workspace, 'plans/s01.json'))));
    expect(await workspace.edgewise('apply plans/s00.json --manifests live/s00 --yes')).toMatchObject({ exitCode: 0 });
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply plans --manifests live --yes');
    expect(stdout).toContain(difference);
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it.each(INVENTED)('with %s, when an apply of it broke off', async (_, difference, change) => {
    const workspace = await breakOff();
    await edit(change)(workspace);
    const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${CONSENTS}`);
    expect(stderr).toContain(difference);
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('with violations that were taken out, when an apply of it broke off', async () => {
    const workspace = await breakOff();
    await edit(withFindings({ violations: [] }))(workspace);
    const { exitCode, stderr } = await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}`);
    expect(stderr).toContain('the violated safety rules: [] by the file');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('and what an apply that broke off has left goes on, when nobody edited it', async () => {
    const workspace = await breakOff();
    expect(await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${CONSENTS}`)).toMatchObject({
      exitCode: 0,
    });
  });
});

/** Creates come first: the door is there, and what was to be deleted is there still. */
async function breakOff(): Promise<Workspace> {
  const workspace = await planHonest();
  await workspace.write({ 'm/edgewise.yaml': toManifests('') });
  await workspace.edgewise(`plan m -o plan.json${TOKENS}${CONSENTS}`);
  const { transport } = workspace.recorder;
  let writes = 0;
  await workspace.edgewise(`apply plan.json --manifests m --yes${TOKENS}${CONSENTS}`, {
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

describe('with --no-manifests, the run says in one line that it trusts', () => {
  it.each([
    ['a plan file', 'plan live/s00 -o plan.json', 'apply plan.json --no-manifests --yes', 'plan.json'],
    ['a folder of plans', 'plan -R live -o plans', 'apply plans --no-manifests --yes', 'plans'],
  ])('%s', async (_, plan, apply, name) => {
    const { edgewise } = await createWorkspace(toRepository(2));
    await edgewise(plan);
    const { stderr } = await edgewise(apply);
    expect(stderr).toContain(
      `${name} is trusted as it is: with --no-manifests it is not compared with the manifests.\n`,
    );
    await edgewise(plan);
    expect((await edgewise(apply.replace('--no-manifests', ''))).stderr).not.toContain('is trusted');
  });
});
