import { renderTimeSpan } from '../../kinds/duration.ts';
import { type Kind, listOneTimeFields } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { IDENTITY } from '../../kinds/tables/standard-fields.ts';
import { toShownAddress } from '../../model/address.ts';
import { toPathText } from '../../model/field-path.ts';
import type { Inventory, OwnedResource } from '../../model/inventory.ts';
import { isJsonArray, type Json } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { LiveResource } from '../../model/state.ts';
import { toWord } from './escape.ts';
import { listLeaves } from './leaves.ts';
import { redactInventory } from './redact.ts';
import { renderScalar } from './value-lines.ts';
import { toCount, toSubject } from './wording.ts';

/** What a stack owns as a person reads it: printable texts, a row for each resource. */
export interface InventoryView {
  readonly rows: readonly InventoryRow[];
  /** `3 resources of stack production on https://api.example.com` */
  readonly summary: string;
}

/** One resource. */
export interface InventoryRow {
  readonly address: string;
  readonly id: string;
  /** Empty where the interface shows no time. */
  readonly createdAt: string;
  /** What is to be known of it at a glance: `expires in 12 days`, `protected`. */
  readonly state: readonly string[];
  /** What the service computed; in detail, also what a manifest states. */
  readonly fields: readonly InventoryField[];
  /** What the service cannot do for it until somebody helps. */
  readonly troubles: readonly string[];
}

/** A field with its values; several are the members of a list. */
export interface InventoryField {
  readonly path: string;
  readonly text: string;
}

/** How much is shown, and when. */
export interface InventoryScope {
  readonly now: Date;
  readonly inDetail: boolean;
}

/** The view of what a stack owns. */
export function toInventoryView(inventory: Inventory, scope: InventoryScope): InventoryView {
  const { resources } = redactInventory(inventory);
  return {
    rows: resources.map((one) => toRow(one, scope)),
    summary: `${toCount(resources.length, 'resource')} of ${toSubject(inventory)}`,
  };
}

/** The address as people see it: with its id where several resources bear the same mark. */
export function toOwnedAddress({ address, isShared, live: { id } }: OwnedResource): string {
  return toPrintable(toShownAddress({ address, id, ...(isShared && { duplicateOf: address }) }));
}

function toRow(resource: OwnedResource, scope: InventoryScope): InventoryRow {
  const { live } = resource;
  const kind = getKind(live.kind);
  return {
    address: toOwnedAddress(resource),
    id: toWord(live.id),
    createdAt: live.createdAt === '' ? '' : toWord(live.createdAt),
    state: listStates(kind, resource, scope.now),
    fields: listFields(kind, live, scope),
    troubles: kind.findTroubles(live.computed).map(({ message, remedy }) => toPrintable(`${message}. ${remedy}`)),
  };
}

function listStates(kind: Kind, { live, isShared }: OwnedResource, now: Date): readonly string[] {
  const until = kind.validity === undefined ? undefined : live.spec[kind.validity.until];
  return [
    ...(typeof until === 'string' ? toEnd(Date.parse(until) - now.getTime()) : []),
    ...(listOneTimeFields(kind).length > 0 && live.mark?.delivered !== true ? ['token not delivered'] : []),
    ...(live.mark?.protect === true ? ['protected'] : []),
    ...(isShared ? ['shares its mark'] : []),
  ];
}

function toEnd(leftMs: number): readonly string[] {
  if (Number.isNaN(leftMs)) return [];
  return [leftMs > 0 ? `expires in ${renderTimeSpan(leftMs)}` : `expired ${renderTimeSpan(-leftMs)} ago`];
}

/** In detail: everything. Else what the service computed, but for what the row has and what is a file of its own. */
function listFields(
  kind: Kind,
  { spec, computed }: LiveResource,
  { inDetail }: InventoryScope,
): readonly InventoryField[] {
  const isShown = (name: string) => (inDetail ? !(name in ROW) : !(name in IDENTITY) && name !== kind.fileField);
  const shown = Object.entries({ ...(inDetail && spec), ...computed }).filter(([name]) => isShown(name));
  const leaves = listLeaves(kind, Object.fromEntries(shown));
  return leaves.map(({ type, path, value }) => ({
    path: toPrintable(toPathText(path)),
    text: isJsonArray(value) ? value.map(toText).join(', ') : renderScalar(type, value, NO_NAMES),
  }));
}

function toText(value: Json): string {
  return typeof value === 'string' ? toWord(value) : toPrintable(JSON.stringify(value));
}

const ROW = { id: true, created_at: true };
const NO_NAMES: ReadonlyMap<string, string> = new Map();
