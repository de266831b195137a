import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { describeWith, runTool } from './tools.ts';

/** A fake GitHub CLI with one page of comments and the built-in jq, which prints the request that it would send. */
const GH = `#!/bin/sh
if [ "$2" = --paginate ]; then exec jq -r "$5" comments.json; fi
echo "$@"
`;

/** Reads the script from the page. */
async function readLookUp(): Promise<string> {
  const page = await readFile(new URL('../../docs/how-to/pipelines.md', import.meta.url), 'utf8');
  const [, script = ''] = /\n```sh\n(comments=.*?)```\n/s.exec(page) ?? [];
  return script;
}

async function lookUp({ folder, write }: Workspace, comments: readonly string[]): Promise<string> {
  await mkdir(join(folder, 'bin'), { recursive: true });
  await writeFile(join(folder, 'bin', 'gh'), GH);
  await chmod(join(folder, 'bin', 'gh'), 0o755);
  const listed = comments.map((body, index) => ({ id: index + 1, body, user: { login: 'github-actions[bot]' } }));
  await write({ 'comments.json': JSON.stringify(listed) });
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, GITHUB_REPOSITORY: 'o/r', NUMBER: '7' };
  const { status, output } = await runTool('sh', ['-euc', await readLookUp()], { cwd: folder, env });
  expect(status).toBe(0);
  return output.trim();
}

const toStack = (name: string, more: string): string => `${STACK.replace('name: test', `name: ${name}`)}${more}`;

describeWith(['jq'], 'the documented look-up of an older comment', () => {
  it('finds the comment of the same stack and command, failed or not, and no other', async () => {
    const workspace = await createWorkspace({
      'shop.yaml': toStack('shop', toEdge('a', 20001)),
      'shop-eu.yaml': toStack('shop-eu', toEdge('a', 20001)),
      'broken.yaml': toStack('shop', toEdge('a', 20001).replace('hostports', 'hostport')),
    });
    const { edgewise, write } = workspace;
    const comment = async (line: string) => (await edgewise(`${line} --format markdown`)).stdout;
    const [plan, other, broken, drift] = [
      await comment('plan shop.yaml'),
      await comment('plan shop-eu.yaml'),
      await comment('plan broken.yaml'),
      await comment('drift shop.yaml'),
    ];
    for (const [now, before, id] of [
      [plan, [other, drift, plan], 3],
      [plan, [other, drift, broken], 3],
      [broken, [drift, plan, other], 2],
      [other, [plan, other], 2],
    ] as const) {
      await write({ 'plan.md': now });
      expect(await lookUp(workspace, before)).toBe(`api -X PATCH repos/o/r/issues/comments/${id} -F body=@plan.md`);
    }
    await write({ 'plan.md': plan });
    expect(await lookUp(workspace, [other, drift])).toBe('api repos/o/r/issues/7/comments -F body=@plan.md');
  });
});
