import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

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
async function createPackage(): Promise<string> {
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
    JSON.stringify({ name: 'edgewise-of-a-test', version: '1.0.0', scripts }),
  );
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
    cwd: join(folder, 'source'),
    stdio: 'pipe',
  });
  await mkdir(join(folder, 'package'));
  execFileSync('mv', [join(folder, 'edgewise-of-a-test-1.0.0.tgz'), join(folder, 'package/package.tgz')]);
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
    'npm publish ./package.tgz --provenance --access public --ignore-scripts',
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

it('runs no script of the package while it publishes', async () => {
  const folder = await createPackage();
  const jobs = new Map(await readJobs());
  const { run = '' } = jobs.get('publish')?.steps.at(-1) ?? {};
  // Provenance needs GitHub, and the registry is not used.
  const line = `${run.replace('--provenance ', '')} --dry-run`;
  const result = spawnSync('bash', ['-e', '-c', line], { cwd: join(folder, 'package'), encoding: 'utf8' });
  expect(result.stdout + result.stderr).toContain('edgewise-of-a-test@1.0.0');
  expect(await readdir(folder)).toEqual(['package', 'source']);
});
