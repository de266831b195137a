import { type CelCompiler, type CelProgram, createCelCompiler } from '../expressions/environment.ts';
import { readCelNames, readNamesGuardedByHas } from '../expressions/read-cel.ts';
import { findNameInExpression } from '../expressions/values.ts';
import type { Kind } from '../kinds/kind.ts';
import { getKind, MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { shortenMessage } from '../manifest/finding.ts';
import { suggest } from '../manifest/suggest.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { SyntaxFinding } from '../model/finding.ts';
import type { Place } from '../model/place.ts';
import type { PolicyDocument } from '../model/policy.ts';
import type { Policy } from './evaluate.ts';
import { createPolicyDeclarations, hasFieldPath, pickBeforeAndAfterPaths } from './vocabulary.ts';

/**
 * Compiles policy documents. Checks every name and type before planning, so that an invalid expression is reported at
 * once, and not only when a change matches the policy.
 */

/** The valid policies, and the diagnostics of the invalid ones. */
export interface ReadPolicies {
  readonly policies: readonly Policy[];
  readonly diagnostics: readonly Diagnostic[];
}

export function compilePolicies(documents: readonly PolicyDocument[]): ReadPolicies {
  const read = documents.map((document) => readPolicy(document));
  return {
    policies: read.flatMap((one) => ('policy' in one ? [one.policy] : [])),
    diagnostics: read.flatMap((one) => ('policy' in one ? [] : one.diagnostics)),
  };
}

/** An expression of a policy, and its position. */
interface Expression {
  readonly field: 'require' | 'message';
  readonly text: string;
  /** The value of the field that contains the expression. `start`: the index of the expression in this value. */
  readonly of: string;
  readonly start: number;
}

type Read = { readonly policy: Policy } | { readonly diagnostics: readonly Diagnostic[] };

function readPolicy(document: PolicyDocument): Read {
  const { require, message } = document;
  const template = parseTemplate(message);
  const whole: Expression = { field: 'message', text: message, of: message, start: 0 };
  const parts = 'finding' in template ? [] : template;
  const expressions: readonly Expression[] = [
    { field: 'require', text: require, of: require, start: 0 },
    ...parts.flatMap((part): Expression[] =>
      'expression' in part ? [{ ...whole, text: part.expression, start: part.start }] : [],
    ),
  ];
  const kinds = chooseKinds(document, expressions);
  const cel = createCelCompiler(createPolicyDeclarations(kinds.length === 0 ? MANIFEST_KINDS : kinds));
  const read = expressions.map((one) => readExpression(document, one, { kinds, cel }));
  const diagnostics = [
    ...read.flatMap((one) => ('diagnostics' in one ? one.diagnostics : [])),
    ...('finding' in template ? [createPolicyFileDiagnostic(document, whole, template.finding)] : []),
  ];
  const [first, ...filled] = read.flatMap((one) => ('program' in one ? [one.program] : []));
  if (diagnostics.length > 0 || first === undefined) return { diagnostics };
  const rest = [...filled];
  const texts = parts.map((part) => ('expression' in part ? (rest.shift() ?? '') : part.text));
  const names = [...new Set([first, ...filled].flatMap((program) => program.names))].sort();
  let place: Place | undefined;
  const locateRule = (): Place => (place ??= document.locate(['spec', 'require']));
  const about = new Set(kinds.map(({ name }) => name));
  return { policy: { document, kinds: about, require: first, message: texts, names, locateRule } };
}

function readExpression(
  document: PolicyDocument,
  expression: Expression,
  { kinds, cel }: { readonly kinds: readonly Kind[]; readonly cel: CelCompiler },
): { readonly program: CelProgram } | { readonly diagnostics: readonly Diagnostic[] } {
  const unknown = listUnknownFields(document, expression, kinds);
  if (unknown.length > 0) return { diagnostics: unknown };
  const program = compilePolicy(cel, expression);
  return 'finding' in program
    ? { diagnostics: [createPolicyFileDiagnostic(document, expression, program.finding)] }
    : { program };
}

/** Compiles an expression. `require` must have the type bool, or `dyn`, whose value is checked at each evaluation. */
function compilePolicy(
  cel: CelCompiler,
  { field, text }: Expression,
): CelProgram | { readonly finding: SyntaxFinding } {
  const program = cel.compile(text);
  if ('finding' in program || field === 'message' || program.type === 'bool' || program.type === 'dyn') return program;
  const message = `has the type ${program.type}, but must have the type bool`;
  return { finding: { code: 'policy-invalid', message, range: { start: 0, end: text.length } } };
}

/** Returns the kinds that the policy lists. Without a list: the kinds that have all fields that the policy uses. */
function chooseKinds({ match }: PolicyDocument, expressions: readonly Expression[]): readonly Kind[] {
  if (match.kinds !== undefined) return match.kinds.map(getKind);
  const paths = expressions.flatMap(({ text }) => pickBeforeAndAfterPaths(readNames(text)));
  return MANIFEST_KINDS.filter((kind) => paths.every(({ path }) => hasFieldPath(kind, path)));
}

function readNames(text: string): readonly string[] {
  const reading = readCelNames(text);
  return 'names' in reading ? reading.names : [];
}

/**
 * Reports fields of `before` and `after` that kinds lack. If the policy lists kinds, each of them must have the field,
 * but one is enough if the expression tests whether the field is present. If the policy lists no kinds, at least one
 * kind must have all fields.
 */
function listUnknownFields(
  document: PolicyDocument,
  expression: Expression,
  kinds: readonly Kind[],
): readonly Diagnostic[] {
  const isNamed = document.match.kinds !== undefined;
  const asked = pickBeforeAndAfterPaths(readNamesGuardedByHas(expression.text)).map(({ path }) => path);
  return pickBeforeAndAfterPaths(readNames(expression.text)).flatMap(({ name, path }): Diagnostic[] => {
    const lacking = (isNamed ? kinds : MANIFEST_KINDS).filter((kind) => !hasFieldPath(kind, path));
    const isSomewhere = lacking.length < kinds.length;
    const isUnknown = isNamed
      ? lacking.some((kind) => !isSomewhere || !asked.some((other) => isMissingPart(kind, other, path)))
      : kinds.length === 0;
    if (!isUnknown) return [];
    const part = findNameInExpression(expression.text, name) ?? { start: 0, end: expression.text.length };
    const of = isNamed ? (lacking[0]?.name ?? '') : 'any kind that has the other fields';
    const known = (isNamed ? lacking : MANIFEST_KINDS).flatMap((kind) => Object.keys(kind.fields));
    const nearest = suggest(path[0] ?? '', [...new Set(known)]);
    return [
      createPolicyFileDiagnostic(document, expression, {
        code: 'policy-invalid',
        message: `names ${name}, which is not a field of ${of}`,
        range: part,
        unknown: nearest === undefined ? undefined : { given: path[0] ?? '', known: [nearest] },
      }),
    ];
  });
}

/** Whether `part` is the shortest prefix of `path` that the kind lacks. */
function isMissingPart(kind: Kind, part: readonly string[], path: readonly string[]): boolean {
  const isPart = part.every((name, at) => name === path[at]);
  return isPart && !hasFieldPath(kind, part) && hasFieldPath(kind, part.slice(0, -1));
}

function createPolicyFileDiagnostic(
  document: PolicyDocument,
  { field, of, start }: Expression,
  finding: SyntaxFinding,
): Diagnostic {
  const { code, range, unknown } = finding;
  const nearest = unknown === undefined ? undefined : suggest(unknown.given, unknown.known);
  const part = { of, start: start + range.start, end: start + range.end };
  return {
    code,
    severity: 'error',
    message: shortenMessage(`Policy/${document.name}: spec.${field}: ${finding.message}`),
    remedy: nearest === undefined ? choosePolicyRemedy(finding) : `Did you mean \`${nearest}\`?`,
    address: `Policy/${document.name}`,
    place: document.locate(['spec', field], part),
  };
}

function choosePolicyRemedy({ message }: SyntaxFinding): string {
  return WITH_NULL.test(message) ? NEVER_NULL : REMEDY;
}

/** Matches the CEL library's error about a comparison of `before` or `after` with null. */
const WITH_NULL = /\b(Spec [!=]= null|null [!=]= Spec)\b/;
const NEVER_NULL = '`before` and `after` are never null. Ask for one of their fields: `has(after.FIELD)`.';
const REMEDY = 'Correct the expression. docs/how-to/policies.md lists the names that it may use, and their types.';

/** A part of a message template: literal text, or an expression that starts at the index `start`. */
type TemplatePart = { readonly text: string } | { readonly expression: string; readonly start: number };

/** Splits a message template into literal texts and `${…}` expressions. An expression may contain braces and quotes. */
function parseTemplate(text: string): readonly TemplatePart[] | { readonly finding: SyntaxFinding } {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, from)) {
    const start = at + OPEN.length;
    const end = findClosingBrace(text, start);
    const refuse = (message: string) => ({
      finding: { code: 'policy-invalid' as const, message, range: { start: at, end: start } },
    });
    if (end === undefined) return refuse(`has a \`${OPEN}\` that no \`}\` closes`);
    if (text.slice(start, end).trim() === '') return refuse(`has a \`${OPEN}}\` with nothing in it`);
    parts.push({ text: text.slice(from, at) }, { expression: text.slice(start, end), start });
    from = end + 1;
  }
  return [...parts, { text: text.slice(from) }];
}

const OPEN = '${';

/** Returns the index of the brace that closes the expression at `start`. `undefined` if no brace closes it. */
function findClosingBrace(text: string, start: number): number | undefined {
  let [depth, quote] = [1, ''];
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\') at += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}
