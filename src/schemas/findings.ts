import { z } from 'zod';
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../model/diagnostic.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';

/**
 * An error that a schema finds in a value. `path`: of the wrong value or key or, if a field is missing, the path at which
 * it should be. `message` follows the path, such as `is missing`.
 */
export interface SchemaFinding extends Finding {
  /** The part to show: the key or the value at the path, or its parent if the field is missing. */
  readonly at: 'key' | 'value' | 'parent';
  /** True: the remedy is to put the value into quotes, as the manifest writes it. */
  readonly needsQuotes?: true;
  /** Path of the earlier key that this key repeats. */
  readonly repeats?: FieldPath;
  /** The wrong value, if it should be a name or a reference. */
  readonly given?: string;
}

/**
 * Returns why a file does not have the type that the schema describes: it is not a mapping, or it has unknown keys.
 * `undefined` if neither applies. Does not quote keys, because they may be secrets.
 */
export function describeUnknownKeys(schema: z.ZodType, value: Json): string | undefined {
  if (!isJsonObject(value)) return 'It is not a mapping';
  const knownKeys = listKnownKeys(schema);
  const others = Object.keys(value).filter((name) => !knownKeys.includes(name));
  if (others.length === 0) return undefined;
  const members = others.length === 1 ? 'It has a member' : `It has ${others.length} members`;
  return `${members} other than ${knownKeys.map((name) => `\`${name}\``).join(', ')}`;
}

type Issue = z.core.$ZodIssue;
type CheckedSchema = z.core.$ZodType;

/** Returns the errors that a schema finds in a value. The list is empty if the value conforms. */
export function checkAgainstSchema(schema: z.ZodType, value: Json): readonly SchemaFinding[] {
  return [...yieldSchemaFindings(schema, value)];
}

/**
 * Like `checkAgainstSchema`, but yields one finding at a time, because a value may have a hundred thousand findings.
 */
export function* yieldSchemaFindings(schema: z.ZodType, value: Json): Generator<SchemaFinding> {
  const scope = { schema, value, base: [] };
  for (const issue of schema.safeParse(value).error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') yield* eachUnknownField(issue, scope);
    else yield* createFindings(issue, scope);
  }
}

function* eachUnknownField(issue: z.core.$ZodIssueUnrecognizedKeys, scope: Scope): Generator<SchemaFinding> {
  const path = [...scope.base, ...toFieldPath(issue.path)];
  for (const key of issue.keys) yield createUnknownFieldFinding(scope, path, key);
}

/** The checked value and its schema. The paths of zod's issues are relative to `base`. */
interface Scope {
  readonly schema: CheckedSchema;
  readonly value: Json;
  readonly base: FieldPath;
}

function createFindings(issue: Issue, scope: Scope): readonly SchemaFinding[] {
  const path = [...scope.base, ...toFieldPath(issue.path)];
  const input = findValue(scope.value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return [...eachUnknownField(issue, scope)];
    case 'invalid_type':
      return [
        input === undefined ? createMissingFinding(scope.schema, path) : createWrongType(scope, path, [issue.expected]),
      ];
    case 'invalid_value':
      return [
        input === undefined ? createMissingFinding(scope.schema, path) : createBadValue(scope, path, issue.values),
      ];
    case 'too_big':
    case 'too_small':
      return [createOutOfRange(path, input, issue)];
    case 'invalid_key':
      return issue.issues
        .flatMap((inner) => createFindings(inner, { ...scope, base: path }))
        .map((finding) => ({ ...finding, at: 'key' }));
    case 'invalid_union':
      if (input === undefined) return [createMissingFinding(scope.schema, path)];
      if (issue.discriminator !== undefined) return [createUnknownCase(scope, path)];
      return createUnionFindings(issue.errors, path, scope);
    default:
      return [createCustomFinding(issue, path, input)];
  }
}

function toFieldPath(path: readonly PropertyKey[]): FieldPath {
  return path.map((step) => (typeof step === 'number' ? step : String(step)));
}

function findValue(value: Json, path: FieldPath): Json | undefined {
  return path.reduce<Json | undefined>((inner, step) => {
    if (isJsonArray(inner)) return inner[Number(step)];
    return isJsonObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined;
  }, value);
}

/** Converts the issue of a custom check, and keeps the message that the check created. */
function createCustomFinding(issue: Issue, path: FieldPath, input: Json | undefined): SchemaFinding {
  const finding = { ...readParams(issue), path, message: issue.message };
  const {
    first,
    maxBytes,
    known: listed,
    isName,
  }: Readonly<Record<string, unknown>> = (issue.code === 'custom' && issue.params) || {};
  if (typeof first === 'string')
    return { ...finding, repeats: [...path.slice(0, -1), first], remedy: 'Keep one of them.' };
  if (typeof input !== 'string') return finding;
  if (Array.isArray(listed)) return { ...finding, unknown: { given: input, known: listed.map(String) } };
  if (typeof maxBytes === 'number') return { ...finding, remedy: `Shorten it to ${maxBytes} bytes.` };
  return isName === true || finding.code === 'bad-reference' ? { ...finding, given: input } : finding;
}

function readParams(issue: Issue): Pick<SchemaFinding, 'code' | 'at'> {
  const { code, at }: Readonly<Record<string, unknown>> = (issue.code === 'custom' && issue.params) || {};
  return { code: isDiagnosticCode(code) ? code : 'bad-value', at: at === 'key' ? 'key' : 'value' };
}

function isDiagnosticCode(code: unknown): code is DiagnosticCode {
  return typeof code === 'string' && Object.hasOwn(DIAGNOSTIC_CODES, code);
}

function createUnknownFieldFinding({ schema, value }: Scope, path: FieldPath, key: string): SchemaFinding {
  const union = findSchema(schema, path);
  const finding = { code: 'bad-field', path: [...path, key], at: 'key' } as const;
  const excluded = listExcludedFields(union, findValue(value, path), key);
  if (excluded.length > 0) {
    const others = excluded.map((name) => `\`${name}\``).join(' and ');
    return { ...finding, message: `cannot be used together with ${others}`, remedy: 'Keep one of them.' };
  }
  const known = listKnownKeys(union);
  const remedy = findNestedRemedy(key, known, (name) => listKnownKeys(findSchema(schema, [...path, name])));
  return { ...finding, message: 'is not a known field', unknown: { given: key, known }, remedy };
}

/** A field of a mapping beside it that has lost its indentation is no misspelling of another one. */
function findNestedRemedy(
  key: string,
  beside: readonly string[],
  listFields: (name: string) => readonly string[],
): string | undefined {
  const holders = beside.filter((name) => listFields(name).includes(key)).map((name) => `\`${name}\``);
  if (holders.length <= 1)
    return holders[0] && `It is a field of ${holders[0]}: write it below that, with more indentation.`;
  return `It is a field of ${holders.join(', ')}: write it below the one that is meant, with more indentation.`;
}

/** Lists the other fields of a value that no member of the union allows together with `key`. */
function listExcludedFields(
  schema: CheckedSchema | undefined,
  value: Json | undefined,
  key: string,
): readonly string[] {
  const union = unwrap(schema);
  if (!(union instanceof z.ZodUnion) || value === undefined || !isJsonObject(value)) return [];
  const keys = union.options.map(listKnownKeys);
  const allowed = keys.filter((names) => names.includes(key)).flat();
  const unionKeys = keys.flat();
  return allowed.length === 0
    ? []
    : Object.keys(value).filter((name) => unionKeys.includes(name) && !allowed.includes(name));
}

function createMissingFinding(schema: CheckedSchema, path: FieldPath): SchemaFinding {
  const about = findDescription(findSchema(schema, path));
  const remedy = about === undefined ? `Add \`${path.at(-1)}\`.` : `Add \`${path.at(-1)}\`: ${about}`;
  return { code: 'bad-field', path, at: 'parent', message: 'is missing', remedy };
}

function createWrongType({ schema, value }: Scope, path: FieldPath, expected: readonly string[]): SchemaFinding {
  const input = findValue(value, path) ?? null;
  const member = findSchema(schema, path);
  const wrongText = needsQuotes(input, expected) ? findWrongText(String(input), member) : undefined;
  if (wrongText !== undefined && expected.every((type) => type === 'string')) return { ...wrongText, path };
  const isUnquoted = wrongText === undefined && needsQuotes(input, expected);
  const wanted = [...new Set(expected.map((type) => JSON_TYPE_NAMES[type] ?? type))].join(' or ');
  const remedy = input === null ? formatValueRemedy(schema, path) : findTypeRemedy(input, expected, member);
  return {
    code: 'bad-value',
    path,
    at: 'value',
    message: `must be ${wanted}, but is ${describeValue(input)}`,
    remedy: isUnquoted ? `Put it in quotes: "${String(input)}".` : remedy,
    ...(isUnquoted && { needsQuotes: true }),
  };
}

/** Returns why a value would be wrong in quotes too: `90` is no duration, with or without them. */
function findWrongText(text: string, schema: CheckedSchema | undefined): SchemaFinding | undefined {
  return schema instanceof z.ZodType ? checkAgainstSchema(schema, text)[0] : undefined;
}

const JSON_TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

function describeValue(value: Json): string {
  if (value === null) return 'empty';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  return JSON_TYPE_NAMES[Array.isArray(value) ? 'array' : typeof value] ?? 'of another type';
}

/** Returns the remedy for an empty value: to set it or, unless the field is required, to remove its line. */
function formatValueRemedy(schema: CheckedSchema, path: FieldPath): string {
  const parent = findSchema(schema, path.slice(0, -1));
  const isField = path.length > 0 && listKnownKeys(parent).includes(String(path.at(-1)));
  const isRequired = isField && !isWrapped(findSchema(schema, path));
  return isRequired ? 'Give it a value.' : 'Give it a value, or remove the line.';
}

/**
 * The schemas of lists that are a program and its arguments. For them, the remedy for a text splits it into words, because
 * the text as a list of one would name a program that does not exist.
 */
export const COMMAND_LINES = z.registry();

function needsQuotes(input: Json, expected: readonly string[]): boolean {
  return (typeof input === 'number' || typeof input === 'boolean') && expected.includes('string');
}

function findTypeRemedy(
  input: Json,
  expected: readonly string[],
  schema: CheckedSchema | undefined,
): string | undefined {
  if (typeof input !== 'string') return undefined;
  if (expected.every((type) => type === 'array')) return formatListRemedy(input, schema);
  if (expected.includes('boolean')) return findBooleanRemedy(input);
  const isNumber = expected.some((type) => type === 'number' || type === 'int') && /^-?\d+(\.\d+)?$/.test(input);
  return isNumber ? `Write the number itself, without quotes: ${input}. A variable gives text.` : undefined;
}

function formatListRemedy(text: string, schema: CheckedSchema | undefined): string {
  const type = unwrap(schema);
  const isCommandLine = type instanceof z.ZodType && COMMAND_LINES.has(type);
  const words = isCommandLine ? text.trim().split(/\s+/) : [text];
  const list = `Write a list: [${words.map((word) => JSON.stringify(word)).join(', ')}].`;
  return isCommandLine ? `${list} It runs without a shell.` : list;
}

/** Returns the remedy for text that means true or false. In YAML 1.2, `yes`, `on`, `no` and `off` are text. */
function findBooleanRemedy(input: string): string | undefined {
  if (/^(true|yes|on)$/i.test(input)) return 'Write true, without quotes.';
  return /^(false|no|off)$/i.test(input) ? 'Write false, without quotes.' : undefined;
}

function createBadValue(scope: Scope, path: FieldPath, values: readonly z.core.util.Primitive[]): SchemaFinding {
  const known = values.map(String);
  const input = findValue(scope.value, path);
  if (typeof input !== 'string') return createWrongType(scope, path, [...new Set(values.map((value) => typeof value))]);
  const wanted = known.map((value) => `\`${value}\``).join(', ');
  return {
    code: 'bad-value',
    path,
    at: 'value',
    message: `is \`${input}\`, but must be ${known.length > 1 ? `one of ${wanted}` : wanted}`,
    unknown: { given: input, known },
  };
}

function createOutOfRange(
  path: FieldPath,
  input: Json | undefined,
  issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall,
): SchemaFinding {
  return { code: 'bad-value', path, at: 'value', message: describeRange(input, issue) };
}

function describeRange(input: Json | undefined, issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall): string {
  if (isJsonArray(input) || input === '') return 'must not be empty';
  if (issue.code === 'too_big') return `is ${input}, but must be at most ${issue.maximum}`;
  return `is ${input}, but must be at least ${issue.minimum}`;
}

/** Creates the finding for an unknown value of a discriminator, the field whose value selects the member of a union. */
function createUnknownCase(scope: Scope, path: FieldPath): SchemaFinding {
  const union = findSchema(scope.schema, path.slice(0, -1));
  const cases =
    union instanceof z.ZodUnion ? union.options.map((option) => findMemberSchema(option, path.at(-1) ?? '')) : [];
  const literals = cases.flatMap((value) => (value instanceof z.ZodLiteral ? [...value.values] : []));
  return createBadValue(scope, path, literals);
}

/**
 * Returns the findings of the union member that the user probably meant: of the members whose type matches the value,
 * the one with the fewest unknown and missing fields. If several have equally many, which one is meant is unknown: then
 * only the unknown fields are reported, and without unknown fields the fields of which one is missing.
 */
function createUnionFindings(
  branches: readonly (readonly Issue[])[],
  path: FieldPath,
  scope: Scope,
): readonly SchemaFinding[] {
  const fitting = branches
    .filter((issues) => !issues.some(isOwnType))
    .map((issues) => issues.flatMap((issue) => createFindings(issue, { ...scope, base: path })));
  if (fitting.length === 0) {
    const expected = branches.flat().flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
    return [createWrongType(scope, path, expected)];
  }
  const fewest = Math.min(...fitting.map(countWrongFields));
  const [nearest = [], ...others] = fitting.filter((findings) => countWrongFields(findings) === fewest);
  if (others.length === 0 || fewest === 0) return nearest;
  const unknown = nearest.filter(({ code, at }) => code === 'bad-field' && at === 'key');
  return unknown.length > 0 ? unknown : [createMissingOneOf([nearest, ...others], path)];
}

function isOwnType(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

function countWrongFields(findings: readonly SchemaFinding[]): number {
  return findings.filter(({ code }) => code === 'bad-field').length;
}

/** Creates the finding for a value that lacks the required fields of each member of a union. */
function createMissingOneOf(members: readonly (readonly SchemaFinding[])[], path: FieldPath): SchemaFinding {
  const names = members.flat().flatMap((finding) => (finding.at === 'parent' ? [`\`${finding.path.at(-1)}\``] : []));
  const wanted = [...new Set(names)].join(' or ');
  return { code: 'bad-field', path, at: 'value', message: `needs ${wanted}`, remedy: `Add ${wanted}.` };
}

function findSchema(schema: CheckedSchema, path: FieldPath): CheckedSchema | undefined {
  return path.reduce<CheckedSchema | undefined>(findMemberSchema, schema);
}

function findMemberSchema(schema: CheckedSchema | undefined, step: string | number): CheckedSchema | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodUnion) return firstDefined(inner.options, (option) => findMemberSchema(option, step));
  if (inner instanceof z.ZodObject) return typeof step === 'string' ? inner.shape[step] : undefined;
  if (inner instanceof z.ZodArray) return typeof step === 'number' ? inner.element : undefined;
  return inner instanceof z.ZodRecord ? inner.valueType : undefined;
}

/** Whether a schema wraps another schema to allow absent or null values too. */
function isWrapped(
  schema: CheckedSchema | undefined,
): schema is z.ZodOptional | z.ZodNullable | z.ZodDefault | z.ZodPrefault {
  return [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault].some((wrapper) => schema instanceof wrapper);
}

function unwrap(schema: CheckedSchema | undefined): CheckedSchema | undefined {
  return isWrapped(schema) ? unwrap(schema._zod.def.innerType) : schema;
}

function firstDefined<T, R>(list: readonly T[], find: (member: T) => R | undefined): R | undefined {
  for (const member of list) {
    const found = find(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function listKnownKeys(schema: CheckedSchema | undefined): readonly string[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(listKnownKeys);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function findDescription(schema: CheckedSchema | undefined): string | undefined {
  return schema instanceof z.ZodType ? schema.description : undefined;
}
