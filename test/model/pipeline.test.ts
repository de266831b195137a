import { describe, expect, it } from 'vitest';
import { readCiJobLinks } from '../../src/model/pipeline.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const GITHUB = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/ingress',
  GITHUB_SHA: SHA,
  GITHUB_RUN_ID: '42',
};

describe('a pipeline', () => {
  it('at GitHub names its commit, and where that and the run can be seen', () => {
    expect(readCiJobLinks(GITHUB)).toEqual({
      commit: SHA,
      commitUrl: `https://github.com/acme/ingress/commit/${SHA}`,
      runUrl: 'https://github.com/acme/ingress/actions/runs/42',
      filesUrl: `https://github.com/acme/ingress/blob/${SHA}/`,
      run: 'GITHUB_RUN_ID=42',
    });
  });

  it('at GitLab names the same', () => {
    const env = {
      CI_PROJECT_URL: 'https://gitlab.com/acme/ingress',
      CI_COMMIT_SHA: SHA,
      CI_JOB_URL: 'https://gitlab.com/acme/ingress/-/jobs/7',
    };
    expect(readCiJobLinks(env)).toEqual({
      commit: SHA,
      commitUrl: `https://gitlab.com/acme/ingress/-/commit/${SHA}`,
      runUrl: 'https://gitlab.com/acme/ingress/-/jobs/7',
      filesUrl: `https://gitlab.com/acme/ingress/-/blob/${SHA}/`,
    });
  });

  it('can name another commit than the one that the forge checked out', () => {
    expect(readCiJobLinks({ ...GITHUB, EDGEWISE_COMMIT: 'abcdef1' }).filesUrl).toBe(
      'https://github.com/acme/ingress/blob/abcdef1/',
    );
  });

  it.each([
    ['a commit that is none', { EDGEWISE_COMMIT: 'main](https://evil.test)' }],
    ['a server that is no place', { ...GITHUB, GITHUB_SHA: 'x', GITHUB_SERVER_URL: 'javascript:alert(1)//' }],
    ['a job page with a way out', { CI_JOB_URL: 'https://gitlab.com/x) <b>' }],
    ['nothing', {}],
  ])('is absent for %s', (_, env) => {
    expect({ ...readCiJobLinks(env), run: undefined }).toEqual({ run: undefined });
  });

  it.each([
    [{ GITHUB_RUN_ID: '42', GITHUB_RUN_ATTEMPT: '2' }, 'GITHUB_RUN_ID=42/2'],
    [{ CI_PIPELINE_ID: '7', CI_JOB_ID: '8' }, 'CI_PIPELINE_ID=7'],
    [{ BUILDKITE_BUILD_ID: 'a-b' }, 'BUILDKITE_BUILD_ID=a%2Db'],
    [{ BUILD_TAG: 'jenkins team/x #1' }, 'BUILD_TAG=jenkins%20team/x%20%231'],
    [{ GITHUB_RUN_ID: '' }, undefined],
  ])('names its run: %j', (env, run) => {
    expect(readCiJobLinks(env).run).toBe(run);
  });
});
