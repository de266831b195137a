import { describe, expect, it } from 'vitest';
import { isQuotaFailure } from '../../src/model/errors.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from './workspace.ts';

/** An account with as many resources of a kind as it may have. */

const LIMITS: readonly (readonly [number, string])[] = [
  [402, 'ERR_4102'],
  [403, 'ERR_LIMIT_4102'],
  [403, 'quota_exceeded'],
  [429, 'resource_limit_reached'],
];

/** A service that creates no more than `most` resources of a path at a time. */
function createFullService(
  transport: Transport,
  path: string,
  [status, code]: readonly [number, string],
  most: number,
) {
  let count = 0;
  const posts: string[] = [];
  const service: Transport = async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'POST') posts.push(pathname);
    if (request.method === 'POST' && pathname === path) {
      if (count >= most)
        return Response.json(
          { error_code: code, status_code: status, msg: `Your plan allows ${most} of these.` },
          { status },
        );
      count += 1;
    }
    if (request.method === 'DELETE' && pathname.startsWith(`${path}/`)) count -= 1;
    return transport(request);
  };
  return { service, posts };
}

const SINK = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`;

function createAccount(files: string): Promise<Workspace> {
  return createWorkspace({ 'm.yaml': files });
}

describe.each(LIMITS)('a full quota, answered with %i %s', (status, code) => {
  it('ends with 1 and a sentence of its own, and is not tried again', async () => {
    const { edgewise, recorder } = await createAccount(`${SINK}${['a', 'b', 'c'].map(toCredential).join('')}`);
    const { service, posts } = createFullService(recorder.transport, '/credentials', [status, code], 2);
    const { exitCode, stdout, stderr } = await edgewise('apply m.yaml --yes', { transport: service });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'The account has no room for another tunnel credential: delete one that is not needed, or get a higher limit.',
    );
    expect(stdout).toContain(`${status} ${code}: Your plan allows 2 of these.`);
    expect(stdout).not.toMatch(/API key|does not permit|Fix what failed/);
    expect(stderr).not.toContain('Waiting');
    expect(posts).toHaveLength(3);
  });

  it('ends with 1 if nothing at all could be created', async () => {
    const { edgewise, recorder } = await createAccount(`${STACK}${toEdge('a', 20_001)}`);
    const { service } = createFullService(recorder.transport, '/edges/tcp', [status, code], 0);
    const { exitCode, stdout } = await edgewise('apply m.yaml --yes', { transport: service });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('The account has no room for another TCP edge');
  });

  it('says what helps a replace, whose new half it forbids, and that way works', async () => {
    const files = `${SINK}${toCredential('a')}${toCredential('b')}`;
    const { edgewise, recorder, write } = await createAccount(files);
    const { service } = createFullService(recorder.transport, '/credentials', [status, code], 2);
    const run = (line: string) => edgewise(line, { transport: service });
    expect((await run('apply m.yaml --yes')).exitCode).toBe(0);
    const { exitCode, stdout } = await run('apply m.yaml --yes --rotate Credential/a');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('The new Credential/a must be created before the old one is deleted.');
    expect(stdout).toContain(
      'take the manifest away and apply, then bring it back and apply: in between, there is none',
    );
    await write({ 'm.yaml': `${SINK}${toCredential('b')}` });
    expect((await run('apply m.yaml --yes')).exitCode).toBe(0);
    await write({ 'm.yaml': files });
    expect((await run('apply m.yaml --yes')).exitCode).toBe(0);
    expect((await run('plan m.yaml --detailed-exitcode')).exitCode).toBe(0);
  });
});

describe('what is no full quota', () => {
  it.each([
    [401, 'quota_exceeded'],
    [403, 'forbidden'],
    [403, undefined],
    [403, 'rate_limit_exceeded'],
    [429, undefined],
    [429, 'rate_limited'],
    [429, 'RequestLimitExceeded'],
    [429, 'too_many_requests'],
    [400, 'limit'],
    [503, 'capacity'],
  ])('is a %i with the code %s', (status, code) => {
    expect(isQuotaFailure({ status, code })).toBe(false);
  });

  it.each([
    [403, 'QuotaExceeded'],
    [403, 'account-limit'],
    [429, 'resourceLimitReached'],
    [402, undefined],
    [507, 'account_full'],
  ])('is not a %i with the code %s', (status, code) => {
    expect(isQuotaFailure({ status, code })).toBe(true);
  });
});

describe('a list that the service does not have (404)', () => {
  it.each([
    ['plan m.yaml', 'spec: { kinds: ['],
    ['export -o out --owner test', 'edgewise export '],
  ])('names the kinds that are left, as a 403 does: %s', async (line, way) => {
    const { edgewise, recorder } = await createAccount(
      `${STACK}${toManifest('WeightedBackend', 'a', { backends: {} })}`,
    );
    const transport: Transport = async (request) =>
      new URL(request.url).pathname === '/agent_ingresses'
        ? Response.json({ error_code: 'not_found', msg: 'no such thing' }, { status: 404 })
        : recorder.transport(request);
    const { exitCode, stdout, stderr } = await edgewise(line, { transport });
    expect(exitCode).toBe(1);
    expect(`${stdout}${stderr}`).toContain('Check the base URL. If the service has no agent ingress, ');
    expect(`${stdout}${stderr}`).toContain(way);
    expect(`${stdout}${stderr}`).not.toContain('AgentIngress,');
    await expect(edgewise('plan m.yaml', { transport: recorder.transport })).resolves.toMatchObject({ exitCode: 0 });
  });
});
