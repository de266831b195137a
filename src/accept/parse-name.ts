import type { Address } from '../model/address.ts';
import type { NamedDrift } from './select-drift.ts';

/** Matches `Kind/name`, `Kind/name@id` and `Kind/name:field`. */
const NAME = /^([A-Za-z]+\/[^/\s:@]+)(?:@([^/\s:@]+))?(?::(\S.*))?$/s;

/** Parses what a user accepts. `undefined` for any other text. */
export function parseDriftName(text: string): NamedDrift | undefined {
  const [, address, id, field] = NAME.exec(text) ?? [];
  return address === undefined ? undefined : { address: address as Address, id, field }; // the pattern is that of an address
}

export function formatDriftName({ address, id, field }: NamedDrift): string {
  return [address, id === undefined ? '' : `@${id}`, field === undefined ? '' : `:${field}`].join('');
}
