import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSandbox, type Ended, listFiles, runLine } from '../installed/sandbox.ts';

/** The installed program on the way from Terraform: an account and a state of the public provider, with other values. */

async function createProject(): Promise<(line: string) => Promise<Ended>> {
  const sandbox = createSandbox({}, { EDGEWISE_BASE_URL: 'embedded:account.json' });
  cpSync('test/terraform', sandbox.work, { recursive: true });
  const before = listFiles(join(sandbox.work, 'infra'));
  return async (line) => {
    const ended = await runLine(sandbox, line);
    expect(ended.stderr).not.toMatch(/bug in edgewise|^ +at /m);
    expect(listFiles(join(sandbox.work, 'infra')), 'the files of Terraform').toEqual(before);
    return ended;
  };
}

const EXPORT = 'edgewise export -o ingress --owner production';

describe('the installed program on the way from Terraform', () => {
  it('exports, adopts, has an empty plan, protects, and releases', async () => {
    const run = await createProject();
    expect(await run(`${EXPORT} --names infra/terraform.tfstate`)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Exported 7 resources for the stack production:\n  ingress/edgewise.yaml\n'),
    });
    const protect = String.raw`s/^lifecycle:$/&\n  protect: true/`;
    await run(`sed -i '${protect}' ingress/agent-ingress/*.yaml ingress/credential/site-*.yaml`);
    const counts = '0 to delete, 0 to replace, 0 to update, 7 to adopt, 0 to create; 0 unchanged.';
    expect((await run('edgewise plan ingress')).stdout).toContain(counts);
    expect((await run('edgewise apply ingress --yes')).stdout).toContain('7 writes applied, 0 failed, 0 skipped');
    expect(await run('edgewise plan ingress --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    expect(await run('edgewise drift ingress')).toMatchObject({ exitCode: 0 });
    expect(await run('edgewise destroy ingress --yes')).toMatchObject({ exitCode: 5 });
    const protectedOnes = [
      'AgentIngress/connect-eu',
      'AgentIngress/connect-us',
      'Credential/site-berlin-agent',
      'Credential/site-oslo-agent',
    ];
    expect(await run('edgewise release Credential/build-0 ingress --yes')).toMatchObject({ exitCode: 0 });
    expect(
      await run(`edgewise destroy ingress --yes ${protectedOnes.map((one) => `--allow-protected ${one}`).join(' ')}`),
    ).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['standard input', `cat show.json | ${EXPORT} --names -`],
    ['a pipe with a name', `${EXPORT} --names <(cat show.json)`],
  ])('reads the output of terraform show from %s', async (_, line) => {
    const run = await createProject();
    const { exitCode, stdout, stderr } = await run(line);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('  ingress/credential/site-berlin-agent.yaml\n');
    expect((await run('edgewise plan ingress')).stdout).toContain('7 to adopt, 0 to create');
  });

  it.each([
    [
      'of another account',
      'EDGEWISE_BASE_URL=embedded: edgewise export --names infra/terraform.tfstate',
      'The state is of another account',
    ],
    [
      'that is cut off',
      'head -c 3000 infra/terraform.tfstate | edgewise export --names -',
      'standard input is not a JSON object',
    ],
    ['that does not exist', 'edgewise export --names gone.tfstate', 'gone.tfstate does not exist.'],
  ])('refuses a state %s', async (_, line, finding) => {
    const run = await createProject();
    expect(await run(line)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(finding) });
  });
});
