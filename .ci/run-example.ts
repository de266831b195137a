import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  type ConcurrentRequest,
  getExampleFileText,
  type RunnableExample,
  renderExampleSeedFile,
} from '../src/explain/explanation.ts';
import type { Transport } from '../src/model/transport.ts';
import { createServer, parseApiKey, parseServerFaults, parseServerSeed, withFaults } from '../src/server/index.ts';
import { BASE_URL, NOW, runCommand } from '../test/cli/fake-context.ts';
import { FOREIGN_IDS } from '../test/foreign-ids.ts';

/** What an example comes to. */
export interface ExampleResult {
  readonly exitCode: number;
  /** Both outputs, as a terminal shows them. */
  readonly output: string;
}

const API_KEY = 'dev';

/** Of a pipeline. An example may have it where it should not be. */
const TOKEN = 'ghs_not-a-real-token';

/** Runs an example as a user would: its command line, in a folder with its files, in front of the bundled server. */
export async function runExample({
  command,
  files,
  live,
  faults,
  concurrentRequest,
}: RunnableExample): Promise<ExampleResult> {
  const cwd = mkdtempSync(join(tmpdir(), 'edgewise-example-'));
  try {
    for (const [name, file] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), getExampleFileText(file), typeof file === 'string' ? 'utf8' : 'latin1');
    }
    const server = createServer({
      now: () => NOW,
      idSeed: 'example',
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      seed: { externals: FOREIGN_IDS, ...(live !== undefined && parseServerSeed(renderExampleSeedFile(live))) },
    });
    const { handle } = faults === undefined ? server : withFaults(server, parseServerFaults(faults));
    const transport = concurrentRequest === undefined ? handle : withConcurrentRequest(handle, concurrentRequest);
    let output = '';
    const onWrite = (text: string): void => {
      output += text;
    };
    const { exitCode } = await runCommand(command.split(' '), {
      cwd,
      transport,
      onWrite,
      env: { GITHUB_TOKEN: TOKEN },
    });
    return { exitCode, output };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** A transport on which somebody else's request goes before the first that is like it says. */
function withConcurrentRequest(handle: Transport, { before, request: line, body }: ConcurrentRequest): Transport {
  let isDone = false;
  return async (request) => {
    if (!isDone && before === `${request.method} ${new URL(request.url).pathname}`) {
      isDone = true;
      const [method = '', path = ''] = line.split(' ');
      const headers = {
        authorization: `Bearer ${API_KEY}`,
        'service-version': '2',
        'content-type': 'application/json',
      };
      const answer = await handle(new Request(`${BASE_URL}${path}`, { method, headers, body }));
      if (answer.status >= 300) throw new Error(`${line} was answered with ${answer.status}: ${await answer.text()}`);
    }
    return handle(request);
  };
}
