import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { listWrites, toStack } from './tree.ts';

/** Stacks that exchange unique values: each needs what the other one has, so none can be the first. */

type Stacks = Readonly<Record<string, readonly string[]>>;

const edge = (name: string, ...ports: readonly number[]): string =>
  toManifest('TCPEdge', name, { hostports: ports.map((port) => `1.tcp.example.net:${20_000 + port}`) });
const ingress = (domain: string): string => toManifest('AgentIngress', 'ingress', { domain: `${domain}.example.com` });
const restriction = (type: string): string =>
  toManifest('IPRestriction', 'only', { type, enforced: false, ip_policy_ids: ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk'] });

function toFiles(stacks: Stacks): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(stacks).map(([name, texts]) => [`live/${name}/edgewise.yaml`, toStack(name) + texts.join('')]),
  );
}

/** Applies a state of the stacks, and then writes another one. */
async function createChanged(before: Stacks, after: Stacks): Promise<Workspace> {
  const workspace = await createWorkspace(toFiles(before));
  expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
  await workspace.write(toFiles(after));
  listWrites(workspace);
  return workspace;
}

/** Two edges of two stacks that exchange their hostports. */
function createSwap(): Promise<Workspace> {
  return createChanged({ a: [edge('x', 1)], b: [edge('y', 2)] }, { a: [edge('x', 2)], b: [edge('y', 1)] });
}

async function expectRefused(workspace: Workspace, stacks: readonly string[]): Promise<void> {
  for (const command of ['plan -R live --allow-deletes', 'apply -R live --yes --allow-deletes']) {
    const { exitCode, stdout } = await workspace.edgewise(command);
    expect(exitCode).toBe(5);
    expect([...stdout.matchAll(/^(\S+) +live\/\S+ +⛔/gm)].map(([, name]) => name)).toEqual(stacks);
    expect(stdout).not.toContain('follows its writes');
  }
  expect(listWrites(workspace)).toEqual([]);
}

describe('stacks that exchange unique values', () => {
  it.each<[string, Stacks, Stacks]>([
    ['hostports', { a: [edge('x', 1)], b: [edge('y', 2)] }, { a: [edge('x', 2)], b: [edge('y', 1)] }],
    [
      'some of several hostports',
      { a: [edge('x', 1, 3)], b: [edge('y', 2)] },
      { a: [edge('x', 3, 2)], b: [edge('y', 1)] },
    ],
    ['domains', { a: [ingress('a')], b: [ingress('b')] }, { a: [ingress('b')], b: [ingress('a')] }],
    [
      'types of restrictions',
      { a: [restriction('agent')], b: [restriction('endpoints')] },
      { a: [restriction('endpoints')], b: [restriction('agent')] },
    ],
  ])('are refused when the plan is made, and nothing is written: %s', async (_, before, after) => {
    await expectRefused(await createChanged(before, after), ['a', 'b']);
  });

  it('are refused in a circle of three, and a stack beside it is applied', async () => {
    const workspace = await createChanged(
      { a: [edge('x', 1)], b: [edge('y', 2)], c: [edge('z', 3)], d: [edge('o', 4)] },
      { a: [edge('x', 2)], b: [edge('y', 3)], c: [edge('z', 1)], d: [edge('o', 5)] },
    );
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --yes');
    expect(exitCode).toBe(5);
    expect(stdout).toContain(
      'refused[value-exchange]: TCPEdge/x: the stacks a, b and c exchange unique values, so each waits for another: TCPEdge/x of a needs hostports 1.tcp.example.net:20002, which TCPEdge/y of b has; TCPEdge/y of b needs hostports 1.tcp.example.net:20003, which TCPEdge/z of c has; TCPEdge/z of c needs hostports 1.tcp.example.net:20001, which TCPEdge/x of a has.',
    );
    expect(stdout).toContain('help: Make two merges: in the first, one of these resources takes a third value');
    expect(listWrites(workspace)).toHaveLength(1);
  });

  it('are refused if the circle leads through two resources of one stack', async () => {
    const workspace = await createChanged(
      { a: [edge('x1', 1), edge('x2', 3)], b: [edge('y', 2)] },
      { a: [edge('x1', 2), edge('x2', 1)], b: [edge('y', 3)] },
    );
    await expectRefused(workspace, ['a', 'b']);
    const { stdout } = await workspace.edgewise('plan -R live');
    expect(stdout).toContain('which TCPEdge/x2 of a has; TCPEdge/x2 of a is changed after TCPEdge/x1 of a.');
  });

  it('get their values with a third one in between', async () => {
    const workspace = await createChanged(
      { a: [edge('x', 1)], b: [edge('y', 2)] },
      { a: [edge('x', 9)], b: [edge('y', 1)] },
    );
    const { edgewise, write } = workspace;
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    await write(toFiles({ a: [edge('x', 2)], b: [edge('y', 1)] }));
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('are refused at the field that claims the value', async () => {
    const { edgewise } = await createSwap();
    const { stdout } = await edgewise('plan -R live --format github');
    const column = edge('x', 2).split('\n')[1]?.indexOf('["1.tcp') ?? 0;
    expect(stdout).toContain(`file=live/a/edgewise.yaml,line=3,col=${column + 1},title=edgewise%3A value-exchange`);
  });

  it('are refused if their plans were approved', async () => {
    const { edgewise } = await createSwap();
    expect((await edgewise('plan -R live -o plans')).exitCode).toBe(5);
    expect((await edgewise('apply -R live --approved plans --yes')).exitCode).toBe(5);
  });

  it('are named by drift, which says that the next apply is refused', async () => {
    const { edgewise } = await createSwap();
    const { stdout } = await edgewise('drift -R live');
    expect(stdout.match(/The next apply would be refused: TCPEdge\/[xy]: the stacks/g)).toHaveLength(2);
  });
});

describe('stacks whose values wait for each other without a circle', () => {
  it.each<[string, Stacks, Stacks]>([
    ['a value moves on', { a: [edge('x', 1)], b: [edge('y', 2)] }, { a: [edge('x', 3)], b: [edge('y', 1)] }],
    [
      'each gets a value of the other, but another resource frees it',
      { a: [edge('x1', 1), edge('x2', 3)], b: [edge('y1', 2), edge('y2', 4)] },
      { a: [edge('x1', 4), edge('x2', 5)], b: [edge('y1', 3), edge('y2', 6)] },
    ],
    [
      'an exchange inside one stack',
      { a: [edge('x1', 1), edge('x2', 2)], b: [edge('y', 3)] },
      { a: [edge('x1', 2), edge('x2', 1)], b: [edge('y', 4)] },
    ],
    [
      'one of them is deleted',
      { a: [edge('x', 1), edge('z', 9)], b: [edge('y', 2)] },
      { a: [edge('z', 9)], b: [edge('y', 1)] },
    ],
  ])('are applied: %s', async (_, before, after) => {
    const { edgewise } = await createChanged(before, after);
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('are applied if a user has freed one of the values already', async () => {
    const workspace = await createSwap();
    const { edgewise, server } = workspace;
    const found = server.snapshot().resources['TCPEdge'] ?? [];
    const id = found.find(({ hostports }) => JSON.stringify(hostports).includes('20001'))?.['id'];
    await sendByHand(workspace, 'PATCH', `/edges/tcp/${id}`, { hostports: [] });
    expect((await edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });
});
