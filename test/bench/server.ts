import { openSync, readFileSync } from 'node:fs';
import { startServerProcess } from '../end-to-end/processes.ts';

/** One line of the server's log. */
export interface LoggedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
}

/** The bundled server in a process of its own. */
export interface BenchServer {
  readonly url: string;
  /** The requests since the last call, in order. */
  readonly takeRequests: () => readonly LoggedRequest[];
  readonly stop: () => Promise<unknown>;
}

export const API_KEY = 'bench';

/** Starts a server, empty, that logs to a file. */
export async function startServer(program: string, logFile: string): Promise<BenchServer> {
  const server = await startServerProcess(['--api-key', `${API_KEY}:admin`], { program, log: openSync(logFile, 'w') });
  let taken = 0;
  return {
    ...server,
    takeRequests: () => {
      const requests = parseLog(readFileSync(logFile, 'utf8'));
      const fresh = requests.slice(taken);
      taken = requests.length;
      return fresh;
    },
  };
}

/** The requests in a log of the server. */
export function parseLog(text: string): readonly LoggedRequest[] {
  return text.split('\n').flatMap((line): readonly LoggedRequest[] => {
    if (line === '') return [];
    const { method, path, status }: Partial<LoggedRequest> = JSON.parse(line);
    return method === undefined || path === undefined || status === undefined ? [] : [{ method, path, status }];
  });
}
