import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { changePlan, readOnlyStack } from '../results.ts';

/** Values that no output shows, and that are in clear in a manifest: an approval covers them, and a plan file has none. */

const EDGE = 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const ROUTE = 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const FIRST = 'https://idp.example.com/jwks';
const SECOND = 'https://other.example.com/jwks';
const EVIL = 'https://evil.example.org/jwks';
const HEADER = 'value-of-a-header-4711';
const NUMBER = 4815162342;
const VALUES = [FIRST, SECOND, EVIL, HEADER, String(NUMBER)];
const D = '$';

interface Literals {
  readonly jwks?: readonly string[];
  readonly code?: number;
  readonly header?: string;
}

function toEdge(name: string, { jwks = [FIRST, SECOND], code = NUMBER }: Literals = {}, description = 'text'): string {
  const config = { jwt: { signing: { keys: { additional_jkus: jwks } } }, token: { code } };
  const policy = { inbound: { expressions: [], actions: [{ type: 'jwt-validation', config }] } };
  return toManifest('TCPEdge', name, { description, policy });
}

function toRoute({ header = HEADER }: Literals = {}): string {
  return toManifest('HTTPSEdgeRoute', 'checkout', {
    edge_id: EDGE,
    id: ROUTE,
    request_headers: { add: { 'x-api-key': header, 'x-env': 'production' } },
  });
}

const toStack = (literals: Literals = {}): string => STACK + toEdge('shop', literals) + toRoute(literals);

async function createApproved(text = toStack()): Promise<Workspace> {
  const workspace = await createWorkspace({ 'm/a.yaml': text });
  expect(await workspace.edgewise('plan m -o plan.json')).toMatchObject({ exitCode: 0 });
  workspace.recorder.take();
  return workspace;
}

const APPLY = 'apply m --approved plan.json --yes';
const readPlan = ({ folder }: Workspace): string => readFileSync(join(folder, 'plan.json'), 'utf8');

async function expectRefused(workspace: Workspace): Promise<void> {
  const { exitCode, stdout, stderr } = await workspace.edgewise(APPLY);
  expect({ exitCode, stdout: stdout.includes('hidden values: not as approved, the manifests changed') }).toEqual({
    exitCode: 6,
    stdout: true,
  });
  for (const value of VALUES) expect(stdout + stderr).not.toContain(value);
  expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
}

describe('an approved plan with hidden values', () => {
  it.each<[string, Literals]>([
    ['another text below a name of a secret', { jwks: [FIRST, EVIL] }],
    ['two texts in another order', { jwks: [SECOND, FIRST] }],
    ['another number', { code: NUMBER + 1 }],
    ['another header', { header: 'another-value-4711' }],
  ])('is not applied with %s', async (_, literals) => {
    const workspace = await createApproved();
    await workspace.write({ 'm/a.yaml': toStack(literals) });
    await expectRefused(workspace);
  });

  it('is applied with the same values, in any order of keys, and once more', async () => {
    const workspace = await createApproved();
    const [stack = '', ...documents] = toStack().split('---\n');
    const sorted = documents.map((one) => JSON.stringify(JSON.parse(one, reverseKeys), null, 2));
    await workspace.write({ 'm/a.yaml': [stack, ...sorted].join('\n---\n') });
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(await sendByHand(workspace, 'GET', '/edges/tcp'))).toContain(FIRST);
    expect(await workspace.edgewise(APPLY)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('done already'),
    });
  });

  it('is not applied if a part of it is done and the manifest has another value', async () => {
    const workspace = await createApproved();
    await workspace.edgewise('apply m --yes --target TCPEdge/shop');
    await workspace.write({ 'm/a.yaml': toStack({ jwks: [FIRST, EVIL] }) });
    // The live value equals the new manifest, so no write would change the edge.
    await workspace.edgewise('apply m --yes --target TCPEdge/shop');
    workspace.recorder.take();
    const { exitCode } = await workspace.edgewise(APPLY);
    expect(exitCode).toBe(6);
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is not applied if only another field differs, and the hidden value is live', async () => {
    const workspace = await createWorkspace({ 'm/a.yaml': STACK + toEdge('shop') });
    await workspace.edgewise('apply m --yes');
    await workspace.write({ 'm/a.yaml': STACK + toEdge('shop', {}, 'new') });
    await workspace.edgewise('plan m -o plan.json');
    await workspace.write({ 'm/a.yaml': STACK + toEdge('shop', { jwks: [FIRST, EVIL] }, 'new') });
    workspace.recorder.take();
    await expectRefused(workspace);
  });

  it('on the screen is not applied with a value that came while the question waited', async () => {
    const workspace = await createWorkspace({ 'm/a.yaml': toStack() });
    const onAsk = () => workspace.write({ 'm/a.yaml': toStack({ jwks: [FIRST, EVIL] }) });
    await workspace.edgewise('apply m', { answers: ['yes'], onAsk });
    expect(JSON.stringify(await sendByHand(workspace, 'GET', '/edges/tcp'))).not.toContain(EVIL);
  });

  it('with values in a folder of plans is compared, too', async () => {
    const workspace = await createWorkspace({ 'm/edgewise.yaml': toStack() });
    await workspace.edgewise('plan -R m -o plans');
    await workspace.write({ 'm/edgewise.yaml': toStack({ jwks: [FIRST, EVIL] }) });
    expect(await workspace.edgewise('apply -R m --approved plans --yes')).toMatchObject({ exitCode: 6 });
    await workspace.write({ 'm/edgewise.yaml': toStack() });
    expect(await workspace.edgewise('apply -R m --approved plans --yes')).toMatchObject({ exitCode: 0 });
  });
});

/** A secret that a rule of pipelines accepts: short, and a number. */
const PIN = '4711';
const OFFERED = { env: { PIN, EDGEWISE_SECRETS: 'PIN' } };
const STAND_IN = '(secret PIN)';
const BACKEND = 'bkdhr_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';

interface Spelled {
  readonly description?: string;
  readonly header?: string;
  readonly key?: string;
  readonly name?: string;
  readonly weight?: number;
  readonly team?: string;
}

/** Manifests that contain the value of the secret outside of `${D}{secret:PIN}`. */
function toSpelled({
  description = `port ${PIN} of the house`,
  header = `Bearer ${PIN} ${D}{secret:PIN}`,
  key = `x-${PIN}`,
  name = `pin-${PIN}`,
  weight = Number(PIN),
  team = `team-${PIN}`,
}: Spelled = {}): string {
  const headers = { add: { 'x-api-key': header, [key]: 'value' } };
  const lifecycle = { lifecycle: { ignore: [`metadata.${key}`] } };
  const stack = STACK.replace('name: test', 'name: test\nspec: { team_label: team }');
  const labelled = (text: string) => text.replace('"metadata":{', `"metadata":{"labels":{"team":"${team}"},`);
  return [
    stack,
    labelled(toManifest('WeightedBackend', name, { description, backends: { [BACKEND]: weight } }, lifecycle)),
    toManifest('TCPEdge', 'shop', { backend: { backend_id: `WeightedBackend/${name}` } }),
    toManifest('HTTPSEdgeRoute', 'checkout', { edge_id: EDGE, id: ROUTE, request_headers: headers }),
  ].join('');
}

async function createSpelled(text = toSpelled(), options = OFFERED): Promise<Workspace> {
  const workspace = await createWorkspace({ 'm/a.yaml': text });
  expect(await workspace.edgewise('plan m -o plan.json', options)).toMatchObject({ exitCode: 0 });
  workspace.recorder.take();
  return workspace;
}

describe('an approved plan with texts that contain a secret', () => {
  it('does not show them, and is applied with the same manifests, and once more', async () => {
    const workspace = await createSpelled();
    expect(readPlan(workspace)).toContain(STAND_IN);
    expect(readPlan(workspace)).not.toMatch(new RegExp(`\\b${PIN}\\b`));
    expect(await workspace.edgewise(APPLY, OFFERED)).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(await sendByHand(workspace, 'GET', '/backends/weighted'))).toContain(`port ${PIN} of`);
    expect(await workspace.edgewise(APPLY, OFFERED)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('done already'),
    });
  });

  it('is applied with the same manifests where live texts contain the secret', async () => {
    const workspace = await createSpelled();
    await workspace.edgewise('apply m --yes', OFFERED);
    await workspace.write({ 'm/a.yaml': toSpelled({ description: 'new', key: 'x-other', weight: 1 }) });
    await workspace.edgewise('plan m -o plan.json', OFFERED);
    expect(readPlan(workspace)).not.toMatch(new RegExp(`\\b${PIN}\\b`));
    expect(await workspace.edgewise(APPLY, OFFERED)).toMatchObject({ exitCode: 0 });
  });

  it.each<[string, Spelled]>([
    ['the stand-in in a text', { description: `port ${STAND_IN} of the house` }],
    ['the stand-in in a text beside a placeholder', { header: `Bearer ${STAND_IN} ${D}{secret:PIN}` }],
    ['the stand-in in a key', { key: `x-${STAND_IN}` }],
    ['the stand-in in the label of the team', { team: `team-${STAND_IN}` }],
    ['another text', { description: `port ${PIN} of a house` }],
    ['another number', { weight: Number(PIN) + 1 }],
    ['another name', { name: 'pin' }],
  ])('is not applied with %s', async (_, spelled) => {
    const workspace = await createSpelled();
    await workspace.write({ 'm/a.yaml': toSpelled(spelled) });
    const { exitCode } = await workspace.edgewise(APPLY, OFFERED);
    expect(exitCode === 6 || exitCode === 3).toBe(true);
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is not applied with the secret where the stand-in was approved', async () => {
    const workspace = await createSpelled(toSpelled({ description: `port ${STAND_IN} of the house` }));
    await workspace.write({ 'm/a.yaml': toSpelled() });
    expect(await workspace.edgewise(APPLY, OFFERED)).toMatchObject({ exitCode: 6 });
  });

  it('is not applied if the secret has another value, which the manifests now spell', async () => {
    const workspace = await createSpelled();
    await workspace.write({ 'm/a.yaml': toSpelled().replaceAll(PIN, '4712') });
    const env = { PIN: '4712', EDGEWISE_SECRETS: 'PIN' };
    expect(await workspace.edgewise(APPLY, { env })).toMatchObject({ exitCode: 6 });
  });

  it('is applied if only the apply knows the secret, and not with another text', async () => {
    const workspace = await createSpelled(toSpelled(), { env: { PIN: '', EDGEWISE_SECRETS: '' } });
    await workspace.write({ 'm/a.yaml': toSpelled({ description: `port ${PIN} of a house` }) });
    expect(await workspace.edgewise(APPLY, OFFERED)).toMatchObject({ exitCode: 6 });
    await workspace.write({ 'm/a.yaml': toSpelled() });
    expect(await workspace.edgewise(APPLY, OFFERED)).toMatchObject({ exitCode: 0 });
  });

  it('on the screen is applied after consent', async () => {
    const workspace = await createWorkspace({ 'm/a.yaml': toSpelled() });
    expect(await workspace.edgewise('apply m', { ...OFFERED, answers: ['yes'] })).toMatchObject({ exitCode: 0 });
  });

  it('is JSON also if the secret is a number in it, on standard output too', async () => {
    const workspace = await createSpelled();
    expect(JSON.parse(readPlan(workspace))).toMatchObject({ command: 'plan' });
    const { stdout } = await workspace.edgewise('plan m --format json', OFFERED);
    expect(JSON.stringify(JSON.parse(stdout))).toContain(`"${BACKEND}":"${STAND_IN}"`);
  });

  it('is not written if the secret is a word of its format', async () => {
    const workspace = await createWorkspace({ 'm/a.yaml': toSpelled({ description: 'text' }) });
    const env = { PIN: 'create', EDGEWISE_SECRETS: 'PIN' };
    const { exitCode, stderr } = await workspace.edgewise('plan m -o plan.json', { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The plan is not written to plan.json');
  });
});

function reverseKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}

interface Edited {
  readonly changes: readonly JsonObject[];
}

describe('a plan file', () => {
  it('has no hidden value, and digests that differ for equal values of two resources or two plans', async () => {
    const digests: unknown[] = [];
    const workspace = await createWorkspace({ 'm/a.yaml': STACK + toEdge('a') + toEdge('b') });
    for (const random of [0.25, 0.75]) {
      await workspace.edgewise('plan m -o plan.json', { random: () => random });
      for (const value of VALUES) expect(readPlan(workspace)).not.toContain(value);
      const { changes } = readOnlyStack(readPlan(workspace));
      digests.push(...changes.map(({ hiddenDigest }: JsonObject) => hiddenDigest));
    }
    expect(new Set(digests).size).toBe(4);
  });

  it('has no digest of live values, nor of the value of a variable', async () => {
    const header = `${D}{secret:UPSTREAM}`;
    const workspace = await createWorkspace({ 'm/a.yaml': STACK + toRoute({ header }) });
    const path = `/edges/https/${EDGE}/routes/${ROUTE}/request_headers`;
    await sendByHand(workspace, 'PUT', path, { add: { 'x-api-key': 'live-value-4711', 'x-other': 'live-value-4712' } });
    await workspace.edgewise('plan m -o plan.json', { env: { UPSTREAM: 'value', EDGEWISE_SECRETS: 'UPSTREAM' } });
    expect(readPlan(workspace)).toContain('$hidden');
    expect(readPlan(workspace)).not.toMatch(/hiddenSalt|hiddenDigest/);
    const offered = { env: { UPSTREAM: 'another value', OTHER: 'value', EDGEWISE_SECRETS: 'UPSTREAM,OTHER' } };
    await workspace.write({ 'm/a.yaml': STACK + toRoute({ header: `${D}{secret:OTHER}` }) });
    expect(await workspace.edgewise(APPLY, offered)).toMatchObject({ exitCode: 6 });
    await workspace.write({ 'm/a.yaml': STACK + toRoute({ header }) });
    expect(await workspace.edgewise(APPLY, offered)).toMatchObject({ exitCode: 0 });
  });

  const DIGEST = 'A'.repeat(43);

  it.each<[string, (plan: Edited) => unknown]>([
    ['no digest', ({ changes, ...plan }) => ({ ...plan, changes: changes.map(({ hiddenDigest: _, ...one }) => one) })],
    [
      'another digest',
      ({ changes, ...plan }) => ({ ...plan, changes: changes.map((one) => ({ ...one, hiddenDigest: DIGEST })) }),
    ],
    ['another salt', (plan) => ({ ...plan, hiddenSalt: 'A'.repeat(22) })],
    ['no salt', (plan) => ({ ...plan, hiddenSalt: undefined })],
    [
      'the digests of two resources swapped',
      ({ changes, ...plan }) => ({
        ...plan,
        changes: changes.map((one, at) => ({ ...one, hiddenDigest: changes.at(at - 1)?.['hiddenDigest'] })),
      }),
    ],
  ])('with %s approves no hidden value', async (_, edit) => {
    const workspace = await createApproved(STACK + toEdge('a') + toEdge('b'));
    await workspace.write({ 'plan.json': changePlan(readPlan(workspace), edit) });
    await expectRefused(workspace);
  });

  it.each<[string, (plan: Edited) => unknown]>([
    ['a salt that is empty', (plan) => ({ ...plan, hiddenSalt: '' })],
    ['a salt of many bytes', (plan) => ({ ...plan, hiddenSalt: 'A'.repeat(1_000_000) })],
    ['parameters', (plan) => ({ ...plan, hiddenCost: 1 })],
    [
      'a digest that is none',
      ({ changes, ...plan }) => ({ ...plan, changes: changes.map((one) => ({ ...one, hiddenDigest: 'A' })) }),
    ],
    [
      'a reserved key that is no hidden value',
      ({ changes, ...plan }) => ({
        ...plan,
        changes: changes.map((one) => ({ ...one, desired: { a: { $hidden: 'x' } } })),
      }),
    ],
  ])('with %s is refused before anything is read', async (_, edit) => {
    const workspace = await createApproved();
    await workspace.write({ 'plan.json': changePlan(readPlan(workspace), edit) });
    expect(await workspace.edgewise(APPLY)).toMatchObject({ exitCode: 3 });
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('that hides a value, which a manifest has in clear, does not approve it', async () => {
    const workspace = await createApproved(STACK + toEdge('shop'));
    const hide = ({ changes, ...plan }: Edited) => ({
      ...plan,
      changes: changes.map((one) => ({ ...one, desired: { ...Object(one['desired']), description: { $hidden: 1 } } })),
    });
    await workspace.write({ 'plan.json': changePlan(readPlan(workspace), hide) });
    const { exitCode, stdout } = await workspace.edgewise(APPLY);
    expect(exitCode).toBe(6);
    expect(stdout).toContain('description: "text"');
  });
});

describe('two plan files', () => {
  it.each(['text', 'markdown', 'html', 'json'])(
    'cannot be compared in their hidden values, says diff as %s',
    async (format) => {
      const workspace = await createApproved(STACK + toEdge('shop'));
      await workspace.edgewise('plan m -o later.json', { random: () => 0.25 });
      const { exitCode, stdout } = await workspace.edgewise(`diff plan.json later.json --format ${format}`);
      expect(exitCode).toBe(2);
      expect(stdout).toMatch(format === 'json' ? /"isUncompared": true/ : /hidden values.*cannot be compared/);
      for (const value of VALUES) expect(stdout).not.toContain(value);
      expect(await workspace.edgewise('diff plan.json plan.json')).toMatchObject({ exitCode: 0 });
    },
  );
});
