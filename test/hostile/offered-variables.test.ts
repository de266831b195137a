import { describe, expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';

/** An author reads a secret as a variable, a variable as a secret, or a token of the build system as either. */

const D = '$';
const EDGE = 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const ROUTE = 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const PATH = `/edges/https/${EDGE}/routes/${ROUTE}/request_headers`;
const VALUE = 'value-of-the-upstream-key';

const COMMANDS = ['validate .', 'plan . -o plan.json', 'drift .', 'get .', 'apply . --yes', 'destroy . --yes'];

/** The ways to offer a variable. */
const OFFERS = {
  env: [{ line: '--env X' }, { env: { EDGEWISE_ENV: 'X' } }],
  secret: [{ line: '--secret X' }, { env: { EDGEWISE_SECRETS: 'X' } }],
} as const;

function toEdge(spec: object, name = 'shop'): string {
  return toManifest('TCPEdge', name, { hostports: ['1.tcp.example.net:20001'], ...spec });
}

function toRoute(header: string): string {
  return toManifest('HTTPSEdgeRoute', 'checkout', {
    edge_id: EDGE,
    id: ROUTE,
    request_headers: { add: { authorization: header } },
  });
}

/** Runs each command on a manifest. Expects that each of them ends with 3, sends nothing and shows no value. */
async function expectRefusals(manifest: string, message: string, offers: { line?: string; env?: object }) {
  const workspace = await createWorkspace({ 'a.yaml': manifest.startsWith(STACK) ? manifest : STACK + manifest });
  for (const command of COMMANDS) {
    const line = `${command} ${offers.line ?? ''}`.trimEnd();
    const { exitCode, stdout, stderr } = await workspace.edgewise(line, { env: { X: VALUE, ...offers.env } });
    expect({ line, exitCode, requests: workspace.recorder.take() }).toEqual({ line, exitCode: 3, requests: [] });
    expect(`${stdout}${stderr}`).toContain(message);
    expect(`${stdout}${stderr}`).not.toContain(VALUE);
  }
}

describe('a name that is offered as a secret', () => {
  it.each(
    OFFERS.secret.flatMap((offers) =>
      [
        ['alone', toEdge({ description: `${D}{env:X}` })],
        ['in a longer text', toEdge({ description: `the key is ${D}{env:X}!` })],
        ['with a default', toEdge({ description: `${D}{env:X:-none}` })],
        ['in a name', toEdge({}, `a-${D}{env:X}`)],
        ['in metadata', toEdge({ metadata: { a: `${D}{env:X}` } })],
        ['in an address', toEdge({ hostports: [`${D}{env:X}:1`] })],
        ['in a header that may be secret', toRoute(`Bearer ${D}{env:X}`)],
        ['in the URL of the Stack', `${STACK}spec: { api: { base_url: "https://${D}{env:X}" } }\n`],
        ['beside another mistake', toEdge({ description: `${D}{env:X}`, wrong: `${D}{env:X}` })],
      ].map(([where, manifest]) => [where, manifest, offers] as const),
    ),
  )('is an error as a variable, %s', async (_, manifest, offers) => {
    await expectRefusals(manifest ?? '', 'the environment variable X is offered as a secret', offers);
  });
});

describe('a name that is offered as a variable', () => {
  it.each(
    OFFERS.env.flatMap((offers) => [
      ['in a header', toRoute(`Bearer ${D}{secret:X}`), offers] as const,
      ['beside a variable', toRoute(`${D}{env:X} ${D}{secret:X}`), offers] as const,
    ]),
  )('is an error as a secret, %s', async (_, manifest, offers) => {
    await expectRefusals(manifest, 'the environment variable X is offered as a variable', offers);
  });
});

describe('a name on neither list', () => {
  it.each([`${D}{env:X}`, `${D}{env:X:-none}`, `a ${D}{env:X:-} b`])('is an error as a variable: %s', async (text) => {
    await expectRefusals(toEdge({ description: text }), 'the environment variable X is not offered to manifests', {});
  });

  it('is a line of the plan as a secret, and an error only in an apply that sends it', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + toRoute(`Bearer ${D}{secret:X}`) });
    const env = { X: VALUE };
    const cannotSend = 'warning[secret-missing]: an apply needs the value of X, which is not set or not offered here';
    for (const command of ['validate .', 'get .'])
      expect(await workspace.edgewise(command, { env })).toMatchObject({ exitCode: 0 });
    const creates = await workspace.edgewise('plan .', { env });
    expect(creates).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(cannotSend) });
    expect(await workspace.edgewise('apply . --yes', { env })).toMatchObject({ exitCode: 3 });
    expect(await workspace.edgewise('apply . --yes --secret X', { env })).toMatchObject({ exitCode: 0 });
    expect(await sendByHand(workspace, 'GET', PATH)).toMatchObject({ add: { authorization: `Bearer ${VALUE}` } });

    const same = await workspace.edgewise('plan . --detailed-exitcode', { env });
    expect(same).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('the value of X in request_headers is not compared'),
    });
    await workspace.write({ 'b.yaml': toManifest('TCPEdge', 'other', { hostports: ['1.tcp.example.net:20002'] }) });
    expect(await workspace.edgewise('apply . --yes', { env })).toMatchObject({ exitCode: 0 });

    await workspace.write({
      'a.yaml': (STACK + toRoute(`Bearer ${D}{secret:X}`)).replace('"add":{', '"add":{"x-a":"b",'),
    });
    const changes = await workspace.edgewise('plan .', { env });
    expect(changes).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(cannotSend) });
    expect(await workspace.edgewise('apply . --yes', { env })).toMatchObject({ exitCode: 3 });
  });

  it('is an error as a variable in the library, too', async () => {
    const manifests = [{ file: 'a.yaml', text: STACK + toEdge({ description: `${D}{env:X}` }) }];
    const given = { manifests, env: { X: VALUE }, baseUrl: 'embedded:' };
    await expect(openStack({ ...given, offeredSecrets: ['X'] })).rejects.toMatchObject({
      diagnostics: [{ code: 'env-reference', message: expect.stringContaining('offered as a secret') }],
    });
    await expect(openStack({ ...given, offered: ['X'], offeredSecrets: ['X'] })).rejects.toMatchObject({
      reason: 'invalid',
    });
    await expect(openStack({ ...given, offered: ['X*'] })).rejects.toMatchObject({ reason: 'invalid' });
  });
});

describe('a name on both lists', () => {
  const pairs = OFFERS.env.flatMap((shown) => OFFERS.secret.map((hidden) => ({ shown, hidden })));

  it.each(pairs)('ends every run with 3: $shown and $hidden', async ({ shown, hidden }) => {
    const [one, other]: readonly { line?: string; env?: object }[] = [shown, hidden];
    const line = [one?.line, other?.line].filter((words) => words !== undefined).join(' ');
    const message = 'X is offered as a variable by';
    await expectRefusals(toEdge({}), message, { line, env: { ...one?.env, ...other?.env } });
  });

  it('is found in another case, which is the same variable on Windows', async () => {
    await expectRefusals(toEdge({}), 'x is offered as a variable by', { line: '--env X --secret x' });
  });
});

describe('a token of the build system', () => {
  it.each([
    ['EDGEWISE_API_KEY', 'the API key'],
    ['EDGEWISE_API_KEY_FILE', 'the API key'],
    ['EDGEWISE_API_KEY_PROD', 'the API key'],
    ['edgewise_api_key', 'the API key'],
    ['EDGEWISE_GITLAB_TOKEN', 'a token of GitLab'],
    ['GITLAB_TOKEN', 'a token of GitLab'],
    ['CI_JOB_TOKEN', 'a token of GitLab'],
    ['CI_JOB_JWT_V2', 'a token of GitLab'],
    ['CI_REGISTRY_PASSWORD', 'a token of GitLab'],
    ['CI_DEPLOY_PASSWORD', 'a token of GitLab'],
    ['CI_DEPENDENCY_PROXY_PASSWORD', 'a token of GitLab'],
    ['CI_REPOSITORY_URL', 'a token of GitLab'],
    ['GITHUB_TOKEN', 'a token of GitHub'],
    ['gh_token', 'a token of GitHub'],
    ['GH_ENTERPRISE_TOKEN', 'a token of GitHub'],
    ['ACTIONS_RUNTIME_TOKEN', 'a token of GitHub'],
    ['ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'a token of GitHub'],
    ['GITEA_TOKEN', 'a token of GitHub'],
    ['SYSTEM_ACCESSTOKEN', 'a token of Azure Pipelines'],
    ['System_AccessToken', 'a token of Azure Pipelines'],
    ['AZURE_DEVOPS_EXT_PAT', 'a token of Azure Pipelines'],
    ['ENDPOINT_AUTH_SYSTEMVSSCONNECTION', 'a token of Azure Pipelines'],
    ['VSS_NUGET_EXTERNAL_FEED_ENDPOINTS', 'a token of Azure Pipelines'],
    ['BUILDKITE_AGENT_ACCESS_TOKEN', 'a token of Buildkite'],
    ['BUILDKITE_AGENT_JOB_API_TOKEN', 'a token of Buildkite'],
    ['CIRCLE_OIDC_TOKEN_V2', 'a token of CircleCI'],
    ['CIRCLE_TOKEN', 'a token of CircleCI'],
    ['BITBUCKET_STEP_OIDC_TOKEN', 'a token of Bitbucket'],
    ['JENKINS_SECRET', 'a token of Jenkins'],
    ['DRONE_NETRC_PASSWORD', 'a token of Drone or Woodpecker'],
    ['CI_NETRC_PASSWORD', 'a token of Drone or Woodpecker'],
    ['SEMAPHORE_OIDC_TOKEN', 'a token of Semaphore'],
    ['CODEFRESH_API_KEY', 'a token of Codefresh'],
    ['TFC_WORKLOAD_IDENTITY_TOKEN', 'a token of HCP Terraform'],
    ['SPACELIFT_OIDC_TOKEN', 'a token of Spacelift'],
    ['ATLANTIS_GH_TOKEN', 'a token of Atlantis'],
  ])('is on no list: %s', async (name, what) => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + toEdge({}) });
    const ways = [
      { line: `plan . --env ${name}`, env: {} },
      { line: `plan . --secret A --secret ${name}`, env: {} },
      { line: 'apply . --yes', env: { EDGEWISE_ENV: `A, ${name}` } },
      { line: 'validate .', env: { EDGEWISE_SECRETS: name } },
    ];
    for (const { line, env } of ways) {
      const { exitCode, stderr } = await workspace.edgewise(line, { env: { ...env, [name]: VALUE } });
      expect({ line, exitCode }).toEqual({ line, exitCode: 3 });
      expect(stderr).toContain(`offers ${name} to manifests, which is for ${what}`);
      expect(stderr).not.toContain(VALUE);
    }
    expect(workspace.recorder.take()).toEqual([]);
  });

  it.each(['EDGEWISE_API_KEY', 'GITHUB_TOKEN', 'CI_JOB_TOKEN', 'SYSTEM_ACCESSTOKEN', 'BUILDKITE_AGENT_ACCESS_TOKEN'])(
    'is an error in a manifest, and the advice does not offer it: %s',
    async (name) => {
      for (const manifest of [toEdge({ description: `${D}{env:${name}:-x}` }), toRoute(`${D}{secret:${name}}`)]) {
        const workspace = await createWorkspace({ 'a.yaml': STACK + manifest });
        const { exitCode, stdout } = await workspace.edgewise('validate .', { env: { [name]: VALUE } });
        expect(exitCode).toBe(3);
        expect(stdout).toContain(`the environment variable ${name} is for`);
        expect(stdout).not.toMatch(new RegExp(`--(env|secret)|${VALUE}`));
      }
    },
  );

  it.each([
    'DEPLOY_TOKEN',
    'UPSTREAM_KEY',
    'CI_COMMIT_SHA',
    'GITHUB_SHA',
    'CI_ENVIRONMENT_NAME',
    'TOKEN',
    'CIRCLE_SHA1',
  ])('is not what has an ordinary name: %s', async (name) => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + toEdge({ description: `${D}{env:${name}}` }) });
    const env = { [name]: 'abc' };
    expect(await workspace.edgewise(`plan . --env ${name}`, { env })).toMatchObject({ exitCode: 0 });
  });
});

describe('advice', () => {
  it('never turns a secret into a variable, or a variable into a secret', async () => {
    const manifests = [
      toEdge({ description: `${D}{secret:X}` }),
      toEdge({ description: `${D}{env:X}` }),
      toRoute(`${D}{secret:X}`),
    ];
    for (const [at, manifest] of manifests.entries()) {
      const workspace = await createWorkspace({ 'a.yaml': STACK + manifest });
      const other = at === 1 ? /--secret|\{secret:|EDGEWISE_SECRETS/ : /--env|\{env:|EDGEWISE_ENV/;
      for (const command of ['validate .', 'plan .', 'apply . --yes'])
        for (const offer of ['', ' --env X', ' --secret X']) {
          const { stdout, stderr } = await workspace.edgewise(command + offer, { env: { X: VALUE } });
          const advice = `${stdout}${stderr}`
            .split('\n')
            .filter((line) => /help:|^(Set|Offer|Use|Write|Name) /.test(line));
          expect(advice.join('\n'), command + offer).not.toMatch(other);
        }
    }
  });
});
