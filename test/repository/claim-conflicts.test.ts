import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toCredential, toEdge, toManifest, toTranscript, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from './tree.ts';

/** Two stacks that claim one hostport, and one that claims another. */
function createStacksWithOneHostport(): Promise<Workspace> {
  return createWorkspace({
    'live/a/edgewise.yaml': toStack('a'),
    'live/a/edge.yaml': toEdge('shop', 20_001),
    'live/b/edgewise.yaml': `${toStack('b')}${toEdge('pay', 20_001)}`,
    'live/c/edgewise.yaml': `${toStack('c')}${toEdge('mail', 20_003)}`,
  });
}

describe('a claim of two stacks in one run', () => {
  it('is an error of both, at both places, and the others continue', async () => {
    const workspace = await createStacksWithOneHostport();
    await expect(toTranscript(await workspace.edgewise('apply -R live --yes'))).toMatchFileSnapshot(
      'goldens/claim-conflicts.txt',
    );
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
  });

  it('is found without a request, and by commands that compare with what is live', async () => {
    const workspace = await createStacksWithOneHostport();
    const message = 'and so does TCPEdge/pay of the stack b (live/b/edgewise.yaml:8)';
    for (const command of ['validate', 'plan', 'drift']) {
      const { stdout, exitCode } = await workspace.edgewise(`${command} -R live`);
      expect({ command, exitCode }).toEqual({ command, exitCode: 3 });
      expect(stdout).toContain(`TCPEdge/shop: spec.hostports[0] claims 1.tcp.example.net:20001, ${message}`);
      if (command === 'validate') expect(workspace.recorder.take()).toEqual([]);
    }
    const { stdout } = await workspace.edgewise('validate -R live --format json');
    const { stacks } = JSON.parse(stdout);
    expect(stacks).toMatchObject([{ ok: false }, { ok: false }, { ok: true }]);
    expect((await workspace.edgewise('validate -R live --stack b --stack c')).exitCode).toBe(0);
  });

  it('leaves no plan of either that approves', async () => {
    const { edgewise, write, folder } = await createStacksWithOneHostport();
    await write({ 'live/b/edgewise.yaml': `${toStack('b')}${toEdge('pay', 20_002)}` });
    await edgewise('plan -R live -o plans');
    expect(readdirSync(`${folder}/plans`)).toEqual(['a.json', 'b.json', 'c.json']);
    await write({ 'live/b/edgewise.yaml': `${toStack('b')}${toEdge('pay', 20_001)}` });
    await edgewise('plan -R live -o plans');
    expect(readdirSync(`${folder}/plans`)).toEqual(['a.json', 'b.json', 'c.json']);
    await write({ 'live/b/edgewise.yaml': `${toStack('b')}${toEdge('pay', 20_002)}` });
    const { exitCode, stdout } = await edgewise('apply -R live --approved plans --yes');
    expect(stdout.match(/against an empty plan/g)).toHaveLength(2);
    expect(exitCode).toBe(6);
  });

  it('is no error if resources are only shown or deleted', async () => {
    const { edgewise, write } = await createStacksWithOneHostport();
    await edgewise('apply live/a --yes');
    expect((await edgewise('get -R live')).exitCode).toBe(0);
    expect((await edgewise('destroy -R live --stack a --stack b --yes')).exitCode).toBe(0);
    await write({ 'live/b/edgewise.yaml': toStack('b') });
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
  });

  it('can be an id to adopt, a former name, the modules of an edge, or the file of a token', async () => {
    const route = toManifest('HTTPSEdge', 'web', {
      id: 'edghts_1',
      mutual_tls: { certificate_authority_ids: ['ca_1'] },
    });
    const adopted = toManifest(
      'WeightedBackend',
      'pool',
      { backends: { bkdhr_1: 1 } },
      { lifecycle: { adopt: 'bkdwd_1' } },
    );
    const taken = `${toEdge('shop', 20_001)}lifecycle: { renamed_from: { stack: old, name: x } }\n`;
    const tokens = { tokens: { default: { directory: '../tokens' } } };
    const toBoth = (document: string, spec: object = {}) => ({
      'a/edgewise.yaml': `${toStack('a', spec)}${document}`,
      'b/edgewise.yaml': `${toStack('b', spec)}${document}`,
    });
    const cases = [
      [toBoth(route), 'HTTPSEdge/web: spec.id attaches modules to edghts_1'],
      [toBoth(adopted), 'WeightedBackend/pool: lifecycle.adopt claims bkdwd_1'],
      [toBoth(taken), 'TCPEdge/shop: lifecycle.renamed_from claims TCPEdge/x of the stack old'],
      [toBoth(toCredential('ci'), tokens), 'Credential/ci: its token goes to tokens/ci.token'],
    ] as const;
    for (const [files, said] of cases) {
      const workspace = await createWorkspace(files);
      const { stdout, exitCode } = await workspace.edgewise('apply -R --yes');
      expect({ said, exitCode }).toEqual({ said, exitCode: 3 });
      expect(stdout.split(`${said}, and so does `)).toHaveLength(3);
      expect(listWrites(workspace)).toEqual([]);
      expect(existsSync(`${workspace.folder}/tokens`)).toBe(false);
    }
  });

  it('is an error for a file at two services, and none for a value', async () => {
    const toOne = (name: string) => ({
      [`${name}/edgewise.yaml`]: `${toStack(name, { api: { base_url: `https://${name}.test` }, tokens: { default: { directory: '../tokens' } } })}${toEdge('shop', 20_001)}${toCredential('ci')}`,
    });
    const { edgewise } = await createWorkspace({ ...toOne('a'), ...toOne('b') });
    const { stdout } = await edgewise('validate -R', { env: { EDGEWISE_BASE_URL: '' } });
    expect(stdout).toContain('its token goes to tokens/ci.token, and so does');
    expect(stdout).not.toContain('spec.hostports');
  });

  it('names three of many stacks, and counts the others', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const { edgewise } = await createWorkspace(
      Object.fromEntries(
        names.map((name) => [`live/${name}/edgewise.yaml`, `${toStack(name)}${toEdge('example', 20_001)}`]),
      ),
    );
    const { stacks } = JSON.parse((await edgewise('validate -R live --format json')).stdout);
    expect(stacks).toHaveLength(20);
    for (const { validation } of stacks) {
      const [{ message, related }] = validation.diagnostics;
      expect(message).toMatch(/, and so do TCPEdge\/example of the stack s\d+ .*, 16 more$/);
      expect(related).toHaveLength(3);
    }
  });

  it('is found if each stack was made by init', async () => {
    const { edgewise } = await createWorkspace();
    for (const name of ['a', 'b', 'c'])
      expect((await edgewise(`init live/${name} --name ${name} --base-url https://api.test`)).exitCode).toBe(0);
    const { stdout, exitCode } = await edgewise('validate -R live');
    expect(exitCode).toBe(3);
    expect(stdout).toContain(
      'claims 1.tcp.example.net:20001, and so do TCPEdge/example of the stack a (live/a/example.yaml:12), TCPEdge/example of the stack b (live/b/example.yaml:12)',
    );
  });

  it('is reported up to twenty at a time', async () => {
    const toOne = (name: string) => {
      const edges = Array.from({ length: 25 }, (_, index) => toEdge(`${name}-${index}`, 20_000 + index));
      return { [`${name}/edgewise.yaml`]: `${toStack(name)}${edges.join('')}` };
    };
    const { edgewise } = await createWorkspace({ ...toOne('a'), ...toOne('b') });
    const { stdout } = await edgewise('validate -R');
    expect(stdout.split(', and so does ')).toHaveLength(41);
    expect(stdout.split('and 5 more duplicate-claim')).toHaveLength(3);
  });
});
