import { expect, it } from 'vitest';
import { listTokenVariables } from '../../src/model/token-variables.ts';

it('names the variables that are set and decide where a program stores a secret, and no value', () => {
  const env = {
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    GITLAB_HOST: 'gitlab.test',
    DOCKER_HOST: 'tcp://docker.test',
    CLOUDSDK_CORE_PROJECT: 'p',
    CLOUDSDK_ANYTHING: 'p',
    PASSWORD_STORE_DIR: '/store',
    VAULT_ADDR: 'https://vault.test',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: 'https://aws.test',
    http_proxy: 'http://proxy.test',
    GH_HOST: '',
    DOCKER_CONTEXT: undefined,
    VAULT_TOKEN: 's.1',
    PATH: '/usr/bin',
    HOME: '/home/a',
  };
  expect(listTokenVariables(env)).toEqual([
    'AWS_ENDPOINT_URL_SECRETS_MANAGER',
    'CLOUDSDK_ANYTHING',
    'CLOUDSDK_CORE_PROJECT',
    'DOCKER_HOST',
    'GITLAB_HOST',
    'KUBERNETES_SERVICE_HOST',
    'PASSWORD_STORE_DIR',
    'VAULT_ADDR',
    'http_proxy',
  ]);
});
