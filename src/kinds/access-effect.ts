import type { FieldPath } from '../model/state.ts';
import type { AccessEffect } from './field.ts';

/** How the effects of the parts of a value are joined to the effect of the value. */

export const NO_EFFECT: AccessEffect = { effect: 'none' };

export const EMPTY = 'it is empty';
export const INVALID_EXPRESSION = 'its expression is not valid, so it applies to no traffic';
export const NOT_SHOWN = 'the service does not show it';

/** The effect of a value from that of a part of it, whose path is `at`. */
export function placeEffect(effect: AccessEffect, at: FieldPath): AccessEffect {
  return 'path' in effect ? { ...effect, path: [...at, ...effect.path] } : effect;
}

/** One part that restricts is enough. Otherwise a part that may restrict decides, then one that should. */
export function joinEffects(effects: readonly AccessEffect[]): AccessEffect {
  for (const name of ['restricts', 'unknown', 'open'] as const) {
    const found = effects.find(({ effect }) => effect === name);
    if (found !== undefined) return found;
  }
  return NO_EFFECT;
}
