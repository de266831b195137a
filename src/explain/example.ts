import { findKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { renderPlainYaml } from '../manifest/render-document.ts';
import type { JsonObject } from '../model/json.ts';
import { DOCUMENT_KINDS, MANIFEST_API_VERSION } from '../schemas/document.ts';

/** Whole manifests, one a kind: `edgewise explain KIND --example`, and the reference. Those of resources come from the tables. */

/** Finds the example of a kind, as YAML. It validates as it is. */
export function findExampleManifest(kind: string): string | undefined {
  if (!DOCUMENT_KINDS.includes(kind)) return undefined;
  return renderPlainYaml(createExample(kind));
}

function createExample(kind: string): JsonObject {
  const table = findKind(kind);
  if (table !== undefined) return createDocument(kind, 'example', table.example);
  if (kind === 'List') return { apiVersion: 'v1', kind, items: [createExample('External')] };
  return EXAMPLES[kind] ?? {};
}

function createDocument(kind: string, name: string, parts: JsonObject): JsonObject {
  return { apiVersion: MANIFEST_API_VERSION, kind, metadata: { name }, ...parts };
}

const POLICY = 'teams-are-labelled';

/** The examples of kinds that are not resources. */
const EXAMPLES: Readonly<Record<string, JsonObject>> = {
  External: createDocument('External', 'office', { spec: { id: 'ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk' } }),
  Stack: createDocument('Stack', 'production', {
    spec: {
      api: { base_url: 'https://api.example.com', rate_limit: '120/60s' },
      team_label: 'team',
      guard: { max_deletes: 5, max_delete_share: 0.3 },
      tokens: { default: { directory: 'tokens' } },
      lint: { 'no-backend': 'error' },
    },
  }),
  Defaults: {
    apiVersion: MANIFEST_API_VERSION,
    kind: 'Defaults',
    spec: { api: { base_url: 'https://api.example.com' }, team_label: 'team' },
  },
  Policy: createDocument('Policy', POLICY, {
    spec: {
      match: { actions: ['create', 'update'] },
      require: '"team" in labels',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a message of a policy has its expressions in it
      message: '${change.address} has no label team.',
      severity: 'error',
    },
  }),
  PolicyTest: createDocument('PolicyTest', POLICY, {
    spec: {
      policy: POLICY,
      cases: [
        {
          name: 'a resource without a label is refused',
          given: { change: { kind: OWNED_KINDS[0]?.name ?? '', action: 'create' }, labels: {} },
          expect: 'refuse',
        },
      ],
    },
  }),
};
