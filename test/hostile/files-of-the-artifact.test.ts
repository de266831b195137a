import { chmodSync, existsSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';

/** The attacker adds files to the artifact of a plan, which lies in the folder `approved`. */

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
const CREDENTIAL = toManifest('Credential', 'agent', {});
const SCRIPT = '#!/bin/sh\ncat > /dev/null\ntouch "$(dirname "$0")/../ran"\n';

const toCertificate = (file: string) =>
  toManifest('SSHUserCertificate', 'alice', {
    ssh_certificate_authority_id: 'sshca_1',
    principals: ['alice'],
    public_key: { file },
  });

const POLICY = toManifest('Policy', 'ports', { match: { kinds: ['TCPEdge'] }, require: 'true', message: 'is wrong' });

const toCommand = (...command: readonly string[]) => toStack('shop', { tokens: { default: { command } } }) + CREDENTIAL;

interface Case {
  readonly files: Readonly<Record<string, string>>;
  /** Symbolic links, by their paths. */
  readonly links?: Readonly<Record<string, string>>;
  readonly executable?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is planned and applied. */
  readonly paths?: string;
  /** The file that ends the run. */
  readonly named: string;
}

const EDGE = toEdge('a', 20_001);
const SHOP = { 'live/shop/edgewise.yaml': STACK + EDGE };

/** What a run uses, in the folder of the artifact. */
const USED: Readonly<Record<string, Case>> = {
  'a manifest': {
    paths: '.',
    files: { 'edgewise.yaml': STACK, 'approved/edge.yaml': EDGE },
    named: 'approved/edge.yaml',
  },
  'a Stack': { paths: '.', files: { 'approved/sub/edgewise.yaml': STACK + EDGE }, named: 'approved/sub/edgewise.yaml' },
  'a Stack of many': {
    paths: '-R .',
    files: { ...SHOP, 'approved/sub/edgewise.yaml': toStack('other') },
    named: 'approved/sub/edgewise.yaml',
  },
  'a manifest of one stack of many': {
    paths: '-R live',
    files: { ...SHOP, 'live/two/edgewise.yaml': toStack('two'), 'approved/edge.yaml': toEdge('b', 20_002) },
    links: { 'live/two/edge.yaml': '../../approved/edge.yaml' },
    named: 'live/two/edge.yaml',
  },
  'a manifest behind a link': {
    files: { 'live/shop/edgewise.yaml': STACK, 'approved/edge.yaml': EDGE },
    links: { 'live/shop/edge.yaml': '../../approved/edge.yaml' },
    named: 'live/shop/edge.yaml',
  },
  'a manifest behind a link that the artifact has': {
    files: { 'live/shop/edgewise.yaml': STACK, 'other/edge.yaml': EDGE, 'approved/x': '' },
    links: { 'live/shop/edge.yaml': '../../approved/link.yaml', 'approved/link.yaml': '../other/edge.yaml' },
    named: 'live/shop/edge.yaml',
  },
  'the whole of the manifests, behind a link': {
    paths: 'manifests',
    files: { 'approved/m/edgewise.yaml': STACK + EDGE },
    links: { manifests: 'approved/m' },
    named: 'manifests',
  },
  Defaults: {
    files: { ...SHOP, 'approved/defaults.yaml': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: {}\n' },
    links: { 'live/edgewise-defaults.yaml': '../approved/defaults.yaml' },
    named: 'live/edgewise-defaults.yaml',
  },
  'a policy that the Stack names': {
    files: {
      'live/shop/edgewise.yaml': toStack('shop', { policies: ['../../approved/policies'] }) + EDGE,
      'approved/policies/p.yaml': POLICY,
    },
    named: 'approved/policies',
  },
  'a public key': {
    files: {
      'live/shop/edgewise.yaml': STACK + toCertificate('../../approved/alice.pub'),
      'approved/alice.pub': `${KEY}\n`,
    },
    named: 'approved/alice.pub',
  },
  'the certificate authorities': {
    files: {
      'live/shop/edgewise.yaml': toStack('shop', { api: { ca_file: '../../approved/ca.pem' } }) + EDGE,
      'approved/ca.pem': rootCertificates[0] ?? '',
    },
    named: 'approved/ca.pem',
  },
  'the data of an embedded server': {
    files: {
      'live/shop/edgewise.yaml': toStack('shop', { api: { base_url: 'embedded:approved/data.json' } }) + EDGE,
    },
    env: { EDGEWISE_BASE_URL: '' },
    named: 'approved/data.json',
  },
  'a key file behind a link': {
    files: { ...SHOP, 'approved/key': 'dev\n' },
    links: { key: 'approved/key' },
    env: { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'key' },
    named: 'key',
  },
  'a token command': {
    files: { 'live/shop/edgewise.yaml': toCommand('../../approved/deliver.sh'), 'approved/deliver.sh': SCRIPT },
    executable: 'approved/deliver.sh',
    named: 'approved/deliver.sh',
  },
  'a script of a token command': {
    files: { 'live/shop/edgewise.yaml': toCommand('sh', '../../approved/deliver.sh'), 'approved/deliver.sh': SCRIPT },
    named: 'approved/deliver.sh',
  },
  'a script of a token command whose name has a placeholder': {
    files: { 'live/shop/edgewise.yaml': toCommand('sh', '../../approved/{name}.sh'), 'approved/agent.sh': SCRIPT },
    named: 'approved/{name}.sh',
  },
  'the test of a token command': {
    files: {
      'live/shop/edgewise.yaml':
        toStack('shop', { tokens: { default: { command: ['true'], test: ['sh', '../../approved/test.sh'] } } }) +
        CREDENTIAL,
      'approved/test.sh': SCRIPT,
    },
    named: 'approved/test.sh',
  },
  'a stack beside the one that is named': {
    files: { ...SHOP, 'approved/sub/edgewise.yaml': toStack('other') },
    named: 'approved/sub/edgewise.yaml',
  },
  'a manifest that takes a resource over': {
    files: {
      ...SHOP,
      'approved/edge.yaml': toManifest(
        'TCPEdge',
        'b',
        {},
        { lifecycle: { renamed_from: { stack: 'test', name: 'a' } } },
      ),
    },
    named: 'approved/edge.yaml',
  },
};

async function createCheckout({ files, links = {}, executable }: Case): Promise<Workspace> {
  const workspace = await createWorkspace({ '.git/HEAD': 'ref: refs/heads/main\n', ...files });
  const { folder } = workspace;
  await mkdir(join(folder, 'approved'), { recursive: true });
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path));
  if (executable !== undefined) chmodSync(join(folder, executable), 0o755);
  return workspace;
}

function toEnvironment({ env = {} }: Pick<Case, 'env'>, { folder }: Workspace) {
  const all = Object.entries({ PATH: process.env['PATH'] ?? '', ...env });
  return Object.fromEntries(all.map(([name, value]) => [name, value.replaceAll('FOLDER', folder)]));
}

/** Moves the plans of a run to a folder, which may have other files. */
async function movePlans({ folder }: Workspace, from: string, to: string): Promise<void> {
  await mkdir(join(folder, to), { recursive: true });
  for (const name of readdirSync(join(folder, from)).filter((one) => PLAN_NAMES.includes(one)))
    renameSync(join(folder, from, name), join(folder, to, name));
}

const PLAN_NAMES = ['plan.json', 'test.json', 'other.json', 'two.json'];

describe('a file in the folder of an approved plan', () => {
  it.each(Object.entries(USED))(
    'ends the run with 3 and is named, before anything is run or written: %s',
    async (_, one) => {
      const workspace = await createCheckout(one);
      const { edgewise, folder, recorder } = workspace;
      const env = toEnvironment(one, workspace);
      const { paths = 'live/shop' } = one;
      const [isMany, plan] = paths.startsWith('-R') ? [true, ''] : [false, '/plan.json'];
      await mkdir(join(folder, 'plans'));
      expect(await edgewise(`plan ${paths} -o plans${plan}`, { env })).toMatchObject({ exitCode: 0 });
      await movePlans(workspace, 'plans', 'approved');
      recorder.take();
      const refused = await edgewise(`apply ${paths} --approved approved${plan} --yes`, { env });
      expect(refused).toMatchObject({ exitCode: 3, stdout: '' });
      const told = `${one.named} is in approved, the folder of the approved plan`;
      expect(refused.stderr.replaceAll(`${folder}/`, '')).toContain(told);
      expect(recorder.take().filter(({ method }) => !isMany || method !== 'GET')).toEqual([]);
      expect(existsSync(join(folder, 'ran'))).toBe(false);
      // The same files are used if the plan is in a folder of its own.
      await movePlans(workspace, 'approved', 'elsewhere');
      const applied = await edgewise(`apply ${paths} --approved elsewhere${plan} --yes`, { env });
      expect(applied).toMatchObject({ exitCode: 0 });
      expect(existsSync(join(folder, 'ran'))).toBe(Object.values(one.files).includes(SCRIPT));
    },
  );

  it.each([
    // A folder that the command line names is none of the PATH, unless the user lives in it.
    ['is not found', '', { exitCode: 1 }],
    ['ends the run', 'home', { exitCode: 3, stderr: expect.stringContaining('approved/deliver-it is in') }],
  ])('does not run as a program on the PATH: it %s', async (_, home, ended) => {
    const files = { 'work/edgewise.yaml': toCommand('deliver-it'), 'approved/deliver-it': SCRIPT };
    const workspace = await createCheckout({ files, executable: 'approved/deliver-it', named: '' });
    const { edgewise, folder } = workspace;
    const HOME = join(folder, home === '' ? 'work' : `approved/${home}`);
    await mkdir(HOME, { recursive: true });
    const env = { PATH: `${join(folder, 'approved')}:${process.env['PATH']}`, HOME };
    const run = (line: string) => edgewise(line, { env, cwd: join(folder, 'work') });
    await rm(join(folder, '.git'), { recursive: true });
    await mkdir(join(folder, 'new'));
    expect(await run('plan . -o ../new/plan.json')).toMatchObject({ exitCode: 0 });
    await movePlans(workspace, 'new', 'approved');
    expect(await run('apply . --approved ../approved/plan.json --yes')).toMatchObject(ended);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    await movePlans(workspace, 'approved', 'elsewhere');
    expect(await run('apply . --approved ../elsewhere/plan.json --yes')).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(folder, 'ran'))).toBe(true);
  });

  it('is not looked at if the run does not use it', async () => {
    const { edgewise, folder } = await createCheckout({ files: SHOP, named: '' });
    await edgewise('plan live/shop -o approved/plan.json --report html=approved/plan.html');
    writeFileSync(join(folder, 'approved/notes.yaml'), EDGE);
    const { exitCode } = await edgewise('apply live/shop --approved approved/plan.json --yes');
    expect(exitCode).toBe(0);
  });

  it.each([
    ['linked/plan.json', { linked: 'approved' }, 3],
    ['other/plan.json', { 'other/plan.json': '../approved/plan.json' }, 3],
    // The plan is beside the manifests, in a folder that the user chose.
    ['linked.json', { 'linked.json': 'approved/plan.json' }, 0],
  ])('is found through a link to the plan or to its folder: %s', async (approved, links, exitCode) => {
    const files = { 'm/edgewise.yaml': STACK, 'approved/e.yaml': EDGE, 'other/x': '' };
    const { edgewise } = await createCheckout({
      files,
      links: { 'm/e.yaml': '../approved/e.yaml', ...links },
      named: '',
    });
    await edgewise('plan m -o approved/plan.json');
    expect(await edgewise(`apply m --approved ${approved} --yes`)).toMatchObject({ exitCode });
  });
});

describe('the folder of an approved plan', () => {
  const script = { 'approved/deliver.sh': SCRIPT };
  const manifests = { 'm/edgewise.yaml': STACK, 'approved/edge.yaml': EDGE };
  const links = { 'm/edge.yaml': '../approved/edge.yaml' };
  const one = '../plan.json';

  it.each<readonly [string, Partial<Case>, string]>([
    ['the working folder', { files: { 'edgewise.yaml': STACK + EDGE } }, '. --approved plan.json'],
    ['above the working folder', { files: { 'edgewise.yaml': STACK + EDGE } }, `. --approved ${one}`],
    [
      'that of the manifests',
      { files: { 'approved/edgewise.yaml': STACK + EDGE } },
      'approved --approved approved/plan.json',
    ],
    [
      'above the manifests',
      { files: { 'approved/m/edgewise.yaml': STACK + EDGE } },
      'approved/m --approved approved/plan.json',
    ],
    [
      'above a file of the manifests',
      { files: { 'approved/e.yaml': STACK + EDGE } },
      'approved/e.yaml --approved approved/plan.json',
    ],
    ['above the stacks', { files: { 'approved/m/edgewise.yaml': STACK + EDGE } }, '-R approved/m --approved approved'],
    ['above --root', { files: manifests, links }, 'm --root approved --approved approved/plan.json'],
    [
      'above the policies of a flag',
      { files: { ...manifests, 'approved/p.yaml': POLICY }, links },
      'm --policies approved/p.yaml --approved approved/plan.json',
    ],
    [
      'above the key file',
      {
        files: { ...manifests, 'approved/key': 'dev\n' },
        links,
        env: { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'approved/key' },
      },
      'm --approved approved/plan.json',
    ],
    [
      'above the certificate authorities',
      { files: { ...manifests, 'approved/ca.pem': rootCertificates[0] ?? '' }, links },
      'm --ca-file approved/ca.pem --approved approved/plan.json',
    ],
    [
      'above the token command of a flag',
      { files: { 'm/edgewise.yaml': STACK + CREDENTIAL, ...script }, executable: 'approved/deliver.sh' },
      'm --token-command ["./approved/deliver.sh"] --approved approved/plan.json',
    ],
  ])('may be %s, which the user chose', async (_, given, line) => {
    const workspace = await createCheckout({ files: {}, named: '', ...given });
    const { edgewise, folder } = workspace;
    const env = toEnvironment(given, workspace);
    const [paths = '', plan = ''] = line.split(' --approved ');
    await mkdir(join(folder, 'new'));
    const out = plan.endsWith('.json') ? 'new/plan.json' : 'new';
    expect(await edgewise(`plan ${paths} -o ${out}`, { env })).toMatchObject({ exitCode: 0 });
    if (plan === one) await rename(join(folder, 'new/plan.json'), join(folder, '..', `${basename(folder)}.json`));
    else await movePlans(workspace, 'new', plan.endsWith('.json') ? dirname(plan) : plan);
    const approved = plan === one ? `../${basename(folder)}.json` : plan;
    expect(await edgewise(`apply ${paths} --approved ${approved} --yes`, { env })).toMatchObject({ exitCode: 0 });
    await rm(join(folder, '..', `${basename(folder)}.json`), { force: true });
  });

  it('is not chosen by a link to it, nor by the name of the plan', async () => {
    const files = { 'approved/m/edgewise.yaml': STACK + EDGE };
    const { edgewise } = await createCheckout({ files, links: { m: 'approved/m', policies: 'approved' }, named: '' });
    await edgewise('plan m -o approved/plan.json');
    for (const paths of ['m', 'm/edgewise.yaml'])
      expect(await edgewise(`apply ${paths} --approved approved/plan.json --yes`)).toMatchObject({ exitCode: 3 });
  });
});
