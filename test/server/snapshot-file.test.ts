import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer, parseServerSeed, readSnapshotFile, writeSnapshotFile } from '../../src/server/index.ts';

describe('a snapshot file', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-snapshot-'));
    file = join(folder, 'account.json');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('contains the state of a server, for its owner only', async () => {
    const snapshot = createServer({ seed: { resources: { Credential: [{ description: 'é' }] } } }).snapshot();
    await writeSnapshotFile(file, snapshot);
    expect(await readSnapshotFile(file)).toEqual(snapshot);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').endsWith('}\n')).toBe(true);
  });

  it('is replaced as a whole, and nothing is left beside it', async () => {
    writeFileSync(file, 'something long that was there before, and is not JSON');
    await writeSnapshotFile(file, createServer().snapshot());
    expect(await readSnapshotFile(file)).toMatchObject({ sequence: 0 });
    expect(readdirSync(folder)).toEqual(['account.json']);
  });

  it('loses the temporary files of a killed run when it is opened or written, and no others', async () => {
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const open of [() => readSnapshotFile(file), () => writeSnapshotFile(file, createServer().snapshot())]) {
      const stale = `.account.json.${randomUUID()}`;
      const kept = [
        `.account.json.${randomUUID()}`,
        `.other.json.${randomUUID()}`,
        `account.json.${randomUUID()}`,
        '.account.json.old',
      ];
      for (const name of [stale, ...kept]) writeFileSync(join(folder, name), 'secret');
      for (const name of [stale, ...kept.slice(1)]) utimesSync(join(folder, name), longAgo, longAgo);
      await open();
      expect(
        readdirSync(folder)
          .filter((name) => name !== 'account.json')
          .sort(),
      ).toEqual([...kept].sort());
      for (const name of kept) rmSync(join(folder, name));
    }
  });

  it('is left alone if it cannot be written, and so is its folder', async () => {
    const snapshot = createServer().snapshot();
    await expect(writeSnapshotFile(join(folder, 'missing', 'account.json'), snapshot)).rejects.toThrow('ENOENT');
    await expect(writeSnapshotFile(folder, snapshot)).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('has changes in the lines after its first one', async () => {
    const { id, ...fields } = { id: 'cr_1', description: 'old', created_at: '2026-01-01T00:00:00Z' };
    const route = { edge_id: 'edghts_1', id: 'edghtsrt_1', circuit_breaker: { enabled: true } };
    const lines: readonly object[] = [
      { resources: { Credential: [{ id, ...fields }, { id: 'cr_2' }] }, sequence: 2 },
      { resources: { Credential: [{ id, ...fields, description: 'new' }] }, sequence: 2 },
      { resources: { HTTPSEdgeRoute: [route] }, certificate_authorities: { sshca_1: 'secret' } },
      { removed: { Credential: [{ id: 'cr_2' }] }, sequence: 3 },
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const expected = {
      resources: { Credential: [{ id, ...fields, description: 'new' }], HTTPSEdgeRoute: [route] },
      certificate_authorities: { sshca_1: 'secret' },
      sequence: 3,
    };
    expect(await readSnapshotFile(file)).toEqual(expected);
    expect(parseServerSeed(readFileSync(file, 'utf8'))).toEqual(expected);
    const removed = { removed: { HTTPSEdgeRoute: [{ edge_id: 'edghts_1', id: 'edghtsrt_1' }] } };
    appendFileSync(file, `${JSON.stringify(removed)}\n`);
    expect((await readSnapshotFile(file))?.resources?.['HTTPSEdgeRoute']).toEqual([]);
  });

  it('is read without an unfinished last line, and refused with another one that is no change', async () => {
    writeFileSync(file, '{"sequence":1}\n{"sequence":2}\n{"sequence":3');
    expect(await readSnapshotFile(file)).toMatchObject({ sequence: 2 });
    for (const line of ['{"sequence":3', '{"externals":[]}', '[]', 'null']) {
      writeFileSync(file, `{"sequence":1}\n${line}\n`);
      await expect(readSnapshotFile(file)).rejects.toThrow(`${file}: Line 2 is not a change of an account`);
    }
  });

  it('is read as nothing if it does not exist', async () => {
    expect(await readSnapshotFile(file)).toBeUndefined();
  });

  it('is refused by name if it is no snapshot', async () => {
    writeFileSync(file, '{"resources":[]}');
    await expect(readSnapshotFile(file)).rejects.toThrow(`${file}: resources must be a mapping`);
    await expect(readSnapshotFile(folder)).rejects.toThrow(`${folder} is a folder, not a file`);
  });
});
