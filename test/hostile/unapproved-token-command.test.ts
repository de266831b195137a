import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toCredential, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from '../repository/tree.ts';
import { readOnlyStack } from '../results.ts';

/** The author of a change after the approved one: the applied Stack names another command that gets the live token. */

type Tokens = Readonly<Record<string, unknown>>;

const SH = '/bin/sh';
const APPROVED = { command: [SH, 'deliver.sh'], test: [SH, '-n', 'deliver.sh'] };
const THEIRS = 'stolen.txt';

const SCRIPTS = {
  'live/one/deliver.sh': 'cat > delivered.txt\n',
  'live/one/evil.sh': `cat > ${THEIRS}\n`,
  'live/one/fail.sh': 'exit 1\n',
};

function toFiles(place: Tokens): Readonly<Record<string, string>> {
  return { 'live/one/edgewise.yaml': toStack('one', { tokens: { default: place } }) };
}

async function createRepository(): Promise<Workspace> {
  return createWorkspace({ ...SCRIPTS, ...toFiles(APPROVED), 'live/one/agent.yaml': toCredential('agent') });
}

/** The edits of the Stack after the approval, and the differences that are shown. */
const CHANGES: readonly (readonly [string, Tokens, string])[] = [
  ['another script of the same program', { ...APPROVED, command: [SH, 'evil.sh'] }, 'sh evil.sh (in live/one, tested'],
  ['one more argument', { ...APPROVED, command: [SH, 'deliver.sh', '-x'] }, 'sh deliver.sh -x (in live/one, tested'],
  [
    'the same characters, split into other arguments',
    { ...APPROVED, command: [SH, '-c', `cat > ${THEIRS}`] },
    `sh -c "cat > ${THEIRS}" (in live/one, tested`,
  ],
  ['another test', { ...APPROVED, test: [SH, 'evil.sh'] }, 'tested with /bin/sh evil.sh'],
  ['no test', { command: APPROVED.command }, 'the command /bin/sh deliver.sh (in live/one, timeout'],
  ['another timeout', { ...APPROVED, timeout: '9m' }, 'timeout 540 s'],
  ['a folder', { directory: 'elsewhere' }, 'the folder live/one/elsewhere'],
];

/** The ways to apply an approved plan: the command that makes it, and the one that applies it. */
const WAYS: readonly (readonly [string, string, string])[] = [
  ['--approved', 'plan live/one -o plan.json', 'apply live/one --yes --approved plan.json'],
  ['a saved plan', 'plan live/one -o plan.json', 'apply live/one --approved plan.json --yes'],
  ['a folder of plans', 'plan -R live -o plans', 'apply -R live --approved plans --yes'],
];

function expectNothingDone(workspace: Workspace): void {
  expect(listWrites(workspace)).toEqual([]);
  for (const file of [THEIRS, 'delivered.txt', 'elsewhere/agent.token'])
    for (const folder of ['', 'live/one']) expect(existsSync(join(workspace.folder, folder, file))).toBe(false);
}

describe.each(WAYS)('with %s, an unapproved command gets no live token', (_, plan, apply) => {
  it.each(CHANGES)('%s', async (_, place, shown) => {
    const workspace = await createRepository();
    expect((await workspace.edgewise(plan)).exitCode).toBe(0);
    await workspace.write(toFiles(place));
    const { exitCode, stdout, stderr } = await workspace.edgewise(apply);
    expect(stdout + stderr).toContain(shown);
    expect(exitCode).toBe(6);
    expectNothingDone(workspace);
  });
});

it.each(WAYS)('with %s, the approved command gets the token', async (_, plan, apply) => {
  const workspace = await createRepository();
  await workspace.edgewise(plan);
  expect((await workspace.edgewise(apply)).exitCode).toBe(0);
  expect(readFileSync(join(workspace.folder, 'live/one/delivered.txt'), 'utf8')).not.toBe('');
});

it.each([
  ['another script', '--token-command ["/bin/sh","evil.sh"]', 'sh evil.sh'],
  ['a folder', '--token-directory elsewhere', 'the folder elsewhere'],
])('sends no token to %s for a flag at the apply of a plan file', async (_, flag, shown) => {
  const workspace = await createRepository();
  await workspace.edgewise('plan live/one -o plan.json');
  const { exitCode, stdout } = await workspace.edgewise(`apply live/one --approved plan.json --yes ${flag}`);
  expect(stdout).toContain(shown);
  expect(stdout).toContain('approved: its token goes to the command /bin/sh deliver.sh');
  expect(exitCode).toBe(6);
  expectNothingDone(workspace);
});

it('shows the other command of an altered plan file and Stack to a comparison', async () => {
  const workspace = await createRepository();
  await workspace.edgewise('plan live/one -o approved.json');
  await workspace.write(toFiles({ ...APPROVED, command: [SH, 'evil.sh'] }));
  await workspace.edgewise('plan live/one -o plan.json');
  const { exitCode, stdout } = await workspace.edgewise('diff approved.json plan.json');
  expect(stdout).toContain('not as approved.json: its token goes to the command /bin/sh evil.sh');
  expect(stdout).toContain('approved.json: its token goes to the command /bin/sh deliver.sh');
  expect(exitCode).toBe(2);
});

it.each([
  ['a requested rotation', '--rotate Credential/agent'],
  ['a replace of a credential that was not delivered', ''],
])('%s gives the new token to no other command', async (_, flags) => {
  const workspace = await createRepository();
  const rotates = flags !== '';
  await workspace.write(toFiles(rotates ? APPROVED : { command: [SH, 'fail.sh'] }));
  expect((await workspace.edgewise('apply live/one --yes')).exitCode).toBe(rotates ? 0 : 1);
  await workspace.write(toFiles(APPROVED));
  await workspace.edgewise(`plan live/one -o plan.json ${flags}`.trim());
  await workspace.write(toFiles({ ...APPROVED, command: [SH, 'evil.sh'] }));
  workspace.recorder.take();
  for (const apply of [
    `apply live/one --yes --approved plan.json ${flags}`.trim(),
    'apply live/one --approved plan.json --yes',
  ]) {
    expect((await workspace.edgewise(apply)).exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
    expect(existsSync(join(workspace.folder, THEIRS))).toBe(false);
  }
});

it.each([
  ['letters of other scripts', 'd\u0435liver.sh'],
  ['a zero-width space', 'deliver\u200b.sh'],
  ['a space at the end', 'deliver.sh '],
  ['another direction', '\u202ehs.reviled'],
  ['a combining mark of its own', 'delive\u0301r.sh'],
])('similar words are shown differently: %s', async (_, word) => {
  const { write, edgewise } = await createRepository();
  const toShown = async () => (await edgewise('plan live/one --format markdown')).stdout;
  const first = await toShown();
  await write(toFiles({ ...APPROVED, command: [SH, word] }));
  const second = await toShown();
  const [digest, other] = [first, second].map((text) => /sha256 ([\w-]+)/.exec(text.replaceAll('\\', ''))?.[1]);
  expect(digest).toHaveLength(22);
  expect(other).not.toBe(digest);
  expect(second).toMatch(/sh (?:"|&quot;|\\")/);
  expect(second).not.toContain(word.trim() === word ? word : `${word}\n`);
});

it('the end of a long command is in the digest and in the details', async () => {
  const toLong = (last: string) => ({ command: [SH, '-c', 'x'.repeat(1_000), last] });
  const { write, edgewise } = await createRepository();
  await write(toFiles(toLong('first')));
  await edgewise('plan live/one -o plan.json');
  await write(toFiles(toLong('second')));
  const { exitCode, stdout } = await edgewise('apply live/one --yes --approved plan.json --format markdown');
  expect(exitCode).toBe(6);
  expect(stdout).toContain('… and so on, 4 words');
  expect(stdout).toMatch(/^- +first$/m);
  expect(stdout).toMatch(/^\+ +second$/m);
});

it('words are escaped in every format', async () => {
  const word = '</details><script>x</script> ##[add-mask]true ::stop-commands:: `x` | @team \u001b[2J\n# x';
  const { write, edgewise } = await createRepository();
  await write(toFiles({ command: [SH, word], test: [word, 'y'.repeat(300)] }));
  for (const format of ['text', 'markdown', 'html']) {
    const { stdout } = await edgewise(`plan live/one --format ${format}`);
    expect(stdout).toContain('stop-commands');
    for (const part of ['\u001b', '\n# x', '\n::stop', '##[']) expect(stdout).not.toContain(part);
    if (format === 'html') expect(stdout).not.toContain('<script>x');
  }
  const { stdout } = await edgewise('plan live/one --format json');
  const plan: { changes: readonly { token: unknown }[] } = readOnlyStack(stdout);
  expect(plan.changes[0]?.token).toEqual({
    command: [SH, word],
    test: [word, 'y'.repeat(300)],
    timeoutMs: 30_000,
    folder: 'live/one',
  });
});
