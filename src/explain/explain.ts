import { type Field, getNestedFields } from '../kinds/field.ts';
import { findKind, KINDS } from '../kinds/tables/registry.ts';
import { suggestRemedy } from '../manifest/suggest.ts';
import { DIAGNOSTIC_CODES } from '../model/diagnostic.ts';
import { DOCUMENT_KINDS } from '../schemas/document.ts';
import { findCodeSection } from './code-section.ts';
import {
  type CodePage,
  createFieldPage,
  createKindLifecycleFieldPage,
  createKindPage,
  createSchemaPage,
  type FieldPageResult,
  type FieldRow,
  type KindOrFieldPage,
  listSchemaPaths,
} from './pages.ts';

/**
 * Explains diagnostic codes, kinds, fields and settings. Loaded only for `edgewise explain`. Facts about fields are not
 * here: they come from the tables of kinds and the schemas.
 */

/** The page of `edgewise explain` without an argument: everything that can be explained. */
interface TopicsPage {
  readonly about: 'topics';
  readonly kinds: readonly TopicSummary[];
  readonly codes: readonly TopicSummary[];
}

/** The page of a field name that is not unique. Lists all fields with this name. */
interface FieldsPage {
  readonly about: 'fields';
  readonly name: string;
  readonly fields: readonly TopicSummary[];
}

export interface TopicSummary {
  readonly name: string;
  readonly sentence: string;
}

export type ExplanationPage = CodePage | KindOrFieldPage | FieldsPage | TopicsPage;

interface UnknownTopic {
  readonly message: string;
  readonly remedy: string | undefined;
}

/** Explains a diagnostic code, a kind, or a field such as `TCPEdge.backend.backend_id`, whose kind may be omitted. */
export function explain(topic: string): ExplanationPage | UnknownTopic {
  const section = Object.hasOwn(DIAGNOSTIC_CODES, topic) ? findCodeSection(topic) : undefined;
  if (section !== undefined) return { about: 'code', code: topic, ...section };
  const [kind = '', ...steps] = topic.replace(/\[\d*\]/g, '').split('.');
  if (!DOCUMENT_KINDS.includes(kind)) return explainByName(topic, [kind, ...steps]);
  const found = createExplanation(kind, steps);
  return 'unknown' in found ? createUnknownFieldTopic(found, { kind, steps }) : found;
}

/** Explains the field with this name. If several fields have the name, lists them. */
function explainByName(topic: string, names: readonly string[]): ExplanationPage | UnknownTopic {
  const targets = [...listFieldTargets(names), ...(names.length === 1 ? listTargetsOfWord(topic) : [])];
  const [only, ...others] = targets.flatMap(({ kind, steps }) => {
    const page = createExplanation(kind, steps);
    return 'unknown' in page ? [] : [page];
  });
  if (only === undefined) return createUnknownTopic(topic, names[0] ?? '');
  if (others.length === 0) return only;
  const fields = [only, ...others].map(({ path, description }) => ({ name: path, sentence: description }));
  return { about: 'fields', name: topic, fields };
}

/** Lists what the kinds mean by a word of other products, such as `tunnel` or `allow-list`. */
function listTargetsOfWord(topic: string): readonly FieldTarget[] {
  const toForm = (word: string): string => word.toLowerCase().replace(/[^a-z]/g, '');
  return KINDS.flatMap(({ name, words }) => {
    const entry = Object.entries(words).find(([word]) => [toForm(word), `${toForm(word)}s`].includes(toForm(topic)));
    return entry === undefined ? [] : [{ kind: name, steps: entry[1].split('.').filter(Boolean) }];
  });
}

/** Lists all topics: kinds, each with the fields inside of it at any depth, and codes. For completion. */
export function listTopics(): readonly TopicSummary[] {
  const { kinds, codes } = createTopicsPage();
  const listBelow = (path: string, fields: readonly FieldRow[]): readonly TopicSummary[] =>
    fields.flatMap(({ name, description, fields: inner }) => [
      { name: `${path}.${name}`, sentence: description },
      ...listBelow(`${path}.${name}`, inner),
    ]);
  const listInside = (kind: string): readonly TopicSummary[] => {
    const page = createExplanation(kind, []);
    return 'fields' in page ? listBelow(kind, page.fields) : [];
  };
  return [...kinds.flatMap((kind) => [kind, ...listInside(kind.name)]), ...codes];
}

export function createTopicsPage(): TopicsPage {
  const codes = Object.entries(DIAGNOSTIC_CODES).map(([name, sentence]) => ({ name, sentence }));
  const kinds = DOCUMENT_KINDS.map((name) => {
    const page = createExplanation(name, []);
    return { name, sentence: 'description' in page ? page.description : '' };
  });
  return { about: 'topics', kinds, codes };
}

/**
 * The members of a document outside `spec`. If a field of the kind has the same name, the field is explained instead.
 */
const OUTSIDE_SPEC: readonly string[] = ['apiVersion', 'kind', 'metadata', 'lifecycle', 'lint'];

function createExplanation(kind: string, steps: readonly string[]): FieldPageResult {
  const inSpec = steps[0] === 'spec' ? steps.slice(1) : steps;
  const table = findKind(kind);
  if (table === undefined) return createSchemaSettingPage(kind, steps);
  if (inSpec.length === 0) return createKindPage(kind);
  const [part, name = '', ...more] = steps;
  const isSetting = part === 'lifecycle' && more.length === 0 && Object.hasOwn(table.lifecycle, name);
  const setting = isSetting ? table.lifecycle[name] : undefined;
  if (setting !== undefined) return createKindLifecycleFieldPage(table, name, setting);
  const found = createFieldPage(table, inSpec);
  const isOutside = steps[0] !== undefined && OUTSIDE_SPEC.includes(steps[0]);
  return 'unknown' in found && isOutside ? createSchemaPage(kind, steps) : found;
}

/** Finds the page of a setting. The path may omit the leading `spec`. */
function createSchemaSettingPage(kind: string, steps: readonly string[]): FieldPageResult {
  const [first = 'spec'] = steps;
  const isFull = kind === 'List' || first === 'spec' || OUTSIDE_SPEC.includes(first);
  const page = createSchemaPage(kind, isFull && (steps.length > 0 || kind === 'List') ? steps : ['spec', ...steps]);
  if ('unknown' in page && first === 'lint') return createSchemaPage(kind, ['spec', ...steps]);
  if (steps.length > 0 || 'unknown' in page) return page;
  const whole = createSchemaPage(kind, []);
  return 'unknown' in whole ? whole : { ...whole, fields: page.fields };
}

function createUnknownTopic(topic: string, first: string): UnknownTopic {
  const isWord = !topic.includes('.');
  const known = [...DOCUMENT_KINDS, ...(isWord ? [...Object.keys(DIAGNOSTIC_CODES), ...listFieldNames()] : [])];
  return {
    message: `There is no diagnostic code, kind or field ${topic}.`,
    remedy: suggestRemedy(first, known, false) ?? 'edgewise explain lists everything that can be explained.',
  };
}

type Unknown = Extract<FieldPageResult, { unknown: string }>;

function createUnknownFieldTopic({ unknown, before, known }: Unknown, { kind, steps }: FieldTarget): UnknownTopic {
  const [deeper] = listFieldTargets(steps, [kind]);
  const near = suggestRemedy(unknown, known)?.replace(/^Did you mean `/, `Did you mean \`${before}.`);
  return {
    message: known.length === 0 ? `${before} has no fields.` : `${before} has no field ${unknown}.`,
    remedy: deeper === undefined ? near : `Did you mean \`${[kind, ...deeper.steps].join('.')}\`?`,
  };
}

/** A field, as its kind and path. */
interface FieldTarget {
  readonly kind: string;
  readonly steps: readonly string[];
}

/** The kinds in which fields are searched by name. `Defaults` is omitted, because it has the same fields as `Stack`. */
const SEARCHED = DOCUMENT_KINDS.filter((kind) => kind !== 'Defaults');

/** Finds the fields and settings whose path ends with these names. A leading `spec` is ignored. */
function listFieldTargets(names: readonly string[], kinds: readonly string[] = SEARCHED): readonly FieldTarget[] {
  const wanted = names[0] === 'spec' && names.length > 1 ? names.slice(1) : names;
  const end = `.${wanted.join('.')}`;
  return kinds.flatMap((kind) =>
    listFieldPaths(kind)
      .filter((steps) => `.${steps.join('.')}`.endsWith(end))
      .map((steps) => ({ kind, steps })),
  );
}

function listFieldNames(): readonly string[] {
  return [...new Set(DOCUMENT_KINDS.flatMap((kind) => listFieldPaths(kind).map((steps) => steps.at(-1) ?? '')))];
}

/**
 * Lists the paths of the fields and settings of a kind. If the kind has a table, the fields of `spec` come from the
 * table and not from the schema.
 */
function listFieldPaths(kind: string): readonly (readonly string[])[] {
  const table = findKind(kind);
  const inSchema = listSchemaPaths(kind);
  if (table === undefined)
    return inSchema.map((steps) => (steps[0] === 'spec' && steps.length > 1 ? steps.slice(1) : steps));
  return [...listTablePaths(table.fields), ...inSchema.filter(([first]) => first !== 'spec')];
}

function listTablePaths(fields: Readonly<Record<string, Field>>): readonly (readonly string[])[] {
  return Object.entries(fields).flatMap(([name, { type }]) => [
    [name],
    ...listTablePaths(getNestedFields(type)).map((inner) => [name, ...inner]),
  ]);
}
