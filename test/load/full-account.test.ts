import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_INPUT_BYTES } from '../../src/model/json.ts';
import { createServer, readSnapshotFile, writeSnapshotFile } from '../../src/server/index.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';

/** A snapshot whose file is `free` bytes smaller than what can be read. */
function createLargeSnapshot(free: number): string {
  const start = '{"resources":{"Credential":[';
  const end = ']},"sequence":1}\n';
  const toMember = (length: number): string => `{"metadata":"${'x'.repeat(length)}"}`;
  const most = 4096;
  const size = toMember(most).length + 1;
  const count = Math.floor((MAX_INPUT_BYTES - free - start.length - end.length) / size);
  return `${start}${Array.from({ length: count }, () => toMember(most - 300)).join(',')}${end}`;
}

describe('the file of the embedded server', () => {
  it('has room for what is applied, or the apply fails and the file can still be read', {
    timeout: 120_000,
  }, async () => {
    const ports = Array.from({ length: 40 }, (_, index) => toEdge(`e${index}`, 20_001 + index));
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': `${STACK}${ports.join('')}` });
    const file = join(folder, 'acc.json');
    // Read and written once, so that it has the form and the size of a snapshot.
    await writeFile(file, createLargeSnapshot(300_000));
    const server = createServer({ seed: (await readSnapshotFile(file)) ?? {} });
    await writeSnapshotFile(file, server.snapshot());
    const filler = MAX_INPUT_BYTES - statSync(file).size - 9_500;
    expect(filler).toBeGreaterThan(0);
    const { externals = [], ...rest } = server.snapshot();
    await writeSnapshotFile(file, { ...rest, externals: [...externals, ...createFiller(filler)] });
    const words = '--base-url embedded:acc.json';
    const { exitCode, stdout } = await edgewise(`apply m.yaml --yes --no-rehearsal ${words}`);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('The account is full: with this, its snapshot would be larger than 32 MiB');
    const [, applied = ''] = /(\d+) writes? applied, [1-9]\d* failed/.exec(stdout) ?? [];
    expect(Number(applied)).toBeGreaterThan(0);
    expect(statSync(file).size).toBeLessThanOrEqual(MAX_INPUT_BYTES);
    const again = await edgewise(`plan m.yaml --no-rehearsal ${words}`);
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${40 - Number(applied)} to create`) });
  });
});

/** External ids that take this many bytes. */
function createFiller(bytes: number): readonly string[] {
  const length = 100;
  return Array.from(
    { length: Math.floor(bytes / (length + 3)) },
    (_, index) => `ipp_${String(index).padStart(length - 4, '0')}`,
  );
}
