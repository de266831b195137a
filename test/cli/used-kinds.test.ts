import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, toEdge } from './workspace.ts';

const USED = `${STACK}spec: { kinds: [TCPEdge] }\n`;
const EDGE = toEdge('a', 20001);

/** A service that permits no list but that of TCP edges. */
async function createRestrictedService(manifest: string) {
  const workspace = await createWorkspace({ 'edgewise.yaml': manifest });
  const { transport } = workspace.recorder;
  const poor: typeof transport = async (request) => {
    const isForbidden = request.method === 'GET' && !new URL(request.url).pathname.startsWith('/edges/tcp');
    if (!isForbidden) return transport(request);
    return Response.json({ error_code: 'ERR_2', status_code: 403, msg: 'the feature is not enabled' }, { status: 403 });
  };
  const edgewise = (line: string) => workspace.edgewise(line, { transport: poor });
  return { ...workspace, edgewise };
}

describe('spec.kinds of the Stack', () => {
  it.each([
    'plan',
    'drift',
    'apply --yes',
    'plan -o plan.json',
    'apply --approved plan.json --yes',
    'release TCPEdge/a --yes',
    'destroy --yes',
  ])('reads no other kind with %s', async (line) => {
    const { edgewise, recorder } = await createRestrictedService(USED + EDGE);
    await edgewise('apply --yes');
    await edgewise('plan -o plan.json');
    recorder.take();
    const { exitCode, stderr } = await edgewise(line);
    expect(exitCode, stderr).toBe(0);
    const read = recorder.take().filter(({ method }) => method === 'GET');
    expect(read.filter(({ path }) => !path.startsWith('/edges/tcp'))).toEqual([]);
  });

  it('is proposed by the message on a forbidden list, with the lines to write', async () => {
    const { edgewise, write } = await createRestrictedService(STACK + EDGE);
    for (const line of ['plan', 'drift', 'apply --yes', 'destroy --yes']) {
      const { exitCode, stderr } = await edgewise(line);
      expect(exitCode).toBe(4);
      expect(stderr).toMatch(/If the account has no [\w ]+, list the kinds that the stack uses in its Stack/);
      expect(stderr).toContain('spec: { kinds: [TCPEdge, ');
    }
    const exported = await edgewise('export --base-url https://api.test');
    expect(exported).toMatchObject({ exitCode: 4 });
    expect(exported.stderr).toContain('name the kinds to export:\nedgewise export TCPEdge ');
    await write({ 'edgewise.yaml': USED + EDGE });
    expect(await edgewise('plan')).toMatchObject({ exitCode: 0 });
  });

  it('makes a manifest of another kind an error at its line', async () => {
    const { edgewise } = await createRestrictedService(USED + EDGE + toCredential('agent'));
    const { exitCode, stderr, stdout } = await edgewise('plan');
    expect(exitCode).toBe(3);
    expect(stderr + stdout).toContain('error[unknown-kind]');
    expect(stderr + stdout).toContain('--> edgewise.yaml:15:7');
  });

  it('leaves alone the resources of a kind that the stack no longer uses', async () => {
    const { edgewise, write, server } = await createWorkspace({
      'edgewise.yaml': STACK + EDGE + toCredential('agent'),
    });
    await edgewise('apply --yes --token-directory tokens');
    await write({ 'edgewise.yaml': USED + EDGE });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('destroy --yes')).toMatchObject({ exitCode: 0 });
    expect(server.snapshot().resources['Credential']).toHaveLength(1);
    const released = await edgewise('release Credential/agent --yes');
    expect(released.exitCode).toBe(3);
    expect(released.stdout).toContain('was not looked for, because the stack test does not use the kind Credential');
  });

  it('is written by an export of some kinds', async () => {
    const { edgewise } = await createRestrictedService(STACK);
    const { stdout, exitCode } = await edgewise('export TCPEdge --owner other --base-url https://api.test');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('  kinds:\n    - TCPEdge\n');
  });

  it.each(['[]', '[TCPEdge, Nothing]', 'TCPEdge'])('accepts a list of kinds, and not %s', async (kinds) => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': `${STACK}spec: { kinds: ${kinds} }\n` });
    expect(await edgewise('validate')).toMatchObject({ exitCode: 3 });
  });
});
