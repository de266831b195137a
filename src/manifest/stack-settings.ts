import { API_VERSION } from '../kinds/document-schema.ts';
import { toStackSpecSchema } from '../kinds/stack-schema.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import type { StackSettings } from '../model/stack.ts';
import { toNamePlace } from './claims.ts';
import type { DocumentProblem, ManifestDocument } from './problem.ts';

/** The settings that a valid `Stack` document gives, its defaults filled in. Without a document: defaults, and no name. */
export function toStackSettings(name: string, spec: Json = {}): StackSettings {
  const { api, guard, tokens } = toStackSpecSchema().parse(spec);
  return {
    name,
    api: {
      baseUrl: api.base_url,
      versionHeader: api.version_header,
      pageSize: api.page_size,
      concurrency: api.concurrency,
    },
    guard: { maxDeletes: guard.max_deletes, maxDeleteShare: guard.max_delete_share },
    tokens: tokens?.default,
  };
}

/** All `Stack` documents but the first, as problems. */
export function listSurplusStacks([first, ...others]: readonly ManifestDocument[]): readonly DocumentProblem[] {
  if (first === undefined) return [];
  return others.map((document) => ({
    document,
    problem: {
      code: 'several-stacks',
      message: 'this is a second Stack, and a run has one',
      remedy: 'Remove one of them, or name the paths of one stack only.',
      path: ['metadata', 'name'],
      target: 'value',
      related: [{ message: 'the first Stack is here', place: toNamePlace(first) }],
    },
  }));
}

/** Says which lines are missing. */
export const NO_STACK: Diagnostic = {
  code: 'no-stack',
  severity: 'error',
  message: 'no Stack document says what these manifests are called together',
  remedy: [
    'Add these lines to one of the files, with a name that no other set of manifests has:',
    '---',
    `apiVersion: ${API_VERSION}`,
    'kind: Stack',
    'metadata:',
    '  name: production',
  ].join('\n'),
};
