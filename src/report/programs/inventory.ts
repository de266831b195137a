import { listOneTimeFields } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { toName } from '../../model/address.ts';
import type { Inventory, OwnedResource } from '../../model/inventory.ts';
import type { JsonObject } from '../../model/json.ts';
import { toOwnedAddress } from '../view/inventory-view.ts';
import { redactInventory } from '../view/redact.ts';
import { renderDocument } from './json.ts';

/** The document of what a stack owns: for each resource its spec, as a manifest would state it, and what the service computed. */
export function toInventoryDocument(inventory: Inventory): JsonObject {
  const { stack, baseUrl, requests, resources } = redactInventory(inventory);
  return {
    format: 1,
    command: 'get',
    ok: true,
    stack,
    baseUrl,
    requests,
    resources: resources.map(toResourceDocument),
  };
}

/** The same as JSON. */
export function renderInventoryJson(inventory: Inventory): string {
  return renderDocument(toInventoryDocument(inventory));
}

/** An address a line. */
export function renderInventoryNames({ resources }: Inventory): string {
  return resources.map((one) => `${toOwnedAddress(one)}\n`).join('');
}

function toResourceDocument({ address, live }: OwnedResource): JsonObject {
  const { kind, id, spec, computed, mark } = live;
  const hasToken = listOneTimeFields(getKind(kind)).length > 0;
  return {
    address,
    kind,
    name: toName(address),
    id,
    ...(mark !== undefined && { protected: mark.protect }),
    ...(mark !== undefined && hasToken && { delivered: mark.delivered }),
    spec,
    computed,
  };
}
