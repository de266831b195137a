import { KIND_SCHEMA_FILES, PUBLISHED_SCHEMAS } from '../src/schemas/published.ts';
import { renderJson } from './render-json.ts';

/** The text of each file in schemas/, by its name there, as the sources say it must be. */
export function renderSchemaFiles(): ReadonlyMap<string, string> {
  const sources = [...PUBLISHED_SCHEMAS.map(({ file, toSchema }) => [file, toSchema] as const), ...KIND_SCHEMA_FILES];
  return new Map(sources.map(([file, toSchema]) => [file, `${renderJson(toSchema())}\n`]));
}
