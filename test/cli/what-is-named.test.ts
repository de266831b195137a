import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toEdge, toManifest } from './workspace.ts';

const EDGE = 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const ROUTE = 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const FILES = { 'edgewise.yaml': `${STACK}${toEdge('postgres', 20001)}` };

describe('a rejected request', () => {
  it.each(['plan', 'get', 'drift', 'export'])('names the host, and what set it and the key: %s', async (command) => {
    const { edgewise } = await createWorkspace(FILES);
    const { exitCode, stderr, stdout } = await edgewise(`${command} --base-url https://api.test`, {
      env: { EDGEWISE_API_KEY: 'wrong' },
    });
    expect(exitCode).toBe(4);
    expect(`${stdout}${stderr}`).toContain(
      'The host api.test is set by --base-url, and the API key by EDGEWISE_API_KEY.',
    );
  });

  it('names the line of the Stack, in a run over many, too', async () => {
    const stack = `${STACK}spec: { api: { base_url: "https://api.test/v9" } }\n`;
    const { edgewise } = await createWorkspace({ 'a/edgewise.yaml': `${stack}${toEdge('postgres', 20001)}` });
    for (const command of ['plan a', 'plan -R .']) {
      const { exitCode, stderr, stdout } = await edgewise(command, { env: { EDGEWISE_BASE_URL: '' } });
      expect(exitCode).toBe(1);
      expect(`${stdout}${stderr}`).toMatch(/The host api\.test is set by spec\.api\.base_url \(a\/edgewise\.yaml:\d\)/);
      expect(`${stdout}${stderr}`).toContain('Check the base URL.');
    }
  });
});

describe('a base URL without a scheme', () => {
  it.each([
    ['--base-url', 'plan --base-url api.test', {}],
    ['EDGEWISE_BASE_URL', 'plan', { EDGEWISE_BASE_URL: 'api.test' }],
  ])('of %s is answered with one that has it, which is accepted', async (by, line, env) => {
    const { edgewise } = await createWorkspace(FILES);
    const { exitCode, stderr } = await edgewise(line, { env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: expect.stringContaining(`${by} must be an http or https URL`),
    });
    const [, scheme = ''] = /such as (\w+:\/\/)/.exec(stderr) ?? [];
    expect(await edgewise(`plan --base-url ${scheme}api.test`)).toMatchObject({ exitCode: 0 });
  });
});

describe('a file that cannot be written', () => {
  it.each(['-o $no/plan.json', '--report json=$no/plan.json'])('is one sentence and a remedy: %s', async (words) => {
    const { edgewise, recorder } = await createWorkspace(FILES);
    const { exitCode, stderr } = await edgewise(`plan ${words}`);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      /^edgewise: The .* cannot be written: there is no folder \$no\.\nCreate it \(mkdir -p '\$no'\), or name another file\. Nothing was written\.\n$/,
    );
    expect(recorder.take()).toEqual([]);
    const again = await createWorkspace(FILES);
    mkdirSync(`${again.folder}/$no`);
    expect(await again.edgewise(`plan ${words}`)).toMatchObject({ exitCode: 0 });
  });

  it.each(['-o sub', '--report json=sub'])('is not a folder: %s', async (words) => {
    const { edgewise, recorder, folder } = await createWorkspace(FILES);
    mkdirSync(`${folder}/sub`);
    const { exitCode, stderr } = await edgewise(`plan ${words}`);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/cannot be written: sub is a folder\.\nName a file in it\. Nothing was written\.\n$/);
    expect(recorder.take()).toEqual([]);
    expect(await edgewise(`plan ${words}/plan.json`)).toMatchObject({ exitCode: 0 });
  });

  it('is named once if it is read-only, except for root, who may write it', async () => {
    const { edgewise, folder } = await createWorkspace({ ...FILES, '$plan.md': 'old' });
    chmodSync(`${folder}/$plan.md`, 0o444);
    const { exitCode, stderr } = await edgewise('plan --report markdown=$plan.md');
    if (process.getuid?.() === 0) return expect(exitCode).toBe(0);
    expect({ exitCode, said: stderr.match(/cannot be written/g)?.length }).toEqual({ exitCode: 3, said: 1 });
    return expect(stderr).toContain("$plan.md is read-only.\nMake it writable (chmod u+w '$plan.md')");
  });
});

describe('a file that does not exist', () => {
  it.each([
    ['serve --faults none.yaml', 'none.yaml does not exist.'],
    ['serve --seed none.json', 'none.json does not exist.'],
    ['post none.md', 'none.md does not exist.'],
    ['plan --ca-file none.pem', '--ca-file: none.pem does not exist.'],
  ])('is named as it was written, with a remedy: %s', async (line, message) => {
    const { edgewise } = await createWorkspace(FILES);
    const { stderr } = await edgewise(line, { env: { GITHUB_REPOSITORY: 'example/shop', GITHUB_TOKEN: 'x' } });
    expect(stderr).toMatch(new RegExp(`^edgewise: ${message}\n.+\n$`));
  });

  it('is a data file of the bundled server that has something else in it', async () => {
    const { edgewise, folder } = await createWorkspace({ ...FILES, 'notes.txt': 'hi' });
    const { stderr } = await edgewise('plan --base-url embedded:notes.txt');
    expect(stderr).toMatch(/^edgewise: The data file of the bundled server: notes\.txt: It is not JSON\n.+\n$/);
    expect(stderr).not.toContain(folder);
  });
});

describe('a server in memory', () => {
  it('plans beside another folder with the same stack, which a kept one refuses', async () => {
    const { edgewise } = await createWorkspace({
      'all/a/edgewise.yaml': FILES['edgewise.yaml'],
      'all/b/edgewise.yaml': FILES['edgewise.yaml'],
    });
    expect(await edgewise('plan all/a --base-url embedded:')).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await edgewise('plan all/a --base-url embedded:account.json');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('duplicate-stack');
  });
});

describe('a plan to destroy', () => {
  it('speaks of no drift', async () => {
    const route = { edge_id: EDGE, id: ROUTE, request_headers: { add: { 'cache-control': 'no-store' } } };
    const workspace = await createWorkspace({ 'a.yaml': STACK + toManifest('HTTPSEdgeRoute', 'web', route) });
    const path = `/edges/https/${EDGE}/routes/${ROUTE}/request_headers`;
    await sendByHand(workspace, 'PUT', path, { add: { 'cache-control': 'max-age=1' } });
    const { stdout } = await workspace.edgewise('destroy --yes --report markdown=plan.md --report html=plan.html');
    expect(stdout).toContain('request_headers: removed\n');
    const [comment = '', page = ''] = ['plan.md', 'plan.html'].map((file) =>
      readFileSync(`${workspace.folder}/${file}`, 'utf8'),
    );
    const shown = page.slice(page.indexOf('<main'), page.indexOf('<script>'));
    expect(shown).toContain('removed');
    expect(stdout + comment + shown).not.toMatch(/drifted|revert/);
  });
});
