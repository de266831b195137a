import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Starts a program for one test. It chooses a port of 127.0.0.1 and logs it as `address=…`. Returns its URL when the log contains `ready`. */
export async function startService(program: string, flags: readonly string[], ready = ''): Promise<string> {
  const child = spawn(program, [...flags, '--web.listen-address=127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void child.kill());
  let log = '';
  // If the pipe were closed, the next line of its log would end the program.
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
