import { sleepFor } from '../client/retry.ts';
import { createAsk } from './ask.ts';
import type { Context, Output } from './context.ts';
import { run } from './run.ts';

/** The only file that names the process: gives its parts to `run` and takes the exit code back. */
const context: Context = {
  stdout: toOutput(process.stdout),
  stderr: toOutput(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  now: () => new Date(),
  sleep: sleepFor,
  readStdin,
  ask: createAsk({ input: process.stdin, output: process.stderr, onInterrupt }),
  onInterrupt,
  exitNow: (code) => process.exit(code),
  openTransport: async (options) => (await import('../client/undici-transport.ts')).createUndiciTransport(options),
};

process.exitCode = await run(process.argv.slice(2), context);

/** A reader that has gone away (a pipe to `head`) is no fault: what it does not read is not written. */
function toOutput(stream: NodeJS.WriteStream): Output {
  let isGone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    isGone = true;
  });
  return {
    write: (text) => {
      if (!isGone) stream.write(text);
    },
    isTerminal: stream.isTTY === true,
    columns: () => stream.columns ?? 0,
  };
}

async function readStdin(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of process.stdin) parts.push(part);
  return Buffer.concat(parts);
}

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return () => {
    process.off('SIGINT', listener);
    process.off('SIGTERM', listener);
  };
}
