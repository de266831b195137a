import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeFileError, readInput, readStream } from '../../src/files/read-input.ts';
import { requireOrSkip } from '../needs.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-input-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function catchReadError(path: string, limit = {}): string {
  try {
    readInput(path, limit);
    return 'nothing';
  } catch (error) {
    return describeFileError(error);
  }
}

describe('a file', () => {
  it('is read up to its limit, whatever size it claims', () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'x'.repeat(100_000));
    expect(readInput(file, { maxBytes: 100_000 })).toHaveLength(100_000);
    expect(catchReadError(file, { maxBytes: 99_999 })).toBe('is larger than 99999 bytes');
    expect(catchReadError(file, { maxBytes: 0 })).toBe('is larger than 0 MiB');
  });

  it('of the system that claims to be empty is read', () => {
    requireOrSkip('Linux', process.platform === 'linux');
    expect(readInput('/proc/self/status').toString('utf8')).toContain('VmPeak');
    expect(catchReadError('/proc/self/status', { maxBytes: 10 })).toBe('is larger than 10 bytes');
  });

  it('is read through a link, but not through a loop', () => {
    writeFileSync(join(folder, 'file'), 'text');
    symlinkSync(join(folder, 'file'), join(folder, 'link'));
    symlinkSync(join(folder, 'loop'), join(folder, 'loop'));
    expect(readInput(join(folder, 'link')).toString('utf8')).toBe('text');
    expect(catchReadError(join(folder, 'loop'))).toBe('is a symbolic link to itself');
  });

  it('is reported if it does not exist', () => {
    expect(catchReadError(join(folder, 'nothing'))).toBe('does not exist');
  });
});

describe('an error of the system', () => {
  it('is the reason why a file cannot be read', () => {
    const error = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    expect(describeFileError(error)).toMatch(/^cannot be read: .*i\/o error/);
  });
});

describe('a path that is no file', () => {
  it.each(['/dev/zero', '/dev/null', '/dev/random'])('refuses the plan at once: %s', (path) => {
    expect(catchReadError(path)).toBe('is a device, not a file');
  });

  it('is refused at once: a folder, a socket', async () => {
    expect(catchReadError(folder)).toBe('is a folder, not a file');
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(folder, 'socket'), done));
    expect(catchReadError(join(folder, 'socket'))).toBe('is a socket, not a file');
    server.close();
  });
});

describe('a pipe', () => {
  function feed(bytes: number): string {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    spawn('sh', ['-c', `head -c ${bytes} /dev/zero >'${pipe}'`]);
    return pipe;
  }

  it('is read to its end', () => {
    expect(readInput(feed(200_000))).toHaveLength(200_000);
  });

  it('is read up to the limit if it has no end', () => {
    expect(catchReadError(feed(1_000_000_000), { maxBytes: 1_048_576 })).toBe('is larger than 1 MiB');
  });

  it('is not waited for if only a file is accepted', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(catchReadError(pipe, { onlyFiles: true })).toBe('is a pipe, not a file');
  });
});

describe('a stream', () => {
  it('is read to its end', async () => {
    expect((await readStream(Readable.from([Buffer.from('a'), Buffer.from('b')]))).toString('utf8')).toBe('ab');
  });

  it('is read up to the limit if it has no end', async () => {
    let parts = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) {
          parts += 1;
          yield Buffer.alloc(1000);
        }
      })(),
    );
    await expect(readStream(endless, { maxBytes: 10_000 })).rejects.toThrow('it is larger than 10000 bytes');
    expect(parts).toBeLessThan(30);
  });
});
