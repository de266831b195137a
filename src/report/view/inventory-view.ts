import { renderTimeSpan } from '../../kinds/duration.ts';
import { isModule, type Kind } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { IDENTITY_FIELDS } from '../../kinds/tables/standard-fields.ts';
import { formatAddress } from '../../model/address.ts';
import type { OwnedResource, StackInventory } from '../../model/drift.ts';
import { formatPath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../../model/json.ts';
import { hasDeliveredToken, isCopiedMark, isRetiring } from '../../model/mark.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatJson } from '../../model/secret-value.ts';
import type { FieldPath, LiveResource } from '../../model/state.ts';
import { quoteIfNeeded } from './escape.ts';
import { listNonDefaultLeaves } from './leaves.ts';
import { redactInventory } from './redact.ts';
import { renderScalar } from './value-text.ts';
import { formatCount, formatReportSubject } from './wording.ts';

/** The resources of a stack as printable texts, with a row for each resource. */
export interface InventoryView {
  readonly rows: readonly InventoryRow[];
  /** Such as `3 resources of stack production on https://api.example.com`. */
  readonly summary: string;
}

export interface InventoryRow {
  readonly address: string;
  readonly id: string;
  /** Empty if the API returns no time of creation. */
  readonly createdAt: string;
  /** The state in a few words, such as `expires in 12 days` and `protected`. */
  readonly state: readonly string[];
  /** The identifying fields, the end of the validity, and computed fields. In a detailed view, all fields. */
  readonly fields: readonly InventoryField[];
  /** Health problems that the service cannot solve without the user. */
  readonly findings: readonly string[];
}

/** A field. `text` contains all members of a list, separated by commas. */
interface InventoryField {
  readonly path: string;
  readonly text: string;
}

interface InventoryScope {
  readonly now: Date;
  readonly inDetail: boolean;
}

/** `names`: maps ids to the addresses of the stack's resources and externals. */
interface NamedScope extends InventoryScope {
  readonly names: ReadonlyMap<string, string>;
}

export function createInventoryView(inventory: StackInventory, scope: InventoryScope): InventoryView {
  const { resources, externals = new Map() } = redactInventory(inventory);
  const named = Array.from(externals, ([address, id]) => [id, toPrintable(address)] as const);
  const owned = resources.map((one) => [one.live.id, formatAddressWithDuplicateId(one)] as const);
  const names = new Map([...named, ...owned]);
  const own = resources.filter(({ owner }) => owner === undefined).length;
  const others = resources.length - own;
  return {
    rows: resources.map((one) => createInventoryRow(one, { ...scope, names })),
    summary: `${formatCount(own, 'resource')} of ${formatReportSubject(inventory)}${others === 0 ? '' : `, and ${others} that it does not own`}`,
  };
}

/** The address, followed by the id if several resources have the same mark. */
export function formatAddressWithDuplicateId({ address, isShared, live: { id } }: OwnedResource): string {
  return toPrintable(formatAddress({ address, id, duplicateOf: isShared ? address : undefined }));
}

function createInventoryRow(resource: OwnedResource, scope: NamedScope): InventoryRow {
  const { live } = resource;
  const kind = getKind(live.kind);
  return {
    address: formatAddressWithDuplicateId(resource),
    id: quoteIfNeeded(live.id),
    createdAt: live.createdAt === '' ? '' : quoteIfNeeded(live.createdAt),
    state: listStates(kind, resource, scope.now),
    fields: [...listInventoryFields(kind, live, scope), ...(scope.inDetail ? [] : listModules(kind, live))],
    findings: kind.checkHealth(live.computed).map(({ message, remedy }) => toPrintable(`${message}. ${remedy}`)),
  };
}

function listStates(kind: Kind, { live, owner, isShared, retiresAt }: OwnedResource, now: Date): readonly string[] {
  const { after, until } = kind.validity ?? { after: '', until: '' };
  return [
    ...(owner === undefined ? [] : [owner === null ? 'no stack manages it' : `of the stack ${toPrintable(owner)}`]),
    ...kind.describeState(live.computed, now).map(toPrintable),
    ...listValidityStates({ after: live.spec[after], until: live.spec[until] }, now),
    ...(isCopiedMark(live) ? [toPrintable(`its mark is a copy of that of ${live.mark?.id}`)] : []),
    ...(kind.oneTimeFields.length > 0 && owner !== null && !hasDeliveredToken(live) ? ['token not delivered'] : []),
    ...(live.mark?.protect === true ? ['protected'] : []),
    ...listRetirementStates(live, retiresAt, now),
    ...(isShared && retiresAt === undefined ? ['shares its mark'] : []),
  ];
}

/** An old one says when it is deleted. The mark of the one that replaced it says that, unless that mark was changed. */
function listRetirementStates(live: LiveResource, retiresAt: string | undefined, now: Date): readonly string[] {
  if (retiresAt === undefined) return isRetiring(live) ? ['an old one that was replaced'] : [];
  const leftMs = Date.parse(retiresAt) - now.getTime();
  return [leftMs > 0 ? `old: retires in ${renderTimeSpan(leftMs)}` : 'old: the next apply deletes it'];
}

interface ShownValidity {
  readonly after: Json | undefined;
  readonly until: Json | undefined;
}

/** A resource that is not valid yet says when it begins, any other when it expires. */
function listValidityStates({ after, until }: ShownValidity, now: Date): readonly string[] {
  const [untilStartMs, leftMs] = [after, until].map((time) => Date.parse(String(time)) - now.getTime());
  if (untilStartMs !== undefined && untilStartMs > 0)
    return [`not valid yet: begins in ${renderTimeSpan(untilStartMs)}`];
  if (leftMs === undefined || Number.isNaN(leftMs)) return [];
  return [leftMs > 0 ? `expires in ${renderTimeSpan(leftMs)}` : `expired ${renderTimeSpan(-leftMs)} ago`];
}

/**
 * The fields below a row. In a detailed view, all fields that the row does not contain; otherwise the identifying
 * fields, the end of the validity, and the kind's own computed fields, except a text for other programs.
 */
function listInventoryFields(
  kind: Kind,
  { spec, computed }: LiveResource,
  { inDetail, names }: NamedScope,
): readonly InventoryField[] {
  const isShown = (name: string) =>
    inDetail ? !(name in ROW) : !(name in IDENTITY_FIELDS) && name !== kind.issued?.field;
  const isTelling = (name: string) => kind.fields[name]?.summary !== undefined || name === kind.validity?.until;
  const specFields = Object.entries(spec).filter(([name]) => inDetail || isTelling(name));
  const shown = [...specFields, ...Object.entries(computed)].filter(([name]) => isShown(name));
  const leaves = listNonDefaultLeaves(kind, Object.fromEntries(shown));
  return leaves.map(({ type, path, value }) => ({
    path: formatNamedPath(path, names),
    text: isJsonArray(value)
      ? value.map((one) => formatInventoryValue(one, names)).join(', ')
      : renderScalar(type, value, names),
  }));
}

/** The modules that are set, and which of them are switched off. `--verbose` shows their fields instead. */
function listModules(kind: Kind, { spec }: LiveResource): readonly InventoryField[] {
  const names = kind.specFields.flatMap(([name, field]) => {
    const value = spec[name];
    if (!isModule(field) || !isJsonObject(value)) return [];
    return [value['enabled'] === false ? `${name} (off)` : name];
  });
  return names.length === 0 ? [] : [{ path: 'modules', text: names.join(', ') }];
}

/** If the path ends with a known id, adds its name in parentheses. */
function formatNamedPath(path: FieldPath, names: NamedScope['names']): string {
  const name = names.get(String(path.at(-1)));
  return toPrintable(formatPath(path)).concat(name === undefined ? '' : ` (${name})`);
}

function formatInventoryValue(value: Json, names: NamedScope['names']): string {
  if (typeof value !== 'string') return toPrintable(formatJson(value));
  const name = names.get(value);
  return name === undefined ? quoteIfNeeded(value) : `${quoteIfNeeded(value)} (${name})`;
}

const ROW = { id: true, created_at: true };
