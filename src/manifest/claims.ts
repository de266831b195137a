import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, toAddress } from '../model/address.ts';
import { toPathText } from '../model/field-path.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { toManifestPath } from './field-files.ts';
import type { DocumentIndex, DocumentProblem, ManifestDocument, Place } from './problem.ts';

/** Documents that describe an address that another describes already. */
export function listDuplicates(
  documents: readonly ManifestDocument[],
  index: DocumentIndex,
): readonly DocumentProblem[] {
  return documents.flatMap((document): DocumentProblem[] => {
    const first = document.address === undefined ? undefined : index.get(document.address);
    if (first === undefined || first === document || document.kind === 'Stack') return [];
    const problem = {
      code: 'duplicate-address',
      message: 'two documents have this address',
      remedy: 'Rename or remove one of them.',
      path: ['metadata', 'name'],
      target: 'value',
      related: [{ message: 'first defined here', place: toNamePlace(first) }],
    } as const;
    return [{ document, problem }];
  });
}

/** Where a document says what it is called. */
export function toNamePlace({ position }: ManifestDocument): Place {
  return { position, path: ['metadata', 'name'], target: 'value' };
}

/** Values that the service gives to one resource of a kind only, and that a second document claims. Specs have their ids resolved. */
export function listDoubleClaims(specs: ReadonlyMap<ManifestDocument, Spec>): readonly DocumentProblem[] {
  const holders = new Map<string, DocumentClaim>();
  return [...specs].flatMap(([document, spec]) =>
    listDocumentClaims(document, spec).flatMap((claim): DocumentProblem[] => {
      const first = holders.get(claim.key);
      if (first === undefined) holders.set(claim.key, claim);
      return first === undefined || first.document === document ? [] : [toDoubleClaim(claim, first)];
    }),
  );
}

/** A claim that a document makes, in its spec or by a setting of its lifecycle. Its path is from the start of the document. */
interface DocumentClaim extends Claim {
  readonly document: ManifestDocument;
}

function listDocumentClaims(document: ManifestDocument, spec: Spec): readonly DocumentClaim[] {
  const kind = findKind(document.kind);
  if (kind === undefined) return [];
  const inSpec = listClaims(kind, spec).map((claim) => ({ ...claim, document, path: ['spec', ...claim.path] }));
  if (document.value['lifecycle'] === undefined) return inSpec;
  return [
    ...inSpec,
    ...listAdoptions(document, kind),
    ...listRenames(document, kind),
    ...listWrittenFiles(document, kind),
  ];
}

/** Only one document can adopt an existing resource. */
function listAdoptions(document: ManifestDocument, kind: Kind): readonly DocumentClaim[] {
  return listLifecycleClaims(document, 'adopt', (id) => ({ value: id, key: `${kind.name} lifecycle.adopt ${id}` }));
}

/** Only one document can be the renamed one of a former name. */
function listRenames(document: ManifestDocument, kind: Kind): readonly DocumentClaim[] {
  const toClaim = (name: string): Pick<Claim, 'value' | 'key'> => ({
    value: name,
    key: `${kind.name} lifecycle.renamed_from ${name}`,
  });
  return listLifecycleClaims(document, 'renamed_from', toClaim, ({ stack, name }) => {
    return typeof stack === 'string' && typeof name === 'string' ? `${name} of the stack ${stack}` : undefined;
  });
}

/** Documents with a `renamed_from` that is still the name of another document. */
export function listStandingNames(
  documents: readonly ManifestDocument[],
  index: DocumentIndex,
): readonly DocumentProblem[] {
  return documents.flatMap((document): DocumentProblem[] => {
    const before = toFormerAddress(document);
    const holder = before === undefined ? undefined : index.get(before);
    if (before === undefined || holder === undefined) return [];
    if (holder !== document && toFormerAddress(holder) !== undefined) return [];
    const message =
      holder === document
        ? 'lifecycle.renamed_from is the name that it has now'
        : `lifecycle.renamed_from names ${before}, which another document still describes`;
    const problem = {
      code: 'renamed-from-standing',
      message,
      remedy: 'Remove the line or the other document. If that one was renamed too, add lifecycle.renamed_from to it.',
      path: ['lifecycle', 'renamed_from'],
      target: 'value',
      related: holder === document ? [] : [{ message: 'described here', place: toNamePlace(holder) }],
    } as const;
    return [{ document, problem }];
  });
}

function toFormerAddress({ value, kind }: ManifestDocument): Address | undefined {
  const name = isJsonObject(value['lifecycle']) ? value['lifecycle']['renamed_from'] : undefined;
  return typeof name === 'string' ? toAddress(kind, name) : undefined;
}

/** Only one document can write a file. */
function listWrittenFiles(document: ManifestDocument, kind: Kind): readonly DocumentClaim[] {
  const paths = Object.entries(kind.lifecycle).filter(([, { type }]) => type.type === 'text' && type.isPath);
  return paths.flatMap(([name]) =>
    listLifecycleClaims(document, name, (path) => {
      const file = toManifestPath(document.position.source.file, path);
      return { value: file, key: `file ${file}` };
    }),
  );
}

function listLifecycleClaims(
  document: ManifestDocument,
  name: string,
  toClaim: (value: string) => Pick<Claim, 'value' | 'key'>,
  toText: (value: JsonObject) => string | undefined = () => undefined,
): readonly DocumentClaim[] {
  const { lifecycle } = document.value;
  const given = isJsonObject(lifecycle) ? lifecycle[name] : undefined;
  const stated = given !== undefined && isJsonObject(given) ? toText(given) : given;
  if (typeof stated !== 'string') return [];
  const { value, key } = toClaim(stated);
  return [{ document, field: name, path: ['lifecycle', name], given: value, value, key }];
}

function toDoubleClaim({ document, path, given }: DocumentClaim, first: DocumentClaim): DocumentProblem {
  const isAttachment = path[0] === 'spec' && findKind(document.kind)?.role === 'attached';
  const message = isAttachment
    ? `${toPathText(path)} is ${given}, to which ${first.document.address} already attaches modules`
    : `${toPathText(path)} claims ${given}, which ${first.document.address} already claims`;
  return {
    document,
    problem: {
      code: 'duplicate-claim',
      message,
      remedy: isAttachment ? 'Put the modules into one document.' : 'Remove it from one of them.',
      path,
      target: 'value',
      related: [
        {
          message: 'first claimed here',
          place: { position: first.document.position, path: first.path, target: 'value' },
        },
      ],
    },
  };
}
