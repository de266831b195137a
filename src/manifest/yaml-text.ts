import { Composer, type Document, Parser, type YAMLError } from 'yaml';
import { StackError } from '../model/user-errors.ts';
import { parseYamlTokensWithinBudget, type RemainingYamlBudget } from './bounded-yaml.ts';
import { type TagToken, takeTags } from './tags.ts';

/** A text of YAML 1.2, which includes JSON. */
export interface YamlText {
  readonly text: string;
  /** Composes the documents on the first call, and takes their lexemes from the budget on each. Never throws. */
  readonly compose: (budget: RemainingYamlBudget) => ComposedText;
}

/** What is written in a text, with positions, before variables are filled in. */
export interface ComposedText {
  readonly documents: readonly ComposedDocument[];
  /** Errors that belong to no document. */
  readonly errors: readonly YAMLError[];
  /** Why the text was not read to its end, and the offset up to which it was read. */
  readonly limit?: { readonly error: StackError; readonly offset: number };
}

export interface ComposedDocument {
  readonly document: Document.Parsed;
  readonly tags: readonly TagToken[];
}

export function createYamlText(text: string): YamlText {
  let known: { readonly composed: ComposedText; readonly lexemes: number } | undefined;
  return {
    text,
    compose: (budget) => {
      if (known !== undefined && known.lexemes <= budget.lexemes) {
        budget.lexemes -= known.lexemes;
        return known.composed;
      }
      const before = budget.lexemes;
      const composed = composeText(text, budget);
      if (composed.limit === undefined) known = { composed, lexemes: before - budget.lexemes };
      return composed;
    },
  };
}

/** The core schema of YAML 1.2, regardless of a `%YAML` directive. `parseDocuments` reports repeated keys. */
const OPTIONS = {
  schema: 'core',
  resolveKnownTags: false,
  merge: false,
  stringKeys: true,
  uniqueKeys: false,
} as const;

function composeText(text: string, allowance: RemainingYamlBudget): ComposedText {
  const parser = new Parser();
  const composer = new Composer(OPTIONS);
  const tags: TagToken[] = [];
  const documents: ComposedDocument[] = [];
  try {
    for (const document of composer.compose(parseYamlTokensWithinBudget(parser, text, { allowance, tags })))
      documents.push({ document, tags: takeTags(tags, document.range[2]) });
    return { documents, errors: composer.streamInfo().errors };
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    return { documents, errors: [], limit: { error, offset: parser.offset } };
  }
}
