import { InvalidArgumentError } from 'commander';
import type { AttachmentRequest, LiveRequest } from '../../client/read-live.ts';
import { isModule, type Kind, listSpecFields } from '../../kinds/kind.ts';
import { HTTPS_EDGE } from '../../kinds/tables/https-edge.ts';
import { HTTPS_EDGE_ROUTE } from '../../kinds/tables/https-edge-route.ts';
import { OWNED_KINDS } from '../../kinds/tables/registry.ts';
import { suggest } from '../../manifest/suggest.ts';
import { toAddress } from '../../model/address.ts';
import type { Spec } from '../../model/state.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** The ids of a route and of the HTTPS edge that it belongs to. */
export interface HttpsRouteId {
  readonly edge_id: string;
  readonly id: string;
}

/** What an export reads: the kinds named, or all that can be listed, and the modules of the edges and routes named. */
export function toExportRequest(
  names: readonly string[],
  { httpsEdge, httpsRoute }: { readonly httpsEdge: readonly string[]; readonly httpsRoute: readonly HttpsRouteId[] },
): LiveRequest {
  const identified = new Set<string>([
    ...(httpsEdge.length > 0 ? [HTTPS_EDGE.name] : []),
    ...(httpsRoute.length > 0 ? [HTTPS_EDGE_ROUTE.name] : []),
  ]);
  const listed = names.filter((name) => !identified.has(name)).map(findListedKind);
  const attachments = [
    ...httpsEdge.map((id) => toAttachment(HTTPS_EDGE, { id })),
    ...httpsRoute.map((ids) => toAttachment(HTTPS_EDGE_ROUTE, { ...ids })),
  ];
  return {
    kinds: OWNED_KINDS.filter((kind) => names.length === 0 || listed.includes(kind)),
    attachments: withoutTwins(attachments),
  };
}

/** The id of an HTTPS edge. Throws `InvalidArgumentError` when it cannot be one. */
export function parseHttpsEdge(text: string): string {
  if (isIdOf(HTTPS_EDGE, text)) return text;
  throw new InvalidArgumentError('The id of an HTTPS edge is edghts_….');
}

/** The ids of a route. Throws `InvalidArgumentError` when they cannot be. */
export function parseHttpsRoute(text: string): HttpsRouteId {
  const [edge = '', id = '', ...rest] = text.split('/');
  if (isIdOf(HTTPS_EDGE, edge) && isIdOf(HTTPS_EDGE_ROUTE, id) && rest.length === 0) return { edge_id: edge, id };
  throw new InvalidArgumentError('A route is named with its HTTPS edge: edghts_…/edghtsrt_….');
}

function isIdOf({ idPrefix }: Kind, text: string): boolean {
  return new RegExp(`^${idPrefix}_[^/\\s]+$`).test(text);
}

function findListedKind(name: string): Kind {
  const kind = OWNED_KINDS.find((candidate) => candidate.name === name);
  if (kind !== undefined) return kind;
  const known = OWNED_KINDS.map((candidate) => candidate.name);
  const nearest = suggest(name, known);
  const isUnlisted = name === HTTPS_EDGE.name || name === HTTPS_EDGE_ROUTE.name;
  const hint = nearest === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${nearest}?`;
  throw new CommandError(isUnlisted ? `The interface has no list of ${name}.` : `There is no kind ${name} to export.`, {
    exitCode: EXIT.invalid,
    remedy: isUnlisted ? 'Name each: --https-edge ID, --https-route EDGE/ROUTE.' : hint,
  });
}

function toAttachment(kind: Kind, ids: Spec): AttachmentRequest {
  const modules = listSpecFields(kind).filter(([, field]) => isModule(field));
  return { address: toAddress(kind.name, String(ids['id'])), kind, ids, modules: modules.map(([name]) => name) };
}

function withoutTwins(attachments: readonly AttachmentRequest[]): readonly AttachmentRequest[] {
  return [...new Map(attachments.map((attachment) => [attachment.address, attachment])).values()];
}
