import { describe, expect, it } from 'vitest';
import { HELP_TOPICS } from '../../src/cli/commands/help-topics.ts';
import { runCommand } from './fake-context.ts';

const COMMANDS = [
  '',
  'explain',
  'help',
  'validate',
  'test-policy',
  'stacks',
  'init',
  'plan',
  'apply',
  'destroy',
  'release',
  'post',
  'get',
  'drift',
  'export',
  'show',
  'diff',
  'completion',
  'schema',
  'serve',
  'abuse-report',
  'abuse-report submit',
  'abuse-report get',
];

/** Lists the options that a help text explains. */
function listExplained(text: string): readonly string[] {
  return Array.from(text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm), ([, option = '']) => option);
}

describe('help', () => {
  it.each(COMMANDS)('explains edgewise %s', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { exitCode, stdout, stderr } = await runCommand([...words, '--help'], { cwd: '/' });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(`goldens/help${words.map((word) => `-${word}`).join('')}.txt`);
  });

  it.each(COMMANDS.filter((name) => name !== 'help'))('has examples for edgewise %s', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { stdout } = await runCommand([...words, '--help'], { cwd: '/' });
    expect(stdout).toMatch(/Examples:\n {2}\$ edgewise/);
  });

  it.each(HELP_TOPICS.map(({ name }) => name))('has the topic %s', async (topic) => {
    const { exitCode, stdout, stderr } = await runCommand(['help', topic], { cwd: '/' });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(`goldens/help-topic-${topic}.txt`);
  });

  it('fits on a screen of 40 lines, with one line for each command', async () => {
    const { stdout } = await runCommand(['--help'], { cwd: '/', terminal: 80 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    for (const command of COMMANDS.filter((name) => name !== '' && name !== 'help' && !name.includes(' ')))
      expect(lines.filter((line) => line.startsWith(`  ${command} `))).toHaveLength(1);
  });

  it('names every topic in the overview', async () => {
    const { stdout } = await runCommand(['--help'], { cwd: '/' });
    for (const topic of HELP_TOPICS) expect(stdout).toContain(topic.name);
  });

  it.each(COMMANDS.filter((name) => name !== ''))('prints the same for edgewise help %s', async (command) => {
    const words = command.split(' ');
    const { stdout } = await runCommand(['help', ...words], { cwd: '/' });
    expect(stdout).toBe((await runCommand([...words, '--help'], { cwd: '/' })).stdout);
  });

  it('prints the overview without arguments', async () => {
    const overview = await runCommand(['--help'], { cwd: '/' });
    expect(await runCommand(['help'], { cwd: '/' })).toEqual(overview);
    expect(await runCommand([], { cwd: '/' })).toMatchObject({ exitCode: 3, stdout: '', stderr: overview.stdout });
  });

  it('lists the known words for an unknown one', async () => {
    expect(await runCommand(['help', 'conection'], { cwd: '/' })).toMatchObject({
      exitCode: 3,
      stderr: 'edgewise: There is no command or topic conection.\nDid you mean `connection`?\n',
    });
  });

  it.each(COMMANDS)('fits a terminal of 80 columns and 45 lines: edgewise %s', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { stdout } = await runCommand([...words, '--help'], { cwd: '/', terminal: 80 });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(45);
    // Command lines in examples are not wrapped.
    expect(lines.filter((line) => line.length > 80 && !line.startsWith('  $ '))).toEqual([]);
  });

  it('shows the options of a command first, and names the topics of the others', async () => {
    const { stdout } = await runCommand(['plan', '--help'], { cwd: '/' });
    expect(stdout.indexOf('--detailed-exitcode')).toBeLessThan(stdout.indexOf('--format'));
    expect(stdout.indexOf('--format')).toBeLessThan(stdout.indexOf('  connection   --base-url, '));
  });

  it.each(COMMANDS.filter((name) => !['', 'help', 'abuse-report'].includes(name)))(
    'explains each option in one place: edgewise %s',
    async (command) => {
      const words = command.split(' ');
      const { stdout: script } = await runCommand(['completion', 'bash'], { cwd: '/' });
      const [, members = ''] = new RegExp(`^ *'${command}'\\) .* options='(.*?)'`, 'm').exec(script) ?? [];
      const options = [...members.matchAll(/(?<= )--[\w-]+/g)].map(([option]) => option);
      expect(options).toContain('--help');
      const { stdout } = await runCommand([...words, '--help'], { cwd: '/' });
      const [explained = '', named = ''] = stdout.split(/^(?:Exit codes|Examples):/m)[0]?.split('\nMore options') ?? [];
      for (const option of options) {
        const places = [...listExplained(explained), ...(named.match(/--[\w-]+/g) ?? [])];
        expect(
          places.filter((one) => one === option),
          option,
        ).toHaveLength(1);
      }
      for (const [, topic = '', names = ''] of named.matchAll(/^ {2}([a-z-]+) +((?:--.*\n? *)+)/gm)) {
        const { stdout: page } = await runCommand(['help', topic], { cwd: '/' });
        expect(listExplained(page)).toEqual(expect.arrayContaining(names.match(/--[\w-]+/g) ?? []));
      }
    },
  );

  it('fills the width of the terminal', async () => {
    const { stdout } = await runCommand(['apply', '--help'], { cwd: '/', terminal: 120 });
    const widths = stdout.split('\n').map((line) => line.length);
    expect(Math.max(...widths)).toBeGreaterThan(100);
    expect(Math.max(...widths)).toBeLessThanOrEqual(120);
  });

  it('prints the version', async () => {
    const { exitCode, stdout } = await runCommand(['--version'], { cwd: '/' });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });
});
