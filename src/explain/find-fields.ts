import type { Field } from '../kinds/field.ts';
import { listInnerFields } from '../kinds/field.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { DOCUMENT_KINDS } from '../schemas/document.ts';
import { listSchemaPaths } from './schema-page.ts';

/** A field by the kind and the names that lead to it. */
export interface FieldWay {
  readonly kind: string;
  readonly steps: readonly string[];
}

/** The fields and settings of all kinds, or of one, whose names end like this; `spec` may stand before them. */
export function findFields(names: readonly string[], kinds: readonly string[] = DOCUMENT_KINDS): readonly FieldWay[] {
  const wanted = names[0] === 'spec' && names.length > 1 ? names.slice(1) : names;
  const end = `.${wanted.join('.')}`;
  return kinds.flatMap((kind) =>
    listWays(kind)
      .filter((steps) => `.${steps.join('.')}`.endsWith(end))
      .map((steps) => ({ kind, steps })),
  );
}

/** The name of every field and setting, each once. */
export function listFieldNames(): readonly string[] {
  return [...new Set(DOCUMENT_KINDS.flatMap((kind) => listWays(kind).map((steps) => steps.at(-1) ?? '')))];
}

/** The schema of a kind repeats its table, so it is not searched for that. */
function listWays(kind: string): readonly (readonly string[])[] {
  const table = findKind(kind);
  const inSchema = listSchemaPaths(kind);
  if (table === undefined)
    return inSchema.map((steps) => (steps[0] === 'spec' && steps.length > 1 ? steps.slice(1) : steps));
  return [...listTableWays(table.fields), ...inSchema.filter(([first]) => first !== 'spec')];
}

function listTableWays(fields: Readonly<Record<string, Field>>): readonly (readonly string[])[] {
  return Object.entries(fields).flatMap(([name, { type }]) => [
    [name],
    ...listTableWays(listInnerFields(type)).map((inner) => [name, ...inner]),
  ]);
}
