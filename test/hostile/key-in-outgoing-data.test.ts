import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSecretRegistry } from '../../src/model/secrets.ts';
import { createWorkspace } from '../cli/workspace.ts';
import { catchError, createFakeService } from '../client/fake-service.ts';
import { COMPILED } from '../compiled.ts';
import { type Ended, PROGRAM, runEdgewise } from '../end-to-end/processes.ts';
import { PERSONAL_TOKEN, startFakeForge } from '../forge/fake-forge.ts';
import { createCheckout, startListener } from './listener.ts';
import { expectNoSecret, KEY, STACK, toEdge } from './secret-values.ts';

/** The key is part of a request, a comment or an output line, or is read from a pipe. */

describe('a request that would contain the key', () => {
  const secrets = createSecretRegistry();
  secrets.add('the API key', KEY);

  it.each([
    ['in its body', '/x', { description: `the ${KEY}` }],
    ['in the name of a field of its body', '/x', { metadata: { [KEY]: 'x' } }],
    ['in base64', '/x', { description: Buffer.from(KEY).toString('base64') }],
    ['in its path', `/x/${encodeURIComponent(KEY)}`, {}],
    ['in its query', `/x?page=${encodeURIComponent(KEY)}`, {}],
  ])('%s is not sent', async (_, path, body) => {
    const { client, requests } = createFakeService({}, { secrets });
    const error = await catchError(client.send('POST', path, body));
    expect(error).toMatchObject({ message: expect.stringContaining('was not sent, because it would contain') });
    expectNoSecret(String(error));
    expect(requests).toEqual([]);
  });

  it('is sent if it does not contain the key', async () => {
    const { client, requests } = createFakeService({ 'POST /x': [{}] }, { secrets });
    await client.send('POST', '/x', { description: KEY.slice(1) });
    expect(requests).toHaveLength(1);
  });
});

describe('a report of an artifact that contains the key', () => {
  it('is posted without it', async () => {
    const forge = await startFakeForge();
    onTestFinished(() => forge.close());
    const folder = await createCheckout({
      'plan.md': `<!-- edgewise:plan stack=shop -->\n\nkey ${KEY} token ${PERSONAL_TOKEN}\n`,
    });
    const env = {
      ...{ GITHUB_API_URL: forge.url, GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc' },
      ...{ GITHUB_TOKEN: PERSONAL_TOKEN, EDGEWISE_API_KEY: KEY },
    };
    const ended = await runEdgewise(['post', join(folder, 'plan.md')], env);
    expect({ ...ended, bodies: forge.comments.map(({ body }) => body) }).toMatchObject({
      exitCode: 0,
      bodies: [expect.stringContaining('key [key] token')],
    });
    expectNoSecret(JSON.stringify([forge.comments, ended]));
  });
});

describe('a key from a pipe', () => {
  /** Runs a command whose key comes from a shell, as `<(vault read …)`. */
  async function runPiped(words: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
    const line = `EDGEWISE_API_KEY_FILE=<(printf %s "$K") exec "$0" "$@"`;
    const child = spawn('bash', ['-c', line, process.execPath, PROGRAM, ...words], {
      env: { ...COMPILED, PATH: '/usr/bin:/bin', ...env, K: KEY },
    });
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { exitCode, stdout, stderr };
  }

  it('is known before manifests are checked', async () => {
    const folder = await createCheckout({ 'a.yaml': STACK + toEdge({ description: `the ${KEY}` }) });
    const ended = await runPiped(['plan', folder], { EDGEWISE_BASE_URL: 'embedded:' });
    expect({ ...ended }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('secret-in-manifest') });
    expectNoSecret(`${ended.stdout}${ended.stderr}`);
  });

  it('is sent, also for each of many stacks', async () => {
    const service = await startListener();
    const folder = await createCheckout({
      'a/edgewise.yaml': STACK,
      'b/edgewise.yaml': STACK.replace('shop', 'other'),
    });
    const ended = await runPiped(['plan', '-R', folder], { EDGEWISE_BASE_URL: service.url });
    expect(new Set(service.heard.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
    expectNoSecret(`${ended.stdout}${ended.stderr}`);
  });

  it('is passed to no program that manifests start', async () => {
    const spec = { tokens: { default: { command: ['cat'], test: ['sh', '-c', 'env >&2; exit 1'] } } };
    const folder = await createCheckout({
      'a.yaml': JSON.stringify({ ...JSON.parse(STACK), spec }),
      'b.yaml': JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Credential', metadata: { name: 'c' } }),
    });
    const env = { EDGEWISE_BASE_URL: 'embedded:', EDGEWISE_RATE_LIMIT: 'none' };
    const ended = await runPiped(['apply', folder, '--yes'], env);
    expect(ended.stdout + ended.stderr).toContain('EDGEWISE_RATE_LIMIT=none');
    // The shell of this test has the key in another variable. It is redacted by its value.
    expectNoSecret(`${ended.stdout}${ended.stderr}`);
    expect(ended.stdout + ended.stderr).not.toContain('EDGEWISE_API_KEY=');
  });
});

describe('output', () => {
  it('is written in whole lines, so that no secret is split', async () => {
    const { edgewise } = await createWorkspace({
      'a.yaml': STACK + toEdge({ hostports: ['1.tcp.example.net:20001'] }),
    });
    const writes: string[] = [];
    const forms = ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit'];
    const lines = forms.flatMap((form) => [
      `plan . --format ${form}`,
      `drift -R . --format ${form}`,
      `apply . --yes --format ${form}`,
    ]);
    for (const line of [...lines, 'get .', 'export --owner new', 'stacks .', 'validate .', 'plan no-such', 'no-such'])
      await edgewise(line, { onWrite: (written) => void writes.push(written) });
    expect(writes.length).toBeGreaterThan(lines.length);
    expect(writes.filter((written) => written !== '' && !written.endsWith('\n'))).toEqual([]);
  });
});
