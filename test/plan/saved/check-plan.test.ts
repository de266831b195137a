import { describe, expect, it } from 'vitest';
import { assertDefined } from '../../../src/model/errors.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { listExternalIds } from '../../laws/arbitrary-values.ts';
import { findOwned } from '../../laws/behind-the-back.ts';
import { dieAt } from '../../laws/dying-transport.ts';
import type { TestResource } from '../../laws/stack.ts';
import { listTouched, World } from '../../laws/world.ts';

const LIFECYCLE = { protect: false, ignore: [] } as const;
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

describe('a saved plan', () => {
  it('of one module of a route is not stale because of the others', async () => {
    const world = new World();
    await world.migrate([route({ request_headers: {}, user_agent_filter: {} })]);
    const plan = await world.plan([route({ request_headers: { remove: ['x-debug'] }, user_agent_filter: {} })]);
    expect((await world.check(plan)).stale).toEqual([]);
    await world.call('PUT', `${routePath}/user_agent_filter`, { deny: ['bot'] });
    expect((await world.check(plan)).stale).toEqual([]);
    await world.call('PUT', `${routePath}/request_headers`, { remove: ['x-other'] });
    expect((await world.check(plan)).stale).toMatchObject([{ address: 'HTTPSEdgeRoute/a', field: 'request_headers' }]);
  });

  it('that deletes first goes on when it broke off after the delete', async () => {
    const world = new World({ concurrency: 1 });
    await world.migrate([restriction('a', 'api'), restriction('b', 'endpoints')]);
    const swapped = [restriction('a', 'endpoints'), restriction('b', 'api')];
    const plan = await world.plan(swapped);
    world.interpose(dieAt({ request: 2, when: 'before' }));
    await world.apply(plan);
    world.interpose();
    expect(world.resources()['IPRestriction']).toHaveLength(1);
    await resume(world, plan);
    expect(listTouched(await world.plan(swapped))).toEqual([]);
  });

  it('that creates first is stale when what it would replace is gone', async () => {
    const world = new World();
    await world.migrate([certificate(['alice'])]);
    const plan = await world.plan([certificate(['bob'])]);
    const { id } = assertDefined(findOwned(world, 'SSHUserCertificate', 'a'), 'the certificate');
    await world.call('DELETE', `/ssh_user_certificates/${id}`);
    expect((await world.check(plan)).stale).toEqual([
      { address: 'SSHUserCertificate/a', message: `${id} no longer exists` },
    ]);
  });

  it('that replaces what has a duplicate does not take the duplicate for the new one', async () => {
    const world = new World();
    await world.migrate([certificate(['alice'])]);
    const { metadata = '' } = assertDefined(findOwned(world, 'SSHUserCertificate', 'a'), 'the certificate');
    await world.call('POST', '/ssh_user_certificates', { ...certificate(['alice']).spec, metadata });
    const plan = await world.plan([certificate(['bob'])]);
    expect(plan.changes.map(({ action }) => action)).toEqual(['delete', 'replace']);
    await resume(world, plan);
    expect(listTouched(await world.plan([certificate(['bob'])]))).toEqual([]);
  });

  it('is stale when what it would create exists already, and is not protected as it would be', async () => {
    const world = new World();
    const wanted = { ...certificate(['alice']), lifecycle: { protect: true, ignore: [] } };
    const plan = await world.plan([wanted]);
    await world.migrate([certificate(['alice'])]);
    expect((await world.check(plan)).stale).toMatchObject([{ message: expect.stringContaining('its mark differs') }]);
  });
});

const routePath = `/edges/https/edghts_${'1'.repeat(27)}/routes/edghtsrt_${'1'.repeat(27)}`;

function route(modules: TestResource['spec']): TestResource {
  const ids = { edge_id: `edghts_${'1'.repeat(27)}`, id: `edghtsrt_${'1'.repeat(27)}` };
  return { kind: 'HTTPSEdgeRoute', name: 'a', spec: { ...ids, ...modules }, lifecycle: LIFECYCLE };
}

function restriction(name: string, type: string): TestResource {
  return { kind: 'IPRestriction', name, spec: { type, ip_policy_ids: listExternalIds('ipp') }, lifecycle: LIFECYCLE };
}

function certificate(principals: readonly string[]): TestResource {
  const spec = { public_key: KEY, ssh_certificate_authority_id: 'sshca_bastion', principals };
  return { kind: 'SSHUserCertificate', name: 'a', spec, lifecycle: LIFECYCLE };
}

async function resume(world: World, plan: Plan): Promise<void> {
  const { stale, ...known } = await world.check(plan);
  expect(stale).toEqual([]);
  const { outcomes } = await world.apply(plan, known);
  expect(outcomes.filter(({ outcome }) => outcome !== 'applied')).toEqual([]);
}
