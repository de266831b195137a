import { isRotatable, type Kind, listOneTimeFields } from '../../kinds/kind.ts';
import { OWNED_KINDS, toTitles } from '../../kinds/tables/registry.ts';

/** Kinds as help texts name them, taken from the tables: no command knows a kind. */

const [first, second] = OWNED_KINDS;

/** Two kinds, for examples. */
export const EXAMPLE_KINDS = [first?.name ?? '', second?.name ?? ''] as const;

/** The address of a resource, for examples. */
export const EXAMPLE_ADDRESS = `${EXAMPLE_KINDS[0]}/postgres`;

/** The address of a resource that has a token, for examples. */
export const TOKEN_ADDRESS = `${OWNED_KINDS.find(hasToken)?.name}/agent`;

/** What has a token: `credential`. */
export const TOKEN_TITLES = toTitles(hasToken);

/** What can be replaced though nothing differs: `credential or SSH user certificate`. */
export const ROTATABLE_TITLES = toTitles(isRotatable);

function hasToken(kind: Kind): boolean {
  return listOneTimeFields(kind).length > 0;
}
