import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('the demo prints at most 100 lines of 80 columns, and leaves no file behind', { timeout: 180_000 }, () => {
  const temporary = mkdtempSync(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rmSync(temporary, { recursive: true }));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../examples/demo.ts')],
    {
      cwd: temporary,
      env: { TMPDIR: temporary, EDGEWISE_BASE_URL: 'http://127.0.0.1:1', EDGEWISE_RATE_LIMIT: 'settings of the user' },
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.match(/^\$ edgewise \S+|^> PATCH|^\(exit code .*/gm)).toEqual([
    '$ edgewise apply',
    '$ edgewise plan',
    '> PATCH',
    '$ edgewise apply',
    '(exit code 6)',
    '$ edgewise apply',
    '$ edgewise plan',
  ]);
  expect(stdout).toMatch(/Not approved:\n[\s\S]*hostports: reverts: changed at the service[\s\S]*Nothing was written/);
  expect(stdout).toMatch(
    /This change:\n\n~ WeightedBackend\/postgres-pool[\s\S]*Drift to revert:\n\n~ TCPEdge\/postgres/,
  );
  expect(stdout).toContain('Nothing to do: 3 resources match the manifests.');
  const [, next = ''] = stdout.split('── Now you ──\n');
  expect(next).toMatch(/^npm run try /);
  const wrapped = stdout
    .trimEnd()
    .split('\n')
    .map((line) => Math.max(1, Math.ceil(line.length / 80)));
  expect(wrapped.reduce((sum, lines) => sum + lines)).toBeLessThanOrEqual(100);
  expect(readdirSync(temporary)).toEqual([]);
});
