import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';
import { isJsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { runCommand } from '../cli/fake-context.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { listKnownIds } from './known-ids.ts';
import { holds } from './properties.ts';
import { renderStack } from './render-stack.ts';

const API_KEY = 'key-that-nobody-may-see';
const COMMANDS = [
  'plan manifests-0.yaml -o plan.json --verbose',
  'plan manifests-0.yaml --format json',
  'apply manifests-0.yaml --yes --allow-deletes --verbose',
  'apply manifests-0.yaml --yes --allow-deletes --format json',
  'destroy manifests-0.yaml --yes --format json',
].map((line) => line.split(' '));

describe('tokens and the API key', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-secrets-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('are in no plan, report or log', LONG, async () => {
    let issued = 0;
    const histories = arbitraryHistory(2, { kinds: [...ISSUERS, TCP_EDGE], maxResources: 4 });
    const property = fc.asyncProperty(histories, fc.boolean(), async (stacks, isTerminal) => {
      const secrets = new Set([API_KEY]);
      const server = createServer({
        apiKeys: [parseApiKey(`${API_KEY}:admin`)],
        seed: { externals: listKnownIds() },
      });
      const transport = collectTokens(server.handle, secrets);
      const env = { EDGEWISE_API_KEY: API_KEY, EDGEWISE_LOG_LEVEL: 'trace' };
      const options = { cwd: folder, transport, env, ...(isTerminal && { terminal: 80 }) };
      for (const stack of stacks) {
        for (const { file, bytes } of renderStack(stack)) writeFileSync(join(folder, file), bytes);
        for (const command of COMMANDS) {
          const { exitCode, stdout, stderr } = await runCommand(command, options);
          expect([EXIT.success, EXIT.refused]).toContain(exitCode);
          const written = [stdout, stderr, readFileSync(join(folder, 'plan.json'), 'utf8')].join('\n');
          for (const secret of secrets) expect(written).not.toContain(secret);
        }
      }
      issued += secrets.size - 1;
    });
    await holds(property, 8);
    expect(issued).toBeGreaterThan(0);
  });
});

const ISSUERS = MANIFEST_KINDS.filter((kind) => kind.oneTimeFields.length > 0);
const ISSUED: ReadonlySet<string> = new Set(ISSUERS.flatMap(({ oneTimeFields }) => oneTimeFields));

/** Collects every token in a response. */
function collectTokens(transport: Transport, secrets: Set<string>): Transport {
  return async (request) => {
    const response = await transport(request);
    if (response.status !== 201) return response;
    const body: unknown = await response.clone().json();
    for (const [name, value] of Object.entries(isJsonObject(body) ? body : {}))
      if (ISSUED.has(name) && typeof value === 'string') secrets.add(value);
    return response;
  };
}
