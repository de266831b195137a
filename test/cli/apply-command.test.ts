import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { createApplyCommandLine } from '../../src/cli/reconcile/apply-command.ts';
import { changePlan } from '../results.ts';
import { type FakeOptions, runCommand } from './fake-context.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from './workspace.ts';

const NONE = { targets: [] };

test('has the paths and flags of the run, and the settings of its environment', () => {
  const flags = {
    ...NONE,
    targets: ['TCPEdge/a'],
    rotate: ['Credential/b'],
    allowTakeOver: ['old'],
    allowDeletes: true,
    allowProtected: ['TCPEdge/c'],
    baseUrl: 'embedded:',
    tokenCommand: ['vault', "it's"],
  };
  const env = { EDGEWISE_BASE_URL: 'https://other', EDGEWISE_RATE_LIMIT: '7/1s', EDGEWISE_CA_FILE: '' };
  expect(createApplyCommandLine({ paths: ['manifests', '-'], flags, env })).toMatchObject({
    line: "edgewise apply manifests - --base-url embedded: --rate-limit 7/1s --target TCPEdge/a --rotate Credential/b --allow-deletes --allow-protected TCPEdge/c --allow-take-over old --token-command '[\"vault\",\"it'\\''s\"]'",
    readsInput: true,
  });
});

test('quotes a path as one word of a shell that is not an option', () => {
  const run = { paths: ['my files', '-x'], flags: NONE, env: {} };
  expect(createApplyCommandLine(run).line).toBe("edgewise apply 'my files' ./-x");
  const withPolicies = { ...run, flags: { ...NONE, policies: ['-y'], rehearsal: false } };
  expect(createApplyCommandLine(withPolicies).line).toBe(
    "edgewise apply 'my files' ./-x --no-rehearsal --policies ./-y",
  );
  expect(createApplyCommandLine({ ...run, flags: { out: '$(rm x).json' } }).line).toBe(
    "edgewise apply 'my files' ./-x --approved '$(rm x).json'",
  );
});

test('names a plan elsewhere only if it is below the working folder', () => {
  const run = { paths: ['.'], flags: NONE, env: {} };
  const toElsewhere = (out: string) => createApplyCommandLine({ ...run, flags: { out } }).lineElsewhere;
  expect(toElsewhere('plans/../plan.json')).toBe('edgewise apply . --approved plans/../plan.json');
  for (const out of ['/tmp/plan.json', '../plan.json', 'plans/../../plan.json'])
    expect(toElsewhere(out)).toBe('edgewise apply .');
});

const REMOTE = STACK.replace('name: test\n', 'name: test\nspec: { api: { base_url: https://api.test } }\n');
const SINK = STACK.replace('name: test\n', 'name: test\nspec: { tokens: { default: { directory: tokens } } }\n');

/** The environment has only the key: a command must name every other setting. */
const BARE = { EDGEWISE_BASE_URL: '' };

/** Returns the command at the end of a comment, as words of a shell. */
function readCommand(comment: string): readonly string[] {
  const [, line = ''] = /\nTo apply.*:\n\n```sh\n(.*)\n```\n/.exec(comment) ?? [];
  const words = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' }).split('\0');
  return words.slice(0, -1);
}

interface Case {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly plan: string;
  readonly more?: Partial<FakeOptions>;
  readonly command: string;
}

const EDGE = toEdge('a', 20001);
const CASES: readonly Case[] = [
  {
    title: 'manifests, when the base URL comes from the Stack',
    files: { 'edge.yaml': `${REMOTE}${EDGE}` },
    plan: 'plan edge.yaml',
    more: { env: BARE },
    command: 'edgewise apply edge.yaml',
  },
  {
    title: 'manifests, when the base URL and other settings come from the environment',
    files: { 'edge.yaml': `${STACK}${EDGE}` },
    plan: 'plan',
    more: { env: { EDGEWISE_BASE_URL: 'https://api.test', EDGEWISE_RATE_LIMIT: '60/60s' } },
    command: 'edgewise apply . --base-url https://api.test --rate-limit 60/60s',
  },
  {
    title: 'a plan file, when the base URL comes from the Stack',
    files: { 'edge.yaml': `${REMOTE}${EDGE}` },
    plan: 'plan edge.yaml -o plan.json',
    more: { env: BARE },
    command: 'edgewise apply edge.yaml --approved plan.json',
  },
  {
    title: 'a plan file, when the token sink comes from the Stack',
    files: { 'edge.yaml': `${SINK}${toCredential('bot')}` },
    plan: 'plan -o plan.json',
    command: 'edgewise apply . --approved plan.json --base-url https://api.test',
  },
  {
    title: 'a plan file of manifests in several places',
    files: { 'edge.yaml': EDGE, 'stack.yaml': REMOTE },
    plan: 'plan edge.yaml stack.yaml -o plan.json',
    more: { env: BARE },
    command: 'edgewise apply edge.yaml stack.yaml --approved plan.json',
  },
  {
    title: 'a plan file, with the flags that it does not hold',
    files: { 'edge.yaml': `${STACK}${toCredential('bot')}` },
    plan: 'plan edge.yaml --base-url https://api.test --token-directory tokens --timeout 5s --rate-limit 9/1s -o plan.json',
    more: { env: BARE },
    command:
      'edgewise apply edge.yaml --approved plan.json --base-url https://api.test --rate-limit 9/1s --timeout 5s --token-directory tokens',
  },
  {
    title: 'a plan file of manifests from standard input',
    files: {},
    plan: 'plan - -o plan.json',
    more: { stdin: `${REMOTE}${EDGE}`, env: BARE },
    command: 'edgewise apply - --approved plan.json',
  },
];

async function runPrintedCommand({ folder, recorder }: Workspace, comment: string, more: Partial<FakeOptions> = {}) {
  const [program, ...words] = readCommand(comment);
  expect(program).toBe('edgewise');
  const argv = [...words, '--yes'];
  return runCommand(argv, { cwd: folder, transport: recorder.transport, ...more, env: BARE });
}

describe('the command that plan prints, run as printed', () => {
  it.each(CASES)('applies $title', async ({ files, plan, more, command }) => {
    const workspace = await createWorkspace(files);
    const { edgewise, folder } = workspace;
    await mkdir(join(folder, 'tokens'));
    const planned = await edgewise(`${plan} --format markdown`, more);
    expect(planned).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readCommand(planned.stdout).join(' ')).toBe(command);
    const applied = await runPrintedCommand(workspace, planned.stdout, more);
    expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/[12] writes? applied, 0 failed/) });
  });

  it('has the consent that plan was given', async () => {
    const workspace = await createWorkspace();
    const { edgewise, write } = workspace;
    const protect = (text: string) => text.replace('spec:\n  host', 'lifecycle: { protect: true }\nspec:\n  host');
    await write({ 'edge.yaml': `${REMOTE}${protect(EDGE)}` });
    await edgewise('apply edge.yaml --yes');
    await write({ 'edge.yaml': `${REMOTE}${toEdge('b', 20002)}` });
    const line = 'plan edge.yaml -o plan.json --allow-protected TCPEdge/a --allow-deletes --format markdown';
    const planned = await edgewise(line, { env: BARE });
    expect((await runPrintedCommand(workspace, planned.stdout)).exitCode).toBe(0);
  });

  it.each(['markdown', 'html'])('names no plan file outside of the working folder in %s', async (format) => {
    const { edgewise, folder } = await createWorkspace({ 'edge.yaml': `${REMOTE}${EDGE}` });
    const file = join(folder, 'plan.json');
    const { stdout } = await edgewise(`plan edge.yaml -o ${file} --format ${format}`, { env: BARE });
    expect(stdout).toContain('edgewise apply edge.yaml\n'.replace('\n', format === 'html' ? '</code>' : '\n'));
    expect(stdout).not.toContain('plan.json');
    const atTerminal = await edgewise(`plan edge.yaml -o ${file}`, { env: BARE, terminal: 80 });
    expect(stripVTControlCharacters(atTerminal.stdout)).toContain(
      `To apply: edgewise apply edge.yaml --approved ${file}\n`,
    );
  });

  it('begins as edgewise was started here, and with its name elsewhere', async () => {
    const { edgewise } = await createWorkspace({
      'edge.yaml': `${REMOTE}${EDGE}`,
      'node_modules/.bin/edgewise': '',
    });
    const { stdout } = await edgewise('plan edge.yaml --report markdown=plan.md', { env: BARE, terminal: 80 });
    expect(stripVTControlCharacters(stdout)).toContain('To apply: npx --no-install edgewise apply edge.yaml\n');
    const { stdout: comment } = await edgewise('plan edge.yaml --format markdown', { env: BARE });
    expect(comment).toContain('\nedgewise apply edge.yaml\n');
  });

  it('explains that manifests are read again if they came from standard input', async () => {
    const { edgewise } = await createWorkspace();
    const { stdout } = await edgewise('plan - --format markdown', { stdin: `${STACK}${EDGE}` });
    expect(stdout).toContain('\nTo apply, with the same manifests on standard input:\n');
  });

  it('is absent if no token sink is set, because apply refuses that', async () => {
    const { edgewise } = await createWorkspace({ 'edge.yaml': `${STACK}${toCredential('bot')}` });
    const { stdout } = await edgewise('plan edge.yaml --format markdown');
    expect(stdout).not.toContain('To apply');
  });
});

describe('the command that show prints', () => {
  it('leaves the manifests to its reader, names the service of the environment, and works', async () => {
    const workspace = await createWorkspace({ 'edge.yaml': `${STACK}${EDGE}` });
    await workspace.edgewise('plan edge.yaml -o plan.json --target TCPEdge/a');
    const { stdout } = await workspace.edgewise('show plan.json --format markdown');
    expect(readCommand(stdout).join(' ')).toBe(
      'edgewise apply MANIFESTS --approved plan.json --base-url https://api.test --target TCPEdge/a',
    );
    const applied = await runPrintedCommand(workspace, stdout.replace('MANIFESTS', 'edge.yaml'));
    expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 write applied') });
  });

  it('has nothing by which an edited file sends the key or tokens elsewhere, or reads other manifests', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edge.yaml': `${SINK}${toCredential('bot')}` });
    await edgewise('plan edge.yaml -o plan.json');
    const text = await readFile(join(folder, 'plan.json'), 'utf8');
    const edited = changePlan(text, (plan) => ({ ...plan, baseUrl: 'https://evil.test' }));
    await writeFile(join(folder, 'evil.json'), edited);
    const { stdout } = await edgewise('show evil.json --format markdown', { env: BARE });
    expect(readCommand(stdout).join(' ')).toBe('edgewise apply MANIFESTS --approved evil.json');
    await writeFile(
      join(folder, 'evil.json'),
      changePlan(text, (plan) => ({ ...plan, manifests: ['evil'] })),
    );
    expect((await edgewise('show evil.json', { env: BARE })).stderr).toContain('Unrecognized key: "manifests"');
  });
});

describe('the last line of a plan in a terminal', () => {
  it('is the command that applies it, on one line in any width, and it works', async () => {
    const { edgewise } = await createWorkspace({ 'live/shop/edgewise.yaml': SINK + toCredential('b') });
    const planned = await edgewise('plan live/shop -o plan.json --base-url embedded:account.json', { terminal: 40 });
    const last = stripVTControlCharacters(planned.stdout).trimEnd().split('\n').at(-1) ?? '';
    const line = 'apply live/shop --approved plan.json --base-url embedded:account.json';
    expect(last).toBe(`To apply: edgewise ${line}`);
    const applied = await edgewise(`${line} --yes`);
    expect(applied).toMatchObject({ exitCode: 0 });
    expect(applied.stdout).not.toContain('To apply');
  });

  it('applies the stacks as they were selected, or the folder of their plans', async () => {
    const files = Object.fromEntries(
      ['a', 'b', 'c'].map((name, index) => [
        `live/${name}/edgewise.yaml`,
        `${STACK.replace('name: test', `name: ${name}`)}${toEdge(name, 20_001 + index)}`,
      ]),
    );
    const { edgewise } = await createWorkspace(files);
    const readLast = async (line: string) => {
      const { stdout } = await edgewise(line, { terminal: 80 });
      return stripVTControlCharacters(stdout).trimEnd().split('\n').at(-1) ?? '';
    };
    const some = await readLast('plan -R live --stack a --stack c');
    expect(some).toMatch(/^To apply: edgewise apply -R --stack a --stack c live /);
    expect(await edgewise(`${some.replace('To apply: edgewise ', '')} --yes`)).toMatchObject({ exitCode: 0 });
    const saved = await readLast('plan -R live -o plans');
    expect(saved).toMatch(/^To apply: edgewise apply -R live --approved plans /);
    expect(await edgewise(`${saved.replace('To apply: edgewise ', '')} --yes`)).toMatchObject({ exitCode: 0 });
    expect(await readLast('plan -R live')).not.toContain('To apply');
  });

  it('is no command if there is nothing to apply, no token sink, or a file as output', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + toCredential('b') });
    expect((await edgewise('plan', { terminal: 80 })).stdout).not.toContain('To apply');
    await write({ 'edgewise.yaml': SINK + toCredential('b') });
    expect((await edgewise('plan')).stdout).not.toContain('To apply');
    expect((await edgewise('plan', { terminal: 80 })).stdout).toContain('To apply');
    await edgewise('apply --yes');
    expect((await edgewise('plan', { terminal: 80 })).stdout).not.toContain('To apply');
  });

  it('contains no escapes of a path', async () => {
    const { edgewise, folder } = await createWorkspace({ 'a\u001b[2J/edgewise.yaml': STACK + toEdge('a', 20001) });
    const planned = await runCommand(['plan', join(folder, 'a\u001b[2J')], {
      cwd: folder,
      transport: () => Promise.reject(new Error('not needed')),
      env: { EDGEWISE_BASE_URL: 'embedded:' },
      terminal: 80,
    });
    expect(planned).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('to create') });
    expect(planned.stdout).not.toContain('\u001b[2J');
    expect((await edgewise('plan .', { terminal: 80 })).exitCode).toBe(0);
  });
});
