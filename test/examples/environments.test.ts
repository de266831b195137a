import { globSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isJsonObject } from '../../src/model/json.ts';
import { describeWith, runTool } from '../pipelines/tools.ts';
import { EXAMPLES, expectCreatedAndDeleted } from './life.ts';
import { parseDocuments } from './parse-documents.ts';

const FOLDER = join(EXAMPLES, 'environments');
const ENVIRONMENTS = ['staging', 'production'];

/** `production` protects its edge, which only the overlays can say. */
const ALLOW = ' --allow-protected TCPEdge/postgres';

describe('examples/environments', () => {
  it.each(ENVIRONMENTS)(
    'creates what the variables of %s describe, needs nothing, and deletes it again',
    async (name) => {
      const env = readEnvironment(name);
      await expectCreatedAndDeleted({ paths: 'environments/variables', resources: 2, context: { env } });
    },
  );
});

describeWith(['kustomize'], 'examples/environments with kustomize', () => {
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
