import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer, readSnapshotFile, writeSnapshotFile } from '../../src/server/index.ts';

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

  it('is read as nothing if it does not exist', async () => {
    expect(await readSnapshotFile(file)).toBeUndefined();
  });

  it('is refused by name if it is no snapshot', async () => {
    writeFileSync(file, '{"resources":[]}');
    await expect(readSnapshotFile(file)).rejects.toThrow(`${file}: resources must be a mapping`);
    await expect(readSnapshotFile(folder)).rejects.toThrow(`${folder} is a folder, not a file`);
  });
});
