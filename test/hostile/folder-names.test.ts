import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type CommandResult, runCommand } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { expectPrintable, FORMAT_CHECKS } from '../report/format-checks.ts';

/** The author of a pull request chooses names of folders and files that control a terminal, forge a line or hide text. */

const NAME = 'a\u001b[2J\nforged\u202e::error::x\u0085y';

const SHOWN = String.raw`a\u001b[2J\nforged\u202e::error::x\u0085y`;

function toNamedStack(name: string): string {
  return STACK.replace('name: test', `name: ${name}`);
}

/** Folders with a valid stack, with an error at reading and with an error at checking; and a file of no stack. */
const FILES: Readonly<Record<string, string>> = {
  [`good-${NAME}/${NAME}.yaml`]: toNamedStack('good') + toEdge('a', 20_001),
  [`torn-${NAME}/${NAME}.yaml`]: `${toNamedStack('torn')}---\nkind: [\n`,
  [`wrong-${NAME}/${NAME}.yaml`]: toNamedStack('wrong') + toEdge('b', 20_002).replace('hostports', 'hostport'),
  [`${NAME}.yaml`]: toEdge('c', 20_003),
};

const FOLDERS = ['good', 'torn', 'wrong', 'gone'].map((folder) => `${folder}-${NAME}`);

function run({ folder, recorder }: Workspace, words: readonly string[]): Promise<CommandResult> {
  return runCommand(words, { cwd: folder, transport: recorder.transport });
}

/** Expects that no character controls a terminal and no line is forged, also after a line break of the format. A position in SARIF is a URI. */
function expectEscaped(shown: string): void {
  expectPrintable(shown);
  const text = shown.replace(/"uri": "[^"]*"/g, '');
  expect(text).not.toMatch(/(?:^|&#10;|&#xA;|%0A|<br>) *forged/im);
  expect(text).not.toMatch(/%1B|&#27;|&#x1b;/i);
}

describe('the name of a folder with escapes and line breaks', () => {
  it.each(['table', 'folder', 'json', 'github', 'gitlab'])('is shown escaped by stacks -o %s', async (form) => {
    const { exitCode, stdout, stderr } = await run(await createWorkspace(FILES), ['stacks', '.', '--format', form]);
    expect(exitCode).toBe(0);
    expectEscaped(stdout);
    expectEscaped(stderr);
    expect(stdout).toContain(`good-${SHOWN}`);
    expect(stdout + stderr).toContain(`${SHOWN}.yaml`);
  });

  it('is the same for the program that reads the matrix', async () => {
    const workspace = await createWorkspace(FILES);
    const github = await run(workspace, ['stacks', '.', '--format', 'github']);
    expect(JSON.parse(github.stdout).include).toContainEqual({ stack: 'good', folder: `good-${NAME}` });
    const gitlab = parse((await run(workspace, ['stacks', '.', '--format', 'gitlab'])).stdout);
    const jobs = gitlab['.edgewise-stacks'].parallel.matrix;
    expect(jobs).toContainEqual({ EDGEWISE_STACK: 'good', EDGEWISE_FOLDER: `good-${NAME}` });
  });

  const forms = Object.entries(FORMAT_CHECKS);

  it.each(forms)(
    'is shown escaped in the format %s, by every command, for one stack and for many',
    async (form, check) => {
      const workspace = await createWorkspace(FILES);
      const commands = form.endsWith('metrics') ? ['drift'] : ['validate', 'plan', 'drift', 'apply'];
      const all = commands.flatMap((command) => [...FOLDERS.map((folder) => [command, folder]), [command, '-R', '.']]);
      for (const words of all) {
        const { stdout, stderr } = await run(workspace, [...words, '--format', form]);
        for (const text of [stdout, stderr]) expectEscaped(text);
        if (stdout !== '' && !words.includes('-R')) check(stdout);
        const isNamed = words.includes('-R') || !words.join(' ').includes(' good-');
        if (isNamed && !form.endsWith('metrics')) expect(stdout + stderr).toContain('forged');
      }
    },
  );

  it.each([
    ['plan', `good-${NAME}`, '-o', `${NAME}.json`],
    ['plan', `torn-${NAME}`, '-o', `${NAME}.json`],
    ['apply', `${NAME}.json`, '--yes'],
    ['apply', `good-${NAME}`, '--approved', `${NAME}.json`, '--yes'],
    ['plan', '-R', '.', '-o', `plans-${NAME}`],
    ['apply', `plans-${NAME}`, '--yes'],
    ['apply', '-R', '.', '--approved', `plans-${NAME}`, '--yes'],
    ['plan', `good-${NAME}`, '--policies', `no-${NAME}`],
    ['plan', `good-${NAME}`, '--target', NAME],
    ['plan', `good-${NAME}`, '--report', `markdown=no-${NAME}/plan.md`],
    ['plan', `good-${NAME}`, '--root', `no-${NAME}`],
    ['apply', `good-${NAME}`, '--approved', `no-${NAME}`],
    ['diff', `no-${NAME}`, `no-${NAME}`],
    ['show', `no-${NAME}`],
    ['post', `no-${NAME}`],
    ['explain', NAME],
    ['init', `new-${NAME}`, '--name', 'new', '--base-url', 'https://api.test'],
    ['export', '--owner', 'new', '-o', `out-${NAME}`],
    ['get', '--format', 'json', `good-${NAME}`],
    ['completion', NAME],
    [NAME],
    ['plan', `--${NAME}`],
  ])('is shown escaped by %s %j %j %j', async (...words) => {
    const workspace = await createWorkspace(FILES);
    const { stdout, stderr } = await run(workspace, words);
    for (const text of [stdout, stderr]) expectEscaped(text);
  });

  it('is shown escaped if a folder of plans has a file that no run made', async () => {
    const workspace = await createWorkspace({ [`good-${NAME}/edgewise.yaml`]: toNamedStack('good') });
    expect(await run(workspace, ['plan', '-R', '.', '-o', 'plans'])).toMatchObject({ exitCode: 0 });
    await workspace.write({ [`plans/${NAME}.json`]: '{}' });
    const lines = [
      ['plan', '-R', '.', '-o', 'plans'],
      ['apply', '-R', '.', '--approved', 'plans', '--yes'],
    ];
    for (const words of lines) {
      const { exitCode, stdout, stderr } = await run(workspace, words);
      expect(exitCode).not.toBe(0);
      for (const text of [stdout, stderr]) expectEscaped(text);
      expect(stderr).toContain(SHOWN);
    }
  });
});
