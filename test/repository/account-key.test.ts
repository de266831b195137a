import { globSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_OP_SECRET_REDACTOR } from '../../src/model/secrets.ts';
import { createAccountKeyContainingSecret, toServiceId } from '../../src/stack/account-key.ts';
import { createWorkspace, toEdge, toManifest } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

const KEYS = { ONE: 'key-one', ALSO_ONE: 'key-one', TWO: 'key-two' };

type Settings = readonly [baseUrl: string, keyEnv?: string];

const SAME_SERVICE: readonly (readonly [string, string])[] = [
  ['https://api.test', 'https://api.test/'],
  ['https://api.test', 'HTTPS://API.Test:443//'],
  ['http://api.test:80/v1', 'http://api.test/v1/'],
  ['embedded:data.json', 'embedded:./data.json'],
  ['embedded:data.json', 'embedded:x/../data.json'],
  ['embedded:data.json', 'embedded:link.json'],
];

const OTHER_SERVICE: readonly (readonly [string, string])[] = [
  ['https://api.test', 'http://api.test'],
  ['https://api.test', 'https://api.test:8443'],
  ['https://api.test', 'https://api.test/v1'],
  ['https://api.test', 'https://api.test.example.com'],
  ['embedded:', 'embedded:data.json'],
  ['embedded:data.json', 'embedded:other.json'],
];

async function createService() {
  const { folder } = await createWorkspace({ 'data.json': '{}', 'x/y': '' });
  symlinkSync('data.json', join(folder, 'link.json'));
  return { cwd: folder, env: KEYS, secrets: NO_OP_SECRET_REDACTOR };
}

describe('a service', () => {
  it.each(SAME_SERVICE)('is the same in every spelling: %s, %s', async (left, right) => {
    const place = await createService();
    expect(toServiceId(left, place)).toBe(toServiceId(right, place));
  });

  it('has an absolute name for its data file', async () => {
    const place = await createService();
    const absolute = `embedded:${join(place.cwd, 'data.json')}`;
    expect(toServiceId(absolute, place)).toBe(toServiceId('embedded:data.json', place));
  });

  it.each(OTHER_SERVICE)('differs by URL: %s, %s', async (left, right) => {
    const place = await createService();
    expect(toServiceId(left, place)).not.toBe(toServiceId(right, place));
  });
});

describe('an account', () => {
  const toKey = async ([baseUrl, keyEnv]: Settings) =>
    createAccountKeyContainingSecret(
      { baseUrl, keyEnv },
      await createService().then((place) => ({ ...place, cwd: '/' })),
    );

  it.each<readonly [string, Settings, Settings]>([
    ['the same key in another variable', ['https://api.test', 'ONE'], ['https://api.test/', 'ALSO_ONE']],
    ['the same variable, which is not set', ['https://api.test', 'NONE'], ['https://API.test', 'NONE']],
    ['an embedded server, whatever the key', ['embedded:a.json', 'ONE'], ['embedded:./a.json', 'TWO']],
  ])('is the same for %s', async (_, left, right) => {
    expect(await toKey(left)).toBe(await toKey(right));
  });

  it.each<readonly [string, Settings, Settings]>([
    ['another key', ['https://api.test', 'ONE'], ['https://api.test', 'TWO']],
    ['the same key at another service', ['https://api.test', 'ONE'], ['https://other.test', 'ONE']],
    ['a key that is not set', ['https://api.test', 'ONE'], ['https://api.test', 'NONE']],
  ])('differs for %s', async (_, left, right) => {
    expect(await toKey(left)).not.toBe(await toKey(right));
  });
});

/** Two stacks that write the URL of one service differently. */
const SPELLINGS: readonly (readonly [first: string, second: string])[] = [
  ['https://api.test', 'HTTPS://API.test:443/'],
  ['embedded:data.json', 'embedded:./data.json'],
];

describe.each(SPELLINGS)('two stacks at %s and %s', (first, second) => {
  const toFiles = (a: string, b: string, more: readonly [string, string] = ['', '']) => ({
    'live/a/edgewise.yaml': toStack(a, { api: { base_url: first } }) + more[0],
    'live/b/edgewise.yaml': toStack(b, { api: { base_url: second } }) + more[1],
  });
  const env = { EDGEWISE_BASE_URL: '' };

  it('are refused with one name', async () => {
    const { edgewise } = await createWorkspace(toFiles('same', 'same'));
    const { exitCode, stdout, stderr } = await edgewise('validate -R live', { env });
    expect(stdout + stderr).toContain('both define a stack same');
    expect(exitCode).toBe(3);
  });

  it('are in one account, which is read once and planned in order', async () => {
    const pool = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });
    const external = toManifest('External', 'pool', { stack: 'b', resource: 'WeightedBackend/pool' });
    const edge = toManifest('TCPEdge', 'e', { backend: { backend_id: 'External/pool' } });
    const { edgewise } = await createWorkspace(toFiles('a', 'b', [external + edge, pool]));
    const { exitCode, stdout, stderr } = await edgewise('apply -R live --yes', { env });
    expect(stdout + stderr).not.toContain('error');
    expect(exitCode).toBe(0);
    expect(await edgewise('plan -R live --detailed-exitcode', { env })).toMatchObject({ exitCode: 0 });
  });

  it('claim a unique value of one account', async () => {
    const { edgewise } = await createWorkspace(toFiles('a', 'b', [toEdge('x', 20_001), toEdge('y', 20_001)]));
    const { exitCode, stdout } = await edgewise('plan -R live', { env });
    expect(stdout).toContain('and so does TCPEdge/');
    expect(exitCode).toBe(3);
  });

  it('hand over a resource, which the old stack keeps until then', async () => {
    const edge = toEdge('x', 20_001);
    const { edgewise, write } = await createWorkspace(toFiles('a', 'b', [edge, '']));
    expect(await edgewise('apply -R live --yes', { env })).toMatchObject({ exitCode: 0 });
    const taken = `${edge}lifecycle: { renamed_from: { stack: a, name: x } }\n`;
    await write(toFiles('a', 'b', ['', taken]));
    const { exitCode, stdout } = await edgewise('plan -R live --stack a --format json', { env });
    expect(stdout).not.toMatch(/"action": "delete"|no stack is called/);
    expect(exitCode).toBe(0);
  });
});

describe('the sources', () => {
  it('compare base URLs of stacks in one place', () => {
    const comparing = globSync('src/**/*.ts').filter((file) =>
      /\bbaseUrl (?:===|!==) (?!undefined|'')|[.?]baseUrl (?:===|!==) (?!undefined|'')/.test(
        readFileSync(file, 'utf8'),
      ),
    );
    expect(comparing).toEqual([]);
  });
});
