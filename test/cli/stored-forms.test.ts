import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../src/model/server-faults.ts';
import { withFaults } from '../../src/server/index.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from './workspace.ts';

/** Services that store and show values in forms of their own. */

const EDGE_ID = 'edghts_2k9XLTJrEKpUhfwyWqZzQNvMbcA';
const ROUTE_ID = 'edghtsrt_2k9XLTJrEKpUhfwyWqZzQNvMbcA';

function toRoute(modules: object): string {
  return `${STACK}${toManifest('HTTPSEdgeRoute', 'api', { edge_id: EDGE_ID, id: ROUTE_ID, ...modules })}`;
}

/** Runs command lines against the workspace's service with a habit. */
function withHabit({ edgewise, server }: Workspace, habit: Partial<FaultRule>) {
  const { handle: transport } = withFaults(server, { rules: [{ on: '*', fault: 'left_out', ...habit } as FaultRule] }); // a rule with its fault
  return (line: string) => edgewise(line, { transport });
}

describe('a part of a module that the service leaves out', () => {
  it('is written once the manifest sets it, and matches from then on', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'] } }) });
    const edgewise = withHabit(workspace, {});
    expect((await edgewise('apply --yes --no-rehearsal')).exitCode).toBe(0);
    await workspace.write({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'], deny: ['^bad'] } }) });
    const plan = await edgewise('plan');
    expect(plan.stdout).toContain(
      'user_agent_filter.deny: cannot be compared: the service does not show it\n      + "^bad"',
    );
    expect(plan.stdout).toContain('1 to update');
    expect(plan.stdout).not.toContain('Nothing to do');
    expect((await edgewise('apply --yes')).stdout).toContain('1 write applied');
    expect(workspace.server.snapshot().resources['HTTPSEdgeRoute']).toMatchObject([
      { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } },
    ]);
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
  });

  it('is written by each apply if it is never shown, and is neither a change nor drift', async () => {
    const filter = { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } };
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute(filter) });
    const edgewise = withHabit(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    for (let times = 0; times < 2; times += 1)
      expect((await edgewise('apply --yes')).stdout).toContain('1 write applied');
    const plan = await edgewise('plan --detailed-exitcode');
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toContain('user_agent_filter.deny: cannot be compared');
    expect((await edgewise('drift')).exitCode).toBe(0);
    const saved = await edgewise('plan -o plan.json --format json');
    expect(saved.exitCode).toBe(0);
    expect((await edgewise('apply plan.json --yes')).exitCode).toBe(0);
  });

  it('stays alone if the manifest does not ask for it', async () => {
    const workspace = await createWorkspace({
      'edgewise.yaml': toRoute({ user_agent_filter: { allow: ['curl'], deny: [] } }),
    });
    const edgewise = withHabit(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    expect((await edgewise('apply --yes')).stdout).toContain('Nothing to do');
  });

  it('counts as a change beside one that can be compared', async () => {
    const filter = { user_agent_filter: { allow: ['curl'], deny: ['^bad'] } };
    const workspace = await createWorkspace({ 'edgewise.yaml': toRoute(filter) });
    const edgewise = withHabit(workspace, { fields: ['deny'] });
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toRoute({ user_agent_filter: { allow: [], deny: ['^bad'] } }) });
    expect((await edgewise('plan --detailed-exitcode')).exitCode).toBe(2);
    expect((await edgewise('drift')).exitCode).toBe(2);
  });
});

describe('policy rules that the service shows without their empty parts', () => {
  const toEdge = (description: string, more: object = {}): string =>
    `${STACK}${toManifest('TCPEdge', 'a', { description, policy: { inbound: [{ actions: [{ type: 'deny' }] }] } }, more)}`;

  it('are the same rules in the dangers of an update and of an adoption', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': toEdge('one') });
    const edgewise = withHabit(workspace, { fields: ['config', 'expressions', 'name', 'outbound'] });
    await edgewise('apply --yes');
    await workspace.write({ 'edgewise.yaml': toEdge('two') });
    const update = await edgewise('plan');
    expect(update.stdout).toContain('1 to update');
    expect(update.stdout).not.toMatch(/rule|danger/);
    const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    await edgewise('release TCPEdge/a --yes');
    await workspace.write({ 'edgewise.yaml': toEdge('two', { lifecycle: { adopt: edge?.['id'] } }) });
    const adopt = await edgewise('plan');
    expect(adopt.stdout).toContain('1 to adopt');
    expect(adopt.stdout).not.toMatch(/rule|danger/);
  });
});
