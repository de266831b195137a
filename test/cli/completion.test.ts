import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quoteForShell } from '../../src/model/shell-words.ts';
import { GENERAL_FORMAT_NAMES } from '../../src/report/formats.ts';
import { NOW } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from './workspace.ts';

const FILES = {
  'edgewise.yaml': `${STACK}${toEdge('postgres', 20001)}`,
  'more.yaml': `kind: List\nitems:\n  - { apiVersion: edgewise/v1, kind: Credential, metadata: { name: agent } }\n`,
  'notes.txt': 'no manifest',
};

/** Asks edgewise for the words that only manifests have. */
async function ask({ edgewise }: Workspace, line: string): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await edgewise(`__complete ${line}`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.split('\n').flatMap((text) => text.split('\t')[0] || []);
}

/** The words of a command line, as bash splits them. The last one is incomplete. */
function splitLine(line: string): readonly string[] {
  const words = line.split(' ').flatMap((word) => word.match(/[=:]+|[^=:]+/g) ?? ['']);
  return ['edgewise', ...words];
}

/** Lists what the script of bash proposes for command lines, in a folder with files and an edgewise that says what it is asked. */
async function listProposals(lines: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { edgewise, folder, write } = await createWorkspace(FILES);
  const { stdout: script } = await edgewise('completion bash');
  await write({ asked: '#!/bin/sh\nshift\necho "$*" | tr " " +\n' });
  chmodSync(join(folder, 'asked'), 0o755);
  mkdirSync(join(folder, 'folder'));
  const calls = lines.map((line) => {
    const words = splitLine(line);
    return `COMP_WORDS=(${words.map(quoteForShell).join(' ')}); COMP_CWORD=${words.length - 1}; _edgewise ./asked 2>/dev/null; printf "%s\\t" "\${COMPREPLY[@]}"; echo`;
  });
  const printed = execFileSync('bash', ['--norc', '-c', `${script}\n${calls.join('\n')}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  const sets = printed.split('\n').slice(0, -1);
  return sets.map((set) => set.split('\t').filter((word) => word !== ''));
}

describe('completion without a question to edgewise', () => {
  const PROPOSED: readonly (readonly [line: string, words: readonly string[]])[] = [
    ['pl', ['plan']],
    ['abuse-report ', ['submit', 'get']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['help exit', ['exit-codes']],
    ['plan --deta', ['--detailed-exitcode']],
    ['plan --detailed-exitcode --deta', []],
    ['plan --target TCPEdge/a --targ', ['--target']],
    ['plan --format j', ['json', 'junit']],
    ['plan --format=j', ['json', 'junit']],
    ['drift --report met', ['metrics=']],
    ['plan --report met', []],
    ['export IPR', ['IPRestriction']],
    ['schema op', ['openapi', 'openapi3.0']],
    ['explain no-ba', ['no-backend']],
    ['explain TCPEdge.ip_', ['TCPEdge.ip_restriction']],
    ['explain TCPEdge.ip_restriction.', ['TCPEdge.ip_restriction.enabled', 'TCPEdge.ip_restriction.ip_policy_ids']],
    ['explain Stack.guard.max_deletes', ['Stack.guard.max_deletes']],
    ['explain nothing.at.', []],
    ['get --format ', ['table', 'json', 'yaml', 'name', 'value=']],
    ['get --format value=re', ['region_domains', 'request_headers']],
    ['get --format value=tok', []],
    ['get --format=value=region', ['region_domains']],
    ['show ', ['asked', 'edgewise.yaml', 'folder/', 'more.yaml', 'notes.txt']],
    ['plan -o ', ['asked', 'edgewise.yaml', 'folder/', 'more.yaml', 'notes.txt']],
    ['plan --out=', ['asked', 'edgewise.yaml', 'folder/', 'more.yaml', 'notes.txt']],
    ['plan --report json=', ['asked', 'edgewise.yaml', 'folder/', 'more.yaml', 'notes.txt']],
    ['plan --report=json=', ['asked', 'edgewise.yaml', 'folder/', 'more.yaml', 'notes.txt']],
    ['plan -- --form', []],
    ['serve --host ', []],
    ['plan --base-url ', ['embedded:']],
    ['plan --base-url=', ['embedded:']],
    ['frobnicate ', []],
    ['plan --frobnicate=', []],
    ['__', []],
    ['init --name ', []],
    ['export --owner ', []],
  ];

  it('proposes what the commands have', async () => {
    const found = await listProposals(PROPOSED.map(([line]) => line));
    expect(PROPOSED.map(([line], at) => [line, found[at]?.toSorted()])).toEqual(
      PROPOSED.map(([line, words]) => [line, words.toSorted()]),
    );
  });

  it('asks edgewise for addresses and for names of stacks only, with the words before', async () => {
    const asked: readonly (readonly [line: string, question: string])[] = [
      ['plan --target ', 'addresses+--+plan+--target'],
      ['plan --target=', 'addresses+--+plan'],
      ['apply more.yaml --rotate ', 'addresses+--+apply+more.yaml+--rotate'],
      ['release ', 'addresses+--+release'],
      ['get ', 'addresses+--+get'],
      ['accept ', 'addresses+--+accept'],
      ['stacks live --stack ', 'stacks+--+stacks+live+--stack'],
      ['plan -R live --stack=', 'stacks+--+plan+-R+live'],
      ['destroy live --recursive --stack ', 'stacks+--+destroy+live+--recursive+--stack'],
    ];
    const found = await listProposals(asked.map(([line]) => line));
    for (const [at, [line, question]] of asked.entries())
      expect([line, found[at]]).toEqual([line, expect.arrayContaining([question])]);
  });

  it('proposes every command and option of the help, with its description', async () => {
    const { edgewise } = await createWorkspace();
    const { stdout: help } = await edgewise('--help');
    const shown = help.split('\n').flatMap((line) => /^ {2}([a-z-]+) {2,}\S/.exec(line)?.[1] ?? []);
    expect(await listProposals([''])).toEqual([shown]);
    expect(shown).toContain('completion');
    const { stdout: fish } = await edgewise('completion fish');
    const options = fish.split('\n').filter((line) => line.includes(`-n '__edgewise_at \\'plan\\'' -l `));
    for (const line of options) expect(line).toMatch(/ -l [a-z-]+( -s \w)? -d '\S/);
    for (const option of ['target', 'base-url', 'help']) expect(options.join('\n')).toContain(` -l ${option} `);
    const [formats] = await listProposals(['plan --format ']);
    expect(formats).toEqual(expect.arrayContaining([...GENERAL_FORMAT_NAMES]));
  });
});

describe('the addresses of completion', () => {
  it.each<readonly [string, readonly string[]]>([
    ['', ['TCPEdge/postgres', 'Credential/agent']],
    ['plan --target', ['TCPEdge/postgres', 'Credential/agent']],
    ['plan --format json more.yaml --target', ['Credential/agent']],
    ['get TCPEdge/postgres Credential more.yaml', ['Credential/agent']],
    ['plan --root more.yaml', ['TCPEdge/postgres', 'Credential/agent']],
    ['plan --target TCPEdge/a -- --stack more.yaml', ['Credential/agent']],
    ['plan nowhere', []],
  ])('are those of the manifests: %s', async (line, expected) => {
    const workspace = await createWorkspace(FILES);
    expect(await ask(workspace, `addresses -- ${line}`)).toEqual(expected);
    expect(workspace.recorder.take()).toEqual([]);
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
  ])('are none for %s', async (_, files, expected) => {
    expect(await ask(await createWorkspace(files), 'addresses -- plan')).toEqual(expected);
  });

  it.each<readonly [string, readonly string[]]>([
    ['stacks --stack', ['network', 'web', 'web-eu']],
    ['stacks live/eu --stack', ['web-eu']],
    ['get TCPEdge/postgres -R live --stack web', ['network', 'web', 'web-eu']],
    ['destroy live/eu --recursive --stack', ['web-eu']],
    ['plan -R nowhere --stack', []],
    ['plan -R live/web/edgewise.yaml --stack', []],
  ])('are names of stacks, if a stack is named: %s', async (line, expected) => {
    const toStack = (name: string): string => STACK.replace('name: test', `name: ${name}`);
    const workspace = await createWorkspace({
      'broken.yaml': 'kind: Stack\nmetadata: { name: ',
      'live/network/edgewise.yaml': toStack('network'),
      'live/web/edgewise.yaml': toStack('web'),
      'live/web/not-a-name.yaml': toStack('"A b"'),
      'live/eu/web.json': '{"kind":"Stack","metadata":{"name":"web-eu"}}',
    });
    expect((await ask(workspace, `stacks -- ${line}`)).toSorted()).toEqual(expected);
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
    const { stdout } = await edgewise('__complete stacks -- plan -R .', { now });
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
    const { stdout } = await edgewise('__complete addresses -- plan', { now });
    const count = stdout.trimEnd().split('\n').length;
    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThan(50);
  });

  it('reports an unknown shell with the known ones', async () => {
    const { edgewise } = await createWorkspace();
    const { exitCode, stderr } = await edgewise('completion tcsh');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('bash, zsh, fish') });
  });
});
