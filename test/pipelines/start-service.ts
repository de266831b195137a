import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/**
 * Starts a program that chooses a port of 127.0.0.1 and writes it to its log as `address=…`, for the length of a test. Gives its URL once the
 * log says `ready`.
 */
export async function startService(program: string, flags: readonly string[], ready = ''): Promise<string> {
  const child = spawn(program, [...flags, '--web.listen-address=127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill());
  let log = '';
  // A closed pipe would end the program at the next line of its log.
  for await (const part of child.stderr.iterator({ destroyOnReturn: false })) {
    log += String(part);
    const [, address] = /address=(127\.0\.0\.1:[1-9]\d*)/.exec(log.replaceAll('"', '')) ?? [];
    if (address !== undefined && log.includes(ready)) {
      child.stderr.resume();
      return `http://${address}`;
    }
  }
  throw new Error(log);
}
