import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runEdgewise } from '../end-to-end/processes.ts';
import { changePlan } from '../results.ts';
import { createCheckout, startListener } from './listener.ts';

/** The author of a pull request tries to have the key sent to another service, or something else sent with it. */

const KEY = 'k3y-of-the-pipeline-4711';

function toStack(name: string, api: object): string {
  return `${JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name }, spec: { api } })}\n`;
}

/** Plans a pull request as the shipped pipelines do. */
function plan(folder: string, words: readonly string[], env: NodeJS.ProcessEnv) {
  const all = { EDGEWISE_UNTRUSTED: '1', EDGEWISE_API_KEY: KEY, EDGEWISE_RATE_LIMIT: 'none', ...env };
  return runEdgewise(['plan', folder, ...words], all);
}

describe('an untrusted Stack', () => {
  it('does not choose the URL: nothing is sent there, and the line is named', async () => {
    const attacker = await startListener();
    const folder = await createCheckout({ 'edgewise.yaml': toStack('shop', { base_url: attacker.url }) });
    const alone = await plan(folder, [], {});
    expect(alone.exitCode).toBe(3);
    expect(alone.stderr).toContain(`spec.api.base_url is ${attacker.url}, and no flag or variable sets it`);
    expect(alone.stderr).toContain('edgewise.yaml:1:');
    const pinned = await plan(folder, [], { EDGEWISE_BASE_URL: 'https://service.invalid' });
    expect(pinned.exitCode).toBe(3);
    expect(pinned.stderr).toContain('and this run uses https://service.invalid');
    expect(attacker.heard).toEqual([]);
  });

  it('is accepted if it agrees with the flag or the variable', async () => {
    const service = await startListener();
    const folder = await createCheckout({ 'edgewise.yaml': toStack('shop', { base_url: `${service.url}/` }) });
    await plan(folder, [], { EDGEWISE_BASE_URL: service.url });
    await plan(folder, ['--base-url', service.url], {});
    expect(service.heard.length).toBeGreaterThan(1);
    expect(new Set(service.heard.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
  });

  it('does not choose authorities, the version header, the variable of the key or the rate limit, with all in one report', async () => {
    const service = await startListener();
    const api = {
      ca_file: 'evil.pem',
      version_header: 'X-Evil',
      key_env: 'EDGEWISE_API_KEY_PRODUCTION',
      rate_limit: '9999/1s',
    };
    const folder = await createCheckout({ 'edgewise.yaml': toStack('shop', api), 'evil.pem': 'never read' });
    const { exitCode, stderr } = await plan(folder, [], {
      EDGEWISE_BASE_URL: service.url,
      EDGEWISE_RATE_LIMIT: '',
      EDGEWISE_API_KEY_PRODUCTION: 'another-key-0815-4711',
    });
    expect(exitCode).toBe(3);
    for (const name of Object.keys(api)) expect(stderr).toContain(`error[untrusted-setting]: spec.api.${name} is`);
    expect(stderr).toContain('4 errors.');
    expect(service.heard).toEqual([]);
  });

  it('reaches no embedded server whose file it names', async () => {
    const folder = await createCheckout({});
    const file = join(folder, 'written.json');
    await writeFile(join(folder, 'edgewise.yaml'), toStack('shop', { base_url: `embedded:${file}` }));
    const { exitCode, stderr } = await plan(folder, [], {});
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`spec.api.base_url is embedded:${file}`);
  });

  it('is the error of its own stack in a run over many', async () => {
    const [service, attacker] = [await startListener(), await startListener()];
    const folder = await createCheckout({
      'good/edgewise.yaml': toStack('good', { base_url: service.url }),
      'evil/edgewise.yaml': toStack('evil', { base_url: attacker.url }),
    });
    const { stdout, stderr } = await plan(folder, ['-R'], { EDGEWISE_BASE_URL: service.url });
    expect(`${stdout}${stderr}`).toContain(`spec.api.base_url is ${attacker.url}`);
    expect(attacker.heard).toEqual([]);
    expect(service.heard.length).toBeGreaterThan(0);
  });

  it.each(['get', 'drift'])('does not choose the URL of %s', async (command) => {
    const attacker = await startListener();
    const folder = await createCheckout({ 'edgewise.yaml': toStack('shop', { base_url: attacker.url }) });
    const env = { EDGEWISE_UNTRUSTED: 'true', EDGEWISE_API_KEY: KEY };
    expect((await runEdgewise([command, folder], env)).exitCode).toBe(3);
    expect(attacker.heard).toEqual([]);
  });

  it('is not applied, destroyed or released, whatever it contains', async () => {
    const service = await startListener();
    const folder = await createCheckout({ 'edgewise.yaml': toStack('shop', {}) });
    const env = { EDGEWISE_API_KEY: KEY, EDGEWISE_BASE_URL: service.url };
    for (const words of [
      ['apply', folder, '--yes'],
      ['apply', '-R', folder, '--yes'],
      ['destroy', folder, '--yes'],
      ['release', 'TCPEdge/a', folder, '--yes'],
    ]) {
      const { exitCode, stderr } = await runEdgewise([...words, '--untrusted'], env);
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('not trusted') });
    }
    expect(service.heard).toEqual([]);
  });
});

describe('a plan file of the pull request', () => {
  it('does not choose where the key is sent', async () => {
    const [service, attacker] = [await startListener(), await startListener()];
    const folder = await createCheckout({ 'edgewise.yaml': toStack('shop', {}) });
    const made = join(folder, 'plan.json');
    await runEdgewise(['plan', folder, '-o', made], { EDGEWISE_BASE_URL: 'embedded:' });
    const text = await readFile(made, 'utf8');
    await writeFile(
      made,
      changePlan(text, (plan) => ({ ...plan, baseUrl: attacker.url })),
    );
    for (const env of [{}, { EDGEWISE_BASE_URL: service.url }]) {
      const line = ['apply', folder, '--approved', made, '--yes'];
      const { exitCode } = await runEdgewise(line, { EDGEWISE_API_KEY: KEY, ...env });
      expect([3, 6]).toContain(exitCode);
    }
    expect([...attacker.heard, ...service.heard]).toEqual([]);
  });
});
