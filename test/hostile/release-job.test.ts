import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { startRegistry } from '../pipelines/registry.ts';

/** The parts of a workflow that these tests read. */
interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly needs?: string;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly {
    readonly name?: string;
    readonly uses?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
  }[];
}

async function readJobs(): Promise<readonly (readonly [string, Job])[]> {
  const workflow: Workflow = parse(await readFile('.github/workflows/release.yml', 'utf8'));
  expect(workflow.permissions).toEqual({});
  return Object.entries(workflow.jobs);
}

/** Whether a job has a permission or an environment for publishing. */
function canPublish([, { permissions = {}, environment }]: readonly [string, Job]): boolean {
  return environment !== undefined || Object.values(permissions).includes('write');
}

/** Creates a folder with a package that would run a script at each step of npm. It is packed without running one. */
async function createPackage({
  version = '1.0.0',
  repository = 'git+https://github.com/ada/edgewise.git',
} = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-release-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const names = [
    'prepare',
    'prepublish',
    'prepublishOnly',
    'prepack',
    'postpack',
    'publish',
    'postpublish',
    'preinstall',
    'postinstall',
  ];
  const scripts = Object.fromEntries(
    names.map((name) => [name, `node -e "fs.writeFileSync('${folder}/ran-${name}', '')"`]),
  );
  await mkdir(join(folder, 'source'));
  await writeFile(
    join(folder, 'source/package.json'),
    JSON.stringify({ name: 'edgewise-of-a-test', version, repository: { type: 'git', url: repository }, scripts }),
  );
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
    cwd: join(folder, 'source'),
    stdio: 'pipe',
  });
  await mkdir(join(folder, 'package'));
  execFileSync('mv', [join(folder, `edgewise-of-a-test-${version}.tgz`), join(folder, 'package/package.tgz')]);
  return folder;
}

it('installs, builds and tests in a job that cannot publish', async () => {
  const jobs = await readJobs();
  const building = jobs.filter(([, { steps }]) =>
    steps.some(({ run = '' }) => /npm (?:ci|install|test|run|pack|exec)|npx|node /.test(run)),
  );
  expect(building.map(([name]) => name)).toEqual(['build']);
  expect(building.filter(canPublish)).toEqual([]);
  expect(building.flatMap(([, { permissions = {} }]) => Object.values(permissions))).toEqual(['read']);
});

it('publishes in a job without a checkout, which compares and publishes one tarball', async () => {
  const [publishing, ...others] = (await readJobs()).filter(canPublish);
  expect(others).toEqual([]);
  const { needs, steps = [], permissions } = publishing?.[1] ?? { steps: [] };
  expect({ needs, permissions }).toEqual({ needs: 'build', permissions: { 'id-token': 'write' } });
  expect(steps.flatMap(({ uses = [] }) => uses).map((uses) => uses.split('@')[0])).toEqual([
    'actions/setup-node',
    'actions/download-artifact',
  ]);
  expect(steps.flatMap(({ run = [] }) => run)).toEqual([
    'echo "$SHA256  package.tgz" | sha256sum --check --strict',
    'case $GITHUB_REF_NAME in *-*) tag=next ;; *) tag=latest ;; esac\nnpm publish ./package.tgz --provenance --access public --ignore-scripts --tag "$tag"\n',
  ]);
});

it('publishes only the tested tarball', async () => {
  const jobs = new Map(await readJobs());
  const { run = '', env = {} } =
    jobs.get('publish')?.steps.find(({ run: line = '' }) => line.includes('sha256sum')) ?? {};
  expect(env['SHA256']).toContain(' needs.build.outputs.sha256 ');
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-release-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'package.tgz'), 'tested');
  const compare = (sha256: string) =>
    spawnSync('bash', ['-e', '-c', run], { cwd: folder, env: { ...process.env, SHA256: sha256 } }).status;
  expect(compare(createHash('sha256').update('tested').digest('hex'))).toBe(0);
  for (const other of ['', 'x', createHash('sha256').update('other').digest('hex')])
    expect(compare(other), other).not.toBe(0);
});

/** Runs the last step of the release job in the repository ada/edgewise, as it is, with a registry of this test. */
async function publish(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  const jobs = new Map(await readJobs());
  const { run = '' } = jobs.get('publish')?.steps.at(-1) ?? {};
  const options = { cwd: join(folder, 'package'), env: { ...process.env, ...env } };
  const { stdout, stderr } = await promisify(execFile)('bash', ['-e', '-c', run], options).catch((error) => error);
  return stdout + stderr;
}

it.each([
  ['1.0.0', 'latest'],
  ['1.0.0-rc.1', 'next'],
])('runs no script of the package while it publishes %s, with the tag %s', async (version, tag) => {
  const registry = await startRegistry();
  const folder = await createPackage({ version });
  const output = await publish(folder, {
    ...registry.toJobEnvironment('ada/edgewise'),
    GITHUB_REF_NAME: `v${version}`,
  });
  expect(output).toContain(`edgewise-of-a-test@${version}`);
  expect(registry.published).toMatchObject([{ version, tags: [tag], source: 'https://github.com/ada/edgewise' }]);
  expect(await readdir(folder)).toEqual(['package', 'source']);
});

it.each([
  ['', '"repository.url" is "", expected to match "https://github.com/ada/edgewise" from provenance'],
  [
    'git+https://github.com/eve/edgewise.git',
    '"repository.url" is "git+https://github.com/eve/edgewise.git", expected',
  ],
])(
  'publishes nothing if the manifest names the repository %j, for which the registry refuses the provenance',
  async (repository, message) => {
    const registry = await startRegistry();
    const folder = await createPackage({ repository });
    const env = { ...registry.toJobEnvironment('ada/edgewise'), GITHUB_REF_NAME: 'v1.0.0' };
    expect(await publish(folder, env)).toContain(message);
    expect(registry.published).toEqual([]);
  },
);

it('publishes nothing without a token of the job', async () => {
  const registry = await startRegistry();
  const folder = await createPackage();
  const { ACTIONS_ID_TOKEN_REQUEST_URL: _, ...env } = registry.toJobEnvironment('ada/edgewise');
  expect(await publish(folder, { ...env, GITHUB_REF_NAME: 'v1.0.0' })).toMatch(/npm error/);
  expect(registry.published).toEqual([]);
});
