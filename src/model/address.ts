/** `Kind/name`: names one resource of a stack, unique in a plan. */
export type Address = `${string}/${string}`;

/** The address of a resource. */
export function toAddress(kind: string, name: string): Address {
  return `${kind}/${name}`;
}

const ADDRESS = /^([A-Za-z]+)\/([^/\s]+)$/;

/** Splits `Kind/name`; `undefined` when the text is not of that form. */
export function parseAddress(text: string): { readonly kind: string; readonly name: string } | undefined {
  const match = ADDRESS.exec(text);
  const [, kind, name] = match ?? [];
  return kind !== undefined && name !== undefined ? { kind, name } : undefined;
}

/** The name in an address. */
export function toName(address: Address): string {
  return address.slice(address.indexOf('/') + 1);
}

/** True when a text is of the form `Kind/name`. Ids never contain a slash, so the two cannot be confused. */
export function isAddress(text: string): text is Address {
  return ADDRESS.test(text);
}

/** `Kind/name` as people see it; a duplicate, which has the same mark as another resource, is identified by its id: `Kind/name@id`. */
export function formatAddress({ address, duplicateOf, id }: ResourceRef): string {
  return duplicateOf === undefined || id === undefined ? address : `${address}@${id}`;
}

/** The address in a text that people saw or typed: without the id that tells a duplicate apart. */
export function stripDuplicateId(shown: string): string {
  return shown.replace(/@.*$/s, '');
}

/** A resource that is known by its address or, when it is a duplicate, by its id. */
export interface ResourceRef {
  readonly address: Address;
  /** Id of the live resource that keeps the address; absent: this is the one. */
  readonly duplicateOf?: string;
  readonly id?: string | undefined;
}

const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/;

/** What a resource may be called: 1 to 63 lower-case letters, digits, `.`, `_`, `-`, starting and ending with a letter or digit. */
export function isResourceName(text: string): boolean {
  return NAME.test(text);
}
