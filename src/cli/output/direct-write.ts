import { fstatSync, writeSync } from 'node:fs';

/** Writes bytes without a stream, and gives those that only a stream can write; `undefined`: all are written. */
export type DirectWrite = (bytes: Uint8Array) => Uint8Array | undefined;

/**
 * Writes to an open file or pipe of the process; `undefined` when it is neither. Node gives its children sockets as pipes. Node's own streams write the same, but to load them takes a
 * sixth of what Node takes to start. A full pipe makes the process wait for its reader, so `mayWait` says whether it may: with somebody
 * listening for an interrupt, that would have to wait too.
 */
export function createDirectWrite(fd: number, mayWait: () => boolean): DirectWrite | undefined {
  const found = fstatSync(fd);
  if (!found.isFile() && !found.isFIFO() && !found.isSocket()) return undefined;
  return (bytes) => (mayWait() || found.isFile() ? writeAll(fd, bytes) : bytes);
}

function writeAll(fd: number, bytes: Uint8Array): Uint8Array | undefined {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      // A full pipe that another process has told not to wait.
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return rest;
      throw error;
    }
  }
  return undefined;
}
