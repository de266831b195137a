import type { FieldType } from '../kinds/field.ts';
import { objectOf } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { listVisibleFields } from './spec-types.ts';

/** A field of `before` or `after` that an expression names. */
export interface NamedField {
  /** As the expression has it: `after.backend.enabled`. */
  readonly name: string;
  /** Below `before` or `after`. */
  readonly path: readonly string[];
}

/** The fields among the names of an expression. */
export function listNamedFields(names: readonly string[]): readonly NamedField[] {
  return names.flatMap((name) => {
    const [variable, ...path] = name.split('.');
    return (variable === 'before' || variable === 'after') && path.length > 0 ? [{ name, path }] : [];
  });
}

/** Whether resources of a kind can have something at a path. */
export function hasPath(kind: Kind, path: readonly string[]): boolean {
  let type: FieldType | undefined = objectOf(Object.fromEntries(listVisibleFields(kind)));
  for (const name of path) {
    if (type.type === 'json' || type.type === 'metadata') return true;
    if (type.type === 'map') type = type.of;
    else if (type.type !== 'object' || !Object.hasOwn(type.fields, name)) return false;
    else type = type.fields[name]?.type;
    if (type === undefined) return false;
  }
  return true;
}
