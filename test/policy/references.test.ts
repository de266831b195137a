import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { toPolicyText } from './policy-text.ts';

/** A rule sees a reference in one form, whether the resource exists or not, so that it has one result at every time. */

const BLUE = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
const POOL = toManifest('WeightedBackend', 'pool', { backends: { 'External/blue': 1 } });
const toExternal = (name: string) => toManifest('External', name, { id: BLUE });
const toUser = (more: object = {}, id = 'WeightedBackend/pool') =>
  toManifest('TCPEdge', 'user', { backend: { backend_id: id }, ...more });

/** A policy that refuses everything, with the values that it sees in its message. */
const toSpy = (name: string, kind: string, message: string) =>
  toPolicyText(name, { require: 'false', message: `sees ${message} end`, match: `{ kinds: [${kind}] }` });
const SPIES =
  toSpy('pools', 'WeightedBackend', `\${after.backends}`) + toSpy('edges', 'TCPEdge', `\${after.backend.backend_id}`);

function listSeen(stdout: string): readonly string[] {
  // The excerpts of the policies have their expressions.
  return [...stdout.matchAll(/sees ([^$]*?) end/g)].map(([, seen = '']) => seen).sort();
}

async function seeIn({ edgewise }: Workspace, line: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await edgewise(line);
  expect(exitCode, stdout).toBe(5);
  return listSeen(stdout);
}

describe('a reference in an expression', () => {
  it('is the same in validate, in the first plan and in a later plan', async () => {
    const files = (more: object = {}) => STACK + toExternal('blue') + POOL + toUser(more);
    const workspace = await createWorkspace({ 'm/edgewise.yaml': files(), 'rules/spies.yaml': SPIES });
    const seen = ['WeightedBackend/pool', `{"${BLUE}":1}`].sort();
    expect(await seeIn(workspace, 'validate m --policies rules')).toEqual(seen);
    expect(await seeIn(workspace, 'plan m --policies rules')).toEqual(seen);
    expect((await workspace.edgewise('apply m --yes')).exitCode).toBe(0);
    await workspace.write({ 'm/edgewise.yaml': files({ description: 'new' }).replace('blue": 1', 'blue": 2') });
    expect(await seeIn(workspace, 'validate m --policies rules')).toEqual(seen);
    expect(await seeIn(workspace, 'plan m --policies rules')).toEqual(['WeightedBackend/pool']);
  });

  it('has one result for a rule, and the other one for its opposite', async () => {
    const rule = (require: string) => toPolicyText('rule', { require, message: 'No.', match: '{ kinds: [TCPEdge] }' });
    const own = 'after.backend.backend_id == "WeightedBackend/pool"';
    const workspace = await createWorkspace({
      'm/edgewise.yaml': STACK + toExternal('blue') + POOL + toUser(),
      'yes/rule.yaml': rule(own),
      'no/rule.yaml': rule(`!(${own})`),
    });
    const expectResults = async (): Promise<void> => {
      for (const command of ['validate', 'plan']) {
        expect((await workspace.edgewise(`${command} m --policies yes`)).exitCode).toBe(0);
        expect((await workspace.edgewise(`${command} m --policies no`)).exitCode).toBe(5);
      }
    };
    await expectResults();
    await workspace.edgewise('apply m --yes');
    await workspace.write({ 'm/edgewise.yaml': STACK + toExternal('blue') + POOL + toUser({ description: 'new' }) });
    await expectResults();
  });

  it('is the name also if the manifest has the id, and never the name of an External', async () => {
    const workspace = await createWorkspace({
      'm/edgewise.yaml': STACK + toExternal('blue') + POOL + toUser(),
      'rules/spies.yaml': SPIES,
    });
    await workspace.edgewise('apply m --yes');
    const id = String(workspace.server.snapshot().resources['WeightedBackend']?.[0]?.['id']);
    for (const user of [
      toUser({ description: 'x' }, id),
      toManifest('External', 'trusted', { id }) + toUser({ description: 'x' }, 'External/trusted'),
    ]) {
      await workspace.write({ 'm/edgewise.yaml': STACK + toExternal('blue') + POOL + user });
      expect(await seeIn(workspace, 'plan m --policies rules')).toEqual(['WeightedBackend/pool']);
    }
  });

  it('is not the name that a copied mark claims', async () => {
    const workspace = await createWorkspace({
      'm/edgewise.yaml': STACK + toExternal('blue') + POOL + toUser(),
      'rules/spies.yaml': SPIES,
    });
    await workspace.edgewise('apply m --yes');
    const [pool] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
    const { id } = await sendByHand(workspace, 'POST', '/backends/weighted', {
      backends: { [BLUE]: 1 },
      metadata: String(pool?.['metadata']),
    });
    await workspace.write({ 'm/edgewise.yaml': STACK + toExternal('blue') + POOL + toUser({}, String(id)) });
    expect(await seeIn(workspace, 'plan m --policies rules')).toContain(`WeightedBackend/pool@${id}`);
  });

  it('is the name of the one that the stack keeps, if two have the mark and the plan has neither', async () => {
    const files = (more: object, id?: string) => STACK + toExternal('blue') + POOL + toUser(more, id);
    const workspace = await createWorkspace({ 'm/edgewise.yaml': files({}), 'rules/spies.yaml': SPIES });
    await workspace.edgewise('apply m --yes');
    const [pool] = workspace.server.snapshot().resources['WeightedBackend'] ?? [];
    await sendByHand(workspace, 'POST', '/backends/weighted', {
      backends: { [BLUE]: 1 },
      metadata: String(pool?.['metadata']),
    });
    await workspace.write({ 'm/edgewise.yaml': files({ description: 'new' }, String(pool?.['id'])) });
    const line = 'plan m --exclude WeightedBackend/pool --policies rules';
    expect(await seeIn(workspace, line)).toEqual(['WeightedBackend/pool']);
  });

  it('is the same in the differences and dangers of an update, and in what was before', async () => {
    const other = toManifest('WeightedBackend', 'other', { backends: { 'External/blue': 1 } });
    const spy = toSpy('edges', 'TCPEdge', `\${before.backend.backend_id} \${change.differences} \${change.dangers}`);
    const workspace = await createWorkspace({
      'm/edgewise.yaml': STACK + toExternal('blue') + POOL + toUser(),
      'rules/spies.yaml': spy,
    });
    await workspace.edgewise('apply m --yes');
    await workspace.write({
      'm/edgewise.yaml': STACK + toExternal('blue') + POOL + other + toUser({}, 'WeightedBackend/other'),
    });
    const first = await seeIn(workspace, 'plan m --policies rules');
    expect(first[0]).toMatch(/^WeightedBackend\/pool .*"from":"WeightedBackend\/pool".*"to":"WeightedBackend\/other"/);
    expect(first[0]).not.toContain('bkdwd_');
    expect(first[0]?.match(/"path":"backend.backend_id"/g)).toHaveLength(2); // of the difference and the danger
    await workspace.edgewise('apply m --yes --target WeightedBackend/other');
    expect(await seeIn(workspace, 'plan m --policies rules')).toEqual(first);
  });

  it('is the stack and the name of a resource of another stack', async () => {
    const foreign = toManifest('External', 'any', { stack: 'net', resource: 'WeightedBackend/pool' });
    const workspace = await createWorkspace({
      'live/net/edgewise.yaml': toStack('net') + toExternal('blue') + POOL,
      'live/web/edgewise.yaml': toStack('web') + foreign + toUser({}, 'External/any'),
      'rules/spies.yaml': toSpy('edges', 'TCPEdge', `\${after.backend.backend_id}`),
    });
    const seen = ['net/WeightedBackend/pool'];
    expect(await seeIn(workspace, 'validate -R live --policies rules')).toEqual(seen);
    expect(await seeIn(workspace, 'plan -R live --policies rules')).toEqual(seen);
    await workspace.edgewise('apply -R live --yes');
    await workspace.write({
      'live/web/edgewise.yaml': toStack('web') + foreign + toUser({ description: 'new' }, 'External/any'),
    });
    for (const line of ['validate -R live', 'plan -R live', 'validate live/web', 'plan live/web'])
      expect(await seeIn(workspace, `${line} --policies rules`)).toEqual(seen);
  });
});
