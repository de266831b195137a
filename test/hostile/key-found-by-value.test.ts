import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { createRequest } from '../by-hand.ts';
import { runEdgewise, startServerProcess } from '../end-to-end/processes.ts';
import { createCheckout, startListener } from './listener.ts';
import { expectNoSecret, KEY, readAll, STACK, TOKEN, toEdge } from './secret-values.ts';

/** An author of manifests, or a service that echoes, tries to have the key or a token of the forge shown, saved or sent. */

const D = '$';

const ENV = { EDGEWISE_API_KEY: KEY, EDGEWISE_GITLAB_TOKEN: TOKEN, EDGEWISE_BASE_URL: 'embedded:' };

describe('a manifest that would contain the key, or a token of the forge', () => {
  it.each([
    ['a variable of another name', `${D}{env:API_KEY}`, ['--env', 'API_KEY'], { API_KEY: KEY }],
    ['a part of a longer text', `Bearer ${D}{env:API_KEY}!`, ['--env', 'API_KEY'], { API_KEY: KEY }],
    [
      'two halves',
      `${D}{env:ONE}${D}{env:TWO}`,
      ['--env', 'ONE', '--env', 'TWO'],
      { ONE: KEY.slice(0, 9), TWO: KEY.slice(9) },
    ],
    ['base64', `${D}{env:B64}`, ['--env', 'B64'], { B64: Buffer.from(`user:${KEY}`).toString('base64') }],
    ['the token under another name', `${D}{env:T}`, ['--env', 'T'], { T: TOKEN }],
    ['the text itself', `the key is ${KEY}`, [], {}],
  ])('is refused at its line, which does not show it: %s', async (_, description, words, env) => {
    const folder = await createCheckout({
      'a.yaml': STACK + toEdge({ description, hostports: ['1.tcp.example.net:20001'] }),
    });
    const before = ['a.yaml'];
    const reports = ['markdown', 'html', 'json', 'sarif'].flatMap((form) => [
      '--report',
      `${form}=${join(folder, form)}`,
    ]);
    const ended = await runEdgewise(['plan', folder, '-o', join(folder, 'plan.json'), ...words, ...reports], {
      ...ENV,
      ...env,
    });
    expect(ended.exitCode).toBe(3);
    expect(ended.stderr).toMatch(/error\[secret-in-manifest\].*\n.*a\.yaml:3:/);
    expectNoSecret(readAll(ended, folder, before));
  });

  it.each([
    ['a secret', `${D}{secret:COPY}`, { COPY: KEY }],
    ['a part of a secret', `Bearer ${D}{secret:COPY}`, { COPY: KEY }],
    ['two halves', `${D}{secret:COPY}${D}{secret:REST}`, { COPY: KEY.slice(0, 9), REST: KEY.slice(9) }],
    ['the token of the forge', `${D}{secret:COPY}`, { COPY: TOKEN }],
  ])('is refused before anything is sent, if a secret of the manifest has it: %s', async (_, value, env) => {
    const route = {
      apiVersion: 'edgewise/v1',
      kind: 'HTTPSEdgeRoute',
      metadata: { name: 'a' },
      spec: {
        edge_id: 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
        id: 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
        request_headers: { add: { 'x-a': value } },
      },
    };
    const folder = await createCheckout({ 'a.yaml': `${STACK}---\n${JSON.stringify(route)}\n` });
    for (const line of [['validate'], ['plan'], ['apply', '--yes']]) {
      const ended = await runEdgewise([...line, folder, '--secret', 'COPY', '--secret', 'REST'], { ...ENV, ...env });
      expect(ended.exitCode, line.join(' ')).toBe(3);
      expect(`${ended.stdout}${ended.stderr}`).toMatch(/error\[secret-in-manifest\].*contain/);
      expectNoSecret(readAll(ended, folder, ['a.yaml']));
    }
  });

  it('is refused with it in a key of metadata, a name, a kind or beside a mistake', async () => {
    const folder = await createCheckout({
      'a.yaml': STACK + toEdge({ metadata: { [`${D}{env:K}`]: 'x', [KEY]: 1 }, hostport: [KEY] }),
      'b.yaml': `apiVersion: edgewise/v1\nkind: TCPEdg${KEY}\nmetadata: { name: "${KEY}" }\n`,
      'c.yaml': `apiVersion: edgewise/v1\nkind: "${D}{env:K}"\nmetadata: { name: "${D}{env:K}" }\n`,
      'd.yaml': `apiVersion: edgewise/v1\nkind: TCPEdge # ${KEY}\nmetadata: { nam: d }\n`,
    });
    const ended = await runEdgewise(['validate', folder, '--env', 'K', '--format', 'json'], { ...ENV, K: KEY });
    expect(ended.exitCode).toBe(3);
    expect(ended.stdout.match(/secret-in-manifest/g)?.length).toBeGreaterThan(3);
    expectNoSecret(`${ended.stdout}${ended.stderr}`);
  });

  it('is refused if it names the file of the key as a public key', async () => {
    const certificate = {
      apiVersion: 'edgewise/v1',
      kind: 'SSHUserCertificate',
      metadata: { name: 'a' },
      spec: { public_key: { file: 'key.txt' }, ssh_certificate_authority_id: 'sshca_2fmnqYVGqgSNfrKbLQ5kCTTKaBB' },
    };
    const folder = await createCheckout({
      'a.yaml': `${STACK}---\n${JSON.stringify(certificate)}\n`,
      'key.txt': `${KEY}\n`,
    });
    const env = { EDGEWISE_BASE_URL: 'embedded:', EDGEWISE_API_KEY_FILE: join(folder, 'key.txt') };
    const ended = await runEdgewise(['validate', folder], env);
    expect(ended.stdout).toContain('which contains the API key');
    expectNoSecret(`${ended.stdout}${ended.stderr}`);
  });
});

describe('a name that a report shows', () => {
  it('does not contain the key, in files of every format', async () => {
    const folder = await createCheckout({
      [`${KEY}/a.yaml`]: STACK + toEdge({ hostports: ['1.tcp.example.net:20001'] }),
    });
    const forms = ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const reports = forms.flatMap((form) => ['--report', `${form}=${join(folder, form)}`]);
    const ended = await runEdgewise(['plan', join(folder, KEY), '-o', join(folder, 'plan.json'), ...reports], ENV);
    expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('[key]') });
    const files = readAll(ended, folder, [`${KEY}/a.yaml`]);
    expect(files.match(/\[key\]\/a\.yaml/g)?.length).toBeGreaterThan(forms.length / 2);
    expectNoSecret(files);
  });
});

describe('a program that manifests start', () => {
  it('does not start for untrusted manifests: neither a token command nor its check', async () => {
    const spec = { tokens: { default: { command: ['touch', 'ran'], test: ['touch', 'ran'] } } };
    const stack = { apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'shop' }, spec };
    const credential = JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Credential', metadata: { name: 'c' } });
    const folder = await createCheckout({ 'edgewise.yaml': `${JSON.stringify(stack)}\n---\n${credential}\n` });
    expect((await runEdgewise(['plan', folder, '--untrusted'], ENV)).exitCode).toBe(0);
    expect((await runEdgewise(['apply', folder, '--yes', '--untrusted'], ENV)).exitCode).toBe(5);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('gets neither the key nor a token, whatever the names of their variables, and no argument contains them', async () => {
    const command = ['sh', '-c', `env > "${D}{0}"; cat > /dev/null`, 'seen'];
    const spec = { tokens: { default: { command } } };
    const stack = { apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'shop' }, spec };
    const credential = JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Credential', metadata: { name: 'c' } });
    const folder = await createCheckout({ 'edgewise.yaml': `${JSON.stringify(stack)}\n---\n${credential}\n` });
    const seen = join(folder, 'seen');
    const words = JSON.stringify([...command.slice(0, 3), seen]);
    const env = {
      ...ENV,
      API_KEY: KEY,
      HEADER: `Authorization: Bearer ${KEY}`,
      GH_TOKEN: TOKEN,
      OTHER: TOKEN,
      MARK: 'visible',
      CI_JOB_TOKEN: 'token-of-the-system',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'token-of-the-system',
      SYSTEM_ACCESSTOKEN: 'token-of-the-system',
      UPSTREAM: 'offered-as-a-secret',
      EDGEWISE_SECRETS: 'UPSTREAM',
      PATH: '/usr/bin:/bin',
    };
    const applied = await runEdgewise(['apply', folder, '--yes', '--token-command', words], env);
    expect(applied.exitCode).toBe(0);
    expect(readFileSync(seen, 'utf8')).toContain('EDGEWISE_NAME=c');
    expect(readFileSync(seen, 'utf8')).toContain('MARK=visible');
    expect(readFileSync(seen, 'utf8')).not.toMatch(/token-of-the-system|offered-as-a-secret/);
    expectNoSecret(readAll(applied, folder, ['edgewise.yaml']));
    const refused = await runEdgewise(
      ['apply', folder, '--yes', '--rotate', 'Credential/c', '--token-command', JSON.stringify(['echo', KEY])],
      env,
    );
    expect(refused.exitCode).toBe(3);
    expectNoSecret(`${refused.stdout}${refused.stderr}`);
  });
});

describe('a service that echoes the key', () => {
  it('does not put it into plans, reports, plan files and exports with a description', async () => {
    const server = createServer({ apiKeys: [parseApiKey(`${KEY}:admin`)] });
    const echo = await startListener(async (request, response) => {
      const answer = await server.handle(
        createRequest('GET', request.url ?? '', undefined, { key: KEY, baseUrl: 'http://service.invalid' }),
      );
      const body = await answer.text();
      const held = {
        id: 'edgtcp_2fmnqYVGqgSNfrKbLQ5kCTTKaBB',
        created_at: '2026-01-01T00:00:00Z',
        description: `key ${KEY}`,
        metadata: JSON.stringify({ [KEY]: TOKEN, edgewise: { stack: 'shop', name: 'old' } }),
        uri: '/x',
        hostports: ['1.tcp.example.net:20001'],
        backend: null,
        ip_restriction: null,
        policy: null,
      };
      response.writeHead(answer.status, { 'content-type': 'application/json', 'x-operation-id': KEY });
      const free = {
        ...held,
        id: 'edgtcp_3fmnqYVGqgSNfrKbLQ5kCTTKaBB',
        metadata: '',
        hostports: ['1.tcp.example.net:20003'],
      };
      response.end(
        body.replace(
          /"tcp_edges":\[\]/,
          () => `"tcp_edges":[${[held, free].map((one) => JSON.stringify(one)).join(',')}]`,
        ),
      );
    });
    const folder = await createCheckout({ 'a.yaml': STACK + toEdge({ hostports: ['1.tcp.example.net:20002'] }) });
    const reports = ['markdown', 'html', 'json', 'sarif', 'junit'].flatMap((form) => [
      '--report',
      `${form}=${join(folder, form)}`,
    ]);
    const env = { ...ENV, EDGEWISE_BASE_URL: echo.url, EDGEWISE_LOG_LEVEL: 'trace' };
    const planned = await runEdgewise(
      ['plan', folder, '--verbose', '--allow-deletes', '-o', join(folder, 'plan.json'), ...reports],
      env,
    );
    expect({ ...planned, stdout: planned.stdout.slice(0, 300) }).toMatchObject({ exitCode: 0 });
    expect(planned.stdout).toContain('[key]');
    expectNoSecret(readAll(planned, folder, ['a.yaml']));
    const exported = join(folder, 'exported');
    const written = await runEdgewise(['export', '--owner', 'new', '-o', exported], env);
    expect({ ...written, files: readAll(written, exported, []) }).toMatchObject({
      exitCode: 0,
      files: expect.stringContaining('key [key]'),
    });
    expectNoSecret(readAll(written, exported, []));
    const printed = await runEdgewise(['export', '--owner', 'new'], env);
    expect(printed.stdout).toContain('key [key]');
    expectNoSecret(`${printed.stdout}${printed.stderr}`);
    const got = await runEdgewise(['get', folder, '--format', 'json'], env);
    expect(got.stdout).toContain('[key]');
    expectNoSecret(`${got.stdout}${got.stderr}`);
  });

  it('does not show it with an error, nor does a proxy', async () => {
    const echo = await startListener((request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          msg: `bad: ${request.headers.authorization}`,
          error_code: KEY,
          details: { key: encodeURIComponent(KEY) },
        }),
      );
    });
    const folder = await createCheckout({ 'a.yaml': STACK });
    const ended = await runEdgewise(['plan', folder], { ...ENV, EDGEWISE_BASE_URL: echo.url });
    expect(ended.stderr).toContain('[key]');
    expectNoSecret(`${ended.stdout}${ended.stderr}`);
  });
});

describe('the library', () => {
  it('finds the key that a program passes, and sends it in no body', async () => {
    const manifests = [{ file: 'a.yaml', text: STACK + toEdge({ description: `the ${KEY}` }) }];
    const opening = openStack({ manifests, apiKey: KEY, baseUrl: 'https://service.invalid', env: {} });
    const error = await opening.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ diagnostics: [{ code: 'secret-in-manifest' }] });
    expectNoSecret(JSON.stringify(error));
  });

  it('trusts no Stack on request', async () => {
    const stack = {
      apiVersion: 'edgewise/v1',
      kind: 'Stack',
      metadata: { name: 'shop' },
      spec: { api: { base_url: 'https://attacker.invalid' } },
    };
    const manifests = [{ file: 'a.yaml', text: JSON.stringify(stack) }];
    const opening = openStack({ manifests, apiKey: KEY, untrusted: true, env: {} });
    await expect(opening).rejects.toMatchObject({ diagnostics: [{ code: 'untrusted-setting' }] });
    const agreed = await openStack({
      manifests,
      apiKey: KEY,
      untrusted: true,
      baseUrl: 'https://attacker.invalid',
      env: {},
    });
    await expect(agreed.apply({} as never)).rejects.toMatchObject({ reason: 'refused' }); // it is refused before it is read
  });
});

describe('the log and the result', () => {
  it('of an apply contain neither the key nor a token', async () => {
    const { url, stop } = await startServerProcess(['--api-key', `${KEY}:admin`]);
    const folder = await createCheckout({ 'a.yaml': STACK + toEdge({ hostports: ['1.tcp.example.net:20001'] }) });
    const env = { ...ENV, EDGEWISE_BASE_URL: url, EDGEWISE_LOG_LEVEL: 'trace' };
    const ended = await runEdgewise(['apply', folder, '--yes', '--format', 'json'], env);
    await stop();
    expect(ended.exitCode).toBe(0);
    expectNoSecret(readAll(ended, folder, ['a.yaml']));
  });
});
