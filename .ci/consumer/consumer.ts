import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import {
  applyPlan,
  createClient,
  createFetchTransport,
  createFileWriter,
  createPlan,
  createTokenSinks,
  type DesiredState,
  listFilePaths,
  loadManifests,
  NO_SINKS,
  type Plan,
  readFiles,
  readLive,
  renderPlanText,
  type Transport,
  toPlanView,
  toReadRequest,
  validateManifests,
} from 'edgewise';
import { createMswHandlers } from 'edgewise/msw';
import packageJson from 'edgewise/package.json' with { type: 'json' };
import manifestSchema from 'edgewise/schemas/manifest.schema.json' with { type: 'json' };
import openApi from 'edgewise/schemas/openapi.json' with { type: 'json' };
import planSchema from 'edgewise/schemas/plan.schema.json' with { type: 'json' };
import { createServer, listen } from 'edgewise/server';
import { setupServer } from 'msw/node';

/** Uses the installed package as a program does: every entry point, each for what it is there for. */

const BASE_URL = 'https://api.example.com/v2';

async function readManifests(): Promise<DesiredState> {
  const context = { cwd: process.cwd(), readStdin: async () => new Uint8Array() };
  const { sources } = await loadManifests(['manifests'], context);
  const { state, diagnostics } = validateManifests(sources, { env: {} });
  assert.ok(state, JSON.stringify(diagnostics));
  return state;
}

function connect(transport: Transport, baseUrl: string) {
  return createClient({
    transport,
    baseUrl,
    apiKey: 'dev',
    versionHeader: 'Service-Version',
    pageSize: 100,
    concurrency: 4,
  });
}

async function plan(transport: Transport, baseUrl: string): Promise<Plan> {
  const desired = await readManifests();
  const client = connect(transport, baseUrl);
  const live = await readLive(client, toReadRequest(desired, []));
  const { guard } = desired.stack;
  const settings = { versionHeader: 'Service-Version', pageSize: 100, concurrency: 4, rateLimit: 'none', guard };
  return createPlan({
    desired,
    live,
    baseUrl,
    settings,
    version: packageJson.version,
    mode: 'apply',
    tokens: desired.stack.tokens,
    targets: [],
    now: new Date(),
    rotate: [],
    files: await readFiles(listFilePaths(desired), process.cwd()),
    diagnostics: [],
  });
}

async function apply(transport: Transport, baseUrl: string): Promise<void> {
  const first = await plan(transport, baseUrl);
  assert.match(renderPlanText(toPlanView(first), { color: false, width: 80, verbose: false }), /create/);
  const result = await applyPlan(first, {
    client: connect(transport, baseUrl),
    sinks: createTokenSinks(NO_SINKS, { cwd: process.cwd(), env: process.env, temporaryFolder: tmpdir() }),
    onEvent: () => {},
    now: () => new Date(),
    signal: new AbortController().signal,
    done: new Map(),
    ids: new Map(),
    texts: new Map(),
    writeFile: createFileWriter(process.cwd()),
  });
  assert.ok(result.outcomes.length > 0);
  assert.ok(result.outcomes.every(({ outcome }) => outcome === 'applied'));
  assert.deepEqual((await plan(transport, baseUrl)).writes, []);
}

assert.equal(packageJson.version, process.argv[2]);
for (const schema of [manifestSchema, planSchema]) assert.match(schema.$schema, /json-schema/);
assert.match(openApi.openapi, /^3\.1/);

await apply(createServer().at(BASE_URL), BASE_URL);

const listening = await listen(createServer(), { port: 0 });
await apply(createFetchTransport(), listening.url);
await listening.close();

const msw = setupServer(...createMswHandlers(createServer(), BASE_URL));
msw.listen();
await apply(createFetchTransport(), BASE_URL);
msw.close();

console.log('The library, its server, its msw handlers and its schemas work.');
