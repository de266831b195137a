/** The address of a resource, `Kind/name`. Unique in a stack. */
export type Address = `${string}/${string}`;

export function toAddress(kind: string, name: string): Address {
  return `${kind}/${name}`;
}

const ADDRESS_PATTERN = /^([A-Za-z]+)\/([^/\s]+)$/;

/** Splits `Kind/name`. Returns `undefined` if the text does not have this form. */
export function parseAddress(text: string): { readonly kind: string; readonly name: string } | undefined {
  const match = ADDRESS_PATTERN.exec(text);
  const [, kind, name] = match ?? [];
  return kind !== undefined && name !== undefined ? { kind, name } : undefined;
}

export function getAddressName(address: Address): string {
  return address.slice(address.indexOf('/') + 1);
}

/** Whether a text has the form `Kind/name`. Ids never contain a slash, so no id is an address. */
export function isAddress(text: string): text is Address {
  return ADDRESS_PATTERN.test(text);
}

/** Formats an address for people: `Kind/name`, or `Kind/name@id` for a duplicate. */
export function formatAddress({ address, duplicateOf, id }: ResourceIdentity): string {
  return duplicateOf === undefined || id === undefined ? address : `${address}@${id}`;
}

/** Removes `@id` from the address of a duplicate, as `formatAddress` returned it or as the user typed it. */
export function stripDuplicateId(shown: string): string {
  return shown.replace(/@.*$/s, '');
}

/** A resource, identified by its address or, if it is a duplicate, by its address and id. */
export interface ResourceIdentity {
  readonly address: Address;
  /** Only for a duplicate: the id of the resource that keeps the address. */
  readonly duplicateOf?: string | undefined;
  readonly id?: string | undefined;
}

const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

/** A name of the greatest length. */
export const LONGEST_NAME = 'x'.repeat(63);

/**
 * Whether a text is a valid resource name: 1 to 63 lower-case letters, digits, `.`, `_` and `-`, starting and ending
 * with a letter or digit.
 */
export function isResourceName(text: string): boolean {
  return NAME.test(text);
}
