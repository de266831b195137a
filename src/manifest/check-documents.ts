import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isAddress, isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonObject } from '../model/json.ts';
import type { Place } from '../model/place.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { listClaimFindings } from './claims.ts';
import {
  type DocumentFinding,
  type DocumentsByAddress,
  getDocumentFolder,
  locate,
  type ManifestDocument,
} from './finding.ts';
import { listIgnoredMemberFindings, readLifecycle } from './lifecycle.ts';
import { findMetadataFinding } from './metadata.ts';
import type { ResolvedReferences } from './references.ts';
import { findSettingInStack } from './stack-settings.ts';

/** Documents that were each read without looking at the others. */
export interface CheckedDocuments {
  readonly documents: readonly ManifestDocument[];
  /** The first one, with its Defaults. */
  readonly stack: ManifestDocument | undefined;
  readonly index: DocumentsByAddress;
  readonly references: ResolvedReferences;
}

/** Reports what is wrong between documents, and what only their resolved references show. */
export function checkDocuments(checked: CheckedDocuments): readonly DocumentFinding[] {
  return CHECKS.flatMap((check) => check(checked));
}

const CHECKS: readonly ((checked: CheckedDocuments) => readonly DocumentFinding[])[] = [
  listExtraStackFindings,
  listDuplicateDefaultsInFolders,
  listDisabledKindFindings,
  listHandOversWithManifest,
  listDuplicateAddresses,
  listRenamedFromInUseFindings,
  ({ references }) => references.findings,
  listDuplicateClaims,
  ({ references }) => listIgnoredMemberFindings(references.ignored),
  listMetadataFindings,
];

/** Reports a second Defaults in one folder, because it is unclear which of the two is the nearest. */
function listDuplicateDefaultsInFolders({ documents }: CheckedDocuments): readonly DocumentFinding[] {
  const defaults = documents.filter(({ kind }) => kind === 'Defaults');
  return [...Map.groupBy(defaults, getDocumentFolder).values()].flatMap(([first, ...others]) =>
    others.map((subject) => ({
      subject,
      finding: {
        code: 'duplicate-settings',
        message: 'the folder has a second Defaults document',
        remedy: 'Put the settings into one of them, and remove the other.',
        path: ['kind'],
        related: first === undefined ? [] : [{ message: 'the first is here', place: toKindPlace(first) }],
      },
    })),
  );
}

function toKindPlace({ source }: ManifestDocument): Place {
  return locate(source, ['kind']);
}

/** Reports every `Stack` except the first. */
function listExtraStackFindings({ documents }: CheckedDocuments): readonly DocumentFinding[] {
  const [first, ...others] = documents.filter(({ kind }) => kind === 'Stack');
  if (first === undefined) return [];
  return others.map((subject) => ({
    subject,
    finding: {
      code: 'duplicate-settings',
      message: 'a run has one Stack, but this is the second',
      remedy: 'Remove one of them, give the path of one stack only, or run every stack with -R (--recursive).',
      path: ['metadata', 'name'],
      related: [{ message: 'the first Stack is here', place: toNamePlace(first) }],
    },
  }));
}

/** The maximum number of stacks that a message names, so that it stays one sentence. */
const MAX_NAMED = 5;

/**
 * Returns the error for Stacks in several folders, which are separate stacks. All other findings are then meaningless.
 * `undefined` if there is at most one Stack, or if all are in one folder.
 */
export function findStacksInSeveralFoldersError(documents: readonly ManifestDocument[]): Diagnostic | undefined {
  const stacks = documents.filter(({ kind }) => kind === 'Stack');
  const folders = [...new Set(stacks.map(getDocumentFolder))].sort();
  const [first = ''] = folders;
  if (folders.length < 2) return undefined;
  const names = stacks.map((stack) => (isResourceName(stack.name) ? stack.name : getDocumentFolder(stack))).sort();
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return {
    code: 'duplicate-settings',
    severity: 'error',
    message: `these are ${names.length} stacks: ${names.slice(0, MAX_NAMED).join(', ')}${more}`,
    remedy: `Give the path of one, such as ${first}. With -R (--recursive), the commands that have it take all of them.`,
  };
}

/** Reports documents whose kind is not in the Stack's `spec.kinds`. */
function listDisabledKindFindings({ documents, stack }: CheckedDocuments): readonly DocumentFinding[] {
  const { value: kinds, layer } = findSettingInStack('kinds', stack) ?? {};
  if (layer === undefined || !Array.isArray(kinds)) return [];
  const place = locate(layer.document.source, ['spec', 'kinds']);
  return documents
    .filter(({ kind }) => findKind(kind) !== undefined && !kinds.includes(kind))
    .map((document) => ({
      subject: document,
      finding: {
        code: 'unknown-kind',
        message: `spec.kinds of the Stack does not list the kind ${document.kind}`,
        remedy: `Add ${document.kind} to spec.kinds of the Stack, or remove this document.`,
        path: ['kind'],
        related: [{ message: 'the kinds that it uses are here', place }],
      },
    }));
}

/** Reports addresses that a Stack hands over although a document still describes them. */
function listHandOversWithManifest({ index, stack }: CheckedDocuments): readonly DocumentFinding[] {
  const { value: handedOver, layer } = findSettingInStack('handedOver', stack) ?? {};
  if (layer === undefined || !Array.isArray(handedOver)) return [];
  return handedOver.flatMap((address: unknown, at): DocumentFinding[] => {
    const described = typeof address === 'string' && isAddress(address) ? index.get(address) : undefined;
    if (described === undefined) return [];
    const finding = {
      code: 'bad-value',
      message: `spec.handed_over names ${described.address}, which a document still describes`,
      remedy: 'Remove the line; or remove the document, once another stack takes the resource over.',
      path: ['spec', 'handed_over', at],
      related: [{ message: 'described here', place: toNamePlace(described) }],
    } as const;
    return [{ subject: layer.document, finding }];
  });
}

/** The error for manifests without a Stack. Its remedy contains the lines to add. */
export const NO_STACK_DIAGNOSTIC: Diagnostic = {
  code: 'no-stack',
  severity: 'error',
  message: 'the manifests have no Stack document',
  remedy: [
    'Add these lines to one of the files, with a unique name:',
    '---',
    `apiVersion: ${MANIFEST_API_VERSION}`,
    'kind: Stack',
    'metadata:',
    '  name: production',
  ].join('\n'),
};

/** Reports documents that have the same address as an earlier document. */
function listDuplicateAddresses({ documents, index }: CheckedDocuments): readonly DocumentFinding[] {
  return documents.flatMap((document): DocumentFinding[] => {
    const first = findFirst(document, index);
    if (first === undefined || first === document || document.kind === 'Stack') return [];
    const finding = {
      code: 'duplicate-claim',
      message: 'two documents have this address',
      remedy: 'Rename or remove one of them.',
      path: ['metadata', 'name'],
      related: [{ message: 'first defined here', place: toNamePlace(first) }],
    } as const;
    return [{ subject: document, finding }];
  });
}

function toNamePlace({ source }: ManifestDocument): Place {
  return locate(source, ['metadata', 'name']);
}

function findFirst({ address }: ManifestDocument, index: DocumentsByAddress): ManifestDocument | undefined {
  return address === undefined ? undefined : index.get(address);
}

/** Reports unique values that a second document claims. A second document of an address repeats every claim of the first. */
function listDuplicateClaims({ references: { specs }, index }: CheckedDocuments): readonly DocumentFinding[] {
  return listClaimFindings([...specs].filter(([document]) => (findFirst(document, index) ?? document) === document));
}

/** Reports a `renamed_from` that is still the name of a document, even of one that is renamed too. */
function listRenamedFromInUseFindings({ documents, index }: CheckedDocuments): readonly DocumentFinding[] {
  return documents.flatMap((document): DocumentFinding[] => {
    const before = findRenamedFrom(document);
    const holder = before === undefined ? undefined : index.get(before);
    if (before === undefined || holder === undefined) return [];
    const isOwn = holder === document;
    const finding = {
      code: 'duplicate-claim',
      message: isOwn
        ? 'lifecycle.renamed_from is its current name'
        : `lifecycle.renamed_from names ${before}, which another document still describes`,
      remedy: isOwn ? 'Remove the line.' : describeRenameInSteps(document, holder),
      path: ['lifecycle', 'renamed_from'],
      related: isOwn ? [] : [{ message: 'described here', place: toNamePlace(holder) }],
    } as const;
    return [{ subject: document, finding }];
  });
}

/** Names move in steps, because after an interrupted apply two resources would have the same name in their marks. */
function describeRenameInSteps({ address }: ManifestDocument, holder: ManifestDocument): string {
  const former = findRenamedFrom(holder);
  if (former === undefined) return 'Remove the line or the other document.';
  return former === address
    ? 'Names cannot be swapped in one apply. Use a third name in between.'
    : `Rename in two steps: call the other document ${former} again, apply, and then rename it.`;
}

function findRenamedFrom({ value, kind }: ManifestDocument): Address | undefined {
  const name = isJsonObject(value['lifecycle']) ? value['lifecycle']['renamed_from'] : undefined;
  return typeof name === 'string' ? toAddress(kind, name) : undefined;
}

function listMetadataFindings({ documents, references, stack }: CheckedDocuments): readonly DocumentFinding[] {
  const { specs, ignored } = references;
  return documents.flatMap((subject): DocumentFinding[] => {
    const kind = findKind(subject.kind);
    const spec = specs.get(subject) ?? {};
    if (kind === undefined || spec['metadata'] === undefined) return [];
    const { name, isValid } = subject;
    const lifecycle = readLifecycle(subject, ignored.get(subject) ?? []);
    const finding = findMetadataFinding({ kind, stack: stack?.name ?? '', name, spec, lifecycle, isValid });
    return finding === undefined ? [] : [{ subject, finding }];
  });
}
