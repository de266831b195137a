import { toKeyComment, toKeyType } from '../kinds/formats.ts';
import type { Decision } from './decide.ts';

/** Notes on the public keys of a resource: `for an ed25519 key, alice@example.com`. The keys themselves are unreadable for people. */
export function describeKeys({ pair, form }: Decision): readonly string[] {
  return Object.entries(pair.kind.fields).flatMap(([name, { type }]) => {
    const key = form?.written[name];
    if (type.type !== 'text' || type.format !== 'ssh-public-key' || typeof key !== 'string') return [];
    return [['for an', toKeyType(key), 'key'].join(' ').concat(toKeyComment(key).replace(/^(?=.)/, ', '))];
  });
}
