import { resolve } from 'node:path';
import { createFieldFileReader, loadManifests, type ManifestBytes } from '../manifest/load.ts';
import { validateManifests } from '../manifest/validate.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { PolicyDocument, PolicyDocuments } from '../model/policy.ts';
import type { Policy } from '../policy/policy.ts';
import type { Surroundings } from './surroundings.ts';

/** Policies that can be evaluated, and what is wrong with the others. */
export interface LoadedPolicies {
  readonly policies: readonly Policy[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The policies among the manifests of a run, and where others are. */
export interface PolicySources {
  readonly documents: readonly PolicyDocument[];
  /** The files that those were read from, which may be named a second time. */
  readonly sources: readonly ManifestBytes[];
  readonly paths: readonly string[];
}

/** Reads policies, those among manifests and those kept apart. CEL is loaded only when there are any. */
export async function loadPolicies(
  { documents, sources, paths }: PolicySources,
  context: Surroundings,
): Promise<LoadedPolicies> {
  const apart = await loadPolicyDocuments(paths, { context, seen: sources.map(({ file }) => file) });
  const all = [...documents, ...apart.rules.policies];
  const found = [...apart.diagnostics, ...listNamesakes(all)];
  if (all.length === 0) return { policies: [], diagnostics: found };
  const { readPolicies } = await import('../policy/read-policies.ts');
  const { policies, diagnostics } = readPolicies(all);
  return { policies, diagnostics: [...found, ...diagnostics] };
}

/** How documents of policies are read. */
interface DocumentOptions {
  readonly context: Surroundings;
  /** Files that were read before. */
  readonly seen?: readonly string[];
  /** Other documents may stand among them. */
  readonly isMixed?: boolean;
}

/** The documents in files and folders of policies. A file that was read before is passed over, and a document of another kind is a mistake. */
export async function loadPolicyDocuments(
  paths: readonly string[],
  { context, seen = [], isMixed = false }: DocumentOptions,
): Promise<{ readonly rules: PolicyDocuments; readonly diagnostics: readonly Diagnostic[] }> {
  if (paths.length === 0) return { rules: { policies: [], tests: [] }, diagnostics: [] };
  const { cwd, env, readStdin, onInput = () => undefined } = context;
  const loaded = await loadManifests(paths, { cwd, readStdin });
  const before = new Set(seen.map((file) => resolve(cwd, file)));
  const sources = loaded.sources.filter(({ file }) => !before.has(resolve(cwd, file)));
  for (const file of [...paths, ...sources.map((source) => source.file)]) onInput(file);
  const readFile = createFieldFileReader({ cwd, onInput });
  const { rules, diagnostics, state } = validateManifests(sources, { env, requireStack: false, readFile });
  const others = [...(state?.resources.values() ?? [])].map(
    ({ kind, address, locate }): Diagnostic => ({
      code: 'unknown-kind',
      severity: 'error',
      message: `${address}: ${kind} is not a kind of policies`,
      remedy: 'Move the document to the manifests. A path of policies has Policy and PolicyTest documents only.',
      address,
      place: locate(),
    }),
  );
  const found = [...loaded.diagnostics, ...diagnostics, ...(isMixed ? [] : others)];
  return { rules, diagnostics: found };
}

/** Policies of one name in different places: nobody could tell which of them a case, or a report, is about. */
function listNamesakes(documents: readonly PolicyDocument[]): readonly Diagnostic[] {
  const first = new Map<string, PolicyDocument>();
  return documents.flatMap((document): Diagnostic[] => {
    const before = first.get(document.name);
    if (before === undefined) first.set(document.name, document);
    if (before === undefined) return [];
    const address = `Policy/${document.name}`;
    return [
      {
        code: 'duplicate-address',
        severity: 'error',
        message: `${address}: two documents have this address`,
        remedy: 'Rename or remove one of them.',
        address,
        place: document.locate(['metadata', 'name']),
        related: [{ message: 'first defined here', place: before.locate(['metadata', 'name']) }],
      },
    ];
  });
}
