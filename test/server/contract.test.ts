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

/** Claims about any service with this API. The other tests of this folder have the claims about the bundled server alone. */
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
