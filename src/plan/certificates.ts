import { renderTimeSpan, toDurationMs } from '../kinds/duration.ts';
import { toKeyComment, toKeyType } from '../kinds/formats.ts';
import type { Decision } from './decide.ts';

/** Notes on the public keys of a resource: `for an ed25519 key, alice@example.com`. The keys themselves say nothing to a reader. */
export function describeKeys({ pair, form }: Decision): readonly string[] {
  return Object.entries(pair.kind.fields).flatMap(([name, { type }]) => {
    const key = form?.written[name];
    if (type.type !== 'text' || type.format !== 'ssh-public-key' || typeof key !== 'string') return [];
    return [['for an', toKeyType(key), 'key'].join(' ').concat(toKeyComment(key).replace(/^(?=.)/, ', '))];
  });
}

/** How long a new certificate will be valid, if the manifest states no times. */
export function describeValidity(decision: Decision): readonly string[] {
  const validForMs = toValidForMs(decision);
  const isMade = decision.action === 'create' || decision.action === 'replace';
  return isMade && validForMs !== undefined ? [`valid for ${renderTimeSpan(validForMs)} from its creation`] : [];
}

/** For how long a new one is to be valid; `undefined`: its manifest states times, or leaves it to the service. */
export function toValidForMs({ pair }: Decision): number | undefined {
  const validFor = pair.desired?.lifecycle.settings['valid_for'];
  return typeof validFor === 'string' && pair.kind.validity !== undefined ? toDurationMs(validFor) : undefined;
}
