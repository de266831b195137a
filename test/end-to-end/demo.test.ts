import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('the demo goes from nothing to nothing and leaves nothing behind', { timeout: 180_000 }, () => {
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
  expect({
    status,
    stderr: stderr.replace(/^(Using the embedded server|Reading from|\[\d+\/\d+\]).*\n/gm, ''),
  }).toEqual({
    status: 0,
    stderr: '',
  });
  expect(stdout.match(/^\$ edgewise \S+|^> PATCH/gm)).toEqual([
    '$ edgewise validate',
    '$ edgewise plan',
    '$ edgewise apply',
    '$ edgewise plan',
    '$ edgewise serve',
    '> PATCH',
    '$ edgewise plan',
    '$ edgewise apply',
    '$ edgewise plan',
    '$ edgewise apply',
    '$ edgewise plan',
    '$ edgewise destroy',
  ]);
  expect(stdout).toMatch(
    /Drift to revert:\n[\s\S]*hostports: reverts: changed at the service\n\s+- 1\.tcp\.example\.net:20999\n\s+\+ 1\.tcp\.example\.net:20001/,
  );
  expect(stdout).toContain('Nothing to do: 3 resources match the manifests.');
  expect(readdirSync(temporary)).toEqual([]);
});
