import { globSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { isJsonObject } from '../../src/model/json.ts';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { EXAMPLES, expectCreatedAndDeleted } from '../examples/life.ts';
import { parseDocuments } from '../examples/parse-documents.ts';
import { toStack } from '../repository/tree.ts';
import { describeWith, runTool } from './tools.ts';

const FOLDER = join(EXAMPLES, 'environments');
const ENVIRONMENTS = ['staging', 'production'];

/** `production` protects its edge, which only overlays can do. */
const ALLOW = ' --allow-protected TCPEdge/postgres';

describeWith(['kustomize'], 'kustomize', () => {
  it.each(ENVIRONMENTS)('creates the overlay %s, then needs nothing, then deletes it again', async (name) => {
    const stdin = await build(join('overlays', name));
    await expectCreatedAndDeleted({ paths: '-', resources: 2, context: { stdin }, destroyFlags: ALLOW });
  });

  it('describes the same edge for staging with overlays and variables', async () => {
    const fromOverlay = findEdge(await build('overlays/staging'));
    const files = globSync(join(FOLDER, 'variables/*.yaml')).map((file) => readFileSync(file, 'utf8'));
    const env = readEnvironment('staging');
    const filled = files
      .join('---\n')
      .replace(/\$\{env:(\w+)(?::-([^}]*))?\}/g, (_, name: string, fallback) => env[name] ?? fallback);
    expect(findEdge(filled)).toEqual(fromOverlay);
    expect(fromOverlay).toBeDefined();
  });

  it('refuses a patch that names nothing', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'edgewise-environments-'));
    onTestFinished(() => rm(copy, { recursive: true }));
    await cp(FOLDER, copy, { recursive: true });
    const patch = join(copy, 'overlays/staging/postgres.patch.yaml');
    await writeFile(patch, readFileSync(patch, 'utf8').replace('name: postgres', 'name: postgresql'));
    const { status, output } = await runTool('kustomize', ['build', join(copy, 'overlays/staging')]);
    expect({ status, output }).toMatchObject({
      status: 1,
      output: expect.stringContaining('no matches for Id TCPEdge'),
    });
  });

  it('renders a stack from a base outside of it, with the file of each resource', async () => {
    const { edgewise, folder } = await createWorkspace({
      '.git/HEAD': '',
      'base/kustomization.yaml': 'resources: [edge.yaml]\n',
      'base/edge.yaml': toEdge('shop', 20001),
      'live/web/edgewise.yaml': toStack('web'),
      'live/web/own.yaml': toEdge('own', 20003),
      'live/web/kustomization.yaml': [
        'resources: [../../base, edgewise.yaml, own.yaml]',
        'patches: [{ path: patch.yaml }]',
        '',
      ].join('\n'),
      'live/web/patch.yaml': toEdge('shop', 20002),
      'rendered/web/kustomization.yaml': 'resources: [../../live/web]\nbuildMetadata: [originAnnotations]\n',
    });
    const { status, output } = await runTool('kustomize', ['build', 'rendered/web'], { cwd: folder });
    expect(status, output).toBe(0);
    await writeFile(join(folder, 'rendered/web/manifests.yaml'), output);
    const { stdout, exitCode } = await edgewise('plan -R rendered');
    expect(stdout).toContain('1.tcp.example.net:20002');
    expect(exitCode).toBe(0);
    const annotated = await edgewise('plan -R rendered --format github');
    expect(annotated.stdout).toContain('::warning file=base/edge.yaml,line=1');
    expect(annotated.stdout).toContain('::warning file=live/web/own.yaml,line=1');
    const alone = await edgewise('plan rendered/web');
    expect(alone.stderr).toContain('error[duplicate-stack]');
    expect(alone.exitCode).toBe(3);
  });
});

async function build(folder: string): Promise<string> {
  const { status, output } = await runTool('kustomize', ['build', join(FOLDER, folder)]);
  expect(status, output).toBe(0);
  return output;
}

function readEnvironment(name: string): Readonly<Record<string, string>> {
  const parsed = parseEnv(readFileSync(join(FOLDER, 'variables', `${name}.env`), 'utf8'));
  return Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, value ?? '']));
}

function findEdge(text: string): unknown {
  const edge = parseDocuments(text).find(({ kind }) => kind === 'TCPEdge');
  return isJsonObject(edge) ? edge['spec'] : undefined;
}
