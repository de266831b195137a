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
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createServer, parseServerSeed, readSnapshotFile, writeSnapshotFile } from '../../src/server/index.ts';
import { readSnapshotContent, renderSnapshotLine, writeSnapshot } from '../../src/server/snapshot-file.ts';
import { sealLines } from '../../src/server/snapshot-seal.ts';

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

  it('contains the state of a server, for its user only', async () => {
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

describe('a snapshot file with digests', () => {
  const WRITER = 'edgewise 1.2.3';
  let file: string;

  beforeEach(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgewise-snapshot-'));
    file = join(folder, 'account.json');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const seed = { resources: { Credential: [{ id: 'cr_1', description: 'laptop' }] } };
    const { digest } = await writeSnapshot(file, createServer({ seed }).snapshot(), { cwd: folder }, WRITER);
    const changes = [{ sequence: 2 }, { removed: { Credential: [{ id: 'cr_1' }] } }].map(renderSnapshotLine);
    appendFileSync(
      file,
      sealLines(changes, digest)
        .map(({ text }) => `${text}\n`)
        .join(''),
    );
  });

  const read = async (writer?: string) => {
    const content = await readSnapshotContent(file, { cwd: tmpdir() }, { writer });
    return { isSealed: content?.isSealed, isLog: content?.log !== undefined, seed: content?.seed };
  };
  const edit = (change: (lines: readonly string[]) => readonly string[]): void => {
    writeFileSync(file, change(readFileSync(file, 'utf8').split('\n')).join('\n'));
  };
  const account = { resources: expect.objectContaining({ Credential: [] }), sequence: 2 };

  it('is what its writer wrote, and is not checked', async () => {
    expect(await read(WRITER)).toMatchObject({ isSealed: true, isLog: true, seed: account });
  });

  it('is checked if another version wrote it, or if the file may come with a checkout', async () => {
    for (const writer of [undefined, 'edgewise 1.2.4'])
      expect(await read(writer)).toMatchObject({ isSealed: false, isLog: false, seed: account });
  });

  it('has what is finished, and takes no line after what is not', async () => {
    appendFileSync(file, '{"sequence":9');
    expect(await read(WRITER)).toMatchObject({ isSealed: true, isLog: false, seed: account });
  });

  it.each<[string, (lines: readonly string[]) => readonly string[]]>([
    ['a value', ([first = '', ...rest]) => [first.replace('laptop', 'phone'), ...rest]],
    ['a digest', ([first = '', ...rest]) => [first.replace(/.(?="\}$)/, '_'), ...rest]],
    ['no digest', ([first = '', ...rest]) => [first.replace(/,"digest":.*(?=\})/, ''), ...rest]],
    ['a line less', ([first = '', _, ...rest]) => [first, ...rest]],
    ['a line twice', ([first = '', second = '', ...rest]) => [first, second, second, ...rest]],
    ['lines in another order', ([first = '', second = '', third = '', ...rest]) => [first, third, second, ...rest]],
    ['another line', ([first = '', ...rest]) => [first, '{"sequence":7}', ...rest]],
    ['white space', ([first = '', ...rest]) => [` ${first}`, ...rest]],
  ])('is checked if it has %s', async (_, change) => {
    edit(change);
    expect(await read(WRITER)).toMatchObject({ isSealed: false, seed: { resources: { Credential: [] } } });
  });

  it('is refused at its place if it was edited to what is wrong', async () => {
    edit(([first = '', ...rest]) => [first.replace('"Credential":[{', '"Credential":[{"deletable":"no",'), ...rest]);
    await expect(read(WRITER)).rejects.toThrow(`${file}: resources.Credential[0].deletable must be true or false`);
  });

  it('may be formatted by a person, who keeps the last digest', async () => {
    edit(([first = '']) => [JSON.stringify(JSON.parse(first), null, 2)]);
    expect(await read(WRITER)).toMatchObject({
      isSealed: false,
      seed: { resources: { Credential: [{ id: 'cr_1' }] } },
    });
  });
});
