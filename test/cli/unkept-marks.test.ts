import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/kinds/kind.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { toStack } from '../repository/tree.ts';
import { CREATED_KINDS, createStackOf, toJsonObject } from './creations.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from './workspace.ts';

/** What a service does to the metadata of a request before it stores it, and to that of a response. */
interface Habit {
  readonly store?: (metadata: string, method: string) => string;
  readonly show?: (metadata: string, method: string) => string;
}

/** A service with a habit. */
function withHabit({ recorder }: Workspace, { store, show }: Habit): Transport {
  const change = (json: Json, map: (metadata: string) => string): Json => {
    if (isJsonArray(json)) return json.map((one) => change(one, map));
    if (!isJsonObject(json)) return json;
    const changed = Object.entries(json).map(([name, value]): [string, Json] => [
      name,
      isJsonArray(value) ? change(value, map) : value,
    ]);
    const { metadata } = json;
    return { ...Object.fromEntries(changed), ...(typeof metadata === 'string' && { metadata: map(metadata) }) };
  };
  return async (request) => {
    const { method } = request;
    const text = await request.clone().text();
    const body =
      text === '' || store === undefined ? undefined : change(toJsonObject(text), (one) => store(one, method));
    const response = await recorder.transport(
      body === undefined ? request : new Request(request, { body: JSON.stringify(body) }),
    );
    if (show === undefined || response.status === 204) return response;
    const shown = change(toJsonObject(await response.text()), (one) => show(one, method));
    return Response.json(shown, { status: response.status, headers: response.headers });
  };
}

/** The beginning of a text of ASCII. */
const cut = (bytes: number) => (text: string) => text.slice(0, bytes);
const HABITS: readonly (readonly [string, Habit])[] = [
  ['drops metadata', { store: () => '' }],
  ['cuts metadata', { store: cut(60) }],
  ['cuts metadata that is a little longer than that of a new resource', { store: cut(130) }],
  ['shows no metadata', { show: () => '' }],
];

const UNMANAGEABLE = 'This service cannot be managed: it does not keep the metadata of resources';

function listIds({ server }: Workspace, { name }: Kind): readonly string[] {
  return (server.snapshot().resources[name] ?? []).map(({ id }) => String(id));
}

describe.each(CREATED_KINDS)('a service that does not keep the mark of a resource of the kind %s', (_, kind) => {
  it.each(HABITS)('gets it back if it %s, four times', async (__, habit) => {
    const workspace = await createStackOf(kind);
    const before = listIds(workspace, kind);
    const transport = withHabit(workspace, habit);
    for (const run of [1, 2, 3, 4]) {
      const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
      expect({ run, exitCode }).toEqual({ run, exitCode: 1 });
      expect(stdout).toContain('which this run created, was then deleted');
      expect(stdout).toContain(UNMANAGEABLE);
      expect(listIds(workspace, kind)).toEqual(before);
    }
    if (kind.oneTimeFields.length > 0) expect(await readdir(join(workspace.folder, 'tokens'))).toEqual([]);
  });
});

describe('a service that does not keep marks', () => {
  it('gets no further writes', async () => {
    const stack = `${STACK}spec: { api: { concurrency: 1 } }\n`;
    const edges = ['a', 'b', 'c', 'd'].map((name, index) => toEdge(name, 20_010 + index));
    const workspace = await createWorkspace({ 'edgewise.yaml': stack + edges.join('') });
    const transport = withHabit(workspace, { store: () => '' });
    const { exitCode, stdout } = await workspace.edgewise('apply --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('3 writes were not started, because the service cannot be managed.');
    expect(stdout).not.toContain('Run apply again');
    const writes = workspace.recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });

  it('is written to for no other stack of the run', async () => {
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': toStack('a') + toEdge('one', 20_001),
      'live/b/edgewise.yaml': toStack('b') + toEdge('two', 20_002),
    });
    const transport = withHabit(workspace, { store: () => '' });
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes', { transport });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('the service cannot be managed, as the apply of a has found');
    const writes = workspace.recorder.take().filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
  });
});

describe('a service that keeps the mark of a new credential, and drops that of its update', () => {
  const HABIT: Habit = { store: (metadata, method) => (method === 'PATCH' ? '' : metadata) };

  it('keeps the delivered credential, and the next plan creates no other', async () => {
    const workspace = await createStackOf(CREDENTIAL);
    const transport = withHabit(workspace, HABIT);
    const first = await workspace.edgewise('apply --yes', { transport });
    expect(first.exitCode).toBe(1);
    const [id = ''] = listIds(workspace, CREDENTIAL).filter((one) => !one.endsWith('aaa'));
    expect(first.stdout).toContain(`its token was delivered, so ${id} stays`);
    expect(first.stdout).toContain(UNMANAGEABLE);
    expect(await readdir(join(workspace.folder, 'tokens'))).toEqual(['one.token']);
    workspace.recorder.take();
    for (const line of ['plan', 'apply --yes', 'apply --yes', 'apply --yes']) {
      const { exitCode, stdout } = await workspace.edgewise(line, { transport });
      expect({ line, exitCode }).toEqual({ line, exitCode: 3 });
      expect(stdout).toContain(`Credential/one is not created: ${id}`);
    }
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('the mark of a creation', () => {
  it.each(CREATED_KINDS)(
    'is at least as long as each later mark, and the next write leaves the filling out: %s',
    async (_, kind) => {
      const workspace = await createStackOf(kind);
      const sent: JsonObject[] = [];
      const transport: Transport = async (request) => {
        if (request.method === 'POST' || request.method === 'PATCH')
          sent.push(toJsonObject(await request.clone().text()));
        return workspace.recorder.transport(request);
      };
      await workspace.edgewise('apply --yes', { transport });
      const [created, ...later] = sent.map(({ metadata }) => String(metadata));
      expect(created).toMatch(/,"reserved":"-+"\}\}$/);
      for (const metadata of later) {
        expect(metadata).not.toContain('reserved');
        expect(metadata.length).toBeLessThanOrEqual(created?.length ?? 0);
      }
      expect(await workspace.edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    },
  );
});
