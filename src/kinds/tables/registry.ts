import { assertDefined } from '../../model/errors.ts';
import { isSubmitted, type Kind, type SubmittedKind } from '../kind.ts';
import { ABUSE_REPORT } from './abuse-report.ts';
import { AGENT_INGRESS } from './agent-ingress.ts';
import { CREDENTIAL } from './credential.ts';
import { HTTPS_EDGE, HTTPS_EDGE_ROUTE } from './https-edge.ts';
import { IP_RESTRICTION } from './ip-restriction.ts';
import { SSH_USER_CERTIFICATE } from './ssh-user-certificate.ts';
import { TCP_EDGE } from './tcp-edge.ts';
import { WEIGHTED_BACKEND } from './weighted-backend.ts';

/**
 * Every kind of the API. To add a kind, add its file and a line here.
 *
 * @example
 * const names = KINDS.map(({ name }) => name);
 */
export const KINDS: readonly Kind[] = [
  TCP_EDGE,
  WEIGHTED_BACKEND,
  IP_RESTRICTION,
  AGENT_INGRESS,
  CREDENTIAL,
  SSH_USER_CERTIFICATE,
  HTTPS_EDGE,
  HTTPS_EDGE_ROUTE,
  ABUSE_REPORT,
];

/** The kinds whose resources can have the mark. */
export const OWNED_KINDS: readonly Kind[] = KINDS.filter(({ role }) => role === 'owned');

/** The kinds that attach modules to an existing resource. */
export const ATTACHED_KINDS: readonly Kind[] = KINDS.filter(({ role }) => role === 'attached');

/** The kinds that a user submits and the service decides about. */
export const SUBMITTED_KINDS: readonly SubmittedKind[] = KINDS.filter(isSubmitted);

/** The kinds of resources that a manifest can describe. `External`, `Stack` and `List` are not resources. */
export const MANIFEST_KINDS: readonly Kind[] = [...OWNED_KINDS, ...ATTACHED_KINDS];

/** Joins the titles of the owned kinds that `isMeant` selects: `credential or SSH user certificate`. */
export function formatKindTitles(isMeant: (kind: Kind) => boolean): string {
  return OWNED_KINDS.filter(isMeant)
    .map(({ title }) => title)
    .join(' or ');
}

const BY_NAME = new Map(KINDS.map((kind) => [kind.name, kind]));

/**
 * @example
 * const fields = Object.keys(findKind('TCPEdge')?.fields ?? {});
 */
export function findKind(name: string): Kind | undefined {
  return BY_NAME.get(name);
}

/** Returns the kind with this name, which was checked before. Throws `InvariantError` if there is no such kind. */
export function getKind(name: string): Kind {
  return assertDefined(BY_NAME.get(name), `kind ${name}`);
}
