import { stringify } from 'yaml';
import { listAllIdPrefixes } from '../../src/kinds/references.ts';
import type { ManifestBytes } from '../../src/manifest/source.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { listExternalIds } from './known-ids.ts';
import { STACK_NAME, type TestResource, type TestStack } from './stack.ts';

/** How a stack is divided among files. It does not change the stack. */
export interface Layout {
  /** Sort keys of the documents. Those of one file stay together. */
  readonly order: readonly number[];
  readonly files: number;
  readonly json: boolean;
}

/** One YAML file with the documents in their order. */
export const PLAIN_LAYOUT: Layout = { order: [], files: 1, json: false };

/** The settings of a Stack. */
export interface StackHead {
  readonly name?: string;
  readonly handedOver?: readonly string[];
  readonly keyEnv?: string;
  readonly baseUrl?: string;
  /** The folder for tokens, relative to the file of the Stack. Default: `tokens`. */
  readonly tokens?: string;
  /** Other settings of the connection. */
  readonly api?: JsonObject;
  /** Resources of other stacks, by the names of their Externals. */
  readonly foreign?: ReadonlyMap<string, { readonly stack: string; readonly resource: string }>;
}

/** Renders the files of a stack, with its settings and the Externals that its resources may name. */
export function renderStack(
  stack: TestStack,
  layout: Layout = PLAIN_LAYOUT,
  head: StackHead = {},
): readonly ManifestBytes[] {
  const documents = listStackDocuments(stack, head);
  const sorted = documents
    .map((document, index) => ({ document, rank: layout.order[index % layout.order.length] ?? 0 }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ document }) => document);
  const groups = Map.groupBy(sorted, (document) => sorted.indexOf(document) % layout.files);
  return [...groups].map(([number, members]) => renderFile(`manifests-${number}`, members, layout.json));
}

/** The documents of a stack, with its settings and the Externals that its resources may name. */
export function listStackDocuments(stack: TestStack, head: StackHead = {}): readonly JsonObject[] {
  const foreign = [...(head.foreign ?? [])].map(([name, spec]) => toExternal(name, { ...spec }));
  return [toStackDocument(head), ...foreign, ...listExternals(stack), ...stack.map(toDocument)];
}

function renderFile(name: string, documents: readonly JsonObject[], isJson: boolean): ManifestBytes {
  const text = isJson
    ? JSON.stringify({ apiVersion: 'v1', kind: 'List', items: documents })
    : documents.map((document) => stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })).join('---\n');
  return { file: `${name}.${isJson ? 'json' : 'yaml'}`, bytes: Buffer.from(text) };
}

function toStackDocument({
  name = STACK_NAME,
  handedOver = [],
  keyEnv,
  baseUrl,
  tokens = 'tokens',
  ...head
}: StackHead): JsonObject {
  const api = {
    ...head.api,
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(keyEnv !== undefined && { key_env: keyEnv }),
  };
  return {
    apiVersion: 'edgewise/v1',
    kind: 'Stack',
    metadata: { name },
    spec: {
      tokens: { default: { directory: tokens } },
      // Most random expressions are not valid CEL.
      lint: { 'expression-syntax': 'warning' },
      ...(handedOver.length > 0 && { handed_over: handedOver }),
      ...(Object.keys(api).length > 0 && { api }),
    },
  };
}

function toDocument({ kind, name, spec, lifecycle }: TestResource): JsonObject {
  const { protect, ignore, adopt, renamedFrom, takenFrom, settings = {} } = lifecycle;
  return {
    apiVersion: 'edgewise/v1',
    kind,
    metadata: { name },
    spec: escapeVariables(spec),
    lifecycle: {
      ...(protect && { protect }),
      ignore,
      ...(adopt !== undefined && { adopt }),
      ...(renamedFrom !== undefined && { renamed_from: renamedFrom }),
      ...(takenFrom !== undefined && { renamed_from: { ...takenFrom } }),
      ...settings,
    },
  };
}

/** Escapes the syntax of variables in values. Keys have no variables. */
function escapeVariables(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (isJsonArray(value)) return value.map(escapeVariables);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapeVariables(member)]));
}

/** A document for each External that the stack names. */
function listExternals(stack: TestStack): readonly JsonObject[] {
  const text = JSON.stringify(stack);
  return EXTERNALS.filter(({ metadata }) => text.includes(`"External/${metadata.name}"`));
}

const EXTERNALS = listAllIdPrefixes().flatMap((prefix) =>
  listExternalIds(prefix).map((id, index) => toExternal(`${prefix}-${index}`, { id })),
);

function toExternal(name: string, spec: JsonObject) {
  return { apiVersion: 'edgewise/v1', kind: 'External', metadata: { name }, spec };
}
