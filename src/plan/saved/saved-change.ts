import { isModule, type Kind } from '../../kinds/kind.ts';
import { normalizeField } from '../../kinds/normalize.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Change } from '../../model/change.ts';
import { assertNever } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { Write } from '../../model/write.ts';

/** A change of a saved plan, with its writes. */
export interface SavedChange {
  readonly change: Change;
  readonly kind: Kind;
  readonly writes: readonly Write[];
}

/** The changes of a plan, each with its writes. */
export function listSavedChanges({ changes, writes }: Plan): readonly SavedChange[] {
  const byAddress = Map.groupBy(writes, ({ address }) => address);
  return changes.map((change) => ({
    change,
    kind: getKind(change.kind),
    writes: (byAddress.get(change.address) ?? []).filter((write) => serves(write, change)),
  }));
}

/** The same, to be looked up. */
export function mapSavedChanges(plan: Plan): ReadonlyMap<Change, SavedChange> {
  return new Map(listSavedChanges(plan).map((one) => [one.change, one]));
}

/** Of writes at one address, those on a duplicate serve its own change. */
function serves(write: Write, { duplicateOf, live }: Change): boolean {
  const isOfDuplicate = (write.type === 'delete' || write.type === 'release') && write.duplicateOf !== undefined;
  return isOfDuplicate ? duplicateOf !== undefined && write.resourceId === live?.id : duplicateOf === undefined;
}

/** The fields that tell whether the resource moved: of what modules are attached to, those that the plan writes, since only they are read. */
export function listCheckedFields({ kind, writes }: SavedChange): readonly string[] {
  const written = new Set(writes.flatMap(listModules));
  return kind.specFields.flatMap(([name, field]) =>
    kind.role === 'owned' || !isModule(field) || written.has(name) ? [name] : [],
  );
}

/** The module that a write sets or removes. */
export function listModules(write: Write): readonly string[] {
  return write.type === 'set-module' || write.type === 'remove-module' ? [write.module] : [];
}

/** What the writes send for a field, in normal form: a hostport may be given up before another is taken. */
export function listSent({ kind, writes }: SavedChange, name: string): readonly Json[] {
  const field = kind.fields[name];
  if (field === undefined) return [];
  return writes.flatMap((write) => {
    const sent = toFields(write)[name];
    return sent === undefined ? [] : [normalizeField(field, sent)];
  });
}

function toFields(write: Write): Readonly<Record<string, Json>> {
  switch (write.type) {
    case 'create':
    case 'update':
    case 'adopt':
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
