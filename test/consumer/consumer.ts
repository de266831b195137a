import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import {
  applyPlan,
  computeDrift,
  createClient,
  createDestroyState,
  createFetchTransport,
  createPlan,
  createReadRequest,
  createTokenSinks,
  type DesiredState,
  hasDrift,
  type LiveState,
  loadReportRenderer,
  NO_TOKEN_SETTINGS,
  openStack,
  type Plan,
  readLive,
  readManifestFiles,
  renderTextReport,
  type StackOptions,
  type Transport,
  toSend,
  validateManifests,
} from 'edgewise';
import { createMswHandlers } from 'edgewise/msw';
import packageJson from 'edgewise/package.json' with { type: 'json' };
import manifestSchema from 'edgewise/schemas/manifest.schema.json' with { type: 'json' };
import openApi from 'edgewise/schemas/openapi.json' with { type: 'json' };
import resultSchema from 'edgewise/schemas/result.schema.json' with { type: 'json' };
import { createServer, listen } from 'edgewise/server';
import { setupServer } from 'msw/node';

/** Uses the installed package as a program does: each entry point for its purpose. */

const BASE_URL = 'https://api.example.com/v2';

async function readManifests(): Promise<DesiredState> {
  const context = { cwd: process.cwd(), uid: process.getuid?.(), readStdin: async () => new Uint8Array() };
  const { sources } = await readManifestFiles(['manifests'], context);
  const { state, diagnostics } = validateManifests(sources, { env: { variables: {}, offered: [] } });
  assert.ok(state, JSON.stringify(diagnostics));
  return state;
}

function connect(transport: Transport, baseUrl: string) {
  return createClient({
    send: toSend(transport),
    baseUrl,
    apiKey: 'dev',
    versionHeader: 'Service-Version',
    pageSize: 100,
    concurrency: 4,
  });
}

async function plan(transport: Transport, baseUrl: string): Promise<Plan> {
  return (await createLivePlan(transport, baseUrl)).plan;
}

async function createLivePlan(
  transport: Transport,
  baseUrl: string,
): Promise<{ plan: Plan; live: LiveState; now: Date }> {
  const desired = await readManifests();
  const client = connect(transport, baseUrl);
  const live = await readLive(client, createReadRequest(desired, []));
  const { guard } = desired.stack;
  const settings = { versionHeader: 'Service-Version', pageSize: 100, concurrency: 4, rateLimit: 'none', guard };
  const now = new Date();
  const made = createPlan({
    desired,
    live,
    baseUrl,
    settings,
    version: packageJson.version,
    mode: 'apply',
    tokens: desired.stack.tokens,
    targets: [],
    now,
    rotate: [],
    diagnostics: [],
  });
  return { plan: made, live, now };
}

/** Expects no difference, in each format that is loaded on demand. */
async function compare(transport: Transport, baseUrl: string): Promise<void> {
  const { plan: compared, live, now } = await createLivePlan(transport, baseUrl);
  const drift = computeDrift(compared, { live, now });
  assert.equal(hasDrift(drift), false);
  const options = { color: false, width: 80, verbose: false, at: now };
  assert.match((await loadReportRenderer('text'))({ about: 'drift', drift }, options), /^No drift/m);
  assert.match(
    (await loadReportRenderer('html'))({ about: 'plan', plan: compared, blocking: [] }, options),
    /<!doctype html>/i,
  );
}

async function apply(transport: Transport, baseUrl: string): Promise<void> {
  const first = await plan(transport, baseUrl);
  assert.match(
    renderTextReport({ about: 'plan', plan: first, blocking: [] }, { color: false, width: 80, verbose: false }),
    /create/,
  );
  const result = await applyPlan(first, {
    client: connect(transport, baseUrl),
    sinks: createTokenSinks(NO_TOKEN_SETTINGS, { cwd: process.cwd(), env: process.env, temporaryFolder: tmpdir() }),
    onEvent: () => {},
    now: () => new Date(),
    signal: new AbortController().signal,
    ids: new Map(),
  });
  assert.deepEqual(result.diagnostics, []);
  assert.ok(result.outcomes.length > 0);
  assert.ok(result.outcomes.every(({ outcome }) => outcome === 'applied'));
  assert.deepEqual((await plan(transport, baseUrl)).writes, []);
  await compare(transport, baseUrl);
}

/** Plans and applies as the command line does. */
async function converge(service: Pick<StackOptions, 'baseUrl' | 'transport'>): Promise<void> {
  const stack = await openStack({ paths: ['manifests'], apiKey: 'dev', ...service });
  const { outcomes } = await stack.apply(await stack.plan());
  assert.ok(outcomes.length > 0);
  assert.ok(outcomes.every(({ outcome }) => outcome === 'applied'));
  const again = await stack.plan();
  assert.deepEqual([again.writes, again.tool.version], [[], packageJson.version]);
  await stack.close();
}

assert.equal(packageJson.version, process.argv[2]);
for (const schema of [manifestSchema, resultSchema]) assert.match(schema.$schema, /json-schema/);
assert.match(openApi.openapi, /^3\.1/);

await apply(createServer().mountAt(BASE_URL), BASE_URL);
await converge({ baseUrl: BASE_URL, transport: createServer().mountAt(BASE_URL) });

const listening = await listen(createServer(), { port: 0 });
await apply(createFetchTransport(), listening.url);
await listening.close();

const reached = await listen(createServer(), { port: 0 });
await converge({ baseUrl: reached.url });
await reached.close();

// The report of an error has only a stack trace: functions keep their names in it.
// @ts-expect-error: this is no desired state
assert.throws(() => createDestroyState(undefined), { stack: /at createDestroyState/ });

const msw = setupServer(...createMswHandlers(createServer(), BASE_URL));
msw.listen();
await apply(createFetchTransport(), BASE_URL);
msw.close();

process.stdout.write('The library, its server, its msw handlers and its schemas work.\n');
