import { describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, parseJson } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

/**
 * Services that leave out `enabled` of a module, for one value or for both. What others show decides what that means; without
 * evidence, it is unknown.
 */

const MODULES = [
  { name: 'ip_restriction', on: { ip_policy_ids: ['ipp_one'] }, other: { ip_policy_ids: ['ipp_two'] }, isAccess: true },
  { name: 'backend', on: { backend_id: 'bkdhr_one' }, other: { backend_id: 'bkdhr_two' }, isAccess: false },
  {
    name: 'policy',
    on: { inbound: [{ actions: [{ type: 'deny' }] }] },
    other: { inbound: [{ actions: [{ type: 'deny' }] }, { actions: [{ type: 'log' }] }] },
    isAccess: true,
  },
];
const HIDES: Readonly<Record<string, readonly boolean[]>> = { false: [false], true: [true], both: [true, false] };

const toEdge = (name: string, modules: object, lifecycle = {}): string =>
  toManifest('TCPEdge', name, modules, { lifecycle });

/** A transport to a service that leaves out `enabled`, or shows null, if it has one of these values; and the field `whole`. */
function createHidingTransport(
  { recorder }: Workspace,
  hidden: readonly boolean[],
  { isNull = false, whole = '' } = {},
) {
  const hide = (value: Json): Json => {
    if (isJsonArray(value)) return value.map(hide);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]): [string, Json][] => {
        if (key === whole) return [];
        if (key !== 'enabled' || !hidden.includes(one === true)) return [[key, hide(one)]];
        return isNull ? [[key, null]] : [];
      }),
    );
  };
  const transport = async (request: Request): Promise<Response> => {
    const response = await recorder.transport(request);
    const body = await response.text();
    const text = body === '' ? body : JSON.stringify(hide(parseJson(body) ?? null));
    return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
  };
  return { transport };
}

async function findEdgeId(workspace: Workspace, name: string): Promise<string> {
  const edges = workspace.server.snapshot().resources['TCPEdge'] ?? [];
  const found = edges.find(({ metadata }) => String(metadata).includes(`"name":"${name}"`));
  return String(found?.['id']);
}

async function switchByHand(workspace: Workspace, module: string, value: object): Promise<void> {
  await sendByHand(workspace, 'PATCH', `/edges/tcp/${await findEdgeId(workspace, 'a')}`, { [module]: value });
}

describe.each(MODULES)('a switch of $name that is left out', ({ name, on, other, isAccess }) => {
  it.each([{ isNull: false }, { isNull: true }])(
    'is off if the service shows others that are on, and none that is off ($isNull)',
    async (form) => {
      const workspace = await createWorkspace({
        'edgewise.yaml': STACK + toEdge('a', { [name]: on }) + toEdge('b', { [name]: on }),
      });
      const { edgewise } = workspace;
      const hiding = createHidingTransport(workspace, [false], form);
      expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
      expect(await edgewise('drift', hiding)).toMatchObject({ exitCode: 0 });
      await switchByHand(workspace, name, { ...on, enabled: false });
      const { exitCode, stdout } = await edgewise('drift', hiding);
      expect(exitCode).toBe(2);
      expect(stdout).toMatch(isAccess ? /! access: has this disabled/ : /! traffic: has its backend disabled/);
      expect(stdout).toContain(`${name}.enabled: true → false`);
      expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
      expect(await edgewise('plan --detailed-exitcode', hiding)).toMatchObject({ exitCode: 0 });
    },
  );

  it('is on if the service shows others that are off, and none that is on', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': STACK + toEdge('a', { [name]: on }) + toEdge('b', { [name]: { ...on, enabled: false } }),
    });
    const { edgewise } = workspace;
    const hiding = createHidingTransport(workspace, [true]);
    expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await edgewise('plan --detailed-exitcode', hiding);
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('does not show');
  });

  it.each(Object.entries(HIDES))(
    'without evidence is unknown: a warning names it, and nothing is to do (left out: %s)',
    async (_what, values) => {
      const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', { [name]: on }) });
      const { edgewise, write } = workspace;
      const hiding = createHidingTransport(workspace, [...values, true]);
      const { exitCode, stdout: applied } = await edgewise('apply --yes', hiding);
      expect(exitCode).toBe(0);
      expect(applied).not.toContain('came back');
      for (const line of ['plan --detailed-exitcode', 'drift']) {
        const { exitCode, stdout } = await edgewise(line, hiding);
        expect(stdout, line).toContain(`the service does not show ${name}.enabled`);
        expect(exitCode, line).toBe(0);
      }
      await write({ 'edgewise.yaml': STACK + toEdge('a', { [name]: other }) });
      const { stdout } = await edgewise('plan', hiding);
      const unknown = `! access: may admit everyone: ${name}.enabled: the service does not show it`;
      if (isAccess) expect(stdout).toContain(unknown);
      expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
      expect(await edgewise('plan --detailed-exitcode', hiding)).toMatchObject({ exitCode: 0 });
    },
  );

  it('is drift if an earlier read contained it, until the next write', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', { [name]: on }) });
    const { edgewise, write } = workspace;
    const hiding = createHidingTransport(workspace, [false]);
    expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
    await write({ 'edgewise.yaml': STACK + toEdge('a', { [name]: on, description: 'recorded' }) });
    expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan --detailed-exitcode', hiding)).toMatchObject({ exitCode: 0 });
    await switchByHand(workspace, name, { ...on, enabled: false });
    const { exitCode, stdout } = await edgewise('drift', hiding);
    expect(exitCode).toBe(2);
    if (isAccess) expect(stdout).toContain(`! access: may admit everyone: ${name}.enabled`);
    const { stdout: planned } = await edgewise('plan --detailed-exitcode', hiding);
    if (isAccess) expect(planned).toContain(`! access: may admit everyone: ${name}.enabled`);
    expect(await edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
    const edge = await sendByHand(workspace, 'GET', `/edges/tcp/${await findEdgeId(workspace, 'a')}`);
    expect(edge[name]).toMatchObject({ enabled: true });
    // A service that goes on leaving it out is believed, and said.
    const silent = createHidingTransport(workspace, [true, false]);
    const { exitCode: again, stdout: said } = await edgewise('plan --detailed-exitcode', silent);
    expect(said).toContain(`the service does not show ${name}.enabled`);
    expect(again).toBe(0);
  });

  it('of a resource that is adopted is sent once, if it is unknown', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK });
    const { id } = await sendByHand(workspace, 'POST', '/edges/tcp', { [name]: { ...on, enabled: false } });
    await workspace.write({ 'edgewise.yaml': STACK + toEdge('a', { [name]: on }, { adopt: id }) });
    const shown = await workspace.edgewise('plan');
    expect(shown.stdout).toContain(`${name}.enabled: false → true`);
    const hiding = createHidingTransport(workspace, [true, false]);
    const { stdout } = await workspace.edgewise('plan --format json', hiding);
    const [change] = readOnlyStack(stdout).changes;
    expect(change.differences).toContainEqual(expect.objectContaining({ field: name }));
    if (isAccess) expect(change.dangers).toContainEqual(expect.objectContaining({ danger: 'restriction-unknown' }));
    expect(await workspace.edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
    const edge = await sendByHand(workspace, 'GET', `/edges/tcp/${String(id)}`);
    expect(edge[name]).toMatchObject({ enabled: true });
    expect(await workspace.edgewise('plan --detailed-exitcode', hiding)).toMatchObject({ exitCode: 0 });
  });
});

describe('the record of switches in a mark', () => {
  const RESTRICTED = toEdge('a', { ip_restriction: { ip_policy_ids: ['ipp_one'] } });

  /** The dangers of a plan, if the mark of the edge records these switches. */
  async function listDangers(switches: readonly string[], hidden: readonly boolean[], live: object = {}) {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + RESTRICTED });
    await workspace.edgewise('apply --yes');
    const id = await findEdgeId(workspace, 'a');
    const { metadata } = await sendByHand(workspace, 'GET', `/edges/tcp/${id}`);
    const { edgewise: mark } = JSON.parse(String(metadata));
    const forged = JSON.stringify({ edgewise: { ...mark, switches } });
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { metadata: forged, ...live });
    const { stdout } = await workspace.edgewise('plan --format json', createHidingTransport(workspace, hidden));
    const changes: readonly { dangers?: readonly { danger: string }[] }[] = readOnlyStack(stdout).changes;
    return changes.flatMap(({ dangers = [] }) => dangers.map(({ danger }) => danger));
  }

  it('adds a danger and hides none, whatever it says', async () => {
    const other = { ip_restriction: { ip_policy_ids: ['ipp_two'] } };
    for (const hidden of [[], [true, false]])
      for (const live of [{}, other]) {
        const honest = await listDangers([], hidden, live);
        for (const forged of [['ip_restriction'], ['backend', 'policy', 'hostports', 'constructor']])
          expect(await listDangers(forged, hidden, live)).toEqual(expect.arrayContaining([...honest]));
      }
    for (const forged of [[], ['ip_restriction']])
      expect(await listDangers(forged, [true, false])).toEqual(['restriction-unknown']);
  });
});

describe('a module that the service never shows', () => {
  it.each([
    { modules: { ip_restriction: { ip_policy_ids: ['ipp_one'] } }, dangers: ['restriction-unknown'] },
    { modules: {}, dangers: [] },
  ])('is a danger of a change if the manifest asks for its restriction: $dangers', async ({ modules, dangers }) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', modules) });
    await workspace.edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': STACK + toEdge('a', { ...modules, description: 'new' }) });
    const hiding = createHidingTransport(workspace, [], { whole: 'ip_restriction' });
    const { changes } = readOnlyStack((await workspace.edgewise('plan --format json', hiding)).stdout);
    expect(changes).toMatchObject([{ action: 'update' }]);
    expect(changes[0].dangers ?? []).toMatchObject(dangers.map((danger) => ({ group: 'access', danger })));
  });
});

describe('a switch of a module of an HTTPS edge that is left out', () => {
  it.each([{ isNull: false }, { isNull: true }])(
    'is off if another edge shows one that is on ($isNull)',
    async (form) => {
      const [shop, cart] = ['edghts_2k9XLUhBqWbMnPyKzXvCdRtEfGa', 'edghts_2k9XLUhBqWbMnPyKzXvCdRtEfGb'];
      const tls = { certificate_authority_ids: ['ca_one'] };
      const manifests = [shop, cart].map((id, index) => toManifest('HTTPSEdge', `e${index}`, { id, mutual_tls: tls }));
      const workspace = await createWorkspace({ 'edgewise.yaml': STACK + manifests.join('') });
      const hiding = createHidingTransport(workspace, [false], form);
      expect(await workspace.edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
      await sendByHand(workspace, 'PUT', `/edges/https/${shop}/mutual_tls`, { enabled: false, ...tls });
      const { exitCode, stdout } = await workspace.edgewise('drift', hiding);
      expect(stdout).toMatch(/! access: has this disabled: mutual_tls/);
      expect(exitCode).toBe(2);
      expect(await workspace.edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
      expect(await workspace.edgewise('plan --detailed-exitcode', hiding)).toMatchObject({ exitCode: 0 });
    },
  );

  it('is a warning only: it has no mark', async () => {
    const edge = toManifest('HTTPSEdge', 'shop', {
      id: 'edghts_2k9XLUhBqWbMnPyKzXvCdRtEfGa',
      mutual_tls: { certificate_authority_ids: ['ca_one'] },
    });
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + edge });
    const hiding = createHidingTransport(workspace, [true, false]);
    expect(await workspace.edgewise('apply --yes', hiding)).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await workspace.edgewise('plan --detailed-exitcode', hiding);
    expect(stdout).toContain('HTTPSEdge: the service does not show mutual_tls.enabled');
    expect(exitCode).toBe(0);
  });
});
