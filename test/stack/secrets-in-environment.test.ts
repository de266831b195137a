import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readApiKey, readSecretsNamedInEnvironment } from '../../src/stack/settings.ts';

it('the variables of the API key and of the forge have secrets, which no text shows', () => {
  const env = {
    EDGEWISE_API_KEY: 'ak_2ZkVh0aBcDeFgHiJkLmNoPq',
    EDGEWISE_API_KEY_STAGING: 'ak_staging_aBcDeFgHiJkLm',
    GITHUB_TOKEN: 'ghs_aBcDeFgHiJkLmNoPq0123',
    EDGEWISE_GITLAB_TOKEN: 'glpat-aBcDeFgHiJkLmNoPq',
    HOME: '/home/of-a-user-with-a-name',
  };
  const { secrets } = readSecretsNamedInEnvironment({ env, cwd: '/' });
  expect(secrets.redact(Object.values(env).join(' '))).toBe('[key] [key] [token] [token] /home/of-a-user-with-a-name');
});

it('a key file without a key is an error that names the file', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'edgewise-key-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, 'api-key'), ' \n');
  const env = { EDGEWISE_API_KEY_FILE: 'api-key' };
  expect(() => readApiKey({ env, cwd }, { keyEnv: undefined })).toThrow('The API key file api-key is empty.');
});
