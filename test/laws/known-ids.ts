import type { ReferenceType } from '../../src/kinds/field.ts';
import { listAllIdPrefixes } from '../../src/kinds/references.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';

/** Ids of resources that the service has and no manifest creates, from the kind tables alone. */

const PREFIXES: ReadonlySet<string> = new Set(listAllIdPrefixes());

/** Ids of resources that exist outside of the stack. Throws for a prefix that no table has. */
export function listExternalIds(prefix: string): readonly string[] {
  if (!PREFIXES.has(prefix)) throw new Error(`No kind and no field has ids ${prefix}_…`);
  return [1, 2, 3].map((index) => `${prefix}_${String(index).repeat(27)}`);
}

/** The id of an existing resource that no manifest names. Throws for a prefix that no table names. */
export function toUnnamedId(prefix: string): string {
  return String(listExternalIds(prefix)[0]).replaceAll('1', '9');
}

/** The ids that a service must know for these values. Of kinds that cannot be created, every id. */
export function listKnownIds(): readonly string[] {
  return [...PREFIXES].flatMap((prefix) =>
    isOwnedPrefix(prefix) ? [...listExternalIds(prefix), toUnnamedId(prefix)] : [`${prefix}_*`],
  );
}

/** The prefixes of ids that a reference may contain literally: of kinds that cannot be created, if it accepts any. */
export function listLiteralPrefixes({ prefixes }: ReferenceType): readonly string[] {
  const foreign = prefixes.filter((prefix) => !isOwnedPrefix(prefix));
  return foreign.length > 0 ? foreign : prefixes;
}

/** Whether the service creates ids with this prefix. */
export function isOwnedPrefix(prefix: string): boolean {
  return OWNED_KINDS.some(({ idPrefix }) => idPrefix === prefix);
}
