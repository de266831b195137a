import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { selectTypical } from '../cases.ts';
import { createWorkspace, STACK, toCredential, type Workspace } from './workspace.ts';

const MANIFEST = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n${toCredential('agent')}`;

/** Where the process stops: at that write, before it takes effect or before its response arrives. */
interface CrashPoint {
  readonly write: string;
  readonly when: 'before' | 'after';
}

const CREATION: readonly CrashPoint[] = listCrashPoints('POST', 'PATCH');
const ROTATION: readonly CrashPoint[] = listCrashPoints('POST', 'PATCH', 'DELETE');

function listCrashPoints(...writes: readonly string[]): readonly CrashPoint[] {
  return writes.flatMap((write) => [{ write, when: 'before' } as const, { write, when: 'after' } as const]);
}

/** A transport that fails from a point on, as for a process that was killed there. */
function createCrashingTransport({ write, when }: CrashPoint, transport: Transport): Transport {
  let isDead = false;
  return async (request) => {
    const isPoint = request.method === write;
    if (!isDead && isPoint && when === 'after') await transport(request);
    isDead ||= isPoint;
    if (isDead) throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
    return transport(request);
  };
}

/** Records every token in a response, by the id of its credential. */
function withTokensRecorded(transport: Transport, tokens: Map<string, string>): Transport {
  return async (request) => {
    const response = await transport(request);
    if (request.method !== 'POST' || response.status !== 201) return response;
    const { id, token } = (await response.clone().json()) as { readonly id: string; readonly token: string }; // the response to a create has the token
    tokens.set(id, token);
    return response;
  };
}

/** Returns the live credentials, and the token in the sink. */
function readCredentials({ folder, server }: Workspace) {
  const credentials = (server.snapshot().resources['Credential'] ?? []).map(({ id }) => String(id));
  const file = join(folder, 'tokens/agent.token');
  return { credentials, token: existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined };
}

describe.each([
  ['the creation of a credential', CREATION, ''],
  ['its rotation', ROTATION, ' --rotate Credential/agent'],
] as const)('a crash during %s', (_, points, flags) => {
  it.each(points)(
    'leaves a delivered token or none, and is repaired by the next apply: $when its $write',
    async (point) => {
      const tokens = new Map<string, string>();
      const workspace = await createWorkspace({ 'm.yaml': MANIFEST });
      const { edgewise, server } = workspace;
      const transport = withTokensRecorded(server.handle, tokens);
      if (flags !== '') expect(await edgewise('apply m.yaml --yes', { transport })).toMatchObject({ exitCode: 0 });
      const crashed = await edgewise(`apply m.yaml --yes${flags}`, {
        transport: createCrashingTransport(point, transport),
      });
      expect(crashed.exitCode).toBe(1);
      const left = readCredentials(workspace);
      const working = left.credentials.map((id) => tokens.get(id));
      expect(left.token === undefined || working.includes(left.token)).toBe(true);

      expect(await edgewise('apply m.yaml --yes', { transport })).toMatchObject({ exitCode: 0 });
      const { credentials, token } = readCredentials(workspace);
      expect(credentials).toHaveLength(1);
      expect(token).toBe(tokens.get(credentials[0] ?? ''));
      expect(await edgewise('plan m.yaml --detailed-exitcode', { transport })).toMatchObject({ exitCode: 0 });
    },
  );
});

/** The replacement of a credential whose delivery an earlier apply did not record. */
const REPLACEMENT: readonly CrashPoint[] = listCrashPoints('DELETE', 'POST', 'PATCH');

describe('a crash during the replacement of a credential whose token was not delivered', () => {
  const lines = ['apply m.yaml --yes', 'apply m.yaml --approved plan.json --yes'];
  const cases = lines.flatMap((line) => REPLACEMENT.map((point) => ({ ...point, line })));

  it.each(selectTypical(cases, 'line', 'write', 'when'))(
    'is repaired by the same command: $when its $write, with $line',
    async ({ line, ...point }) => {
      const tokens = new Map<string, string>();
      const workspace = await createWorkspace({ 'm.yaml': MANIFEST });
      const { edgewise, server } = workspace;
      const transport = withTokensRecorded(server.handle, tokens);
      const unrecorded = createCrashingTransport({ write: 'PATCH', when: 'before' }, transport);
      expect(await edgewise('apply m.yaml --yes', { transport: unrecorded })).toMatchObject({ exitCode: 1 });
      await edgewise('plan m.yaml -o plan.json', { transport });
      expect(await edgewise(line, { transport: createCrashingTransport(point, transport) })).toMatchObject({
        exitCode: 1,
      });

      const repaired = await edgewise(line, { transport });
      expect(repaired, repaired.stderr).toMatchObject({ exitCode: 0 });
      const { credentials, token } = readCredentials(workspace);
      expect(credentials).toHaveLength(1);
      expect(token).toBe(tokens.get(credentials[0] ?? ''));
      expect(await edgewise('plan m.yaml --detailed-exitcode', { transport })).toMatchObject({ exitCode: 0 });
    },
  );
});

/** A plan file is applied again without another approval, wherever its apply was interrupted. */
describe.each([
  ['the creation of a credential', CREATION, ''],
  ['its rotation', ROTATION, ' --rotate Credential/agent'],
] as const)('a crash during %s by a plan file', (_, points, flags) => {
  const cases = [
    ...points.map((point) => ({ ...point, line: 'apply m.yaml --approved plan.json', what: 'the same file again' })),
    // `--approved` compares with the same plan in the same way, so one point is enough.
    ...points.slice(-1).map((point) => ({
      ...point,
      line: 'apply m.yaml --approved plan.json',
      what: 'what the file approves',
    })),
  ];

  it.each(cases)('$when its $write is repaired by $what', async ({ line, ...point }) => {
    const tokens = new Map<string, string>();
    const workspace = await createWorkspace({ 'm.yaml': MANIFEST });
    const { edgewise, server } = workspace;
    const transport = withTokensRecorded(server.handle, tokens);
    if (flags !== '') expect(await edgewise('apply m.yaml --yes', { transport })).toMatchObject({ exitCode: 0 });
    await edgewise(`plan m.yaml -o plan.json${flags}`, { transport });
    const crashed = await edgewise(`${line} --yes${flags}`, { transport: createCrashingTransport(point, transport) });
    expect(crashed.exitCode).toBe(1);

    const resumed = await edgewise(`${line} --yes${flags}`, { transport });
    expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
    const { credentials, token } = readCredentials(workspace);
    expect(credentials).toHaveLength(1);
    expect(token).toBe(tokens.get(credentials[0] ?? ''));
    expect(await edgewise('plan m.yaml --detailed-exitcode', { transport })).toMatchObject({ exitCode: 0 });
  });
});

describe('a plan file with a rotation', () => {
  it.each([
    ['is over', []],
    ['broke off before its last delete', [{ write: 'DELETE', when: 'before' } as const]],
  ])('rotates once, although its flags are given again, when it %s', async (_, crashes) => {
    const { edgewise, recorder, server } = await createWorkspace({ 'm.yaml': MANIFEST });
    await edgewise('apply m.yaml --yes');
    await edgewise('plan m.yaml -o plan.json --rotate Credential/agent');
    const line = 'apply m.yaml --approved plan.json --yes --rotate Credential/agent';
    for (const crash of crashes) await edgewise(line, { transport: createCrashingTransport(crash, server.handle) });
    if (crashes.length === 0) expect(await edgewise(line)).toMatchObject({ exitCode: 0 });
    recorder.take();
    expect(await edgewise(line)).toMatchObject({ exitCode: 0 });
    expect(recorder.take().filter(({ method }) => method === 'POST')).toEqual([]);
    expect(server.snapshot().resources['Credential']).toHaveLength(1);
  });
});

describe('a sink that fails in the middle of a rotation', () => {
  it('leaves the old credential, and the next apply replaces both', async () => {
    const tokens = new Map<string, string>();
    const workspace = await createWorkspace({ 'm.yaml': MANIFEST });
    const { edgewise, server, folder } = workspace;
    const transport = withTokensRecorded(server.handle, tokens);
    await edgewise('apply m.yaml --yes', { transport });
    const before = readCredentials(workspace);
    const command = '["node","-e","process.exit(1)"]';
    const failed = await edgewise(`apply m.yaml --yes --rotate Credential/agent --token-command ${command}`, {
      transport,
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: folder },
    });
    expect(failed.exitCode).toBe(1);
    expect(readCredentials(workspace).credentials).toEqual(expect.arrayContaining([...before.credentials]));
    expect(readCredentials(workspace).token).toBe(before.token);

    expect(await edgewise('apply m.yaml --yes', { transport })).toMatchObject({ exitCode: 0 });
    const { credentials, token } = readCredentials(workspace);
    expect(credentials).toHaveLength(1);
    expect(before.credentials).not.toContain(credentials[0]);
    expect(token).toBe(tokens.get(credentials[0] ?? ''));
  });
});

describe('a token command', () => {
  it.each(['plan', 'plan -o plan.json', 'validate'])('is never run by %s', async (command) => {
    const { folder, edgewise, write } = await createWorkspace();
    const words = (mark: string) => JSON.stringify(['node', '-e', `require('fs').writeFileSync('${mark}', '')`]);
    const sink = `{ command: ${words('delivered')}, test: ${words('tested')} }`;
    await write({ 'm.yaml': `${STACK}spec: { tokens: { default: ${sink} } }\n${toCredential('agent')}` });
    const env = { PATH: process.env['PATH'] ?? '' };
    expect(await edgewise(`${command} m.yaml`, { env })).toMatchObject({ exitCode: 0 });
    expect(['delivered', 'tested'].filter((file) => existsSync(join(folder, file)))).toEqual([]);
    expect(await edgewise('apply m.yaml --yes', { env })).toMatchObject({ exitCode: 0 });
    expect(['delivered', 'tested'].filter((file) => existsSync(join(folder, file)))).toEqual(['delivered', 'tested']);
  });
});

describe('a credential of an apply that another apply overtook before its token was delivered', () => {
  it('is replaced by the other apply, and again by the next one, because the order of the tokens is unknown', async () => {
    const { edgewise, server, folder } = await createWorkspace({ 'edgewise.yaml': STACK + toCredential('agent') });
    const line = 'apply --yes --token-directory tokens';
    let isResourceGone = false;
    const transport = async (request: Request): Promise<Response> => {
      if (request.method === 'PATCH' && !isResourceGone) {
        isResourceGone = true;
        expect(await edgewise(line, { transport: server.handle })).toMatchObject({ exitCode: 0 });
      }
      return server.handle(request);
    };
    const { exitCode, stdout } = await edgewise(line, { transport });
    expect(stdout).toMatch(
      /another apply replaced it by cr_\w+ while its token was being delivered\. It is unknown which token arrived last/,
    );
    expect(exitCode).toBe(1);
    expect(await edgewise(line)).toMatchObject({ exitCode: 0 });
    const [credential, ...others] = server.snapshot().resources['Credential'] ?? [];
    expect(others).toEqual([]);
    const token = readFileSync(join(folder, 'tokens', 'agent.token'), 'utf8');
    expect(token.startsWith(String(credential?.id).replace(/^cr_/, ''))).toBe(true);
  });
});
