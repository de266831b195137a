import { describe, expect, it } from 'vitest';
import { toStack } from '../repository/tree.ts';
import { createWorkspace, toEdge } from './workspace.ts';

/** The data file of the embedded server, if its name is wrong. */

const FILES = { 'm/edgewise.yaml': toStack('shop'), 'm/edge.yaml': toEdge('a', 20_001), 'account.json': '{}' };

describe('a data file that does not exist', () => {
  it.each([
    'export -o out --owner x --base-url embedded:acount.json',
    'drift m --base-url embedded:acount.json',
    'get m --base-url embedded:acount.json',
    'drift -R . --base-url embedded:./acount.json',
  ])('is an error for a command that shows what it has, with the name that was meant: %s', async (line) => {
    const { edgewise } = await createWorkspace(FILES);
    const { exitCode, stdout, stderr } = await edgewise(line);
    expect({ exitCode, text: `${stdout}${stderr}` }).toEqual({
      exitCode: 3,
      text: expect.stringMatching(
        /does not exist: (?:\.\/)?acount\.json\.(?:.|\n)*Did you mean `embedded:account\.json`\?/,
      ),
    });
  });

  it.each(['plan m', 'apply m --yes'])('is new and empty for %s', async (line) => {
    const { edgewise } = await createWorkspace(FILES);
    const { exitCode, stderr } = await edgewise(`${line} --base-url embedded:fresh.json`);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Using the embedded server, new and empty: fresh.json does not exist yet.\n');
  });
});

describe('a data file whose lock would have too long a name', () => {
  it('is refused with the reason', async () => {
    const { edgewise } = await createWorkspace(FILES);
    const { exitCode, stderr } = await edgewise(`apply m --yes --base-url embedded:${'x'.repeat(246)}.json`);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('x.json cannot be locked: ENAMETOOLONG: name too long');
  });
});
