import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/** What a document says of itself besides its name: `metadata.labels` and `metadata.annotations`. */
export interface AddedTexts {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The labels and annotations of a document. */
export function toAddedTexts({ metadata }: JsonObject): AddedTexts {
  const { labels, annotations } = isJsonObject(metadata) ? metadata : {};
  if (labels === undefined && annotations === undefined) return NO_TEXTS;
  return { labels: toTexts(labels), annotations: toTexts(annotations) };
}

const NO_TEXTS: AddedTexts = { labels: {}, annotations: {} };

function toTexts(texts: Json | undefined): Readonly<Record<string, string>> {
  const entries = isJsonObject(texts) ? Object.entries(texts) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
