import { globSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { readRepository, refreshPins } from '../../.ci/repository.ts';
import { createServer, type Listener, listen, parseApiKey, type Server } from '../../src/server/index.ts';
import { atUrl, sendByHand } from '../by-hand.ts';
import { toEdge } from '../cli/workspace.ts';
import { type FakeForge, startFakeForge, WORKFLOW_TOKEN } from '../forge/fake-forge.ts';
import { toRepository, toStack } from '../repository/tree.ts';
import { createKustomizeTree, findRenderingBlock, writeFiles } from './kustomize-tree.ts';
import { packCommandLine } from './pack-command-line.ts';
import { describeWith, isInstalled, REQUIRED, runTool, type ToolResult } from './tools.ts';

const EXAMPLES = 'examples/pipelines/github';
const STACK_JOBS = 'docs/how-to/stack-jobs.md';
const DRIFT_PAGE = 'docs/how-to/drift.md';
const WORKFLOWS = readdirSync(EXAMPLES).filter((file) => file.endsWith('.yml'));
const ACTIONS = globSync('.github/actions/*/action.yml').sort();

describeWith(['actionlint', 'zizmor', 'check-jsonschema'], 'the workflows and actions', () => {
  it('have no finding of actionlint', async () => {
    const own = readdirSync('.github/workflows').map((file) => join('.github/workflows', file));
    const examples = WORKFLOWS.map((file) => join(EXAMPLES, file));
    expect(await runTool('actionlint', [...own, ...examples])).toEqual({ status: 0, output: '' });
    // It compares the inputs with an action only if the action is in the same repository.
    const folder = await createExamples(useLocalActions);
    expect(await runTool('actionlint', [], { cwd: folder })).toEqual({ status: 0, output: '' });
  });

  it('have no finding of zizmor in its strictest mode', async () => {
    const { url } = readRepository();
    const pinned = await createExamples((text) => refreshPins(text, { url, commit: '1a2b'.repeat(10) }));
    const { status, output } = await runTool('zizmor', ['--offline', '--persona', 'pedantic', '.github', pinned]);
    expect(output).toMatch(/No findings to report/);
    expect(status).toBe(0);
  });

  it('conform to their schemas', async () => {
    const check = (schema: string, files: readonly string[]) =>
      runTool('check-jsonschema', ['--builtin-schema', `vendor.${schema}`, ...files]);
    expect(await check('github-actions', ACTIONS)).toMatchObject({ status: 0 });
    expect(
      await check(
        'github-workflows',
        WORKFLOWS.map((file) => join(EXAMPLES, file)),
      ),
    ).toMatchObject({ status: 0 });
  });
});

/** Creates a repository with the actions and the example workflows. */
async function createExamples(change: (text: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-examples-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp('.github/actions', join(folder, '.github', 'actions'), { recursive: true });
  await mkdir(join(folder, '.github', 'workflows'));
  for (const file of WORKFLOWS)
    await writeFile(join(folder, '.github', 'workflows', file), change(readFileSync(join(EXAMPLES, file), 'utf8')));
  await runTool('git', ['init', '-q'], { cwd: folder });
  return folder;
}

/** Takes the actions of edgewise from the repository itself. */
function useLocalActions(text: string): string {
  return text.replaceAll(/[\w.-]+\/[\w.-]+(\/\.github\/actions\/[\w-]+)@[\w.-]+/g, '.$1');
}

/** The same, and installs edgewise from an archive. */
function setUpWith(archive: string, text: string): string {
  return useLocalActions(text).replaceAll(
    /^( +)- uses: .*setup$/gm,
    `$&\n$1  with: { package: ${JSON.stringify(archive)} }`,
  );
}

/** A `gh` that writes down how it is called, the text of a pull request, and its environment. */
function createFakeGh(folder: string): string {
  return `#!/bin/sh
env >>'${folder}/environment'
if [ "$2" = create ]; then
  echo "$1 $2 $3 $4" >>'${folder}/gh.log'
  cp "$8" '${folder}/body.md'
else
  echo "$*" >>'${folder}/gh.log'
fi
`;
}

describeWith(['act', 'git', 'npm'], 'a repository that uses the actions', () => {
  let work: string;
  let archive: string;
  let forge: FakeForge;
  let service: Listener;
  let server: Server;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'edgewise-actions-'));
    archive = await packCommandLine(work);
  }, 120_000);
  afterAll(() => rm(work, { recursive: true, force: true }));

  beforeEach(async () => {
    forge = await startFakeForge();
    server = createServer({ apiKeys: [parseApiKey('key-of-the-pipeline:admin')], now: () => new Date() });
    service = await listen(server, { port: 0 });
    return async () => {
      await service.close();
      await forge.close();
    };
  });

  it('posts its plan as one comment, applies it after the merge, and keeps an issue open while something drifts', async () => {
    const repository = await createRepository();
    const planned = await run(repository, 'plan.yml', 'pull_request');
    expect(planned.status, planned.output).toBe(0);
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toMatch(/^<!-- edgewise:plan stack=quickstart -->/);
    expect(forge.comments[0]?.body).toContain('TCPEdge/postgres');
    expect(planned.output).toMatch(/::notice .*title=edgewise/);
    expect(await readdirSorted(join(repository, 'artifacts', 'edgewise-plan'))).toEqual(PLAN_FILES);
    await run(repository, 'plan.yml', 'pull_request');
    expect(forge.comments).toHaveLength(1);

    const applied = await run(repository, 'apply.yml', 'push');
    expect(applied.status, applied.output).toBe(0);
    expect(forge.comments[1]?.body).toMatch(/^<!-- edgewise:apply stack=quickstart -->/);
    const [shown, asked] = ['+ TCPEdge/postgres', 'Apply that plan'].map((text) => applied.output.indexOf(text));
    expect(shown).toBeGreaterThan(0);
    expect(asked).toBeGreaterThan(shown ?? 0);

    const again = await run(repository, 'apply.yml', 'push');
    expect(again.status, again.output).toBe(0);
    expect(again.output).not.toContain('Apply that plan');

    expect((await run(repository, 'drift.yml', 'workflow_dispatch')).status).toBe(0);
    expect(forge.issues).toEqual([]);
    await changeBehindItsBack('changed once');
    expect((await run(repository, 'drift.yml', 'workflow_dispatch')).status).toBe(0);
    expect(forge.issues).toMatchObject([{ title: 'edgewise drift: stack quickstart', state: 'open' }]);
    await changeBehindItsBack('changed twice');
    await run(repository, 'drift.yml', 'workflow_dispatch');
    expect(forge.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('changed twice') }]);
    await run(repository, 'apply.yml', 'push');
    await run(repository, 'drift.yml', 'workflow_dispatch');
    expect(forge.issues).toMatchObject([{ state: 'closed' }]);
    expect(planned.output + applied.output).not.toContain('key-of-the-pipeline');
  }, 300_000);

  it('plans the stacks that a pull request changes in one comment, and applies and watches all of them', async () => {
    const repository = await createRepository();
    await rm(join(repository, 'manifests'), { recursive: true });
    const write = async (name: string, port: number): Promise<void> => {
      await mkdir(join(repository, 'live', name), { recursive: true });
      await writeFile(join(repository, 'live', name, 'edgewise.yaml'), `${toStack(name)}${toEdge(name, port)}`);
    };
    for (const [index, name] of ['a', 'b', 'c'].entries()) await write(name, 20_001 + index);
    for (const file of WORKFLOWS) {
      const path = join(repository, '.github', 'workflows', file);
      const text = await readFile(path, 'utf8');
      const since = file === 'plan.yml' ? '\n          changed-since: HEAD~1' : '';
      await writeFile(
        path,
        text.replaceAll('manifests: manifests', `manifests: live\n          recursive: "true"${since}`),
      );
    }
    await commitAgain(repository);
    await write('b', 20_012);
    await commitAgain(repository);

    const planned = await run(repository, 'plan.yml', 'pull_request');
    expect(planned.status, planned.output).toBe(0);
    expect(forge.comments).toHaveLength(1);
    expect(forge.comments[0]?.body).toContain('1 of 3 stacks below live changed since');
    expect(await readdirSorted(join(repository, 'artifacts', 'edgewise-plan', 'plans'))).toEqual(['b.json']);

    const applied = await run(repository, 'apply.yml', 'push');
    expect(applied.status, applied.output).toBe(0);
    expect(server.snapshot().resources['TCPEdge']).toHaveLength(3);
    expect(forge.comments).toHaveLength(2);
    await changeBehindItsBack('changed');
    expect((await run(repository, 'drift.yml', 'workflow_dispatch')).status).toBe(0);
    expect(forge.issues).toMatchObject([{ state: 'open', body: expect.stringContaining('changed') }]);
  }, 300_000);

  it.skipIf(!isInstalled('kustomize') && REQUIRED === undefined)(
    'plans and applies what a step of the workflow renders, which has no key',
    async () => {
      const repository = await createManyStacks('rendered');
      await rm(join(repository, 'rendered'), { recursive: true });
      await writeFiles(repository, createKustomizeTree('live'));
      const [step = ''] = findRenderingBlock(readFileSync(join(EXAMPLES, 'README.md'), 'utf8')).split('      - uses:');
      const environment = join(repository, '..', 'environment');
      const seen = `          env >>'${environment}'\n`;
      for (const file of WORKFLOWS) {
        const path = join(repository, '.github', 'workflows', file);
        const text = await readFile(path, 'utf8');
        await writeFile(path, text.replaceAll(/^ {6}- uses: \.\/\.github\/actions\/(?!setup)/gm, `${step}${seen}$&`));
      }
      await commitAgain(repository);
      const planned = await run(repository, 'plan.yml', 'pull_request');
      expect(planned.status, planned.output).toBe(0);
      expect(forge.comments[0]?.body).toContain('2 stacks');
      const applied = await run(repository, 'apply.yml', 'push');
      expect(applied.status, applied.output).toBe(0);
      expect(JSON.stringify(server.snapshot().resources['TCPEdge']).match(/:200\d\d/g)).toEqual([':20011', ':20012']);
      expect((await run(repository, 'drift.yml', 'workflow_dispatch')).status).toBe(0);
      expect(forge.issues).toEqual([]);
      const variables = await readFile(environment, 'utf8');
      expect(variables.match(/^GITHUB_JOB=/gm)).toHaveLength(4);
      expect(variables).not.toContain('key-of-the-pipeline');
    },
    300_000,
  );

  it('applies after a merge what the pull request approved, though another change was merged in between', async () => {
    const repository = await createRepository();
    await rm(join(repository, 'manifests'), { recursive: true });
    const write = async (name: string, port: number): Promise<void> => {
      await mkdir(join(repository, 'live', name), { recursive: true });
      await writeFile(join(repository, 'live', name, 'edgewise.yaml'), `${toStack(name)}${toEdge(name, port)}`);
    };
    const workflows = join(repository, '.github', 'workflows');
    const plan = await readFile(join(workflows, 'plan.yml'), 'utf8');
    const recursive = 'manifests: live\n          recursive: "true"\n          changed-since: HEAD~1';
    await writeFile(join(workflows, 'plan.yml'), plan.replaceAll('manifests: manifests', recursive));
    const approved = '--approved "$ARTIFACTS/edgewise-plan/plans"';
    for (const [file, options] of [
      ['approved.yml', approved],
      ['all.yml', ''],
    ] as const)
      await writeFile(join(workflows, file), createApplyWorkflow(plan, `edgewise apply -R live ${options} --yes`));
    for (const [index, name] of ['a', 'b', 'c'].entries()) await write(name, 20_001 + index);
    await commitAgain(repository);
    const first = await run(repository, 'all.yml', 'push');
    expect(first.status, first.output).toBe(0);
    const listPorts = () =>
      JSON.stringify(server.snapshot().resources['TCPEdge'])
        .match(/:200\d\d/g)
        ?.sort();
    expect(listPorts()).toEqual([':20001', ':20002', ':20003']);

    await write('b', 20_012);
    await commitAgain(repository);
    const planned = await run(repository, 'plan.yml', 'pull_request');
    expect(planned.status, planned.output).toBe(0);
    expect(forge.comments[0]?.body).toContain('1 of 3 stacks below live changed since');

    // Another pull request, which changes c, is merged first and not applied.
    await write('c', 20_013);
    await commitAgain(repository);
    const early = await run(repository, 'approved.yml', 'push');
    expect(early.status).not.toBe(0);
    expect(early.output).toContain('plans has none for this stack');
    expect(listPorts()).not.toContain(':20013');

    // When that one is applied, the approval of b is still valid. It is not valid for another change of b.
    const all = await run(repository, 'all.yml', 'push');
    expect(all.status, all.output).toBe(0);
    const again = await run(repository, 'approved.yml', 'push');
    expect(again.status, again.output).toBe(0);
    await write('b', 20_022);
    await commitAgain(repository);
    const changed = await run(repository, 'approved.yml', 'push');
    expect(changed.status).not.toBe(0);
    expect(changed.output).toContain('exit status 6');
    expect(listPorts()).toEqual([':20001', ':20012', ':20013']);
  }, 600_000);

  it('plans each of twelve stacks in a job of the page, with a plan file and a comment of its own, and no stack if the list fails', async () => {
    const repository = await createTwelve();
    const planned = await run(repository, 'stack-jobs.yml', 'pull_request');
    expect(planned.status, planned.output).toBe(0);
    const names = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    const markers = forge.comments.map(({ body }) => body.split('\n')[0]).sort();
    expect(markers).toEqual(names.map((name) => `<!-- edgewise:plan-stacks stack=live%20${name} -->`));
    for (const name of names)
      expect(await readdir(join(repository, 'artifacts', `edgewise-${name}`, 'plans'))).toContain(`${name}.json`);
    // A name that would act on a shell ends the list, and no job plans.
    await writeFile(join(repository, 'live/s03/edgewise.yaml'), toStack('s03 --stack=s04'));
    await commitAgain(repository);
    const refused = await run(repository, 'stack-jobs.yml', 'pull_request');
    expect(refused.status).not.toBe(0);
    expect(refused.output).toContain('The Stack in live/s03/edgewise.yaml has no valid name.');
    expect(refused.output).not.toMatch(/edgewise\/plan|Plan for/);
    expect(forge.comments).toHaveLength(12);
  }, 600_000);

  it('proposes drift as a pull request whose text is the report, in the job of the page', async () => {
    const repository = await createRepository();
    const remote = await mkdtemp(join(work, 'remote-'));
    await writeFile(join(remote, 'gh'), createFakeGh(remote), { mode: 0o755 });
    await runTool('git', ['init', '--quiet', '--bare', join(remote, 'r.git')]);
    await runTool('git', ['remote', 'add', 'origin', join(remote, 'r.git')], { cwd: repository });
    await cp('examples/pipelines/accept-drift.sh', join(repository, 'accept-drift.sh'));
    const [, block = ''] =
      /```yaml\n# (?:.*accept-drift\.yml)\n([\s\S]*?)```/.exec(readFileSync(DRIFT_PAGE, 'utf8')) ?? [];
    await writeFile(join(repository, '.github/workflows/accept-drift.yml'), setUpWith(archive, block));
    await commitAgain(repository);
    expect((await run(repository, 'apply.yml', 'push')).status).toBe(0);
    await changeBehindItsBack('by hand');
    const path = `${remote}:${process.env['PATH']}`;
    const proposed = await run(repository, 'accept-drift.yml', 'schedule', { path });
    expect(proposed.status, proposed.output).toBe(0);
    const { output } = await runTool('git', [
      '--git-dir',
      join(remote, 'r.git'),
      'show',
      '--format=%s',
      'edgewise/drift',
    ]);
    expect(output.match(/^(?:[-+] .*|\w.* service)$/gm)).toEqual([
      'Keep what was changed at the service',
      expect.stringMatching(/^- {2}description: /),
      '+  description: by hand',
    ]);
    expect(await readFile(join(remote, 'gh.log'), 'utf8')).toBe(
      'run list --workflow apply.yml --status in_progress --limit 1 --json url --jq .[].url\npr create --head edgewise/drift\n',
    );
    expect(await readFile(join(remote, 'body.md'), 'utf8')).toMatch(
      /^<!-- edgewise:drift stack=quickstart -->[\s\S]*by hand/,
    );
    expect(await readFile(join(remote, 'environment'), 'utf8')).not.toContain('key-of-the-pipeline');
    expect(proposed.output).not.toContain('key-of-the-pipeline');
  }, 300_000);

  it('posts its plan with the workflow of the page, too', async () => {
    const repository = await createRepository();
    const page = readFileSync('docs/how-to/pipelines.md', 'utf8');
    const [, block = ''] = /```yaml\n(name: plan\non: pull_request\n[\s\S]*?)```/.exec(page) ?? [];
    await writeFile(join(repository, '.github/workflows/page.yml'), setUpWith(archive, block));
    await commitAgain(repository);
    const planned = await run(repository, 'page.yml', 'pull_request');
    expect(planned.status, planned.output).toBe(0);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdge/postgres') }]);
  }, 120_000);

  it('compares the plan of a merge queue with the approved one of its pull request, and passes', async () => {
    const repository = await createRepository();
    expect((await run(repository, 'plan.yml', 'pull_request')).status).toBe(0);
    forge.runs.push({ id: 42, event: 'pull_request', head_sha: 'abc', status: 'success' });
    await writeFile(join(repository, 'manifests/others.yaml'), toEdge('others', 20_009).replace(/^---\n/, ''));
    await commitAgain(repository);
    const more = { GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-7-abc' };
    const queued = await run(repository, 'plan.yml', 'merge_group', { more });
    expect(queued.status, queued.output).toBe(0);
    expect(queued.output).toMatch(/compared[\s\S]*Only in .*plan\.json[\s\S]*\+ TCPEdge\/others/);
    expect(forge.comments).toHaveLength(1);
  }, 300_000);

  it('validates a pull request of a fork, which has no secrets, and is green', async () => {
    const repository = await createRepository();
    const pull = { ...EVENT.pull_request, head: { repo: { full_name: 'fork/r' } } };
    await writeFile(join(repository, 'event.json'), JSON.stringify({ ...EVENT, pull_request: pull }));
    const validated = await run(repository, 'plan.yml', 'pull_request', { key: '' });
    expect(validated.status, validated.output).toBe(0);
    expect(validated.output).toContain('There is no plan: GitHub gives no secrets to runs of forks');
    expect(forge.comments).toEqual([]);
    await writeFile(join(repository, 'manifests', 'wrong.yaml'), 'apiVersion: edgewise/v1\nkind: TCPEdgee\n');
    expect((await run(repository, 'plan.yml', 'pull_request', { key: '' })).status).not.toBe(0);
  }, 300_000);

  it('gives later steps the result of a plan', async () => {
    const repository = await createRepository();
    const workflow = join(repository, '.github', 'workflows', 'plan.yml');
    const names = ['has-changes', 'counts', 'dangers', 'exit-code', 'plan'];
    const lines = names.map(
      (name) => `          echo '${name}:' "$(jq -c . <<< '\${{ toJSON(steps.it.outputs.${name}) }}')"\n`,
    );
    const text = (await readFile(workflow, 'utf8')).replace('actions/plan\n', 'actions/plan\n        id: it\n');
    await writeFile(workflow, `${text}      - run: |\n${lines.join('')}`);
    const { output } = await run(repository, 'plan.yml', 'pull_request');
    const found = names.map((name) => new RegExp(`\\| ${name}: (.*)`).exec(output)?.[1]);
    expect(found).toEqual([
      '"true"',
      '"{\\"create\\":3}"',
      expect.stringMatching(/^"\{\\"access\\":\d,.*protection\\":0\}"$/),
      '"2"',
      expect.stringMatching(/edgewise-\w+\/plan\.json"$/),
    ]);
  }, 120_000);

  it('fails with the exit code of edgewise, and shows the reason in the comment, if the manifests are wrong', async () => {
    const repository = await createRepository();
    await writeFile(join(repository, 'manifests', 'wrong.yaml'), 'apiVersion: edgewise/v1\nkind: TCPEdgee\n');
    const { status, output } = await run(repository, 'plan.yml', 'pull_request');
    expect(status).not.toBe(0);
    expect(output).toMatch(/exit status 3|exitcode '3'/);
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdgee') }]);
  }, 120_000);

  it('installs edgewise of the pinned commit if no package is named, and reports a commit without one', async () => {
    const [checkOut] = /uses: actions\/checkout@\S+/.exec(readFileSync(join(EXAMPLES, 'plan.yml'), 'utf8')) ?? [];
    const steps = `{ ${checkOut} }, { uses: ./.github/actions/setup }, { run: edgewise --version }`;
    const uses = `on: push\njobs: { it: { runs-on: ubuntu-latest, steps: [${steps}] } }\n`;
    const checkout = await mkdtemp(join(work, 'checkout-'));
    for (const path of [
      '.ci',
      '.github/actions',
      'docs/diagnostics.md',
      'src',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'LICENSE',
    ])
      await cp(path, join(checkout, path), { recursive: true });
    await symlink(resolve('node_modules'), join(checkout, 'node_modules'));
    await commit(checkout, { 'setup.yml': uses });
    const built = await run(checkout, 'setup.yml', 'push');
    expect(built.status, built.output).toBe(0);
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    expect(built.output.split(`| ${version}\n`), built.output).toHaveLength(3);

    await rm(join(checkout, 'package.json'));
    const copied = await run(checkout, 'setup.yml', 'push');
    expect(copied.status).not.toBe(0);
    expect(copied.output).toContain('Say with its input package what to install.');
  }, 300_000);

  /** A repository with the stacks a and b in a folder. */
  async function createManyStacks(root: string): Promise<string> {
    const repository = await createRepository();
    await rm(join(repository, 'manifests'), { recursive: true });
    for (const [name, port] of [
      ['a', 20_001],
      ['b', 20_002],
    ] as const) {
      await mkdir(join(repository, root, name), { recursive: true });
      await writeFile(join(repository, root, name, 'edgewise.yaml'), `${toStack(name)}${toEdge(name, port)}`);
    }
    for (const file of WORKFLOWS) {
      const path = join(repository, '.github', 'workflows', file);
      const more = `manifests: ${root}\n          recursive: "true"`;
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.replaceAll('manifests: manifests', more));
    }
    await commitAgain(repository);
    return repository;
  }

  /** A repository of twelve stacks with the workflow of the page, all of them new on a branch. */
  async function createTwelve(): Promise<string> {
    const repository = await createRepository();
    await rm(join(repository, 'manifests'), { recursive: true });
    const [, block = ''] = /```yaml\n(on: pull_request\n[\s\S]*?)```/.exec(readFileSync(STACK_JOBS, 'utf8')) ?? [];
    await writeFile(join(repository, '.github/workflows/stack-jobs.yml'), setUpWith(archive, block));
    await runTool('git', ['update-ref', 'refs/remotes/origin/main', 'HEAD'], { cwd: repository });
    for (const [file, text] of Object.entries(toRepository(12))) {
      await mkdir(dirname(join(repository, file)), { recursive: true });
      await writeFile(join(repository, file), text);
    }
    await commitAgain(repository);
    return repository;
  }

  async function createRepository(): Promise<string> {
    const folder = await mkdtemp(join(work, 'repository-'));
    await cp('.github/actions', join(folder, '.github', 'actions'), { recursive: true });
    await cp('examples/quickstart', join(folder, 'manifests'), { recursive: true });
    const workflows = WORKFLOWS.map((file) => [file, setUpWith(archive, readFileSync(join(EXAMPLES, file), 'utf8'))]);
    await commit(folder, Object.fromEntries(workflows));
    return folder;
  }

  /** Makes a folder a repository with these workflows. */
  async function commit(folder: string, workflows: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(join(folder, '.github', 'workflows'), { recursive: true });
    for (const [file, text] of Object.entries(workflows))
      await writeFile(join(folder, '.github', 'workflows', file), text);
    await writeFile(join(folder, 'event.json'), JSON.stringify(EVENT));
    for (const args of [
      ['init', '-q', '-b', 'main'],
      ['add', '-A'],
      [...AUTHOR, 'commit', '-qm', 'manifests'],
    ])
      await runTool('git', args, { cwd: folder });
  }

  async function commitAgain(folder: string): Promise<void> {
    await runTool('git', ['add', '-A'], { cwd: folder });
    await runTool('git', [...AUTHOR, 'commit', '-qm', 'more'], { cwd: folder });
  }

  /** Runs a workflow on this machine, with stubs for the actions that only work at GitHub. */
  async function run(
    repository: string,
    workflow: string,
    event: string,
    { path = process.env['PATH'], key = 'key-of-the-pipeline', more = {} }: RunOptions = {},
  ): Promise<ToolResult> {
    const home = await mkdtemp(join(work, 'home-'));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const env = {
      GITHUB_API_URL: forge.url,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_SHA: 'abc',
      // What act does not set.
      GITHUB_WORKFLOW_REF: `o/r/.github/workflows/${workflow}@refs/heads/main`,
      ARTIFACTS: join(repository, 'artifacts'),
      ...more,
    };
    const args = [
      ...[event, '--workflows', join('.github/workflows', workflow), '--eventpath', 'event.json'],
      ...['--platform', 'ubuntu-latest=-self-hosted'],
      ...(await listStubs()).flatMap((stub) => ['--local-repository', stub]),
      ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...['--var', `EDGEWISE_BASE_URL=${service.url}`],
      ...['--secret', `GITHUB_TOKEN=${WORKFLOW_TOKEN}`, '--secret', `EDGEWISE_API_KEY=${key}`],
    ];
    const PATH = `${dirname(process.execPath)}:${path}`;
    return runTool('act', args, { cwd: repository, env: { PATH, XDG_CACHE_HOME: home, HOME: home } });
  }

  async function changeBehindItsBack(description: string): Promise<void> {
    const account = atUrl(service.url, 'key-of-the-pipeline');
    const list = await sendByHand(account, 'GET', '/edges/tcp');
    const id = /edgtcp_\w+/.exec(JSON.stringify(list))?.[0];
    await sendByHand(account, 'PATCH', `/edges/tcp/${id}`, { description });
  }
});

/** `more`: variables of the runner. `key`: the secret. */
interface RunOptions {
  readonly path?: string | undefined;
  readonly key?: string;
  readonly more?: Readonly<Record<string, string>>;
}

const AUTHOR = ['-c', 'user.email=ada@example.com', '-c', 'user.name=Ada'];
const EVENT = {
  repository: { full_name: 'o/r', default_branch: 'main' },
  pull_request: { number: 7, base: { ref: 'main' }, head: { repo: { full_name: 'o/r' } } },
};

/** A workflow that runs a command on the default branch, with the setup steps of another workflow. */
function createApplyWorkflow(plan: string, command: string): string {
  const steps = plan.slice(plan.indexOf('    steps:'), plan.indexOf('      - uses: ./.github/actions/plan'));
  const env = `{ EDGEWISE_BASE_URL: "\${{ vars.EDGEWISE_BASE_URL }}", EDGEWISE_API_KEY: "\${{ secrets.EDGEWISE_API_KEY }}" }`;
  return `on: push\njobs:\n  apply:\n    runs-on: ubuntu-latest\n${steps}      - run: ${command}\n        env: ${env}\n`;
}

const PLAN_FILES = ['plan.html', 'plan.json', 'plan.md', 'plan.sarif', 'plan.txt'];

async function readdirSorted(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).sort();
}

/** Lists the actions of workflows by their pinned commit, each with the folder of its stub. */
async function listStubs(): Promise<readonly string[]> {
  const files = [...WORKFLOWS.map((file) => join(EXAMPLES, file)), ...ACTIONS];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const used = texts.flatMap((text) => Array.from(text.matchAll(/uses: (actions\/([\w-]+)@[0-9a-f]{40})/g)));
  const stubs = new Map(used.map(([, action = '', name = '']) => [action, name]));
  return [...stubs].map(([action, name]) => `${action}=${resolve('test/pipelines/stubs', name)}`);
}
