/** A table, which everything but the registry leaves alone. */
export interface Credential {
  readonly name: string;
}
