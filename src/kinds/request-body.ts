import { assertNever } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import type { Field } from './field.ts';

/**
 * What a PATCH sends to bring a field back to its default. `undefined`: a PATCH can't; the field's own DELETE does.
 */
export function toClearValue(field: Field): Json | undefined {
  if (field.clear === 'delete') return undefined;
  if (field.clear === 'null') return null;
  if (field.clear === 'disable') return { enabled: false };
  return field.default ?? toEmptyValue(field);
}

function toEmptyValue({ type }: Field): Json {
  switch (type.type) {
    case 'text':
    case 'metadata':
      return '';
    case 'list':
      return [];
    case 'map':
    case 'object':
    case 'json':
      return {};
    case 'boolean':
      return false;
    case 'number':
      return 0;
    case 'enum':
    case 'timestamp':
    case 'reference':
      return null;
    default:
      return assertNever(type);
  }
}
