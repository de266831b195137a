import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRequest } from '../by-hand.ts';
import { toCredential, toEdge, toManifest } from '../cli/workspace.ts';
import { type Ended, runEdgewise, type ServerProcess, startServerProcess } from '../end-to-end/processes.ts';
import { toStack } from '../repository/tree.ts';
import { changePlan } from '../results.ts';
import { createCheckout, type Listener, startListener } from './listener.ts';
import { listObeyed } from './runner.ts';

/** The main attacks again, with the command as users start it: in its own process, with the built file if `EDGEWISE_BIN` names it. */

const KEY = 'a-key-that-is-long-enough';
const SECRET = 'hunter2-of-somebody-else';

interface Scene {
  readonly folder: string;
  readonly server: ServerProcess;
  readonly listener: Listener;
  /** Runs a command line. `~/` is the checkout. */
  readonly run: (line: string, env?: NodeJS.ProcessEnv) => Promise<Ended>;
  readonly write: (file: string, text: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
  readonly read: (file: string) => string;
}

const OWN = { 'm/edgewise.yaml': `${toStack('test')}${toEdge('door', 20_002)}` };

async function createInstalledWorkspace(files: Readonly<Record<string, string>> = OWN): Promise<Scene> {
  const [server, listener] = await Promise.all([startServerProcess(['--api-key', `${KEY}:admin`]), startListener()]);
  onTestFinished(async () => void (await server.stop()));
  const folder = await createCheckout({ '.git/HEAD': '', ...files });
  const given = { EDGEWISE_API_KEY: KEY, EDGEWISE_BASE_URL: server.url, EDGEWISE_TOKENS: join(folder, 'tokens') };
  const toWords = (line: string) => line.split(' ').map((word) => word.replaceAll('~/', `${folder}/`));
  return {
    folder,
    server,
    listener,
    run: (line, env = {}) => runEdgewise(toWords(line), { PATH: process.env['PATH'], ...given, ...env }),
    write: async (file, text) => {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    },
    remove: (path) => rm(join(folder, path), { recursive: true }),
    read: (file) => readFileSync(join(folder, file), 'utf8'),
  };
}

async function editPlan({ read, write }: Scene, change: (plan: Record<string, unknown>) => object): Promise<void> {
  await write('plan.json', changePlan(read('plan.json'), change));
}

async function listLive({ server }: Scene): Promise<string> {
  const found = await fetch(createRequest('GET', '/edges/tcp', undefined, { key: KEY, baseUrl: server.url }));
  const text = await found.text();
  expect(text).toContain('"tcp_edges":');
  return text;
}

const PLAN = 'plan ~/m -o ~/plan.json';
const APPLY = 'apply ~/m --approved ~/plan.json --yes --allow-deletes';

/** The attacks between plan and apply, and the messages that they cause. */
const EDITS: readonly (readonly [string, string, (scene: Scene) => Promise<unknown>])[] = [
  [
    'a swapped plan',
    '26666',
    async ({ write, run, remove }) => {
      await write('evil/evil.yaml', `${toStack('test')}${toEdge('door', 26_666)}`);
      await run('plan ~/evil/evil.yaml --root ~/evil -o ~/plan.json');
      await remove('evil');
    },
  ],
  ['targets that were added', '--target: approved: TCPEdge/door; now: (none)', (scene) => editPlan(scene, withTargets)],
  ['a file to write', 'plan.json', (scene) => editPlan(scene, withFile)],
];

const withTargets = (plan: object): object => ({ ...plan, targets: ['TCPEdge/door'] });
const withRehearsal = (plan: object): object => ({
  ...plan,
  rehearsal: { writes: 9, rejected: 0, remaining: 0, tokens: 0 },
});
const withoutWarnings = (plan: object): object => ({ ...plan, diagnostics: [] });
const withFile = (plan: object): object => ({ ...plan, files: [{ address: 'TCPEdge/door', path: '/etc/cron.d/x' }] });

describe('a plan file with its manifests writes nothing', () => {
  it.each(EDITS)('after %s', async (_, said, change) => {
    const scene = await createInstalledWorkspace();
    expect((await scene.run(PLAN)).exitCode).toBe(0);
    await change(scene);
    const { exitCode, stdout, stderr } = await scene.run(APPLY);
    expect(stdout + stderr).toContain(said);
    expect([3, 6]).toContain(exitCode);
    expect(await listLive(scene)).not.toContain('hostports');
  });

  it.each([
    ['an invented rehearsal', withRehearsal],
    ['removed warnings', withoutWarnings],
  ])('that the manifests do not describe: %s', async (_, change) => {
    const scene = await createInstalledWorkspace();
    await scene.run(PLAN);
    await editPlan(scene, change);
    const { exitCode, stdout } = await scene.run(APPLY);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('warning[no-backend]');
    expect(stdout).toContain('the write succeeded there');
    expect(await listLive(scene)).toContain('1.tcp.example.net:20002');
  });

  it('for a second plan of a stack in a folder of plans', async () => {
    const scene = await createInstalledWorkspace();
    await scene.run('plan -R ~/m -o ~/plans');
    await scene.run(PLAN);
    await scene.write('plans/zz.json', scene.read('plan.json'));
    const { exitCode, stderr } = await scene.run('apply -R ~/m --approved ~/plans --yes');
    expect(stderr).toContain('zz.json are both plans of the stack test');
    expect(exitCode).toBe(3);
    expect(await listLive(scene)).not.toContain('hostports');
  });

  it('for a plan with more deletes than the apply consents to', async () => {
    const scene = await createInstalledWorkspace();
    await scene.run('apply ~/m --yes');
    await scene.write('m/edgewise.yaml', toStack('test'));
    expect((await scene.run(`${PLAN} --allow-deletes`)).exitCode).toBe(0);
    const { exitCode, stdout } = await scene.run('apply ~/m --approved ~/plan.json --yes');
    expect(stdout).toContain('--allow-deletes');
    expect(exitCode).toBe(5);
    expect(await listLive(scene)).toContain('20002');
  });
});

const toTokens = (command: readonly string[], spec: object = {}): Readonly<Record<string, string>> => ({
  'm/edgewise.yaml': `${toStack('test', { ...spec, tokens: { default: { command } } })}${toCredential('agent')}`,
});

describe('a token command', () => {
  it('gets nothing if it is another than the approved one', async () => {
    const scene = await createInstalledWorkspace(toTokens(['/bin/sh', '~/deliver.sh']));
    await scene.run(PLAN);
    const evil = toTokens(['/bin/sh', '-c', `cat > ${join(scene.folder, 'stolen')}`])['m/edgewise.yaml'];
    await scene.write('m/edgewise.yaml', evil ?? '');
    for (const line of ['apply ~/m --approved ~/plan.json --yes', APPLY]) {
      expect((await scene.run(line)).exitCode).toBe(6);
      expect(existsSync(join(scene.folder, 'stolen'))).toBe(false);
    }
  });

  it('gets each value as one argument and one variable, and no shell reads them', async () => {
    const script =
      'const w=process.argv.slice(2);require("node:fs").writeFileSync(w[0],JSON.stringify({words:w.slice(1),env:process.env}))';
    const words = ['{name}; touch f', '$(touch f) {id}', '`touch f` "{stack}"', "'{address}' && touch f"];
    const files = { 'record.cjs': script };
    const scene = await createInstalledWorkspace(files);
    const record = join(scene.folder, 'record.json');
    const command = [process.execPath, join(scene.folder, 'record.cjs'), record, ...words];
    await createFolder(scene, toTokens(command)['m/edgewise.yaml'] ?? '');
    const { exitCode, stdout, stderr } = await scene.run('apply ~/m/edgewise.yaml --yes');
    expect(exitCode, stdout + stderr).toBe(0);
    const { words: got, env } = JSON.parse(await readFile(record, 'utf8'));
    const id = env['EDGEWISE_ID'];
    expect(id).toMatch(/^cr_[A-Za-z0-9]{27}$/);
    expect(got).toEqual(['agent; touch f', `$(touch f) ${id}`, '`touch f` "test"', "'Credential/agent' && touch f"]);
    expect(env).toMatchObject({ EDGEWISE_NAME: 'agent', EDGEWISE_STACK: 'test', EDGEWISE_ADDRESS: 'Credential/agent' });
    expect(JSON.stringify(env)).not.toContain(KEY);
    expect(readdirSync(scene.folder)).not.toContain('f');
  });
});

async function createFolder({ folder }: Scene, text: string): Promise<void> {
  await mkdir(join(folder, 'm'), { recursive: true });
  await writeFile(join(folder, 'm/edgewise.yaml'), text);
}

const toVariable = (name: string): string => `$\{env:${name}}`;

const toManifestText = (text: string) => `${toStack('test')}${toManifest('TCPEdge', 'door', { description: text })}`;

/** The contents of a pull request, and the messages that they cause. Nothing is sent, and no text of other files is shown. */
const CHECKOUTS: readonly (readonly [string, string, string, NodeJS.ProcessEnv])[] = [
  ['the key by its variable', 'is for an API key', toManifestText(toVariable('EDGEWISE_API_KEY')), {}],
  ['the key itself', 'error[', toManifestText(`x ${KEY} x`), {}],
  [
    'a variable that is not offered',
    'Set it, and offer it with `--env DEPLOY_KEY` or `EDGEWISE_ENV=DEPLOY_KEY`',
    toManifestText(toVariable('DEPLOY_KEY')),
    { DEPLOY_KEY: SECRET },
  ],
  ['policies in a link', 'is outside the repository', toStack('test', { policies: ['out/policies.yaml'] }), {}],
  [
    'a folder for tokens behind a link',
    'is outside the repository',
    toStack('test', { tokens: { default: { directory: 'out/tokens' } } }),
    {},
  ],
];

describe('a plan of a pull request is refused before any request with', () => {
  it.each(CHECKOUTS)('after %s', async (_, said, text, env) => {
    const scene = await createInstalledWorkspace({ 'm/edgewise.yaml': text });
    const outside = await createCheckout({ 'policies.yaml': `key: ${SECRET}\n` });
    await symlink(outside, join(scene.folder, 'm/out'));
    const { exitCode, stdout, stderr } = await scene.run('plan ~/m/edgewise.yaml --untrusted', env);
    expect(stdout + stderr).toContain(said);
    expect(exitCode).toBe(3);
    for (const secret of [KEY, SECRET]) expect(stdout + stderr).not.toContain(secret);
    expect(readdirSync(outside)).toEqual(['policies.yaml']);
    expect(readdirSync(scene.folder).sort()).toEqual(['.git', 'm']);
  });

  it('a URL that it chooses', async () => {
    const scene = await createInstalledWorkspace();
    const { url, heard } = scene.listener;
    await scene.write('m/edgewise.yaml', toStack('test', { api: { base_url: url } }));
    const { exitCode, stdout, stderr } = await scene.run('plan ~/m --untrusted');
    expect(stdout + stderr).toContain('untrusted-setting');
    expect(exitCode).toBe(3);
    expect(heard).toEqual([]);
  });
});

describe('a file that a pull request commits', () => {
  it('is not overwritten by a report, nor is the target of a committed link', async () => {
    const scene = await createInstalledWorkspace({ ...OWN, 'plan.md': '# nothing to do\n', 'mine.html': 'mine\n' });
    await symlink('mine.html', join(scene.folder, 'plan.html'));
    rmSync(join(scene.folder, '.git'), { recursive: true });
    for (const words of [
      ['init', '-q'],
      ['add', '-f', 'plan.md', 'plan.html'],
    ])
      execFileSync('git', words, { cwd: scene.folder });
    for (const report of ['markdown=~/plan.md', 'html=~/plan.html'])
      expect((await scene.run(`plan ~/m --report ${report}`)).exitCode).toBe(3);
    expect([scene.read('plan.md'), scene.read('mine.html')]).toEqual(['# nothing to do\n', 'mine\n']);
  });

  it('contains no command for the runner of a job', async () => {
    const lures = '##[add-mask]true ::add-mask::true\n::set-output name=a::b\n##[group]x';
    const scene = await createInstalledWorkspace({ 'm/edgewise.yaml': toManifestText(lures) });
    const { stdout, stderr } = await scene.run('plan ~/m', { GITHUB_ACTIONS: 'true' });
    expect(stdout).toContain('add-mask');
    expect(listObeyed(stdout + stderr)).toEqual([]);
  });

  it('is not applied before the merge', async () => {
    const scene = await createInstalledWorkspace();
    expect((await scene.run('apply ~/m --yes --untrusted')).exitCode).toBe(5);
    expect(await listLive(scene)).not.toContain('hostports');
  });
});

describe('another process', () => {
  it('does not overwrite what this one writes to a file of the embedded server', async () => {
    const scene = await createInstalledWorkspace({
      ...OWN,
      'n/edgewise.yaml': `${toStack('other')}${toEdge('gate', 20_003)}`,
    });
    const url = `embedded:${join(scene.folder, 'data.json')}`;
    const apply = (folder: string) => scene.run(`apply ~/${folder} --yes --base-url ${url}`);
    expect((await Promise.all([apply('m'), apply('n')])).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    for (const port of ['20002', '20003']) expect(scene.read('data.json')).toContain(port);
  });

  it('reaches no server with a well-known key', async () => {
    const { exitCode, stderr } = await runEdgewise(['serve', '--port', '0', '--host', '0.0.0.0']);
    expect(stderr).toContain('everyone knows the API key `dev`');
    expect(exitCode).toBe(3);
  });
});
