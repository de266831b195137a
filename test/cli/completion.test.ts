import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCRIPTS, SHELLS } from '../../src/cli/commands/completion.ts';
import { GENERAL_FORMAT_NAMES } from '../../src/report/formats.ts';
import { NOW } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from './workspace.ts';

const FILES = {
  'edgewise.yaml': `${STACK}${toEdge('postgres', 20001)}`,
  'more.yaml': `kind: List\nitems:\n  - { apiVersion: edgewise/v1, kind: Credential, metadata: { name: agent } }\n`,
  'notes.txt': 'no manifest',
};

/** Lists the proposals for a command line. Its last word is incomplete. */
async function listProposals({ edgewise }: Workspace, line: string): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await edgewise(`__complete -- ${line}`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => text.split('\t')[0] ?? '');
}

describe('completion', () => {
  it.each<readonly [string, readonly string[]]>([
    ['pl', ['plan']],
    ['abuse-report ', ['submit', 'get']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['help exit', ['exit-codes']],
    ['plan --deta', ['--detailed-exitcode']],
    ['plan --detailed-exitcode --deta', []],
    ['plan --target TCPEdge/a --targ', ['--target']],
    ['plan --format j', ['json', 'junit']],
    ['plan --format=j', ['--format=json', '--format=junit']],
    ['drift --report met', ['metrics=']],
    ['plan --report met', []],
    ['export IPR', ['IPRestriction']],
    ['schema op', ['openapi', 'openapi3.0']],
    ['explain no-ba', ['no-backend']],
    ['explain TCPEdge.ip_', ['TCPEdge.ip_restriction']],
    ['explain TCPEdge.ip_restriction.', ['TCPEdge.ip_restriction.enabled', 'TCPEdge.ip_restriction.ip_policy_ids']],
    ['explain Stack.guard.max_deletes', ['Stack.guard.max_deletes']],
    ['explain nothing.at.', []],
    ['plan --target ', ['TCPEdge/postgres', 'Credential/agent']],
    ['plan --target=T', ['--target=TCPEdge/postgres']],
    ['plan more.yaml --target ', ['Credential/agent']],
    ['apply --rotate Cr', ['Credential/agent']],
    ['get C', ['Credential/agent', 'Credential', ':files']],
    ['get TCPEdge/postgres TCPEdge/p', [':files']],
    ['get --format ', ['table', 'json', 'yaml', 'name', 'value=']],
    ['get AgentIngress/a --format value=re', ['value=region_domains']],
    ['get Credential/agent --format value=t', []],
    ['get --format=value=region', ['--format=value=region_domains']],
    ['release Cr', ['Credential/agent', ':files']],
    ['plan ', [':files']],
    ['plan -o ', [':files']],
    ['plan --out=no', ['--out=notes.txt']],
    ['plan --report json=', ['json=edgewise.yaml', 'json=folder/', 'json=more.yaml', 'json=notes.txt']],
    ['plan --report=json=fo', ['--report=json=folder/']],
    ['plan --report=json=nowhere/', []],
    ['plan -- --form', [':files']],
    ['serve --host ', []],
    ['plan --base-url ', ['embedded:']],
    ['plan --base-url=', ['--base-url=embedded:']],
    ['frobnicate ', []],
    ['plan --frobnicate=', []],
    ['__', []],
  ])('proposes %s', async (line, expected) => {
    const workspace = await createWorkspace(FILES);
    mkdirSync(join(workspace.folder, 'folder'));
    expect((await listProposals(workspace, line)).toSorted()).toEqual([...expected].toSorted());
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('proposes every command and option of the help, with its description', async () => {
    const workspace = await createWorkspace();
    const { stdout: help } = await workspace.edgewise('--help');
    const shown = help.split('\n').flatMap((line) => /^ {2}([a-z-]+) {2,}\S/.exec(line)?.[1] ?? []);
    expect(await listProposals(workspace, '')).toEqual(shown);
    expect(shown).toContain('completion');
    const { stdout } = await workspace.edgewise('__complete -- plan --');
    for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^--[a-z-]+\t\S/);
    for (const option of ['--target', '--base-url', '--help']) expect(stdout).toContain(`${option}\t`);
    for (const form of GENERAL_FORMAT_NAMES) expect(await listProposals(workspace, 'plan --format ')).toContain(form);
  });

  it.each([
    ['broken manifests', { 'a.yaml': `${STACK}${toEdge('a', 20001)}---\nkind: [` }, ['TCPEdge/a']],
    [
      'invalid names',
      { 'a.yaml': `kind: TCPEdge\nmetadata: { name: "A b" }\n---\n${toCredential('c')}` },
      ['Credential/c'],
    ],
    ['no manifests', {}, []],
    ['unknown kinds', { 'a.yaml': 'kind: Deployment\nmetadata: { name: a }\n---\n- 1\n---\nkind: 1\n' }, []],
  ])('proposes nothing for %s', async (_, files, expected) => {
    expect(await listProposals(await createWorkspace(files), 'plan --target ')).toEqual(expected);
  });

  it.each<readonly [string, readonly string[]]>([
    ['stacks --stack ', ['network', 'web', 'web-eu']],
    ['stacks live/eu --stack w', ['web-eu']],
    ['stacks live --stack network --stack ne', ['network']],
    ['plan -R live --stack=w', ['--stack=web', '--stack=web-eu']],
    ['plan --stack w', ['web', 'web-eu']],
    ['get TCPEdge/a -R live --stack n', ['network']],
    ['destroy live/eu --recursive --stack ', ['web-eu']],
    ['apply -R live --stack n', ['network']],
    ['drift live -R --stack=w', ['--stack=web', '--stack=web-eu']],
    ['apply . --approved ', [':files']],
    ['apply . --approved=', ['--approved=broken.yaml', '--approved=live/']],
    ['plan -R nowhere --stack ', []],
    ['plan -R live/web/edgewise.yaml --stack ', []],
    ['init --name ', []],
    ['export --owner ', []],
  ])('proposes names of stacks: %s', async (line, expected) => {
    const toStack = (name: string): string => STACK.replace('name: test', `name: ${name}`);
    const workspace = await createWorkspace({
      'broken.yaml': 'kind: Stack\nmetadata: { name: ',
      'live/network/edgewise.yaml': toStack('network'),
      'live/web/edgewise.yaml': toStack('web'),
      'live/web/not-a-name.yaml': toStack('"A b"'),
      'live/eu/web.json': '{"kind":"Stack","metadata":{"name":"web-eu"}}',
    });
    expect((await listProposals(workspace, line)).toSorted()).toEqual([...expected].toSorted());
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('stops looking for stacks after a time limit', async () => {
    const stacks = Array.from({ length: 100 }, (_, index) => [
      `s${index}/edgewise.yaml`,
      STACK.replace('test', `s${index}`),
    ]);
    const { edgewise } = await createWorkspace(Object.fromEntries(stacks));
    let ms = 0;
    const now = () => {
      ms += 10;
      return new Date(NOW.getTime() + ms);
    };
    const { stdout } = await edgewise('__complete -- plan -R . --stack ', { now });
    const count = stdout.trimEnd().split('\n').length;
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(50);
    expect(stdout).toContain('s0\ts0\n');
  });

  it('stops reading manifests after a time limit', async () => {
    const edges = Array.from({ length: 100 }, (_, index) => toEdge(`e${index}`, 20_001 + index));
    const { edgewise } = await createWorkspace({ 'a.yaml': edges.join('') });
    let ms = 0;
    const now = () => {
      ms += 10;
      return new Date(NOW.getTime() + ms);
    };
    const { stdout } = await edgewise('__complete -- plan --target ', { now });
    const count = stdout.trimEnd().split('\n').length;
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThan(50);
  });

  it.each(SHELLS)('prints the script of %s', async (shell) => {
    const { edgewise } = await createWorkspace();
    expect(await edgewise(`completion ${shell}`)).toMatchObject({ exitCode: 0, stdout: SCRIPTS[shell], stderr: '' });
  });

  it('reports an unknown shell with the known ones', async () => {
    const { edgewise } = await createWorkspace();
    const { exitCode, stderr } = await edgewise('completion tcsh');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('bash, zsh, fish') });
  });
});
