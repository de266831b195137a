import type { Json } from '../model/json.ts';
import type { Field } from './field.ts';
import { toEmpty } from './normalize.ts';

/**
 * What a PATCH sends to bring a field back to its default. `undefined`: a PATCH cannot; the field's own DELETE does.
 */
export function toClearValue(field: Field): Json | undefined {
  switch (field.clear) {
    case 'delete':
      return undefined;
    case 'null':
      return null;
    case 'disable':
      return { enabled: false };
    default:
      return field.default ?? toEmpty(field.type);
  }
}
