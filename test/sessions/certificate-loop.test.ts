import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createServer, listen } from '../../src/server/index.ts';
import { STACK, toManifest } from '../cli/workspace.ts';
import { listCodeBlocks } from '../docs/documents.ts';
import { PROGRAM, runEdgewise } from '../end-to-end/processes.ts';

/** The loop of the page that waits for a certificate. */
const [LOOP] = listCodeBlocks('sh').filter(({ text }) => text.includes('value=certificate_management_status'));

/**
 * Applies an agent ingress with a certificate, and runs the loop of the page with the real program. Its `sleep` ends at
 * once, and moves the clock of the server instead.
 */
async function waitForCertificate(domain: string, more: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-loop-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const slept = join(folder, 'slept');
  const readPauses = () => readFileSync(slept, 'utf8').split('\n').filter(Boolean).map(Number);
  const start = Date.now();
  const now = () => new Date(start + 1000 * readPauses().reduce((sum, one) => sum + one, 0));
  const scripts = {
    slept: '',
    edgewise: `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`,
    sleep: `#!/bin/sh\necho "$1" >>'${slept}'\n`,
    ingress: `${STACK}${toManifest('AgentIngress', 'agents', { domain, certificate_management_policy: {} })}`,
  };
  for (const [name, text] of Object.entries(scripts)) await writeFile(join(folder, name), text, { mode: 0o755 });
  const server = await listen(createServer({ now }), { port: 0 });
  onTestFinished(() => server.close());
  const env = { PATH: `${folder}:${process.env['PATH']}`, EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: 'dev' };
  const applied = await runEdgewise(['apply', join(folder, 'ingress'), '--yes'], env);
  expect(applied.exitCode, applied.stderr).toBe(0);
  return new Promise<{ status: unknown; stderr: string; pauses: readonly number[] }>((done) => {
    execFile('sh', ['-c', LOOP?.text ?? ''], { cwd: folder, env: { ...env, ...more } }, (error, _, stderr) =>
      done({ status: error === null ? 0 : error.code, stderr, pauses: readPauses() }),
    );
  });
}

it('ends when the certificate is there', async () => {
  expect(await waitForCertificate('agents.example.com')).toMatchObject({ status: 0, pauses: [5, 10, 20, 30] });
});

it('goes on over a temporary failure', async () => {
  expect(await waitForCertificate('retried.example.com')).toMatchObject({ status: 0 });
});

it('fails at once with the message of the service if the NS records are missing', async () => {
  const { status, stderr, pauses } = await waitForCertificate('agents.invalid');
  expect({ status, pauses }).toEqual({ status: 1, pauses: [] });
  expect(stderr).toContain('The NS records of the domain do not point to this service');
});

it('fails as edgewise does', async () => {
  const wrong = { EDGEWISE_API_KEY: 'wrong' };
  expect(await waitForCertificate('agents.example.com', wrong)).toMatchObject({ status: 4, pauses: [] });
});
