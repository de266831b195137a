import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const MANIFESTS = { 'edgewise.yaml': `${STACK}${toEdge('postgres', 20001)}` };
const PROTECTED = MANIFESTS['edgewise.yaml'].replace('spec:', 'lifecycle: { protect: true }\nspec:');
const CERTIFICATE = `---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec:
  public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L
  ssh_certificate_authority_id: sshca_bastion
  principals: [alice]
`;

describe('"Did you mean"', () => {
  it('proposes a target', async () => {
    const { edgewise } = await createWorkspace(MANIFESTS);
    const { exitCode, stdout } = await edgewise('plan --target TcpEdge/postgers');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('help: Did you mean `TCPEdge/postgres`?');
  });

  it('proposes a target that only the service knows', async () => {
    const { edgewise, write } = await createWorkspace(MANIFESTS);
    await edgewise('apply --yes');
    await write({ 'edgewise.yaml': `${STACK}${toEdge('mysql', 20002)}` });
    const { stdout } = await edgewise('plan --target TCPEdge/postgre');
    expect(stdout).toContain('help: Did you mean `TCPEdge/postgres`?');
  });

  it('proposes a resource to rotate, of a kind that can be rotated', async () => {
    const { edgewise, write } = await createWorkspace();
    await write({ 'edgewise.yaml': `${MANIFESTS['edgewise.yaml']}${CERTIFICATE}` });
    await edgewise('apply --yes');
    const { exitCode, stdout } = await edgewise('plan --rotate SSHUserCertificate/alcie');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('help: Did you mean `SSHUserCertificate/alice`?');
  });

  it('proposes a resource whose protection can be overridden', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': PROTECTED });
    await edgewise('apply --yes');
    const { exitCode, stdout, stderr } = await edgewise('destroy --yes --allow-protected TCPEdge/postgre');
    expect(exitCode).toBe(5);
    expect(`${stdout}${stderr}`).toContain('--allow-protected names TCPEdge/postgre, which is another resource.');
    expect((await edgewise('destroy --yes --allow-protected TCPEdge/postgres')).exitCode).toBe(0);
  });

  it.each([
    ['edge.yaml', 'the folder of the stack, ., instead of edge.yaml: its Stack is in edgewise.yaml'],
    ['sub', 'the folder of the stack, ., instead of sub: its Stack is in edgewise.yaml'],
    ['sub/pool.yaml', 'the folder of the stack, ., instead of sub/pool.yaml: its Stack is in edgewise.yaml'],
    ['apart/edge.yaml edge.yaml', 'the folder of the stack, ., instead of edge.yaml'],
    ['apart/edge.yaml', 'Add these lines to one of the files'],
  ])('proposes a part of a stack, %s, which is not planned alone', async (paths, remedy) => {
    const edges = { 'edge.yaml': toEdge('a', 20002), 'sub/pool.yaml': toEdge('b', 20003) };
    const { edgewise, folder, write } = await createWorkspace();
    await write(
      Object.fromEntries(Object.entries({ ...MANIFESTS, ...edges }).map(([file, text]) => [`s/${file}`, text])),
    );
    await write({ 'apart/edge.yaml': toEdge('c', 20004) });
    const line = paths
      .split(' ')
      .map((path) => (path.startsWith('apart') ? `../${path}` : path))
      .join(' ');
    const { exitCode, stdout, stderr } = await edgewise(`plan ${line}`, { cwd: join(folder, 's') });
    expect(exitCode).toBe(3);
    expect(`${stdout}${stderr}`).toContain(remedy.replace('apart', '../apart'));
  });

  it('proposes a path in the same folder', async () => {
    const { edgewise } = await createWorkspace(MANIFESTS);
    const { exitCode, stdout, stderr } = await edgewise('validate edgewise.yml');
    expect(exitCode).toBe(3);
    expect(`${stdout}${stderr}`).toContain('help: Did you mean `edgewise.yaml`?');
  });

  it('proposes a setting with two letters swapped', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': `${STACK}spec: { apI: {}, gaurd: {} }\n` });
    const { stdout, stderr } = await edgewise('validate');
    expect(`${stdout}${stderr}`).toContain('help: Did you mean `api`?');
    expect(`${stdout}${stderr}`).toContain('help: Did you mean `guard`?');
  });
});
