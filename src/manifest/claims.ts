import { findConflicts, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isAddress, toAddress } from '../model/address.ts';
import { formatPath } from '../model/field-path.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath, ResourceLifecycle, Spec } from '../model/state.ts';
import { type DocumentFinding, locate, type ManifestDocument } from './finding.ts';

/** A unique value that a manifest claims: for its resource, or because only one manifest can adopt or rename one. */
export interface ManifestClaim {
  /** Two claims exclude each other if their keys are equal. */
  readonly key: string;
  /** Where the value must be unique. Two stacks may have equal names, and equal addresses for ids that are not known. */
  readonly range: 'stack' | 'account';
  /** The position of the value in the manifest. */
  readonly path: FieldPath;
  /** The value as in the manifest. */
  readonly given: string;
}

/** What a manifest says about a resource that exists already. */
type Former = Pick<ResourceLifecycle, 'adopt' | 'renamedFrom' | 'takenFrom'>;

/** Lists the claims of a manifest. References in the spec must be resolved. */
export function listManifestClaims(kind: Kind, spec: Spec, former: Former): readonly ManifestClaim[] {
  const { adopt, renamedFrom, takenFrom } = former;
  const inSpec = listClaims(kind, spec).map(({ key, path, given }): ManifestClaim => {
    return { key, range: isAddress(given) ? 'stack' : 'account', path: ['spec', ...path], given };
  });
  const listFormer = (
    name: string,
    range: ManifestClaim['range'],
    given: string | undefined,
  ): readonly ManifestClaim[] =>
    given === undefined
      ? []
      : [{ key: `${kind.name} lifecycle.${name} ${given}`, range, path: ['lifecycle', name], given }];
  const taken = takenFrom && `${toAddress(kind.name, takenFrom.name)} of the stack ${takenFrom.stack}`;
  return [
    ...inSpec,
    ...listFormer('adopt', 'account', adopt),
    ...listFormer('renamed_from', 'stack', renamedFrom),
    ...listFormer('renamed_from', 'account', taken),
  ];
}

export function readFormer({ value }: Pick<ManifestDocument, 'value'>): Former {
  const lifecycle = isJsonObject(value['lifecycle']) ? value['lifecycle'] : {};
  const { adopt, renamed_from: former } = lifecycle;
  return { adopt: typeof adopt === 'string' ? adopt : undefined, ...readFormerName(former) };
}

function readFormerName(former: Json | undefined): Omit<Former, 'adopt'> {
  if (typeof former === 'string') return { renamedFrom: former };
  if (former === undefined || !isJsonObject(former)) return {};
  const { stack, name } = former;
  return typeof stack === 'string' && typeof name === 'string' ? { takenFrom: { stack, name } } : {};
}

/** Reports unique values that a second document claims. References in the specs must be resolved. */
export function listClaimFindings(specs: readonly (readonly [ManifestDocument, Spec])[]): readonly DocumentFinding[] {
  const claims = specs.flatMap(([document, spec]): readonly DocumentClaim[] => {
    const kind = findKind(document.kind);
    if (kind === undefined) return [];
    return listManifestClaims(kind, spec, readFormer(document)).map((claim) => ({ ...claim, holder: document }));
  });
  return findConflicts(claims).flatMap(([first, ...others]) =>
    others.filter(({ holder }) => holder !== first.holder).map((claim) => createClaimFinding(claim, first)),
  );
}

interface DocumentClaim extends ManifestClaim {
  readonly holder: ManifestDocument;
}

/** Whether a claim is on the resource to which a document attaches modules. */
export function isAttachment(kind: string, { path }: Pick<ManifestClaim, 'path'>): boolean {
  return path[0] === 'spec' && findKind(kind)?.role === 'attached';
}

function createClaimFinding({ holder, path, given }: DocumentClaim, first: DocumentClaim): DocumentFinding {
  const attaches = isAttachment(holder.kind, { path });
  const message = attaches
    ? `${formatPath(path)} is ${given}, to which ${first.holder.address} already attaches modules`
    : `${formatPath(path)} claims ${given}, which ${first.holder.address} already claims`;
  return {
    subject: holder,
    finding: {
      code: 'duplicate-claim',
      message,
      remedy: attaches ? 'Put the modules into one document.' : 'Remove it from one of them.',
      path,
      related: [{ message: 'first claimed here', place: locate(first.holder.source, first.path) }],
    },
  };
}
