import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTerraformState } from '../../src/export/terraform-state.ts';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';
import { createWorkspace, type Workspace } from '../cli/workspace.ts';
import { isInstalled, runTool } from './tools.ts';

/**
 * The commands of docs/how-to/from-terraform.md with Terraform itself. Without a network it has only its built-in provider, so the resources
 * are `terraform_data`, which store an id as their input. The text of a state is changed to the form of a provider of the service.
 */

const CONFIGURATION = {
  'infra/main.tf': `
variable "ids" { default = { eu = "agin_eu", "us \\"2\\"" = "agin_us" } }
resource "terraform_data" "agent_ingress" {
  for_each = var.ids
  input    = each.value
  lifecycle { prevent_destroy = true }
}
resource "terraform_data" "credential" {
  count = 2
  input = "cr_\${count.index}"
}
module "site" {
  source   = "./site"
  for_each = { Berlin = "cr_berlin" }
  id       = each.value
}
`,
  'infra/site/main.tf': `
variable "id" { type = string }
module "inner" {
  source = "./inner"
  count  = 1
  id     = var.id
}
`,
  'infra/site/inner/main.tf': `
variable "id" { type = string }
resource "terraform_data" "credential" {
  input = var.id
  lifecycle {
    prevent_destroy = true
  }
}
`,
};

const RESOURCES = {
  AgentIngress: ['eu', 'us'].map((name) => ({ id: `agin_${name}`, domain: `${name}.example.com` })),
  Credential: ['0', '1', 'berlin'].map((name) => ({ id: `cr_${name}` })),
};

const ENV = { CHECKPOINT_DISABLE: '1', TF_CLI_CONFIG_FILE: '/dev/null', TF_IN_AUTOMATION: '1' };

async function createProject(): Promise<
  Workspace & { readonly terraform: (...args: readonly string[]) => Promise<string> }
> {
  const workspace = await createWorkspace(CONFIGURATION, { seed: { resources: RESOURCES } });
  const terraform = async (...args: readonly string[]) => {
    const { status, output } = await runTool('terraform', [...args, '-no-color'], {
      cwd: join(workspace.folder, 'infra'),
      env: ENV,
    });
    expect(status, output).toBe(0);
    return output;
  };
  await terraform('init');
  await terraform('apply', '-auto-approve');
  return { ...workspace, terraform };
}

/** Turns `terraform_data.credential`, whose input is an id, into `example_credential.credential` with that id. */
function toServiceState(value: Json): Json {
  if (isJsonArray(value)) return value.map(toServiceState);
  if (!isJsonObject(value)) return value;
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toServiceState(member)]));
  const { type, name, input } = members;
  if (type === 'terraform_data') return { ...members, type: `example_${name}` };
  const id = isJsonObject(input) ? input['value'] : input;
  return id === undefined ? members : { ...members, id };
}

const NAMES = [
  'agent_ingress-eu',
  'agent_ingress-us-2',
  'credential-0',
  'credential-1',
  'site-berlin-inner-0-credential',
];

/** No package registry has terraform, so it cannot be required. */
const isMissing = !isInstalled('terraform');

describe.skipIf(isMissing)(isMissing ? 'terraform (needs terraform)' : 'terraform', () => {
  it.each([
    ['a state file', 'infra/changed.json'],
    ['the output of terraform show -json', '-'],
  ])('writes %s that gives manifests with its names', async (_, source) => {
    const { terraform, edgewise, folder, write } = await createProject();
    const text =
      source === '-'
        ? await terraform('show', '-json')
        : await readFile(join(folder, 'infra/terraform.tfstate'), 'utf8');
    const stdin = JSON.stringify(toServiceState(JSON.parse(text)));
    await write({ 'infra/changed.json': stdin });
    const cwd = source === '-' ? join(folder, 'infra') : folder;
    const result = await edgewise(`export --owner production --names ${source}`, { stdin, cwd });
    expect(result.exitCode, result.stderr).toBe(0);
    const documents = result.stdout.split('---\n').filter((document) => document.includes('adopt:'));
    expect(documents.map((document) => /name: (.*)/.exec(document)?.[1])).toEqual(NAMES);
    await write({ 'ingress/edgewise.yaml': result.stdout });
    const plan = await edgewise('plan ingress');
    expect(plan.stdout).toContain('0 to delete, 0 to replace, 0 to update, 5 to adopt, 0 to create; 0 unchanged.');
  });

  it('has prevent_destroy in no state and in no plan, only in its configuration', async () => {
    const { terraform, folder } = await createProject();
    await terraform('plan', '-out', 'plan.bin');
    const texts = [
      await readFile(join(folder, 'infra/terraform.tfstate'), 'utf8'),
      await terraform('show', '-json'),
      await terraform('show', '-json', 'plan.bin'),
    ];
    expect(texts.filter((text) => text.includes('prevent_destroy'))).toEqual([]);
    const plan = Buffer.from(texts[2] ?? '');
    expect(() => parseTerraformState(plan)).toThrow('is a plan');
    const file = await readFile(join(folder, 'infra/plan.bin'));
    expect(() => parseTerraformState(file)).toThrow('is a plan');
  });

  it('forgets resources with removed blocks, and deletes nothing', async () => {
    const { terraform, write } = await createProject();
    const removed = ['terraform_data.agent_ingress', 'module.site'].map(
      (from) => `removed {\n  from = ${from}\n  lifecycle {\n    destroy = false\n  }\n}\n`,
    );
    await write({
      'infra/main.tf': `resource "terraform_data" "credential" {\n  count = 2\n  input = "cr_\${count.index}"\n}\n${removed.join('\n')}`,
    });
    const planned = await terraform('plan');
    expect(planned).toContain('# (destroy = false is set in the configuration)');
    expect(planned).toContain('Plan: 0 to add, 0 to change, 0 to destroy.');
    await terraform('apply', '-auto-approve');
    expect(await terraform('plan')).toContain('No changes. Your infrastructure matches the configuration.');
  });

  it('forgets what the public provider made with state rm, without that provider', async () => {
    const { folder } = await createWorkspace();
    await cp('test/terraform/infra/terraform.tfstate', join(folder, 'terraform.tfstate'));
    const PAGE = await readFile('docs/how-to/from-terraform.md', 'utf8');
    const [line = ''] = /^terraform state rm .*$/m.exec(PAGE) ?? [];
    const { status, output } = await runTool('bash', ['-c', line], { cwd: folder, env: ENV });
    expect(status, output).toBe(0);
    expect(output).toContain('Successfully removed 7 resource instance(s).');
    const left = parseTerraformState(await readFile(join(folder, 'terraform.tfstate')));
    expect(left.instances.map(({ address }) => address)).toEqual([
      'example_ip_policy.office',
      'example_reserved_domain.web',
      'example_tunnel_group_backend.postgres',
    ]);
  });
});
