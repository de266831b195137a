import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../cli/fake-context.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { toTries } from '../tries.ts';

/** The variables of a job. */
const VARIABLES: Readonly<Record<string, string>> = {
  DEPLOY_PASSWORD: 'correct-horse-battery',
  a: 'value-of-a',
  _: 'value-of-_',
};

/** Expands variables as GitLab does: first the server, as `ExpandVariables`, then the runner, as Go's `os.Expand` with `$$` for a `$`. */
function expandAsGitLab(value: string): string {
  const onServer = value.replace(
    /\$\$|%%|\$([a-zA-Z_]\w*)|\$\{([a-zA-Z_]\w*)\}|%([a-zA-Z_]\w*)%/g,
    (found, ...names) => {
      const name = names.slice(0, 3).find((one) => one !== undefined);
      return name === undefined ? found : (VARIABLES[name] ?? '');
    },
  );
  return onServer.replace(/\$(?:\{([^}]*)\}|(\w+|[*#$@!?-])|(?=(.|$)))/g, (_, ...names) => {
    const name: string | undefined = names.slice(0, 3).find((one) => one !== undefined);
    return name === '$' ? '$' : (VARIABLES[name ?? ''] ?? '');
  });
}

/** Lists the stacks of a folder from the matrix for GitLab. */
async function readGitLabMatrix(folder: string) {
  const { edgewise } = await createWorkspace({ [`live/${folder}/edgewise.yaml`]: toStack('web') });
  const result = await edgewise('stacks live --format gitlab');
  return { ...result, row: parse(result.stdout)?.['.edgewise-stacks'].parallel.matrix[0] };
}

describe('the name of a folder in a matrix of GitLab', () => {
  it.each([
    '$DEPLOY_PASSWORD',
    `\${DEPLOY_PASSWORD}`,
    '$$DEPLOY_PASSWORD',
    '$$$DEPLOY_PASSWORD',
    'a$',
    '$(id)',
    `\${a:-b}`,
    '"$a"',
    '100% $a %',
    '%%',
    '!reference [a, b]',
    '$[[ inputs.a ]]',
    "it's",
    'a: b # c',
    '`id`',
  ])('reaches the job as the name of the folder: %s', async (name) => {
    const { row } = await readGitLabMatrix(name);
    expect(expandAsGitLab(row.EDGEWISE_FOLDER)).toBe(`live/${name}`);
  });

  it.each(['%DEPLOY_PASSWORD%', 'x%a%y', '%%a%b%'])(
    'is refused if GitLab would expand a variable: %s',
    async (name) => {
      expect(await readGitLabMatrix(name)).toMatchObject({
        exitCode: 3,
        stdout: '',
        stderr: expect.stringMatching(/cannot be in a matrix: GitLab would replace %\w+% by the value of a variable/),
      });
    },
  );

  it('reaches the job unchanged or is refused, whatever its characters', async () => {
    const names = fc
      .array(
        fc.constantFrom('$', '{', '}', '%', 'a', '_', 'DEPLOY_PASSWORD', ' ', '"', "'", '\\', '-', '*', '#', ':'),
        {
          minLength: 1,
          maxLength: 8,
        },
      )
      .map((parts) => `n${parts.join('')}n`);
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const { exitCode, row } = await readGitLabMatrix(name);
        if (exitCode === 3) expect(name).toMatch(/%\w+%/);
        else expect(expandAsGitLab(row.EDGEWISE_FOLDER)).toBe(`live/${name}`);
      }),
      { numRuns: toTries(60) },
    );
  });
});

describe('the name of a folder in a matrix of GitHub', () => {
  it.each([
    '$(id)',
    `\${{ secrets.A }}`,
    'a\nmatrix=b',
    '\u2028',
    '##[add-mask]live',
    '##vso[task.setvariable a]',
    '"}]}',
  ])('is one line without a command: %j', async (name) => {
    const { edgewise } = await createWorkspace({ [`live/${name}/edgewise.yaml`]: toStack('web') });
    const { stdout } = await edgewise('stacks live --format github');
    expect(stdout).toMatch(/^[^\r\n]+\n$/);
    expect(stdout).not.toMatch(/##\w*\[/);
    expect(JSON.parse(stdout)).toEqual({ include: [{ stack: 'web', folder: `live/${name}` }] });
  });
});

describe('the name of a stack in a list for jobs', () => {
  const NAMES = [
    '$DEPLOY_PASSWORD',
    '%a%',
    '$(id)',
    's03 --stack=s04',
    '--help',
    'a\nb',
    `\${{ secrets.A }}`,
    '..',
    '',
  ];

  it.each(NAMES)('is refused if it could act on a shell or a forge, or is none: %j', async (name) => {
    const { edgewise } = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a'),
      'live/b/edgewise.yaml': toStack(name),
    });
    for (const format of ['json', 'github', 'gitlab']) {
      const { exitCode, stdout, stderr } = await edgewise(`stacks live --format ${format}`);
      expect(exitCode).toBe(3);
      expect(stdout + stderr).toContain('The Stack in live/b/edgewise.yaml has no valid name.');
      expect(stdout).not.toContain('"name":');
      // Of a list without it, nothing is refused.
      expect((await edgewise(`stacks live --stack a --format ${format}`)).exitCode).toBe(0);
    }
    expect((await edgewise('stacks live')).exitCode).toBe(0);
  });

  it('is refused by --stack too, also without a name', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'live/a/edgewise.yaml': toStack('a') });
    for (const name of NAMES) {
      const { exitCode } = await runCommand(['apply', '-R', 'live', `--stack=${name}`, '--yes'], { cwd: '/' });
      expect([name, exitCode]).toEqual([name, 3]);
    }
    expect((await edgewise('plan -R live --stack b')).exitCode).toBe(3);
    expect(recorder.take()).toEqual([]);
  });
});
