import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runEdgewise, type ServerProcess, startServerProcess } from './processes.ts';
import { createUnmanagedAccount } from './unmanaged-account.ts';

const API_KEY = 'end-to-end';

describe('an account of 300 resources that nobody manages', () => {
  let server: ServerProcess;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-export-'));
    writeFileSync(join(folder, 'seed.json'), JSON.stringify(createUnmanagedAccount()));
    server = await startServerProcess(['--api-key', `${API_KEY}:admin`, '--seed', join(folder, 'seed.json')]);
  });

  afterEach(async () => {
    const exitCode = await server.stop();
    rmSync(folder, { recursive: true });
    expect(exitCode, 'the exit code of the server').toBe(0);
  });

  async function edgewise(...args: readonly string[]): Promise<string> {
    const env = { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: API_KEY, EDGEWISE_RATE_LIMIT: 'none' };
    const { exitCode, stdout, stderr } = await runEdgewise(args, env);
    expect(exitCode, `${args.join(' ')} printed:\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  it('is exported, adopted without any other change, and exported again to the same bytes', {
    timeout: 120_000,
  }, async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    const layout = ['--stack', 'production', '--layout', 'per-resource'];
    const https = ['--https-edge', 'edghts_1', '--https-route', 'edghts_1/edghtsrt_1'];
    expect(await edgewise('export', '-o', first, ...layout, ...https)).toMatch(
      /^Exported 302 resources for the stack production:\n(?! *Left out)/,
    );
    const plan = JSON.parse(await edgewise('plan', first, '--format', 'json'));
    const changes: readonly { readonly action: string; readonly differences: readonly unknown[] }[] = plan.changes;
    expect(changes.flatMap(({ differences }) => differences)).toEqual([]);
    expect(changes.filter(({ action }) => action === 'adopt')).toHaveLength(300);
    expect(await edgewise('apply', first, '--yes')).toContain('300 writes applied, 0 failed, 0 skipped');
    await edgewise('export', '-o', second, ...layout, ...https);
    expect(readAll(second)).toEqual(readAll(first));
    expect(await edgewise('plan', second, '--detailed-exitcode')).toContain('Nothing to do: 302 resources');
  });
});

function readAll(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(files.map((file) => [file.slice(folder.length), readFileSync(file, 'utf8')]));
}
