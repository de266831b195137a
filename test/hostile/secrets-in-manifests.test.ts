import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { listFormatNames } from '../../src/report/formats.ts';
import { parseApiKey } from '../../src/server/index.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** Secrets in fields that the tables mark: `${secret:NAME}`, live values, and values in clear text. */

const EDGE = 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const ROUTE = 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const OTHER_ROUTE = ROUTE.replace('2fmn', '2fmm');
const PATH = `/edges/https/${EDGE}/routes/${ROUTE}/request_headers`;

const SECRET = 'value-of-the-upstream-key';
const LIVE = 'value-set-by-hand-4711';
const CLEAR = 'value-in-clear-in-git';
const D = '$';
const BEARER = `Bearer ${D}{secret:UPSTREAM}`;
const OFFERED = { env: { UPSTREAM: SECRET, EDGEWISE_SECRETS: 'UPSTREAM' } };

function routeWithHeaders(add: object): string {
  return toManifest('HTTPSEdgeRoute', 'checkout', { edge_id: EDGE, id: ROUTE, request_headers: { add } });
}

function edgeWithConfig(config: object): string {
  const action = { type: 'add-headers', config };
  return toManifest('TCPEdge', 'shop', {
    hostports: ['1.tcp.example.net:20001'],
    policy: { inbound: { expressions: [], actions: [action] } },
  });
}

/** Returns everything that a run produced: its output, and each file in its folder except the manifests. */
function readAll({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }, folder: string): string {
  const files = readdirSync(folder, { recursive: true }).map(String);
  const written = files.filter((file) => !file.endsWith('.yaml') && statSync(join(folder, file)).isFile());
  return [stdout, stderr, ...written.map((file) => readFileSync(join(folder, file), 'utf8'))].join('\n');
}

const REPORTS = listFormatNames()
  .map((format) => `--report ${format}=out.${format}`)
  .join(' ');

function expectNoValue(text: string): void {
  for (const value of [SECRET, LIVE, CLEAR])
    for (const form of [value, encodeURIComponent(value), Buffer.from(value).toString('base64').slice(0, -4)])
      expect(text).not.toContain(form);
}

describe('a secret in a header', () => {
  it('is sent, and appears in no output of any command', async () => {
    const files = { 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER, 'x-api-key': CLEAR }) };
    const workspace = await createWorkspace(files);
    await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE, 'x-other': LIVE } });
    const { edgewise, folder } = workspace;
    for (const line of [
      'validate --format json',
      `plan --verbose -o plan.json ${REPORTS}`,
      'drift --verbose',
      'drift --format json',
      'get --format yaml',
      'get --format value=request_headers',
      'get HTTPSEdgeRoute/checkout --format value=request_headers.add.authorization',
      `export --modules-of ${EDGE}/${ROUTE}`,
      `apply --yes --verbose ${REPORTS}`,
    ]) {
      const ended = await edgewise(line, OFFERED);
      expectNoValue(readAll(ended, folder));
    }
    expect(await sendByHand(workspace, 'GET', PATH)).toMatchObject({
      add: { authorization: `Bearer ${SECRET}`, 'x-api-key': CLEAR },
    });
    expect(await edgewise('plan --detailed-exitcode', OFFERED)).toMatchObject({ exitCode: 0 });
    expect(await edgewise('drift', OFFERED)).toMatchObject({ exitCode: 0 });
  });

  it('is in no message, although the service quotes it when it rejects the request', async () => {
    const files = { 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER, 'x-api-key': CLEAR }) };
    const workspace = await createWorkspace(files);
    await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE } });
    const quoting =
      (status: number, method: string): Transport =>
      async (request) => {
        if (request.method !== method || !request.url.endsWith(PATH)) return workspace.recorder.transport(request);
        const msg = `header value Bearer ${SECRET}, ${CLEAR} or ${LIVE} is not allowed`;
        return Response.json({ error_code: 'x', msg, details: { field: msg } }, { status });
      };
    for (const transport of [quoting(400, 'PUT'), quoting(422, 'PUT')]) {
      const ended = await workspace.edgewise(`apply --yes --verbose ${REPORTS}`, { ...OFFERED, transport });
      expect(ended.exitCode).toBe(1);
      expect(ended.stdout).toContain('is not allowed');
      expectNoValue(readAll(ended, workspace.folder));
    }
  });

  it('is no header on the list of those that never carry one: their live values are shown', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ 'cache-control': 'no-store' }) });
    await sendByHand(workspace, 'PUT', PATH, { add: { 'Cache-Control': 'max-age=1', 'x-other': LIVE } });
    const { stdout } = await workspace.edgewise('plan');
    expect(stdout).toContain('request_headers.add.cache-control: max-age=1 → no-store');
    expect(stdout).toContain('request_headers.add.x-other: (hidden 1) → (none)');
    const shown = await workspace.edgewise('get --verbose');
    expect(shown.stdout).toContain('max-age=1');
    expectNoValue(stdout + shown.stdout);
    const named = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ Host: BEARER }) });
    expect(await named.edgewise('validate', OFFERED)).toMatchObject({ exitCode: 3 });
  });

  it.each(['request_headers.add.authorization', 'request_headers.add', 'request_headers'])(
    'is a failure as the one value that a script asks for, and prints nothing: %s',
    async (field) => {
      const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
      await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE } });
      const line = `get HTTPSEdgeRoute/checkout --format value=${field}`;
      const { exitCode, stdout, stderr } = await workspace.edgewise(line, OFFERED);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toContain(`HTTPSEdgeRoute/checkout: ${field} is or contains a secret, which is not shown.`);
      expect(await workspace.edgewise(`${line} --show-secrets`, OFFERED)).toMatchObject({ exitCode: 0 });
    },
  );

  it('appears in no message about its document, however invalid that is', async () => {
    const mixed = `${D}{secret:UPSTREAM}\n${D}{env:UPSTREAM}`;
    for (const document of [
      routeWithHeaders({ x: mixed }),
      routeWithHeaders({ [mixed]: 'x' }),
      toManifest('TCPEdge', 'shop', { hostports: [mixed] }),
      toManifest('NoSuchKind', mixed, {}),
    ]) {
      const { edgewise } = await createWorkspace({ 'a.yaml': STACK + document });
      for (const line of ['validate', 'plan --format json']) {
        const { exitCode, stdout, stderr } = await edgewise(line, OFFERED);
        expect(exitCode).toBe(3);
        expectNoValue(stdout + stderr);
      }
    }
  });

  it.each([
    ['alone', (name: string) => `${D}{secret:${name}}`],
    ['in a text', (name: string) => `Bearer ${D}{secret:${name}} x`],
  ])('is refused if it is the API key, before anything is written: %s', async (_, toText) => {
    const key = 'key-of-the-account';
    const env = { EDGEWISE_API_KEY: key, COPY: key };
    const workspace = await createWorkspace(
      { 'a.yaml': STACK + toManifest('TCPEdge', 'first', {}) + routeWithHeaders({ authorization: toText('COPY') }) },
      { apiKeys: [parseApiKey(`${key}:admin`)] },
    );
    for (const line of ['validate --secret COPY', 'plan --secret COPY', 'apply --yes --secret COPY']) {
      const { exitCode, stdout, stderr } = await workspace.edgewise(line, { env });
      expect({ line, exitCode }).toEqual({ line, exitCode: 3 });
      expect(stdout + stderr).toContain('this would contain the API key');
      expect(stdout + stderr).not.toContain(key);
    }
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('is shown by the name of its variable, and a live value by a number', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE } });
    const { stdout } = await workspace.edgewise('plan', OFFERED);
    expect(stdout).toContain('request_headers.add.authorization: (hidden 1) → Bearer (secret UPSTREAM)');
  });

  it.each([
    ['plan -R live', 'plan -R live --format json'],
    ['apply -R live --yes'],
    ['drift -R live', 'drift -R live --format json'],
    ['get -R live --format yaml', 'get -R live --format json'],
    ['plan -R live --format markdown', 'plan -R live --format html'],
  ])('has the same number in several stacks for equal values: %s', async (...lines) => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': STACK.replace('test', 'a') + routeWithHeaders({ a: 'stated' }),
      'live/b/edgewise.yaml':
        STACK.replace('test', 'b') + routeWithHeaders({ a: 'stated' }).replaceAll(ROUTE, OTHER_ROUTE),
    });
    await sendByHand(workspace, 'PUT', PATH, { add: { a: LIVE, b: `${LIVE}2` } });
    await sendByHand(workspace, 'PUT', PATH.replace(ROUTE, OTHER_ROUTE), { add: { a: `${LIVE}2`, c: `${LIVE}3` } });
    for (const line of lines) {
      const { stdout } = await workspace.edgewise(line);
      // If each stack numbered its values alone, each would have 1 and 2.
      const numbers = [...stdout.matchAll(/\bhidden"?:? (\d)/g)].map(([, number]) => number);
      expect([line, [...new Set(numbers)].sort()]).toEqual([line, ['1', '2', '3']]);
      expectNoValue(stdout);
    }
  });

  it('has the same number for equal values, and another for others', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({}) });
    await sendByHand(workspace, 'PUT', PATH, { add: { a: LIVE, b: `${LIVE}2`, c: LIVE } });
    const { stdout } = await workspace.edgewise('plan');
    expect(stdout).toMatch(/a: \(hidden 1\).*\n.*b: \(hidden 2\).*\n.*c: \(hidden 1\)/);
  });

  it('is found to have changed, and then sent', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    await workspace.edgewise('apply --yes', OFFERED);
    const other = { env: { ...OFFERED.env, UPSTREAM: `${SECRET}-2` } };
    expect(await workspace.edgewise('plan --detailed-exitcode', other)).toMatchObject({ exitCode: 2 });
    expect(await workspace.edgewise('apply --yes', other)).toMatchObject({ exitCode: 0 });
    expect(await sendByHand(workspace, 'GET', PATH)).toMatchObject({ add: { authorization: `Bearer ${SECRET}-2` } });
  });

  it('is in no digest: not in a plan file, and not in a mark', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + edgeWithConfig({ token: `${D}{secret:UPSTREAM}` }) });
    const plans = [];
    for (const value of [SECRET, `${SECRET}-2`]) {
      await workspace.edgewise('plan -o plan.json', { env: { ...OFFERED.env, UPSTREAM: value } });
      const { changes } = readOnlyStack(readFileSync(join(workspace.folder, 'plan.json'), 'utf8'));
      plans.push(changes);
    }
    expect(plans[0]).toEqual(plans[1]);
  });

  it('is not compared if it is not offered, and the plan says so', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    await workspace.edgewise('apply --yes', OFFERED);
    const { stdout, exitCode } = await workspace.edgewise('plan --detailed-exitcode', { env: { UPSTREAM: 'other' } });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'the value of UPSTREAM in request_headers is not compared: it is not set, or not offered as a secret',
    );
  });

  it('ends an apply before its first write if it is not offered', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    const { exitCode, stderr } = await workspace.edgewise('apply --yes', { env: { UPSTREAM: SECRET } });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('HTTPSEdgeRoute/checkout needs the value of UPSTREAM');
    expect(stderr).toContain('--secret UPSTREAM');
    await expect(sendByHand(workspace, 'GET', PATH)).rejects.toThrow('got 404');
  });

  it('is removed from an error of the service that contains it', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    const transport = async (request: Request) => {
      if (request.method === 'GET') return workspace.recorder.transport(request);
      const error = { error_code: 'bad', status_code: 400, msg: `no header is Bearer ${SECRET}` };
      return Response.json(error, { status: 400 });
    };
    const ended = await workspace.edgewise('apply --yes', { ...OFFERED, transport });
    expect(ended.exitCode).toBe(1);
    expectNoValue(`${ended.stdout}${ended.stderr}`);
    expect(`${ended.stdout}${ended.stderr}`).toContain('(secret UPSTREAM)');
  });

  it('reaches no policy', async () => {
    const policyOf = (require: string) =>
      toManifest('Policy', 'headers', { match: { kinds: ['HTTPSEdgeRoute'] }, require, message: 'is not named' });
    const named = 'after.request_headers.add.authorization["$secret"] == "Bearer $" + "{secret:UPSTREAM}"';
    const workspace = await createWorkspace({
      'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }),
      'b.yaml': policyOf(named),
    });
    expect(await workspace.edgewise('plan', OFFERED)).toMatchObject({ exitCode: 0 });
    await workspace.write({ 'b.yaml': policyOf(`!(${named})`) });
    expect(await workspace.edgewise('plan', OFFERED)).toMatchObject({ exitCode: 5 });
  });
});

describe('a live value that may be secret', () => {
  it('is shown with --show-secrets, unlike the value of a variable', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE, b: `Bearer ${SECRET}` } });
    const { stdout } = await workspace.edgewise('plan --show-secrets', OFFERED);
    expect(stdout).toMatch(/- value-set-by-hand-4711\n\s+\+ Bearer \(secret UPSTREAM\)/);
    expect(stdout).not.toContain(SECRET);
  });

  it('cannot be saved in a plan file', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK });
    const { exitCode, stderr } = await workspace.edgewise('plan --show-secrets -o plan.json');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('a saved plan contains no secret');
  });

  it('is shown if a manifest has it in clear text in a field that is not named like a secret', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ 'x-env': 'production' }) });
    await workspace.edgewise('apply --yes');
    const { stdout } = await workspace.edgewise('get --format json');
    expect(readOnlyStack(stdout).resources[0].spec.request_headers.add).toEqual({ 'x-env': 'production' });
  });

  it('is exported as a variable, and the exported manifest changes nothing', async () => {
    const workspace = await createWorkspace();
    await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE } });
    const { stdout } = await workspace.edgewise(`export --modules-of ${EDGE}/${ROUTE}`);
    const [, name = ''] = /secret:(\w+)\}/.exec(stdout) ?? [];
    expect(stdout).toContain(`Set these variables, and offer them: --secret ${name}.`);
    await workspace.write({ 'a.yaml': `${STACK}---\n${stdout}` });
    const offered = { env: { [name]: LIVE, EDGEWISE_SECRETS: name } };
    expect(await workspace.edgewise('plan --detailed-exitcode', offered)).toMatchObject({ exitCode: 0 });
    expect(
      await workspace.edgewise('plan --detailed-exitcode', { env: { ...offered.env, [name]: 'x' } }),
    ).toMatchObject({
      exitCode: 2,
    });
  });

  it('is not exported if it is a number, because no variable can stand for one', async () => {
    const workspace = await createWorkspace();
    const actions = [{ type: 'add-headers', config: { token: { code: 4711_4711 } } }];
    await sendByHand(workspace, 'POST', '/edges/tcp', {
      policy: { inbound: [{ name: '', expressions: [], actions }] },
    });
    const { stdout, stderr } = await workspace.edgewise('export');
    expect(stdout + stderr).toContain(
      'it has a number below a name of a secret, and no variable can stand for a number',
    );
    expect(stdout + stderr).not.toContain('47114711');
  });

  it('is not accepted as a secret of the manifest', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + edgeWithConfig({ token: `${D}{secret:UPSTREAM}` }) });
    await workspace.edgewise('apply --yes', OFFERED);
    const list = (await sendByHand(workspace, 'GET', '/edges/tcp')) as { tcp_edges: { id: string; policy: object }[] };
    const [edge] = list.tcp_edges;
    const forged = JSON.parse(
      JSON.stringify(edge?.policy).replace(`"${SECRET}"`, `{"$secret":"${D}{secret:UPSTREAM}"}`),
    );
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.id}`, { policy: forged });
    expect(await workspace.edgewise('plan --detailed-exitcode', OFFERED)).toMatchObject({ exitCode: 2 });
  });
});

describe('a manifest', () => {
  it.each([
    ['a description', { description: `${D}{secret:UPSTREAM}` }],
    ['metadata', { metadata: { note: `${D}{secret:UPSTREAM}` } }],
    ['a hostport', { hostports: [`${D}{secret:UPSTREAM}:443`] }],
  ])('refuses a secret in %s', async (_, spec) => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + toManifest('TCPEdge', 'shop', spec) });
    const { exitCode, stdout } = await workspace.edgewise('validate', OFFERED);
    expect(exitCode).toBe(3);
    expect(stdout).not.toContain(SECRET);
    expect(stdout).toContain('UPSTREAM');
  });

  it('accepts the text of a placeholder, escaped', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ 'x-a': `${D}${D}{secret:NAME}` }) });
    await workspace.edgewise('apply --yes');
    expect(await sendByHand(workspace, 'GET', PATH)).toMatchObject({ add: { 'x-a': `${D}{secret:NAME}` } });
  });

  it('causes a warning for a secret in clear text, without its line', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ Cookie: CLEAR }) });
    const { exitCode, stdout } = await workspace.edgewise('validate');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('warning[secret-in-manifest]: HTTPSEdgeRoute/checkout: request_headers.add.Cookie');
    expect(stdout).not.toContain(CLEAR);
  });
});

describe('a saved plan with secrets', () => {
  it('is applied with the values of the variables, although hidden values have other numbers', async () => {
    const workspace = await createWorkspace({ 'a.yaml': STACK + routeWithHeaders({ authorization: BEARER }) });
    await sendByHand(workspace, 'PUT', PATH, { add: { authorization: LIVE, 'x-other': LIVE } });
    await workspace.edgewise('plan . -o plan.json', OFFERED);
    expect(await workspace.edgewise('apply . --approved plan.json --yes', OFFERED)).toMatchObject({ exitCode: 0 });
    expect(await sendByHand(workspace, 'GET', PATH)).toMatchObject({ add: { authorization: `Bearer ${SECRET}` } });
  });
});
