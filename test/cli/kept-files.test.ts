import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK } from './workspace.ts';

const toCertificate = (more = ''): string => `${STACK}---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: ci }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUoPzRJWuvSBQPtIqRxZ2ps5bJ0c0uWEb2Pb0xXqWQd
  principals: [ci]
lifecycle: { write_to: ci-cert.pub${more} }
`;

/** An applied certificate, on a runner that does not have its file. */
async function createWorkspaceWithoutFile(more?: string) {
  const workspace = await createWorkspace({ 'edgewise.yaml': toCertificate(more) });
  expect(await workspace.edgewise('apply edgewise.yaml --yes')).toMatchObject({ exitCode: 0 });
  const file = join(workspace.folder, 'ci-cert.pub');
  await rm(file);
  return { ...workspace, file };
}

describe('the file of a certificate', () => {
  it('is not drift if it is missing, because each runner starts empty', async () => {
    const { edgewise } = await createWorkspaceWithoutFile();
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(stdout).toContain('No drift: 1 resource is as it should be.');
    expect(stdout).not.toContain('ci-cert.pub');
    expect(exitCode).toBe(0);
  });

  it('is drift if it has other content', async () => {
    const { edgewise, file } = await createWorkspaceWithoutFile();
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, 'other\n');
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(stdout).toContain('ci-cert.pub has other content');
    expect(exitCode).toBe(2);
  });
});
