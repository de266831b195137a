import { describe, expect, it } from 'vitest';
import { runCommand } from './fake-context.ts';

const COMMANDS = [
  '',
  'validate',
  'lint',
  'plan',
  'apply',
  'destroy',
  'release',
  'drift',
  'export',
  'show',
  'schema',
  'serve',
  'abuse-report',
  'abuse-report submit',
  'abuse-report get',
];

describe('help', () => {
  it.each(COMMANDS)('explains itself: edgewise %s', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { exitCode, stdout, stderr } = await runCommand([...words, '--help'], { cwd: '/' });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(`goldens/help${words.map((word) => `-${word}`).join('')}.txt`);
  });

  it.each(COMMANDS)('has examples: edgewise %s', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { stdout } = await runCommand([...words, '--help'], { cwd: '/' });
    expect(stdout).toMatch(/Examples:\n {2}\$ edgewise/);
  });

  it('prints its version', async () => {
    const { exitCode, stdout } = await runCommand(['--version'], { cwd: '/' });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  });
});
