import { describe } from 'vitest';
import { describeAbuseReports } from './contract-abuse-report.ts';
import { describeAgentIngresses } from './contract-agent-ingress.ts';
import { describeCredentials } from './contract-credential.ts';
import { describeHttpsModules } from './contract-https-modules.ts';
import { describeIpRestrictions } from './contract-ip-restriction.ts';
import { describeSshCertificates } from './contract-ssh-certificate.ts';
import { openContractTarget } from './contract-target.ts';
import { describeTcpEdges } from './contract-tcp-edge.ts';
import { describeWeightedBackends } from './contract-weighted-backend.ts';

/** What any service with this interface does. What only the bundled server does is claimed in the other tests of this folder. */
describe('the interface', () => {
  const target = openContractTarget(process.env);
  describeTcpEdges(target);
  describeWeightedBackends(target);
  describeIpRestrictions(target);
  describeAgentIngresses(target);
  describeCredentials(target);
  describeSshCertificates(target);
  describeHttpsModules(target);
  describeAbuseReports(target);
});
