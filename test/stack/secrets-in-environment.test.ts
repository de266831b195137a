import { expect, it } from 'vitest';
import { readSecretsNamedInEnvironment } from '../../src/stack/settings.ts';

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
