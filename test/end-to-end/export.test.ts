import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { atUrl, sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { runEdgewise, type ServerProcess, startServerProcess } from './processes.ts';
import { createUnmanagedAccount } from './unmanaged-account.ts';

const API_KEY = 'end-to-end';

describe('an account of 300 unmanaged resources', () => {
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

  it('exports, adopts without another change, and exports the same bytes again', {
    timeout: 120_000,
  }, async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    const owner = ['--owner', 'production'];
    const https = ['--modules-of', 'edghts_1', '--modules-of', 'edghts_1/edghtsrt_1'];
    expect(await edgewise('export', '-o', first, ...owner, ...https)).toMatch(
      /^Exported 302 resources for the stack production:\n(?! *Left out)/,
    );
    const plan = readOnlyStack(await edgewise('plan', first, '--format', 'json'));
    const changes: readonly { readonly action: string; readonly differences: readonly unknown[] }[] = plan.changes;
    expect(changes.flatMap(({ differences }) => differences)).toEqual([]);
    expect(changes.filter(({ action }) => action === 'adopt')).toHaveLength(300);
    expect(await edgewise('apply', first, '--yes')).toContain('300 writes applied, 0 failed, 0 skipped');
    await edgewise('export', '-o', second, ...owner, ...https);
    expect(readAll(second)).toEqual(readAll(first));
    expect(await edgewise('plan', second, '--detailed-exitcode')).toContain('Nothing to do: 302 resources');
    await expectDriftOfTen(first);
  });

  /** Drift names ten fields that another user changes, and no others, and one apply reverts them. */
  async function expectDriftOfTen(manifests: string): Promise<void> {
    expect(await edgewise('drift', manifests)).toContain('No drift: 302 resources are as they should be.');
    const before = await readDrift(manifests);
    const changed = await Promise.all(
      TEN.map(async ({ kind, nth, body }) => {
        const { address, live } =
          before.changes.filter((one) => one.kind === kind && one.live !== undefined)[nth] ?? {};
        await patch(`${getKind(kind).path}/${live?.id}`, body);
        return Object.keys(body).map((field) => `${address} ${field}`);
      }),
    );
    const found = await readDrift(manifests, 2);
    const named = found.changes.flatMap(({ address, differences }) =>
      differences.map(({ path, origin }) => `${address} ${path.split(/[.[]/, 1)[0]} ${origin}`),
    );
    expect(new Set(named)).toEqual(new Set(changed.flat().map((field) => `${field} drift`)));
    expect(found.counts).toMatchObject({ drifted: 10, pending: 0, missing: 0, 'in-sync': 292 });
    expect(await edgewise('apply', manifests, '--yes')).toContain('10 writes applied, 0 failed, 0 skipped');
    expect(await edgewise('drift', manifests)).toContain('No drift: 302 resources are as they should be.');
  }

  async function readDrift(manifests: string, exits = 0): Promise<DriftDocument> {
    const env = { EDGEWISE_BASE_URL: server.url, EDGEWISE_API_KEY: API_KEY };
    const { exitCode, stdout } = await runEdgewise(['drift', manifests, '--format', 'json'], env);
    expect(exitCode, stdout).toBe(exits);
    return readOnlyStack(stdout);
  }

  async function patch(path: string, body: object): Promise<void> {
    await sendByHand(atUrl(server.url, API_KEY), 'PATCH', path, body);
  }
});

interface DriftDocument {
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: readonly {
    readonly address: string;
    readonly kind: string;
    readonly live?: { readonly id: string };
    readonly differences: readonly { readonly path: string; readonly origin: string }[];
  }[];
}

/** The changes of another user: one field of every owned kind. */
const TEN: readonly { readonly kind: string; readonly nth: number; readonly body: object }[] = [
  { kind: 'TCPEdge', nth: 0, body: { description: 'changed by hand' } },
  { kind: 'TCPEdge', nth: 7, body: { hostports: ['9.tcp.example.net:65000'] } },
  { kind: 'TCPEdge', nth: 30, body: { description: 'changed by hand, too' } },
  { kind: 'WeightedBackend', nth: 0, body: { description: 'by hand' } },
  { kind: 'WeightedBackend', nth: 3, body: { description: 'by hand' } },
  { kind: 'IPRestriction', nth: 0, body: { description: 'by hand' } },
  { kind: 'AgentIngress', nth: 1, body: { description: 'by hand' } },
  { kind: 'Credential', nth: 2, body: { description: 'by hand' } },
  { kind: 'Credential', nth: 5, body: { acl: ['bind:*.by-hand.example'] } },
  { kind: 'SSHUserCertificate', nth: 1, body: { description: 'by hand' } },
];

function readAll(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(files.map((file) => [file.slice(folder.length), readFileSync(file, 'utf8')]));
}
