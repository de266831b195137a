import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isResourceName, toAddress } from '../model/address.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { createAllowance } from './lex.ts';
import type { ManifestBytes } from './load.ts';
import { parseDocuments } from './parse.ts';
import { unfoldValue } from './stack-folders.ts';

/**
 * The addresses in manifests, for completion on the command line: nothing is checked, and reading stops when `isLate` says so.
 */
export function listAddresses(sources: readonly ManifestBytes[], isLate: () => boolean): readonly Address[] {
  const found = new Set<Address>();
  const allowance = createAllowance();
  for (const { bytes } of sources) {
    for (const { value } of parseDocuments(new TextDecoder().decode(bytes), {}, allowance)) {
      for (const address of listOf(value)) found.add(address);
      if (isLate()) return [...found];
    }
  }
  return [...found];
}

function listOf(value: Json): readonly Address[] {
  return unfoldValue(value).flatMap(({ kind, metadata }) => {
    const name = metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
    if (typeof kind !== 'string' || typeof name !== 'string') return [];
    return findKind(kind) !== undefined && isResourceName(name) ? [toAddress(kind, name)] : [];
  });
}
