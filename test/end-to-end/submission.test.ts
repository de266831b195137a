import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runEdgewise, startEdgewise, startServerProcess, waitForOutput } from './processes.ts';

it('ends a wait for a report at an interrupt, long before the next read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-abuse-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const seed = join(folder, 'seed.json');
  writeFileSync(seed, JSON.stringify({ abuse_report_rules: [] }));
  const server = await startServerProcess(['--api-key', 'reporter:abuse', '--seed', seed]);
  onTestFinished(async () => void (await server.stop()));
  const env = { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: 'reporter' };
  const submitted = await runEdgewise(['abuse-report', 'submit', 'https://phishing.example.com/'], env);
  const id = /abrp_\w+/.exec(submitted.stdout)?.[0] ?? '';
  const { child, ended } = startEdgewise(['abuse-report', 'get', id, '--wait'], env);
  await waitForOutput(child.stderr, `${id}: PENDING`);
  child.kill('SIGINT');
  const { exitCode, stdout, stderr } = await ended;
  expect(exitCode, stderr).toBe(130);
  expect(stdout).toBe(submitted.stdout);
  expect(stderr).toContain(`Interrupted: ${id} is not decided yet.`);
});
