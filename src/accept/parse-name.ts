import type { Address } from '../model/address.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import type { NamedDrift } from './select-drift.ts';
import type { ReferenceNames } from './written-fields.ts';

/** Matches `Kind/name`, `Kind/name@id` and `Kind/name:field`. */
const NAME = /^([A-Za-z]+\/[^/\s:@]+)(?:@([^/\s:@]+))?(?::(\S.*))?$/s;

/** Parses what a user accepts. `undefined` for any other text. */
export function parseDriftName(text: string): NamedDrift | undefined {
  const [, address, id, field] = NAME.exec(text) ?? [];
  return address === undefined ? undefined : { address: address as Address, id, field }; // the pattern is that of an address
}

/** Replaces the names in the path of a field by ids, as drift shows it: `backends.External/blue` by `backends.bkdhr_…`. */
export function resolveNamesInField({ field, ...named }: NamedDrift, { toId }: ReferenceNames): NamedDrift {
  const quoted = field?.replace(PLAIN_NAME, (_, name) => `[${JSON.stringify(name)}]`);
  const path = quoted === undefined ? undefined : parsePath(quoted);
  const resolved = path && formatPath(path.map((step) => (typeof step === 'string' ? toId(step) : step)));
  return { ...named, field: resolved ?? field };
}

/** Matches an address in a path that is not in brackets. */
const PLAIN_NAME = /\.([A-Za-z]+\/[\w-]+)/g;

export function formatDriftName({ address, id, field }: NamedDrift): string {
  return [address, id === undefined ? '' : `@${id}`, field === undefined ? '' : `:${field}`].join('');
}
