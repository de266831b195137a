import { onceForEachKind } from '../kinds/kind.ts';
import { ABUSE_REPORT } from '../kinds/tables/abuse-report.ts';
import { AGENT_INGRESS } from '../kinds/tables/agent-ingress.ts';
import { CREDENTIAL } from '../kinds/tables/credential.ts';
import { SSH_USER_CERTIFICATE } from '../kinds/tables/ssh-user-certificate.ts';
import { WEIGHTED_BACKEND } from '../kinds/tables/weighted-backend.ts';
import { ABUSE_REPORT_BEHAVIOUR } from './abuse-report-behaviour.ts';
import { AGENT_INGRESS_BEHAVIOUR } from './agent-ingress-behaviour.ts';
import type { Behaviour } from './behaviour.ts';
import { CREDENTIAL_BEHAVIOUR } from './credential-behaviour.ts';
import { createDefaultBehaviour } from './default-behaviour.ts';
import { SSH_CERTIFICATE_BEHAVIOUR } from './ssh-certificate-behaviour.ts';

/** A PATCH that leaves `backends` out keeps them, and its response shows none. Source: section 4.8 of the interface. */
const WEIGHTED_BACKEND_BEHAVIOUR: Behaviour = {
  showUpdate: (document, given) => ('backends' in given ? document : { ...document, backends: {} }),
};

const BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map([
  [ABUSE_REPORT.name, ABUSE_REPORT_BEHAVIOUR],
  [AGENT_INGRESS.name, AGENT_INGRESS_BEHAVIOUR],
  [CREDENTIAL.name, CREDENTIAL_BEHAVIOUR],
  [SSH_USER_CERTIFICATE.name, SSH_CERTIFICATE_BEHAVIOUR],
  [WEIGHTED_BACKEND.name, WEIGHTED_BACKEND_BEHAVIOUR],
]);

/** What the server does for a kind: what it does for every kind, but for what is special about this one. */
export const getBehaviour = onceForEachKind(
  (kind): Behaviour => ({ ...createDefaultBehaviour(kind), ...BEHAVIOURS.get(kind.name) }),
);
