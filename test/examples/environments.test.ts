import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/model/json.ts';
import { buildOverlay, parseDocuments, toIdentity } from './kustomize.ts';
import { EXAMPLES, expectWholeLife } from './life.ts';

const FOLDER = join(EXAMPLES, 'environments');
const ENVIRONMENTS = ['staging', 'production'];

/** `production` protects its edge, which only the overlays can say. */
const ALLOW = ' --allow-protected TCPEdge/postgres';

describe('examples/environments', () => {
  it.each(ENVIRONMENTS)('the overlay %s is made, then needs nothing, then is deleted again', async (name) => {
    const stdin = build(name);
    await expectWholeLife({ paths: '-', resources: 2, context: { stdin }, destroyFlags: ALLOW });
  });

  it.each(ENVIRONMENTS)('the variables of %s make, need nothing, and delete again', async (name) => {
    const env = readEnvironment(name);
    await expectWholeLife({ paths: 'environments/variables', resources: 2, context: { env } });
  });

  it('overlays and variables describe the same edge for staging', () => {
    const fromOverlay = findEdge(build('staging'));
    const text = readFileSync(join(FOLDER, 'variables/edgewise.yaml'), 'utf8');
    const env = readEnvironment('staging');
    const filled = text.replace(/\$\{env:(\w+)(?::-([^}]*))?\}/g, (_, name: string, fallback) => env[name] ?? fallback);
    expect(findEdge(filled)).toEqual(fromOverlay);
  });

  it('a patch that names nothing is refused', () => {
    expect(() => buildOverlay(join(FOLDER, 'variables'))).toThrow();
  });
});

/** An overlay as this project reads it. Where there is a kustomize, it has the last word. */
function build(name: string): string {
  const folder = join(FOLDER, 'overlays', name);
  const built = buildOverlay(folder);
  if (hasKustomize()) {
    const byKustomize = execFileSync('kustomize', ['build', folder], { encoding: 'utf8' });
    expect(toSorted(built)).toEqual(toSorted(byKustomize));
  }
  return built;
}

function hasKustomize(): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, 'kustomize')));
}

function readEnvironment(name: string): Readonly<Record<string, string>> {
  const parsed = parseEnv(readFileSync(join(FOLDER, 'variables', `${name}.env`), 'utf8'));
  return Object.fromEntries(Object.entries(parsed).map(([key, value]) => [key, value ?? '']));
}

function findEdge(text: string): unknown {
  const edge = parseDocuments(text).find(({ kind }) => kind === 'TCPEdge');
  return isJsonObject(edge) ? edge['spec'] : undefined;
}

function toSorted(text: string): readonly unknown[] {
  return parseDocuments(text).toSorted((left, right) => (toIdentity(left) < toIdentity(right) ? -1 : 1));
}
