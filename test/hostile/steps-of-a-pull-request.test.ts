import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { toEdge } from '../cli/workspace.ts';
import { PROGRAM } from '../end-to-end/processes.ts';
import { WORKFLOW_TOKEN } from '../forge/fake-forge.ts';
import { runTool } from '../pipelines/tools.ts';
import { toStack } from '../repository/tree.ts';
import { type RanAction, readWorkflowSteps, runAction } from './action-steps.ts';
import { type JobEnvironment, KEY, startJobEnvironment } from './job.ts';
import { listObeyed } from './runner.ts';

/** The steps of the actions for GitHub, with files and names of folders that are all chosen by the author of a pull request. */

const LURES = [
  '##[add-mask]true',
  'text before ##[add-mask]true',
  '::add-mask::true',
  '\u00a0::set-output name=has-changes::false',
  '::stop-commands::mine',
  '##[stop-commands]mine',
  '::error file=a.yaml::forged',
  '\r::add-mask::true',
  '\u2028::add-mask::true',
];

let service: JobEnvironment['service'];
let forge: JobEnvironment['forge'];
let attacker: JobEnvironment['attacker'];
let checkout: JobEnvironment['checkout'];
let runner: JobEnvironment['runner'];

beforeEach(async () => {
  ({ service, forge, attacker, checkout, runner } = await startJobEnvironment());
});

describe('the key', () => {
  it.each(['plan', 'apply', 'drift'])('reaches no process with the token of the forge: %s', async (action) => {
    await mkdir(join(runner, 'artifacts', 'edgewise-plan'), { recursive: true });
    const started = join(runner, 'started');
    const program = await createProgram(`
      import { appendFileSync, writeFileSync } from 'node:fs';
      const has = (secret) => Object.values(process.env).some((value) => value.includes(secret));
      appendFileSync(${JSON.stringify(started)}, process.argv[2] + ' ' + has(${JSON.stringify(KEY)}) + ' ' + has(${JSON.stringify(WORKFLOW_TOKEN)}) + '\\n');
      const report = process.argv.find((word) => word.startsWith('markdown='));
      if (report) writeFileSync(report.slice('markdown='.length), '# A report');`);
    const { log } = await run(action, { event: action === 'plan' ? 'pull_request' : 'push', program });
    const seen = (await readFile(started, 'utf8')).trim().split('\n');
    expect(seen, log).toEqual([`${action} true false`, 'post false true']);
  });

  it('is in no variable but its own, and in no result of a run', async () => {
    const lure = ['API_KEY', 'INPUT_API_KEY', 'KEY', 'INPUTS_API_KEY'].map((name) => `\${env:${name}:-nothing}`);
    await write({ 'manifests/a.yaml': toStack('a') + toDescribed(lure.join(' ')) });
    const lured = await run('plan');
    expect(lured.outputs['exit-code'], lured.log).toBe('3');
    expect(lured.log).not.toContain(KEY);
    await write({ 'manifests/a.yaml': toStack('a') + toDescribed('nothing') });
    const ran = await run('plan');
    expect(ran.exitCode, ran.log).toBe(0);
    expect(ran.outputs).toMatchObject({ 'exit-code': '2', 'has-changes': 'true', counts: '{"create":1}' });
    const holders = ran.steps.map(({ env }) =>
      Object.entries(env).flatMap(([name, value]) => (value.includes(KEY) ? [name] : [])),
    );
    expect(holders).toEqual([['EDGEWISE_API_KEY'], []]);
    expect(forge.comments).toHaveLength(1);
    expect(
      [lured.log, ran.log, ran.summary, ...forge.comments.map(({ body }) => body), ...(await readArtifacts())].join(
        '\n',
      ),
    ).not.toContain(KEY);
  });

  it('goes to no URL of the pull request', async () => {
    await write({ 'manifests/a.yaml': toStack('a', { api: { base_url: attacker.url } }) + toEdge('a', 20_001) });
    const ran = await run('plan');
    expect(ran.outputs['exit-code'], ran.log).toBe('3');
    expect(ran.log).toMatch(/--> manifests\/a\.yaml:1:/);
    expect(attacker.heard).toEqual([]);
  });

  it('goes nowhere if the workflow sets no URL', async () => {
    await write({ 'manifests/a.yaml': toStack('a', { api: { base_url: attacker.url } }) + toEdge('a', 20_001) });
    await mkdir(join(runner, 'artifacts', 'edgewise-plan'), { recursive: true });
    for (const action of ['plan', 'apply', 'drift']) {
      const ran = await run(action, { inputs: { 'base-url': '' } });
      expect(ran.exitCode, action).toBe(3);
      expect(ran.log).toContain('The input base-url is empty.');
    }
    expect(attacker.heard).toEqual([]);
  });
});

describe('the name of a folder that a matrix passes to the action', () => {
  it('is no option, no command, and not two folders', async () => {
    const names = [
      `--base-url=${attacker.url}`,
      `live/a --base-url=${attacker.url}`,
      'live/$(touch stolen)',
      'live/`touch stolen`;touch stolen',
    ];
    for (const [index, name] of names.entries()) {
      await write({ [`${name}/edgewise.yaml`]: toStack(`s${index}`) + toEdge('a', 20_001 + index) });
      const ran = await run('plan', { inputs: { manifests: name } });
      expect(ran.outputs['exit-code'], ran.log).toBe('2');
    }
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': toStack('b') });
    expect((await run('plan', { inputs: { manifests: 'live/a live/b' } })).outputs['exit-code']).toBe('3');
    expect(attacker.heard).toEqual([]);
    expect(await readdir(checkout)).not.toContain('stolen');
  });
});

describe('the installation', () => {
  it('runs no scripts, and ignores npm settings that the pull request commits', async () => {
    const source = join(runner, 'package');
    const script = 'touch "$INIT_CWD/stolen"';
    await mkdir(source);
    const manifest = { name: 'edgewise', version: '1.0.0', bin: 'cli.js', scripts: { postinstall: script } };
    await writeFile(join(source, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(source, 'cli.js'), '#!/usr/bin/env node\nconsole.log("the pinned one")\n');
    await writeFile(join(checkout, 'evil.sh'), '#!/bin/sh\ntouch stolen\n', { mode: 0o755 });
    const settings = ['script-shell=./evil.sh', `registry=${attacker.url}`, 'prefix=./stolen', 'ignore-scripts=false'];
    await write({ '.npmrc': settings.join('\n'), 'package.json': JSON.stringify({ scripts: { prepare: script } }) });
    await runTool('npm', ['pack', '--silent', '--pack-destination', runner, source], { cwd: runner });
    const ran = await run('setup', { inputs: { package: join(runner, 'edgewise-1.0.0.tgz') } });
    expect(ran.exitCode, ran.log).toBe(0);
    expect(ran.log).toContain('the pinned one');
    expect(await readdir(checkout)).not.toContain('stolen');
    expect(attacker.heard).toEqual([]);
  });
});

describe('a checkout', () => {
  it.each([
    ['pull_request', 'refs/pull/7/merge', ''],
    ['pull_request_target', 'refs/heads/main', ''],
    ['issue_comment', 'refs/heads/main', ''],
    ['workflow_run', 'refs/heads/main', ''],
    ['merge_group', 'refs/heads/main', ''],
    ['release', 'refs/heads/main', ''],
    ['push', 'refs/heads/feature', ''],
    ['push', 'refs/tags/main', ''],
    ['workflow_dispatch', 'refs/heads/main/feature', ''],
    ['push', 'refs/heads/main', 'true'],
  ])('is untrusted in a run for %s of %s, with untrusted: "%s"', async (event, ref, untrusted) => {
    expect(await readTrust({ event, ref, inputs: { untrusted } })).toBe('1');
  });

  it.each([
    ['push', 'refs/heads/main', ''],
    ['workflow_dispatch', 'refs/heads/main', ''],
    ['schedule', 'refs/heads/main', ''],
    ['push', 'refs/tags/v1', 'false'],
  ])('is trusted in a run for %s of %s, with untrusted: "%s"', async (event, ref, untrusted) => {
    expect(await readTrust({ event, ref, inputs: { untrusted } })).toBe('');
  });

  it('is neither if the workflow sets something else than true or false', async () => {
    const ran = await run('plan', { event: 'push', inputs: { untrusted: 'no' } });
    expect(ran.exitCode).toBe(3);
    expect(ran.log).toContain('The input untrusted is true, false, or empty.');
  });

  it('is not applied if it is untrusted', async () => {
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    await run('plan', { event: 'push' });
    expect((await run('apply', { event: 'pull_request_target' })).exitCode).toBe(5);
    expect((await run('apply', { event: 'push' })).exitCode).toBe(0);
  });
});

describe('an artifact', () => {
  it('is applied only with the manifests, from a folder outside of the checkout, and with the consent of the workflow only', async () => {
    await mkdir(join(runner, 'artifacts', 'edgewise-plan'), { recursive: true });
    await write({ 'plan.json': '{}', 'edgewise-plan/plan.json': '{}' });
    const program = await createProgram('console.log(JSON.stringify(process.argv.slice(2)))');
    const apply = async (more: Readonly<Record<string, string>>) => {
      const inputs = { manifests: 'network/a b\nnetwork/c', comment: 'false', ...more };
      const { log, exitCode } = await run('apply', { event: 'push', inputs, program });
      expect(exitCode, log).toBe(0);
      const words: readonly string[] = JSON.parse(/^\[.*\]$/m.exec(log)?.[0] ?? '[]');
      expect(words[2]).toMatch(new RegExp(`^${runner}/.*/${more['recursive'] === 'true' ? 'plans' : 'plan.json'}$`));
      return words.filter((word) => !word.includes(runner) && word !== '--report').join(' ');
    };
    const paths = '-- network/a b network/c';
    expect(await apply({})).toBe(`apply --approved --yes ${paths}`);
    expect(await apply({ arguments: '--allow-deletes' })).toBe(`apply --approved --yes --allow-deletes ${paths}`);
    // What is in the artifact does not decide whether there are several stacks.
    await write({ 'edgewise-plan/plans/a.json': '{}' });
    expect(await apply({})).toBe(`apply --approved --yes ${paths}`);
    expect(await apply({ recursive: 'true', 'changed-since': 'abc', stack: 'a b' })).toBe(
      `apply --approved --yes --recursive --changed-since=abc --stack=a --stack=b ${paths}`,
    );
  });
});

describe('policies', () => {
  it('of the default branch apply to a pull request that removed them, with the steps of the page', async () => {
    const policy = { require: 'false', match: { kinds: ['TCPEdge'] }, message: 'No edge is created on a Monday.' };
    await write({ 'policies/p.yaml': JSON.stringify({ ...toDocument('Policy', 'p'), spec: policy }) });
    const steps = await readWorkflowSteps('docs/how-to/pipelines.md', '### Policies that a pull request cannot change');
    expect(
      steps.map(({ uses, run: script }) => uses?.replace(/@.*|^[\w.-]+\/[\w.-]+\/(?=\.github)/g, '') ?? script),
    ).toEqual([
      'actions/checkout',
      'mv policies "$RUNNER_TEMP/policies"',
      'actions/checkout',
      '.github/actions/setup',
      '.github/actions/plan',
    ]);
    expect(steps[0]?.with?.['ref']).toBe('main');
    expect(steps[2]?.with).toEqual({ 'persist-credentials': 'false' });
    const { output, status } = await runTool('bash', ['-ec', steps[1]?.run ?? ''], {
      cwd: checkout,
      env: { RUNNER_TEMP: runner },
    });
    expect(status, output).toBe(0);
    // In the second checkout, the pull request has a link in place of the policies.
    await symlink('/dev/null', join(checkout, 'policies'));
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    const inputs = { arguments: steps[4]?.with?.['arguments']?.replace(/\$\{\{.*\}\}/, runner) ?? '' };
    const ran = await run('plan', { inputs });
    expect(ran.outputs['exit-code'], ran.log).toBe('5');
    expect(ran.log).toContain('No edge is created on a Monday.');
  });
});

describe('a report', () => {
  it('that the pull request commits is not posted, whether the run wrote one or failed first', async () => {
    const forged = '<!-- edgewise:plan stack=a -->\nNothing to do.\n';
    await write(Object.fromEntries(['plan.md', 'drift.md', 'edgewise-plan/plan.md'].map((name) => [name, forged])));
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    const killed = await run('plan', { program: await createProgram('process.kill(process.pid, "SIGKILL")') });
    expect(killed.exitCode).toBe(137);
    expect(killed.summary).toBe('');
    expect(forge.comments).toEqual([]);
    expect((await run('plan')).outputs['exit-code']).toBe('2');
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdge/a') }]);
  });

  it('is written through no link of the checkout', async () => {
    const target = join(runner, 'bashrc');
    await writeFile(target, 'mine');
    for (const name of ['plan.md', 'plan.html', 'plan.json', 'edgewise-plan'])
      await symlink(target, join(checkout, name));
    await write({ 'manifests/a.yaml': toStack('a') + toEdge('a', 20_001) });
    const before = await readdir(checkout, { recursive: true });
    const ran = await run('plan');
    expect(ran.outputs['exit-code'], ran.log).toBe('2');
    expect(await readdir(checkout, { recursive: true })).toEqual(before);
    expect(await readFile(target, 'utf8')).toBe('mine');
    expect(forge.comments).toMatchObject([{ body: expect.stringContaining('TCPEdge/a') }]);
  });
});

describe('the output of the action', () => {
  it('contains no command for the runner but annotations, whatever a description contains', async () => {
    await write({ 'manifests/a.yaml': toStack('a') + toDescribed(LURES.join('\n')) });
    for (const action of ['plan', 'drift']) {
      const ran = await run(action, { inputs: { recursive: 'true' } });
      if (action === 'plan') expect(ran.log).toContain('add-mask');
      expect(ANNOTATIONS).toEqual(expect.arrayContaining([...listNames(ran)]));
      expect(listNames(ran)).toContain('notice');
      expect(ran.outputs['exit-code']).toBe('2');
    }
  });

  it('contains no command in an error that quotes the manifest and its name', async () => {
    for (const [index, lure] of LURES.entries())
      await write({
        [`manifests/${index} ${lure.replaceAll(/[\r\n]/g, '')}.yaml`]: `kind: TCPEdge\n${JSON.stringify(lure)}: 1\n${lure}\n`,
      });
    const ran = await run('plan');
    expect(ran.outputs['exit-code'], ran.log).toBe('3');
    expect(ANNOTATIONS).toEqual(expect.arrayContaining([...listNames(ran)]));
    expect(listNames(ran)).toContain('error');
    for (const { data } of listObeyed(ran.log)) expect(data).not.toBe('forged');
  });

  it('would be obeyed by a runner unescaped, so that the tests above can fail', () => {
    const obeyed = LURES.map((lure) => listObeyed(`${lure}\n##[add-mask]more`).map(({ name }) => name));
    expect(obeyed.map(([first]) => first)).toEqual([
      ...['add-mask', 'add-mask', 'add-mask', 'set-output', undefined, undefined, 'error', 'add-mask', 'add-mask'],
    ]);
  });
});

const ANNOTATIONS = ['error', 'warning', 'notice'];

const listNames = ({ log }: RanAction): readonly string[] => listObeyed(log).map(({ name }) => name);

interface HowToRun {
  readonly event?: string;
  readonly ref?: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly program?: string;
}

/** Runs one of our actions in the checkout, with the inputs of the examples. */
function run(
  action: string,
  { event = 'pull_request', inputs = {}, program = PROGRAM, ...more }: HowToRun = {},
): Promise<RanAction> {
  const given = { 'base-url': service.url, manifests: 'manifests', 'api-key': KEY, ...inputs };
  return runAction({
    action,
    program,
    checkout,
    runner,
    event,
    ...more,
    inputs: given,
    env: { GITHUB_API_URL: forge.url },
  });
}

describe('an unmerged commit is untrusted', () => {
  it('in the hooks of a commit', () => {
    const entries = readFileSync('.pre-commit-hooks.yaml', 'utf8').match(/^ *entry: .*$/gm) ?? [];
    expect(entries).toHaveLength(2);
    for (const entry of entries) expect(entry).toMatch(/^ *entry: edgewise \w+ .*--untrusted/);
  });

  it('in a documented step that lists the stacks of a pull request', () => {
    const page = readFileSync('docs/how-to/stack-jobs.md', 'utf8');
    const steps = page.match(/^ +run: [|]\n.*edgewise .*\n(?:.*\n){1,3}? +env: .*/gm) ?? [];
    expect(steps).toHaveLength(1);
    for (const step of steps) expect(step).toMatch(/--untrusted|EDGEWISE_UNTRUSTED: "1"/);
  });
});

/** Returns the trust setting that an action passes to its program. */
async function readTrust(how: HowToRun): Promise<string | undefined> {
  const program = await createProgram(
    'console.log("trust:", process.env.EDGEWISE_UNTRUSTED ?? ""); process.exitCode = 4',
  );
  const { log } = await run('plan', { ...how, program });
  return /^trust: (.*)$/m.exec(log)?.[1];
}

async function createProgram(script: string): Promise<string> {
  await writeFile(join(runner, 'program.mjs'), script);
  return join(runner, 'program.mjs');
}

function toDocument(kind: string, name: string): object {
  return { apiVersion: 'edgewise/v1', kind, metadata: { name } };
}

function toDescribed(description: string): string {
  return toEdge('a', 20_001).replace('spec:', `spec:\n  description: ${JSON.stringify(description)}`);
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(checkout, name)), { recursive: true });
    await writeFile(join(checkout, name), text);
  }
}

async function readArtifacts(): Promise<readonly string[]> {
  const names = await readdir(join(runner, 'artifacts', 'edgewise-plan'));
  return Promise.all(names.map((name) => readFile(join(runner, 'artifacts', 'edgewise-plan', name), 'utf8')));
}
