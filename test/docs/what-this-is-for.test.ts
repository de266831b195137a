import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseServerSeed } from '../../src/server/index.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';

/** What the tutorial and the page on manifests say edgewise is for, and what it does of that. */

const TUTORIAL = readFileSync('docs/tutorial.md', 'utf8');
const PARAGRAPHS = {
  'the tutorial': /^\*\*What this is for\*\*.*$/m.exec(TUTORIAL)?.[0] ?? '',
  'the page on manifests': readFileSync('docs/reference/manifests.md', 'utf8').split('\n')[2] ?? '',
};

/** A service that has one backend of each type, and one HTTPS edge and route. */
async function createAccount(resource: string): Promise<Workspace> {
  const externals = ['bkdhr_there', 'edghts_there', 'edghtsrt_there', 'ca_1'];
  return createWorkspace({ 'm.yaml': STACK + resource }, { seed: { externals } });
}

const toPool = (id: string) => toManifest('WeightedBackend', 'pool', { backends: { [id]: 1 } });
const toTcpEdge = (id: string) => toManifest('TCPEdge', 'edge', { backend: { backend_id: id } });
const toHttpsEdge = (id: string) =>
  toManifest('HTTPSEdge', 'edge', { id, mutual_tls: { certificate_authority_ids: ['ca_1'] } });

describe('the paragraph on what this is for', () => {
  it.each(Object.entries(PARAGRAPHS))('says the same in %s', (_, paragraph) => {
    for (const words of [
      /an ingress or tunnel service with this \[API\]\(\S*schemas\/openapi\.json\)/,
      /dashboard (?:and|or) `(?:edgewise )?export`/,
      /HTTPS edges and routes have to exist/,
      /does not exist/,
      /blocks the plan/,
      /unchecked/,
    ])
      expect(paragraph).toMatch(words);
  });
});

describe('an id', () => {
  it('is shown by export, of every resource of the tutorial', async () => {
    const seed = parseServerSeed(readFileSync('examples/tutorial/account.json', 'utf8'));
    const { edgewise } = await createWorkspace({}, { seed });
    const { stdout } = await edgewise('export --owner shop');
    const ids = Object.values(seed.resources ?? {}).flatMap((all) => all.map(({ id }) => String(id)));
    expect(ids).toHaveLength(3);
    for (const id of ids) expect(stdout).toContain(id);
  });

  it('that does not exist blocks the plan if the API lists its type', async () => {
    const { edgewise } = await createAccount(toTcpEdge('bkdwd_gone'));
    const { exitCode, stdout } = await edgewise('plan');
    expect({ exitCode, stdout }).toEqual({ exitCode: 5, stdout: expect.stringContaining('refused[rejected-write]') });
    expect(stdout).toContain('bkdwd_gone');
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 5 });
  });

  it.each([
    ['a backend', toPool('bkdhr_gone'), toPool('bkdhr_there')],
    ['an HTTPS edge', toHttpsEdge('edghts_gone'), toHttpsEdge('edghts_there')],
  ])('of %s that does not exist counts as unchecked otherwise, and the service rejects it', async (_, gone, there) => {
    const { edgewise, write } = await createAccount(gone);
    const plan = await edgewise('plan');
    expect(plan).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/\d ids? could not be checked/) });
    const apply = await edgewise('apply --yes');
    expect(apply).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('Failed:') });
    await write({ 'm.yaml': STACK + there });
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
  });
});

describe('an HTTPS edge that exists', () => {
  it('gets its modules, and nothing is created', async () => {
    const { edgewise, recorder } = await createAccount(toHttpsEdge('edghts_there'));
    expect(await edgewise('apply --yes')).toMatchObject({ exitCode: 0 });
    const writes = recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method, path }) => `${method} ${path}`)).toEqual(['PUT /edges/https/edghts_there/mutual_tls']);
  });
});
