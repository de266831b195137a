/** A table, which only the registry may import. */
export interface Credential {
  readonly name: string;
}
