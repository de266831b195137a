import { isModule, type Kind } from '../../kinds/kind.ts';
import { normalizeField } from '../../kinds/normalize.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Change } from '../../model/change.ts';
import { assertNever } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { Write } from '../../model/write.ts';

export interface SavedChange {
  readonly change: Change;
  readonly kind: Kind;
  readonly writes: readonly Write[];
}

export function listChangesWithWrites({ changes, writes }: Plan): readonly SavedChange[] {
  const byAddress = Map.groupBy(writes, ({ address }) => address);
  return changes.map((change) => ({
    change,
    kind: getKind(change.kind),
    writes: (byAddress.get(change.address) ?? []).filter((write) => belongsTo(write, change)),
  }));
}

export function indexSavedChanges(plan: Plan): ReadonlyMap<Change, SavedChange> {
  return new Map(listChangesWithWrites(plan).map((one) => [one.change, one]));
}

/**
 * Whether a write with the address of a change belongs to that change. A write for a duplicate belongs to the change of
 * the same duplicate, any other write to the change of the resource that is kept.
 */
function belongsTo(write: Write, { duplicateOf, live }: Change): boolean {
  const isOfDuplicate = (write.type === 'delete' || write.type === 'release') && write.duplicateOf !== undefined;
  return isOfDuplicate ? duplicateOf !== undefined && write.resourceId === live?.id : duplicateOf === undefined;
}

/** The fields to check for staleness. For an attached kind, these are only the modules that the plan writes. */
export function listCheckedFieldNames({ kind, writes }: SavedChange): readonly string[] {
  const written = new Set(writes.flatMap(listModulesOfWrite));
  return kind.specFields.flatMap(([name, field]) =>
    kind.role === 'owned' || !isModule(field) || written.has(name) ? [name] : [],
  );
}

/** The module that a write sets or removes, as a list. Empty for other writes. */
export function listModulesOfWrite(write: Write): readonly string[] {
  return write.type === 'set-module' || write.type === 'remove-module' ? [write.module] : [];
}

/**
 * The values that the writes of a change send for a field, in normal form. There are several if one write frees a
 * hostport before another write claims one.
 */
export function listSentValuesOfField({ kind, writes }: SavedChange, name: string): readonly Json[] {
  const field = kind.fields[name];
  if (field === undefined) return [];
  return writes.flatMap((write) => {
    const sent = getBody(write)[name];
    return sent === undefined ? [] : [normalizeField(field, sent)];
  });
}

function getBody(write: Write): Readonly<Record<string, Json>> {
  switch (write.type) {
    case 'create':
    case 'update':
    case 'adopt':
    case 'take-over':
    case 'release':
    case 'vacate':
      return write.body;
    case 'deliver':
    case 'redeliver':
    case 'set-module':
    case 'remove-module':
    case 'delete':
      return {};
    default:
      return assertNever(write);
  }
}
