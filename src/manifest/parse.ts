import { Composer, type Document, Parser, type ScalarTag, Schema, type YAMLError } from 'yaml';
import type { Json } from '../model/json.ts';
import { cutAlike, toMore } from './cut.ts';
import type { Environment } from './environment.ts';
import { createAllowance, NOT_AS_DEEP, parseWithin, TOO_DEEP, type YamlAllowance, YamlExcess } from './lex.ts';
import type { Span } from './source-text.ts';
import { type Fault, toValue } from './yaml-value.ts';

/** One YAML document of a file. */
export interface ParsedDocument {
  /** Where it stands in the file. Its text can be parsed again on its own. */
  readonly span: Span;
  /** Its value, as far as it could be read. `null`: empty. */
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** Its faults leave its meaning open, so that its fields are not checked. */
  readonly isBroken: boolean;
  /** Its syntax tree, with places in the whole text. Not to be kept: ten thousand of them would not fit. */
  readonly tree?: Document.Parsed;
}

/** Every document of a text, one at a time. YAML 1.2, which JSON is a part of; keys are text, whatever they look like. */
export function* parseDocuments(
  text: string,
  env: Environment,
  allowance: YamlAllowance = createAllowance(),
): Generator<ParsedDocument> {
  const parser = new Parser();
  const composer = new Composer(OPTIONS);
  try {
    for (const document of composer.compose(parseWithin(parser, text, allowance)))
      yield toParsed(document, { env, text });
    const { errors } = composer.streamInfo();
    if (errors.length > 0) yield toBroken(errors.map((error) => toFault(error, text)));
  } catch (error) {
    if (!(error instanceof YamlExcess)) throw error;
    const { message, remedy } = error;
    const span = { start: parser.offset, end: parser.offset + 1 };
    yield toBroken([{ code: 'yaml-syntax', message, remedy, span }]);
  }
}

/** The syntax tree of the document that a text starts with. */
export function composeDocument(text: string): Document.Parsed | undefined {
  for (const document of new Composer(OPTIONS).compose(new Parser().parse(text))) return document;
  return undefined;
}

/**
 * Most plain texts: nothing else of the core schema starts like them, so that they need not be compared with all of its numbers. Source: YAML 1.2.2,
 * 10.3.2 Tag Resolution.
 */
const PLAIN_TEXT: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^[^-+.\d~nNtTfF]/,
  resolve: (text) => text,
};

/** One schema for all documents: the core schema of YAML 1.2, whatever a `%YAML` line says. Unique keys are checked elsewhere. */
const OPTIONS = {
  schema: new Schema({
    schema: 'core',
    customTags: (tags) => [PLAIN_TEXT, ...tags],
    resolveKnownTags: false,
    merge: false,
  }),
  stringKeys: true,
  uniqueKeys: false,
} as const;

function toParsed(
  document: Document.Parsed,
  context: { readonly env: Environment; readonly text: string },
): ParsedDocument {
  const [start, , end] = document.range;
  const { value, faults, isBomb } = toValue(document.contents, context);
  const [tags, structure] = listErrors(document);
  const [first] = structure;
  // Only the first error is shown: most of the others are caused by it.
  if (first !== undefined)
    return { span: { start, end }, value, faults: [toFault(first, context.text)], isBroken: true, tree: document };
  return {
    span: { start, end },
    value,
    faults: cutFaults([...tags.map((tag) => toFault(tag, context.text)), ...faults]),
    isBroken: isBomb,
    tree: document,
  };
}

function cutFaults(all: readonly Fault[]): readonly Fault[] {
  if (all.length === 0) return all;
  const { told, more } = cutAlike(all);
  return [...told, ...more.map(({ first: { code, span }, count }) => ({ code, span, ...toMore(code, count) }))];
}

/** Errors about a tag, which concern one value, and the others, in the order of the text. */
function listErrors({ errors, warnings }: Document.Parsed): readonly [readonly YAMLError[], readonly YAMLError[]] {
  if (errors.length === 0 && warnings.length === 0) return [[], []];
  // For the parser an unknown tag is only a warning, although it changes the meaning of the value.
  const all = [...errors, ...warnings.filter(isAboutTag)].sort((left, right) => left.pos[0] - right.pos[0]);
  return [all.filter(isAboutTag), all.filter((error) => !isAboutTag(error))];
}

function isAboutTag({ code }: YAMLError): boolean {
  return code === 'TAG_RESOLVE_FAILED' || code === 'BAD_COLLECTION_TYPE';
}

function toBroken(faults: readonly Fault[]): ParsedDocument {
  const start = faults[0]?.span.start ?? 0;
  return { span: { start, end: start }, value: null, faults: faults.slice(0, 1), isBroken: true };
}

/** The parser points at one character; the span covers the whole word. */
function toFault(error: YAMLError, text: string): Fault {
  const [start, end] = error.pos;
  const [word = ''] = /^[\w./-]+/.exec(text.slice(start, start + MAX_WORD)) ?? [];
  return {
    code: 'yaml-syntax',
    message: describeError(error),
    remedy: toSyntaxRemedy(error.code),
    span: { start, end: Math.max(end, start + Math.max(word.length, 1)) },
  };
}

const MAX_WORD = 100;

function describeError(error: YAMLError): string {
  if (error.code === 'RESOURCE_EXHAUSTION') return TOO_DEEP;
  if (error.code === 'NON_STRING_KEY') return 'a key must be text';
  return isAboutTag(error)
    ? `this tag is not supported: ${error.message.replace('Unresolved tag: ', '')}`
    : `not valid YAML: ${error.message}`;
}

/** What most often helps. Sources of the codes: the parser. */
function toSyntaxRemedy(code: YAMLError['code']): string {
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'BAD_SCALAR_START':
    case 'UNEXPECTED_TOKEN':
      return 'Put text in quotes if it contains `: ` or ` #`, or starts with a special character of YAML.';
    case 'TAB_AS_INDENT':
      return 'Indent with spaces.';
    case 'BAD_INDENT':
    case 'MULTILINE_IMPLICIT_KEY':
    case 'MISSING_CHAR':
      return 'Look here and above for a missing colon, quote or bracket, and for wrong indentation.';
    case 'NON_STRING_KEY':
      return 'Put the key in quotes.';
    case 'TAG_RESOLVE_FAILED':
    case 'BAD_COLLECTION_TYPE':
      return 'Remove the tag. For values from outside, use environment variables: see docs/manifests.md.';
    case 'RESOURCE_EXHAUSTION':
      return NOT_AS_DEEP;
    default:
      return 'Correct the text here, or close what is left open above.';
  }
}
