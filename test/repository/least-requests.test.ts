import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createServer } from '../../src/server/index.ts';
import { countPools, writeManifests } from '../bench/manifests.ts';
import { runCommand } from '../cli/fake-context.ts';

const URLS = ['https://first.test', 'https://second.test'];
const STACKS_OF_AN_ACCOUNT = 2;
const EDGES_OF_A_STACK = 60;
const PAGE_SIZE = 100;

const EDGES = STACKS_OF_AN_ACCOUNT * EDGES_OF_A_STACK;
const POOLS = STACKS_OF_AN_ACCOUNT * countPools(EDGES_OF_A_STACK);

/**
 * The least requests: each account is listed once, each resource is written once, and each kind that two applies could both create is listed
 * once more.
 */
const LEAST = {
  'plan, all new': OWNED_KINDS.length,
  // Each stack that creates pools looks for duplicates of them.
  apply: OWNED_KINDS.length + EDGES + POOLS + STACKS_OF_AN_ACCOUNT,
  'plan, unchanged': OWNED_KINDS.length + Math.ceil(EDGES / PAGE_SIZE) - 1,
};

it('takes the least possible requests for several stacks in several accounts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-least-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [index, baseUrl] of [...URLS, ...URLS].entries()) {
    const name = `stack-${index}`;
    mkdirSync(join(folder, name));
    writeManifests(join(folder, name), EDGES_OF_A_STACK, { name, first: index * EDGES_OF_A_STACK, baseUrl });
  }
  const servers = new Map(URLS.map((url) => [url, createServer()]));
  let requests = 0;
  const transport: Transport = async (request) => {
    requests += 1;
    const response = await servers.get(new URL(request.url).origin)?.handle(request);
    return response ?? new Response(null, { status: 404 });
  };
  const env = { EDGEWISE_BASE_URL: '', EDGEWISE_RATE_LIMIT: 'none' };
  for (const [command, least] of Object.entries(LEAST)) {
    requests = 0;
    const words = command === 'apply' ? ['apply', '--yes'] : ['plan'];
    const { exitCode, stderr } = await runCommand([...words, '-R', '.'], { cwd: folder, env, transport });
    expect(exitCode, stderr).toBe(0);
    expect(requests, command).toBe(URLS.length * least);
  }
  expect([...servers.values()].map((server) => server.snapshot().resources['TCPEdge']?.length)).toEqual([EDGES, EDGES]);
});
