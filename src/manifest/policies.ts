import type { LocatePart, PolicyDocument, PolicyDocuments, PolicyTestDocument } from '../model/policy.ts';
import { toPolicySpecSchema, toPolicyTestSpecSchema } from '../schemas/policy.ts';
import type { Locator } from './locate.ts';
import { type ManifestDocument, toPlace } from './problem.ts';

/** The policies among documents, and their cases: those whose fields conform to their kind. */
export function toPolicyDocuments(documents: readonly ManifestDocument[], locator: Locator): PolicyDocuments {
  const valid = documents.filter(({ isValid }) => isValid);
  return {
    policies: valid.filter(({ kind }) => kind === 'Policy').map((document) => toPolicy(document, locator)),
    tests: valid.filter(({ kind }) => kind === 'PolicyTest').map((document) => toTest(document, locator)),
  };
}

function toPolicy(document: ManifestDocument, locator: Locator): PolicyDocument {
  const { match, ...spec } = toPolicySpecSchema().parse(document.value['spec']);
  const { kinds, actions, danger, labels, stacks } = match;
  const matched = {
    ...(kinds !== undefined && { kinds }),
    ...(actions !== undefined && { actions }),
    ...(danger !== undefined && { danger }),
    ...(labels !== undefined && { labels }),
    ...(stacks !== undefined && { stacks }),
  };
  return { name: document.name, match: matched, ...spec, locate: toLocate(document, locator) };
}

function toTest(document: ManifestDocument, locator: Locator): PolicyTestDocument {
  const { policy, cases } = toPolicyTestSpecSchema().parse(document.value['spec']);
  // The schema lets any field of a change through, and what was parsed from YAML is JSON.
  return {
    name: document.name,
    policy,
    cases: cases as PolicyTestDocument['cases'],
    locate: toLocate(document, locator),
  };
}

function toLocate({ position }: ManifestDocument, locator: Locator): LocatePart {
  return (path = [], part = undefined) => toPlace({ position, path, target: 'value' }, locator, part);
}
