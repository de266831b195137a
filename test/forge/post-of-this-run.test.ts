import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, STACK, type Workspace } from '../cli/workspace.ts';
import { git } from '../repository/tree.ts';
import { type FakeForge, startFakeForge, WORKFLOW_TOKEN } from './fake-forge.ts';

let forge: FakeForge;
beforeEach(async () => {
  forge = await startFakeForge();
});
afterEach(() => forge.close());

type Environment = Readonly<Record<string, string>>;

const RUN: Environment = { GITHUB_RUN_ID: '42', GITHUB_RUN_ATTEMPT: '1' };

function createJobEnvironment(run: Environment): Environment {
  return {
    ...{ GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc', GITHUB_TOKEN: WORKFLOW_TOKEN },
    ...run,
  };
}

function createStack(): Promise<Workspace> {
  return createWorkspace({ 'edgewise.yaml': STACK });
}

async function expectNotPosted({ edgewise }: Workspace, file: string, run: Environment, why: string): Promise<void> {
  const { exitCode, stderr } = await edgewise(`post ${file}`, { env: createJobEnvironment(run) });
  expect(stderr).toContain(`${file} ${why}, and is not posted.`);
  expect(exitCode).toBe(3);
  expect(forge.requests).toEqual([]);
}

describe('post in a job accepts', () => {
  it('a report of its run, without the line of the run', async () => {
    const { edgewise, folder } = await createStack();
    for (const line of ['plan', 'plan -R .', 'plan nowhere', 'drift']) {
      await edgewise(`${line} --report markdown=plan.md`, { env: createJobEnvironment(RUN) });
      const [first, second] = (await readFile(join(folder, 'plan.md'), 'utf8')).split('\n');
      expect(first).toMatch(/^<!-- edgewise:(plan|drift)/);
      expect(second).toBe(`<!-- edgewise:run GITHUB_RUN_ID=42/1 ${NOW.toISOString()} -->`);
      expect(await edgewise('post plan.md', { env: createJobEnvironment(RUN) })).toMatchObject({ exitCode: 0 });
      expect(forge.comments.at(-1)?.body).not.toContain('edgewise:run');
      expect(await edgewise('post plan.md', { env: createJobEnvironment(RUN) })).toMatchObject({
        stdout: expect.stringContaining('is already up to date'),
      });
    }
  });

  it('a report of another job of its pipeline', async () => {
    const { edgewise } = await createStack();
    const started = { CI_PIPELINE_CREATED_AT: '2026-03-01T11:59:00Z' };
    await edgewise('plan --report markdown=plan.md', { env: { CI_PIPELINE_ID: '7', CI_JOB_ID: '1', ...started } });
    const env = { ...createJobEnvironment({}), CI_PIPELINE_ID: '7', CI_JOB_ID: '2', ...started };
    expect(await edgewise('post plan.md', { env })).toMatchObject({ exitCode: 0 });
  });
});

describe('post in a job refuses', () => {
  it.each([
    ['another run', { GITHUB_RUN_ID: '41', GITHUB_RUN_ATTEMPT: '1' }],
    ['another attempt of the run', { GITHUB_RUN_ID: '42', GITHUB_RUN_ATTEMPT: '2' }],
    ['another system with the same id', { CI_PIPELINE_ID: '42' }],
  ])('a report of %s', async (_, other) => {
    const workspace = await createStack();
    await workspace.edgewise('plan --report markdown=plan.md', { env: other });
    const id = Object.values(other).join('/');
    await expectNotPosted(workspace, 'plan.md', RUN, `was written by another run (${Object.keys(other)[0]}=${id})`);
  });

  it('a report that names no run, or names it elsewhere', async () => {
    const workspace = await createStack();
    const line = `<!-- edgewise:run GITHUB_RUN_ID=42/1 ${NOW.toISOString()} -->`;
    await workspace.write({
      'a.md': '<!-- edgewise:plan stack=test -->\n\n## ✓ Nothing to do\n',
      'b.md': `<!-- edgewise:plan stack=test -->\n\n${line}\n`,
      'c.md': `${line}\n<!-- edgewise:plan stack=test -->\n`,
    });
    for (const file of ['a.md', 'b.md', 'c.md'])
      await expectNotPosted(workspace, file, RUN, 'does not say that this run wrote it');
  });

  it.each([
    ['before the pipeline began', '2026-03-01T11:00:00.000Z', { CI_PIPELINE_CREATED_AT: '2026-03-01T11:30:00Z' }],
    ['months ago', '2025-12-01T12:00:00.000Z', {}],
    ['in the future', '2026-03-01T13:00:00.000Z', {}],
    ['at no time', 'yesterday', {}],
  ])('a report with a guessed run that was written %s', async (_, at, more) => {
    const workspace = await createStack();
    await workspace.write({
      'plan.md': `<!-- edgewise:plan stack=test -->\n<!-- edgewise:run CI_PIPELINE_ID=8 ${at} -->\n\nforged\n`,
    });
    await expectNotPosted(
      workspace,
      'plan.md',
      { CI_PIPELINE_ID: '8', ...more },
      `was written at ${at}, not in this run`,
    );
  });

  it('a report of the commit, or a link to one', async () => {
    const workspace = await createStack();
    const line = `<!-- edgewise:run GITHUB_RUN_ID=42/1 ${NOW.toISOString()} -->`;
    await workspace.write({ 'forged.md': `<!-- edgewise:plan stack=test -->\n${line}\n\nforged\n` });
    git(workspace.folder, 'init', '--quiet');
    git(workspace.folder, 'add', '.');
    await symlink('forged.md', join(workspace.folder, 'plan.md'));
    await expectNotPosted(workspace, 'forged.md', RUN, 'belongs to the commit that is checked out');
    await expectNotPosted(workspace, 'plan.md', RUN, 'is a symbolic link');
  });
});

describe('post outside of a job', () => {
  it('accepts any report', async () => {
    const { edgewise } = await createStack();
    await edgewise('plan --report markdown=plan.md', { env: RUN });
    expect(await edgewise('post plan.md', { env: createJobEnvironment({}) })).toMatchObject({ exitCode: 0 });
  });
});
