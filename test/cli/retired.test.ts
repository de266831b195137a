import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RETIRED } from '../../src/settings/retired.ts';
import { createWorkspace, STACK } from './workspace.ts';

/** A command that takes the option, if it is not `plan`. */
const COMMANDS: Readonly<Record<string, string>> = {
  '--wait': 'apply . --yes',
  '--manifests': 'apply .',
};

/** A document that sets the field. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  'SSHUserCertificate lifecycle.write_to': toCertificate('write_to: alice-cert.pub'),
  'SSHUserCertificate lifecycle.keep_file': toCertificate('keep_file: true'),
  'Stack spec.owner_label': `${STACK}spec: { owner_label: team }\n`,
  'Defaults spec.owner_label': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: { owner_label: team }\n',
  'Stack spec.render': `${STACK}spec: { render: [kustomize, build, .] }\n`,
  'Defaults spec.render': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: { render: [kustomize, build, .] }\n',
};

function toCertificate(setting: string): string {
  return `apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L
  principals: [alice]
lifecycle: { ${setting} }
`;
}

const ROOT = new URL('../..', import.meta.url).pathname;

async function expectRefusal(line: string, { page, instead }: { page: string; instead: string }, files = {}, env = {}) {
  const { edgewise, recorder } = await createWorkspace({ 'stack.yaml': STACK, ...files });
  const { exitCode, stdout, stderr } = await edgewise(line, { env });
  const shown = `${stdout}${stderr}`.replace(/\s+/g, ' ');
  expect(exitCode, `${line}\n${shown}`).toBe(3);
  expect(shown).toContain(instead);
  expect(shown).toContain(page);
  expect(recorder.take()).toEqual([]);
}

describe('what was retired', () => {
  it('ends the run with 3 and names the page, as an option', async () => {
    for (const retired of RETIRED)
      for (const flag of retired.flags ?? []) await expectRefusal(`${COMMANDS[flag] ?? 'plan .'} ${flag}`, retired);
  });

  it('ends the run with 3 and names the page, as a command', async () => {
    for (const retired of RETIRED)
      for (const command of retired.commands ?? []) await expectRefusal(`${command} x`, retired);
  });

  it('ends every run with 3 and names the page, as a variable that is not empty', async () => {
    for (const retired of RETIRED) {
      for (const variable of retired.variables ?? []) {
        for (const command of ['plan .', 'apply . --yes', 'validate .', 'stacks .', 'get .'])
          await expectRefusal(command, retired, {}, { [variable]: '1' });
        const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
        expect((await edgewise('plan .', { env: { [variable]: '' } })).exitCode).toBe(0);
      }
    }
  });

  it('ends the run with 3 and names the page, as a field', async () => {
    for (const retired of RETIRED) {
      for (const field of retired.fields ?? []) {
        const document = DOCUMENTS[field];
        expect(document, `a document with ${field}`).toBeDefined();
        const name = field.startsWith('Defaults') ? 'edgewise-defaults.yaml' : 'more.yaml';
        const files = { ...(field.startsWith('Stack') && { 'stack.yaml': '' }), [name]: document };
        await expectRefusal('plan .', retired, files);
      }
    }
  });

  it('ends every run with 3 and names the page, as a pattern of offered variables', async () => {
    const patterns = ['DEPLOY_*', '*', 'A*Z'];
    const found = patterns.flatMap((pattern) => RETIRED.filter(({ offers }) => offers?.test(pattern) === true));
    expect(found).toHaveLength(patterns.length);
    for (const [at, retired] of found.entries()) {
      const pattern = patterns[at] ?? '';
      for (const command of ['plan .', 'apply . --yes', 'validate .', 'stacks .', 'get .', 'drift .'])
        await expectRefusal(`${command} --env ${pattern}`, retired);
      await expectRefusal(`plan . --secret ${pattern}`, retired);
      for (const variable of ['EDGEWISE_ENV', 'EDGEWISE_SECRETS'])
        await expectRefusal('plan .', retired, {}, { [variable]: `A ${pattern}` });
    }
  });

  it('has a page', () => {
    for (const { page } of RETIRED) expect(existsSync(join(ROOT, page)), page).toBe(true);
  });
});
