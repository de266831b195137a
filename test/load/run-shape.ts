import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Measured, runMeasured } from '../bench/run-measured.ts';
import { startServer } from '../bench/server.ts';
import { COMMANDS, type Command, countLeast, type Shape, toMinutes, writeRepository } from './shape.ts';

/** What a command over a whole repository took. */
export interface ShapeRun extends Measured {
  readonly shape: Shape;
  readonly command: Command;
  readonly requests: number;
  /** The least that it can take. */
  readonly least: number;
  /** The least time that the rate limit of services allows for so many requests. */
  readonly minutes: number;
}

const PROGRAM = resolve('dist/cli.js');
const CONCURRENCY = 8;

/** As they are run when nobody asks for anything else. */
const LINES: Readonly<Record<Command, { readonly words: readonly string[]; readonly exitCode: number }>> = {
  'plan, all new': { words: ['plan', '--detailed-exitcode'], exitCode: 2 },
  apply: { words: ['apply', '--yes'], exitCode: 0 },
  'plan, unchanged': { words: ['plan', '--detailed-exitcode'], exitCode: 0 },
};

/** Plans, applies and plans a repository by the built command line as processes, with a server for each account. Throws when one of them fails. */
export async function runShape(shape: Shape): Promise<readonly ShapeRun[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-load-'));
  const servers = await Promise.all(
    Array.from({ length: shape.accounts }, (_, index) => startServer(PROGRAM, join(folder, `server-${index}.log`))),
  );
  try {
    const root = join(folder, 'live');
    writeRepository(
      root,
      shape,
      servers.map(({ url }) => url),
    );
    return COMMANDS.map((command) => {
      for (const server of servers) server.takeRequests();
      const { words, exitCode } = LINES[command];
      // The stacks say where their accounts are.
      const run = { folder, url: '', concurrency: CONCURRENCY, exitCode };
      const measured = runMeasured([PROGRAM, ...words, '-R', root], run);
      const requests = servers.reduce((sum, server) => sum + server.takeRequests().length, 0);
      const least = countLeast(shape, command);
      return { shape, command, requests, least, minutes: toMinutes(requests, shape), ...measured };
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true });
  }
}
