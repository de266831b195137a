import { PUBLISHED_SCHEMAS } from '../src/schemas/published.ts';
import { renderJson } from './render-json.ts';

/** The text of each file in schemas/, by its name there, as the sources say it must be. */
export function renderSchemaFiles(): ReadonlyMap<string, string> {
  return new Map(PUBLISHED_SCHEMAS.map(({ file, toSchema }) => [file, `${renderJson(toSchema())}\n`]));
}
