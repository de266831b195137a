import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { commitAll, git, toStack } from './tree.ts';

/** Patterns that match nothing: a typing error, another case, another form of Unicode. */

const POLICY = (stacks: string): string =>
  `apiVersion: edgewise/v1\nkind: Policy\nmetadata: { name: p }\nspec: { match: { kinds: [TCPEdge], stacks: [${stacks}] }, require: "true", message: no, severity: error }\n`;

async function createRepository(spec: object, files: Readonly<Record<string, string>> = {}) {
  const workspace = await createWorkspace({
    'live/web/edgewise.yaml': toStack('web', spec),
    'live/web/edge.yaml': toEdge('a', 20_001),
    'live/other/edgewise.yaml': toStack('other'),
    'base/x.txt': 'x',
    'gr\u00fcn/x.txt': 'x',
    ...files,
  });
  git(workspace.folder, 'init', '-q');
  commitAll(workspace.folder);
  return workspace;
}

/** Lists the patterns that a command says match nothing. */
async function listUnused(workspace: Awaited<ReturnType<typeof createRepository>>, line: string) {
  const { stdout, stderr } = await workspace.edgewise(line);
  return Array.from(
    `${stdout}${stderr}`.matchAll(/\[pattern-unused\]: (?:Policy\/p: )?(\S+) has `(.*?)`/g),
    ([, field, pattern]) => `${field} ${pattern}`,
  );
}

describe('a pattern of spec.inputs', () => {
  it.each([
    ['../../base/**', false],
    ['../../base', false],
    ['../../base/x.txt', false],
    ['../../*/x.txt', false],
    ['../../gr\u00fcn/**', false],
    ['../../bsae/**', true],
    ['../../Base/**', true],
    ['../../base/*.yaml', true],
    ['../../base/y.txt', true],
    ['../../base/x.txt/y.txt', true],
    ['../../gru\u0308n/**', true],
    ['none/**', true],
  ])('%s is named if it selects no file: %s', async (pattern, isUnused) => {
    const workspace = await createRepository({ inputs: [pattern] });
    for (const line of ['validate live/web', 'validate -R live'])
      expect(await listUnused(workspace, line), line).toHaveLength(isUnused ? 1 : 0);
  });

  it('is an error with --strict, at its line', async () => {
    const { edgewise } = await createRepository({ inputs: ['../../bsae/**'] });
    const { stdout } = await edgewise('validate live/web --strict');
    expect(stdout).toContain('error[pattern-unused]');
    expect(stdout).toContain('--> live/web/edgewise.yaml:');
  });
});

describe('a pattern of spec.skip_files', () => {
  it.each([
    ['charts/', false],
    ['charts/*.yaml', false],
    ['!charts/a.yaml', false],
    ['chrats/', true],
    ['Charts/', true],
    ['*.tpl', true],
  ])('%s is named if it matches no file: %s', async (pattern, isUnused) => {
    const workspace = await createRepository({ skip_files: [pattern] }, { 'live/web/charts/values.yaml': 'a: 1\n' });
    for (const line of ['validate live/web', 'validate -R live'])
      expect(await listUnused(workspace, line), line).toEqual(isUnused ? [`spec.skip_files ${pattern}`] : []);
  });

  it('of Defaults is not named, because it is for other stacks, too', async () => {
    const defaults = 'apiVersion: edgewise/v1\nkind: Defaults\nspec: { skip_files: [none/] }\n';
    const workspace = await createRepository({}, { 'live/defaults.yaml': defaults });
    expect(await listUnused(workspace, 'validate live/web')).toEqual([]);
  });
});

describe('match.stacks of a policy', () => {
  it.each([
    ['web, other', []],
    ['"w*"', []],
    ['"prodution-*"', ['spec.match.stacks prodution-*']],
    ['Web, other', ['spec.match.stacks Web']],
  ])('%s is named by validate if no stack of the repository matches', async (stacks, expected) => {
    const workspace = await createRepository({ policies: ['../../rules'] }, { 'rules/p.yaml': POLICY(stacks) });
    expect(await listUnused(workspace, 'validate live/web')).toEqual(expected);
    expect(await listUnused(workspace, 'validate -R .')).toEqual(expected);
  });

  it('is not named if the run sees only some of the stacks, or if the name of one cannot be read', async () => {
    const workspace = await createRepository({ policies: ['../../rules'] }, { 'rules/p.yaml': POLICY('elsewhere') });
    expect(await listUnused(workspace, 'validate -R live')).toEqual([]);
    mkdirSync(join(workspace.folder, 'live/broken'));
    writeFileSync(
      join(workspace.folder, 'live/broken/edgewise.yaml'),
      'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: [\n',
    );
    expect(await listUnused(workspace, 'validate live/web')).toEqual([]);
  });
});
