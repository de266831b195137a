import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/** File operations and slow digests take real time, during which the clock of a walk stands still. They are counted from now on in this process. */

let underWay = 0;

/** Whether a file operation or a slow digest is running. */
export function isFileWorkUnderWay(): boolean {
  return underWay > 0;
}

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;

function count(methods: Methods, names: readonly string[]): void {
  for (const name of names) {
    const original = methods[name];
    if (original === undefined) continue;
    methods[name] = async function (this: unknown, ...args: unknown[]) {
      underWay += 1;
      try {
        const result = await original.apply(this, args);
        if (name === 'open') countHandle(result as Methods); // a file handle
        return result;
      } finally {
        underWay -= 1;
      }
    };
  }
}

const opened = new Set<Methods>();

/** Closes the files that stopped processes left open. */
export async function closeOpenFiles(): Promise<void> {
  for (const handle of [...opened]) await handle['close']?.();
}

function countHandle(handle: Methods): void {
  opened.add(handle);
  const { close } = handle;
  handle['close'] = async function (this: unknown) {
    opened.delete(handle);
    return close?.call(this);
  };
  count(handle, ['read', 'readFile', 'write', 'writeFile', 'appendFile', 'stat', 'chmod', 'chown', 'close']);
  // No power failure is simulated, and waiting for the disk would take most of the time.
  for (const name of ['sync', 'datasync']) handle[name] = async () => undefined;
}

count(
  fs.promises as unknown as Methods, // each of them gives a promise
  [
    'access',
    'appendFile',
    'chmod',
    'lstat',
    'mkdir',
    'mkdtemp',
    'open',
    'readFile',
    'readdir',
    'readlink',
    'realpath',
    'rename',
    'rm',
    'stat',
    'unlink',
    'writeFile',
  ],
);
count(timers as unknown as Methods, ['setImmediate']); // it returns a promise

const { scrypt } = crypto;
Object.assign(crypto, {
  scrypt: (...[password, salt, length, options, done]: Parameters<typeof scrypt>) => {
    underWay += 1;
    scrypt(password, salt, length, options, (error, key) => {
      underWay -= 1;
      done(error, key);
    });
  },
});
syncBuiltinESMExports();
