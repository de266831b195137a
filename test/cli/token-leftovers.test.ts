import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, type Workspace } from './workspace.ts';

const SINK = 'spec: { tokens: { default: { directory: tokens } } }\n';

/** What a run left that was killed an hour ago, while it wrote the token of an agent. */
function leaveToken({ folder }: Pick<Workspace, 'folder'>, directory = 'tokens'): string {
  const name = `.agent.token.${randomUUID()}`;
  mkdirSync(join(folder, directory), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, directory, name), 'token');
  const then = new Date(Date.now() - 3_600_000);
  utimesSync(join(folder, directory, name), then, then);
  return name;
}

describe('a token that a killed run left', () => {
  it.each([
    ['that creates a credential', toCredential('agent'), 'apply', ['agent.token']],
    ['of another credential', toCredential('other'), 'apply', ['other.token']],
    ['with nothing to do', '', 'apply', []],
    ['that is a destroy', '', 'destroy', []],
  ])('is removed by an apply %s, which says so', async (_, more, command, left) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${SINK}${more}` });
    const name = leaveToken(workspace);
    const { exitCode, stderr } = await workspace.edgewise(`${command} --yes`);
    expect(exitCode, stderr).toBe(0);
    const warning = `Warning: A killed run left tokens/${name}, perhaps with a token. It is removed.\n`;
    expect(stderr.split(warning)).toHaveLength(2);
    expect(readdirSync(join(workspace.folder, 'tokens'))).toEqual(left);
  });

  it('stays in a plan, in drift, and in an apply with another token folder', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': `${STACK}${SINK}` });
    const name = leaveToken(workspace);
    for (const line of ['plan', 'drift', 'apply --yes --token-directory ../apart']) {
      expect((await workspace.edgewise(line)).stderr).not.toContain('killed');
      expect(readdirSync(join(workspace.folder, 'tokens'))).toEqual([name]);
    }
  });

  it('is looked for in the folder of each stack of a run', async () => {
    const toStack = (stack: string) => `${STACK.replace('test', stack)}${SINK}`;
    const workspace = await createWorkspace({ 'a/edgewise.yaml': toStack('a'), 'b/edgewise.yaml': toStack('b') });
    const names = ['a', 'b'].map((stack) => `${stack}/tokens/${leaveToken(workspace, `${stack}/tokens`)}`);
    const { stderr } = await workspace.edgewise('apply -R . --yes');
    for (const name of names) expect(stderr).toContain(`Warning: A killed run left ${name}, perhaps with a token.`);
  });
});
