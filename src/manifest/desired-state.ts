import { findKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { hashSha256, isJsonObject, type JsonObject } from '../model/json.ts';
import type { LocateInDocument } from '../model/place.ts';
import type { PolicyDocument, PolicyDocuments, PolicyTestDocument } from '../model/policy.ts';
import type { DesiredResource, DesiredState, FieldPath } from '../model/state.ts';
import { POLICY_SPEC_SCHEMA, POLICY_TEST_SPEC_SCHEMA } from '../schemas/policy.ts';
import { getDocumentLabelsAndAnnotations } from './document-header.ts';
import { createEditableManifest } from './edit-document.ts';
import { type DocumentSource, findRange, locate, type ManifestDocument } from './finding.ts';
import { readLifecycle } from './lifecycle.ts';
import type { ResolvedReferences } from './references.ts';
import type { Source } from './source.ts';
import { readStackSettings } from './stack-settings.ts';

/** What documents without errors say: the desired state, and the policies. */

/** Creates the desired state of documents that have no error. */
export function createDesiredState(
  sources: readonly Source[],
  documents: readonly ManifestDocument[],
  references: ResolvedReferences,
): DesiredState {
  const { externals, crossStackReferences } = references;
  const resources = documents.flatMap((document): [Address, DesiredResource][] => {
    const { address, kind } = document;
    if (address === undefined || findKind(kind) === undefined) return [];
    return [[address, createDesiredResource(document, references, address)]];
  });
  return {
    stack: readStackSettings(documents.find(({ kind }) => kind === 'Stack')),
    resources: new Map(resources),
    externals,
    locateExternal: (address) => {
      const document = documents.find((one) => one.address === address);
      return document && locate(document.source, ['spec', 'id']);
    },
    ...(crossStackReferences.size > 0 && { crossStackReferences }),
    inputs: sources.map(({ file, bytes }) => ({ file, digest: hashSha256(bytes, 'hex') })),
  };
}

function createDesiredResource(
  document: ManifestDocument,
  { specs, ignored }: ResolvedReferences,
  address: Address,
): DesiredResource {
  const { kind, name, source, value } = document;
  return {
    address,
    kind,
    name,
    spec: specs.get(document) ?? {},
    written: isJsonObject(value['spec']) ? value['spec'] : {},
    lifecycle: readLifecycle(document, ignored.get(document) ?? []),
    ...getDocumentLabelsAndAnnotations(value),
    allow: readAllow(value),
    locate: (path = [], part = undefined) => locate(source, path, 'value', part),
    readSource: (path) => readRange(source, path),
    manifest: createEditableManifest(document),
  };
}

function readRange(source: DocumentSource, path: FieldPath): string {
  const { start, end } = findRange(source, path, 'value');
  return source.text.text.slice(start, end);
}

function readAllow({ lint }: JsonObject): DesiredResource['allow'] {
  const allow = isJsonObject(lint) ? lint['allow'] : undefined;
  return isJsonObject(allow) ? (allow as DesiredResource['allow']) : {}; // its schema has checked it
}

/** Parses the policies and policy tests whose fields are valid, also if other documents are invalid. */
export function parsePolicyDocuments(documents: readonly ManifestDocument[]): PolicyDocuments {
  const valid = documents.filter(({ isValid }) => isValid);
  return {
    policies: valid.filter(({ kind }) => kind === 'Policy').map(parsePolicy),
    tests: valid.filter(({ kind }) => kind === 'PolicyTest').map(parseTest),
  };
}

function parsePolicy(document: ManifestDocument): PolicyDocument {
  const spec = POLICY_SPEC_SCHEMA.parse(document.value['spec']);
  return { name: document.name, ...spec, locate: createLocate(document) };
}

function parseTest(document: ManifestDocument): PolicyTestDocument {
  const { policy, cases } = POLICY_TEST_SPEC_SCHEMA.parse(document.value['spec']);
  // The cast is safe: the schema leaves the values of a case untyped, and values parsed from YAML are JSON.
  return {
    name: document.name,
    policy,
    cases: cases as PolicyTestDocument['cases'],
    locate: createLocate(document),
  };
}

function createLocate({ source }: ManifestDocument): LocateInDocument {
  return (path = [], part = undefined) => locate(source, path, 'value', part);
}
