import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { FaultRule, ServerFaults } from '../../src/model/server-faults.ts';
import { type Server, withFaults } from '../../src/server/index.ts';
import { listExternalIds } from '../laws/known-ids.ts';
import type { SeededRandom } from './random.ts';

/** The constant behaviours of a service, which are not faults: a client has to handle them. */
export interface ServiceBehaviours {
  /** Leaves out empty, null and false values, of some resources and in some responses, of the kinds that stacks own. */
  readonly leavesOut: readonly FaultRule[];
  /** Refuses to continue a list at a deleted resource. */
  readonly refusesCursors: readonly FaultRule[];
}

export function chooseBehaviours(chance: SeededRandom): ServiceBehaviours {
  const share = chance.pick([0.3, 0.6, 1]);
  const code = chance.pick([400, 404] as const);
  const leavesOut = OWNED_KINDS.map(({ path }): FaultRule => ({ on: `* ${path}*`, fault: 'left_out', share }));
  return {
    leavesOut: chance.isLucky(0.5) ? leavesOut : [],
    refusesCursors: chance.isLucky(0.5) ? [{ on: 'GET *', fault: 'gone_cursor', code }] : [],
  };
}

/** A server with these behaviours. Another seed leaves out other fields. */
export function withBehaviours(server: Server, { leavesOut, refusesCursors }: ServiceBehaviours, seed: number): Server {
  const toFaults = (rules: readonly FaultRule[]): ServerFaults => ({ seed, rules });
  return withFaults(withFaults(server, toFaults(refusesCursors)), toFaults(leavesOut));
}

export const WITNESS = 'witness';

/**
 * Lists resources of another user with every field of a kind, by which a service that leaves out empty values shows that it knows the field. So
 * an emptied field cannot be hidden.
 */
export function listCompleteResources(): readonly { readonly path: string; readonly body: JsonObject }[] {
  const [backend, policy, authority] = ['bkdhr', 'ipp', 'sshca'].map((prefix) => listExternalIds(prefix)[0] ?? '');
  const action = { type: 'restrict-ips', config: { allow: ['192.0.2.0/24'] } };
  const rule = { name: WITNESS, expressions: ['conn.geo.country_code == "CH"'], actions: [action] };
  const bodies: Readonly<Record<string, JsonObject>> = {
    TCPEdge: {
      hostports: ['9.tcp.example.net:29999'],
      backend: { backend_id: backend ?? '' },
      ip_restriction: { ip_policy_ids: [policy ?? ''] },
      policy: { inbound: [rule], outbound: [rule] },
    },
    WeightedBackend: { backends: { [backend ?? '']: 1 } },
    AgentIngress: { domain: 'witness.example.org', certificate_management_policy: {} },
    Credential: { acl: ['bind:witness.example.org'] },
    SSHUserCertificate: {
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
      ssh_certificate_authority_id: authority ?? '',
      principals: [WITNESS],
      critical_options: { 'force-command': '/bin/true' },
      extensions: { 'permit-pty': '' },
    },
  };
  return OWNED_KINDS.flatMap(({ name, path }) => {
    const body = bodies[name];
    return body === undefined ? [] : [{ path, body: { ...body, description: WITNESS } }];
  });
}
