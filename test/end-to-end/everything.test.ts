import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countDocuments } from '../examples/count-documents.ts';
import { runEdgewise, type ServerProcess, startServerProcess } from './processes.ts';

const API_KEY = 'end-to-end';

describe('edgewise, as processes over HTTP', () => {
  let server: ServerProcess;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-end-to-end-'));
    server = await startServerProcess(['--api-key', `${API_KEY}:admin`, '--seed', 'examples/account.json']);
  });

  afterEach(async () => {
    const exitCode = await server.stop();
    rmSync(folder, { recursive: true });
    expect(exitCode, 'the exit code of the server').toBe(0);
  });

  /** Runs a command on examples/everything, expects its exit code, and returns what it prints. */
  async function everything(command: readonly string[], expected: number): Promise<string> {
    const env = { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: API_KEY };
    const { exitCode, stdout, stderr } = await runEdgewise([...command, 'examples/everything'], env);
    expect(exitCode, `${command.join(' ')} printed:\n${stdout}${stderr}`).toBe(expected);
    return stdout;
  }

  it('creates every kind, then has nothing to do, then deletes everything', { timeout: 180_000 }, async () => {
    const { resources, attached } = countDocuments('everything');
    const creates = `${attached} to update, 0 to adopt, ${resources - attached} to create; 0 unchanged.`;
    const plan = ['plan', '--detailed-exitcode'];
    expect(await everything(plan, 2)).toContain(creates);
    expect(await everything(['apply', '--yes', '--token-directory', folder], 0)).toMatch(
      /^\d+ writes applied, 0 failed, 0 skipped/m,
    );
    expect(readdirSync(folder)).toEqual(['build-agent.token']);
    expect(await everything(plan, 0)).toContain(`Nothing to do: ${resources} resources match the manifests.`);
    expect(await everything(['destroy', '--yes'], 0)).toMatch(/^\d+ writes applied, 0 failed, 0 skipped/m);
    expect(await everything(plan, 2)).toContain(creates);
  });
});
