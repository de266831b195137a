import { getKind } from '../kinds/tables/registry.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { choosePreferredName } from './name-resources.ts';
import type { SensitiveField } from './sensitive-fields.ts';
import { classifyInstance, listMissingResources, type StateResources } from './state-resources.ts';
import type { StateInstance } from './terraform-state.ts';

/** Text for people about one difference between a state, the account and the exported manifests. */
export interface ExportNote {
  /** Without a colon at its end. */
  readonly title: string;
  /** A line for each resource. */
  readonly lines: readonly string[];
  /** Whether the comment above the manifests has it too. */
  readonly isInComment: boolean;
}

interface ExportedNames {
  /** Names of `External` documents, by id: those that were exported, and those that a user may write. */
  readonly externals: ReadonlyMap<string, string>;
  /** Ids whose `External` was exported. */
  readonly exported: ReadonlySet<string>;
  /** Unmanaged resources of the account that the state does not contain. */
  readonly others: readonly LiveResource[];
  /** Fields of the manifests whose values the state calls sensitive. */
  readonly sensitive: readonly SensitiveField[];
}

/** Lists what a user has to know before the manifests replace the state. Leaves out empty notes. */
export function createStateNotes(
  state: StateResources,
  live: LiveState,
  { externals, exported, others, sensitive }: ExportedNames,
): readonly ExportNote[] {
  const managed = [...state.managed.values()];
  const addressById = new Map(state.deposed.map(({ id, instance }) => [id, instance.address]));
  const notes: readonly ExportNote[] = [
    {
      title: 'Warning: sensitive in the state, and now in plain text in a manifest. Look at each before you commit it',
      lines: sensitive.map(({ address, field, stateAddress }) => `${address}: ${field} (${stateAddress})`),
      isInComment: false,
    },
    {
      title: 'In the state, of kinds that no manifest describes. To refer to one, write its External',
      lines: state.otherKinds.map((instance) => describeOtherKind(instance, externals, exported)),
      isInComment: true,
    },
    {
      title: 'In the state, and not in the account. They may have been deleted',
      lines: listMissingResources(state, live).map(({ id, instance: { address } }) => `${address}: ${id}`),
      isInComment: true,
    },
    {
      title: 'Tainted in the state. Terraform would replace them; edgewise keeps them',
      lines: managed.filter(({ instance }) => instance.isTainted).map(({ instance }) => instance.address),
      isInComment: true,
    },
    {
      title: 'Twice in the state. Each has the name of its first address',
      lines: state.repeated.map(({ id, instance: { address } }) => `${address}: ${id}`),
      isInComment: true,
    },
    {
      title: 'In the account, and not in the state. They are not exported',
      lines: others.map((resource) => {
        const deposed = addressById.get(resource.id);
        const name = choosePreferredName(getKind(resource.kind), resource);
        const suffix =
          deposed === undefined ? '' : `: Terraform has replaced it, and still has to delete it (${deposed})`;
        return `${resource.kind} ${resource.id}, ${name}${suffix}`;
      }),
      isInComment: false,
    },
  ];
  return notes.filter(({ lines }) => lines.length > 0);
}

function describeOtherKind(
  instance: StateInstance,
  externals: ReadonlyMap<string, string>,
  exported: ReadonlySet<string>,
): string {
  const { address } = instance;
  const found = classifyInstance(instance);
  if (found.use === 'none') return `${address}: no manifest can refer to it`;
  if (found.use === 'modules') return `${address}: only its modules, with --modules-of ${found.idPath}`;
  const name = externals.get(found.id);
  if (exported.has(found.id)) return `${address}: exported as External/${name}`;
  return `${address}: {apiVersion: ${MANIFEST_API_VERSION}, kind: External, metadata: {name: ${name}}, spec: {id: ${found.id}}}`;
}
