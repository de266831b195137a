import { listOpenParts } from '../access/restrictions.ts';
import { readCelNames } from '../expressions/read-cel.ts';
import { findNameInExpression } from '../expressions/values.ts';
import { INVALID_EXPRESSION } from '../kinds/access-effect.ts';
import { normalizeField } from '../kinds/canonical.ts';
import { parseDurationMs, renderTimeSpan } from '../kinds/duration.ts';
import type { Field } from '../kinds/field.ts';
import { findFixedEnd } from '../kinds/fixed-end.ts';
import { listReferences } from '../kinds/references.ts';
import { suggest, suggestRemedy } from '../manifest/suggest.ts';
import { isAddress } from '../model/address.ts';
import { isConcealed } from '../model/concealed-value.ts';
import type { LintCode } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { SyntaxFinding, UncodedFinding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, toCanonicalJson } from '../model/json.ts';
import type { OffsetRange, TextRange } from '../model/place.ts';
import { isNameOfSecret } from '../model/secret-names.ts';
import { isSecretValue } from '../model/secret-value.ts';
import type { TokenCommand, TokenSettings } from '../model/stack.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { checkKeepingAnnotations, checkUnfilledValues, isUnfilled } from './other-tools.ts';
import type { LintContext, LintedResource, LintRule, SpecNode } from './rule.ts';

/** A rule without its id. The id is the key in `FACTS`. */
type RuleFacts = Omit<LintRule, 'id'>;

const FACTS: Readonly<Record<LintCode, RuleFacts>> = {
  'expression-syntax': {
    severity: 'error',
    remedy: 'Correct it: the service applies a rule with such an expression to no traffic.',
    check: checkCelSyntax,
  },
  'traffic-policy': {
    severity: 'warning',
    remedy: 'Correct the action. The service stores any, and its traffic may not be handled as meant.',
    check: (subject, context) => [
      ...checkUnreadableCel(subject),
      ...checkCelVariables(subject, context),
      ...checkKnownValues(subject),
      ...listMistakes(subject, 'traffic-policy'),
    ],
  },
  'no-backend': {
    severity: 'warning',
    remedy: 'Add a backend, enable it, and give it a weight above zero.',
    check: (subject) => [...checkShares(subject), ...listUnset(subject, 'no-backend')],
  },
  'unrestricted-access': {
    severity: 'warning',
    remedy: 'List what the holder of the credential or certificate needs.',
    check: (subject) => listUnset(subject, 'unrestricted-access'),
  },
  'restricts-nothing': {
    severity: 'warning',
    remedy: 'Write what it admits or denies. To admit everyone on purpose, remove it.',
    check: checkRestrictions,
  },
  'certificate-too-long': {
    severity: 'warning',
    remedy:
      'Set lifecycle.valid_for and renew_before, so that certificates are short-lived and renewed, or raise spec.lint.max_validity of the Stack.',
    check: checkValidity,
  },
  'certificate-extensions': {
    severity: 'warning',
    remedy: 'Correct the extensions. sshd ignores those that it does not know.',
    check: (subject) => listMistakes(subject, 'certificate-extensions'),
  },
  'certificate-ended': {
    severity: 'warning',
    remedy:
      'Set a later end, or lifecycle.valid_for instead of times, so that each certificate ends later than the one before.',
    check: checkEnd,
    isToldByPlan: true,
  },
  'principal-pattern': {
    severity: 'warning',
    remedy: 'List each user name, or a role that hosts list in AuthorizedPrincipalsFile.',
    check: checkPrincipals,
  },
  'restriction-not-enforced': {
    severity: 'warning',
    remedy: 'Enforce it once its warnings are only about callers that should have no access.',
    check: (subject) => listUnset(subject, 'restriction-not-enforced'),
  },
  'restriction-locks-out': {
    severity: 'warning',
    remedy:
      'Make sure that its IP policies allow the address that edgewise runs from. Then name this rule under lint.allow.',
    check: checkLockout,
    isToldByPlan: true,
  },
  'module-without-effect': {
    severity: 'warning',
    remedy: 'Correct the module, or disable it.',
    check: (subject) => listMistakes(subject, 'module-without-effect'),
  },
  'number-rewritten': {
    severity: 'warning',
    remedy: 'Put it in quotes, so that it stays as written.',
    check: checkRewrittenNumbers,
  },
  'unknown-placeholder': {
    severity: 'warning',
    remedy: `Write \${env:NAME} for a variable, and $\${NAME} for the text itself.`,
    check: checkPlaceholders,
  },
  'unfilled-value': {
    severity: 'error',
    remedy: 'Let the tool write the manifest first.',
    check: checkUnfilledValues,
  },
  'kept-by-annotation': {
    severity: 'warning',
    remedy: 'Set lifecycle.protect: true, so that edgewise neither deletes nor replaces it without consent.',
    check: checkKeepingAnnotations,
  },
  'left-to-service': {
    severity: 'warning',
    remedy: 'Set all of them. `get --verbose` and plans show the values that are live.',
    check: checkServiceChoices,
  },
  'repeated-value': { severity: 'warning', remedy: 'Remove one of them.', check: checkRepeated },
  'literal-id': { severity: 'warning', remedy: 'Write the address instead of the id.', check: checkLiterals },
  'placeholder-in-shell': {
    severity: 'warning',
    remedy:
      'Use the variable with the same value, in double quotes, or give the placeholder as an argument of its own.',
    check: () => [], // lint.ts checks it, because the Stack is not a resource
  },
  'secret-in-manifest': {
    severity: 'warning',
    remedy: `Put the value into an environment variable, and write \${secret:NAME}. Replace a secret that was committed.`,
    check: checkSecretsInClear,
  },
  'suppression-unused': {
    severity: 'warning',
    remedy: 'Remove the line. It would hide later findings.',
    check: () => [], // lint.ts checks it, because it knows which suppressions had an effect
  },
};

export const LINT_RULES: readonly LintRule[] = Object.entries(FACTS).map(([id, facts]) => ({
  id: id as LintCode, // `FACTS` has exactly these keys
  ...facts,
}));

/** Validation hides each value in clear whose key is named like a secret. */
function checkSecretsInClear({ resource }: LintedResource): readonly UncodedFinding[] {
  const hidden = listHiddenPaths(resource.spec, ['spec']).filter((path) => !isUnfilled(resource, path));
  // What is below such a name may be secret too, so the path ends there.
  const paths = hidden.map((path) => path.slice(0, findNameOfSecret(path) + 1));
  const unique = new Map(paths.map((path) => [formatPath(path), path]));
  return [...unique.values()].map((path) => ({
    path,
    message: `${formatPath(path.slice(1))} is, by its name, a secret in plain text`,
  }));
}

/** Returns the index of the first name that looks like that of a secret, or else of the last step. */
function findNameOfSecret(path: FieldPath): number {
  const index = path.findIndex((step) => typeof step === 'string' && isNameOfSecret(step));
  return index < 0 ? path.length - 1 : index;
}

function listHiddenPaths(value: Json, path: FieldPath): readonly FieldPath[] {
  if (isConcealed(value)) return isSecretValue(value) ? [] : [path];
  if (isJsonArray(value)) return value.flatMap((member, index) => listHiddenPaths(member, [...path, index]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => listHiddenPaths(member, [...path, key]));
}

function checkCelSyntax({ spots }: LintedResource): readonly UncodedFinding[] {
  return listUnreadExpressions(spots)
    .filter(({ finding }) => finding.severity !== 'warning')
    .map(({ path, text, finding: { message, range } }) => {
      const given = findOperatorOfOthers(text, range.start);
      const operator = OPERATORS[given];
      return {
        path,
        part: toPart(text, range),
        message: `${formatPath(path)} is not valid CEL at character ${range.start + 1}: ${message}`,
        remedy: operator && `Write \`${operator}\` instead of \`${given}\`. ${NO_TRAFFIC}`,
      };
    });
}

const NO_TRAFFIC = 'The service applies a rule with a syntax error to no traffic.';

/** The operators of CEL, by those of other languages. */
const OPERATORS: Readonly<Record<string, string>> = {
  and: '&&',
  or: '||',
  not: '!',
  '&': '&&',
  '|': '||',
  '=': '==',
};

/** Returns the operator of another language at an offset, or the one that ends there. */
function findOperatorOfOthers(text: string, offset: number): string {
  const [before = ''] = /\bnot(?=\s+$)/.exec(text.slice(Math.max(0, offset - MAX_OPERATOR), offset)) ?? [];
  const [after = ''] = /^(?:(?:and|or)\b|[&|=])/.exec(text.slice(offset, offset + MAX_OPERATOR)) ?? [];
  return before === '' ? after : before;
}

/** Longer than any operator with the white space after it. */
const MAX_OPERATOR = 10;

/** Finds expressions that may be valid, but cannot be parsed here. */
function checkUnreadableCel({ spots }: LintedResource): readonly UncodedFinding[] {
  return listUnreadExpressions(spots)
    .filter(({ finding }) => finding.severity === 'warning')
    .map(({ path, text, finding: { message, range } }) => ({
      path,
      part: toPart(text, range),
      message: `${formatPath(path)} cannot be checked: edgewise does not know this part of CEL (character ${range.start + 1}: ${message})`,
      remedy: `Check that the service knows it. ${NO_TRAFFIC}`,
    }));
}

interface UnreadExpression extends Omit<Expression, 'variables'> {
  readonly finding: SyntaxFinding;
}

function listUnreadExpressions(spots: LintedResource['spots']): readonly UnreadExpression[] {
  return listExpressions(spots).flatMap(({ path, text }): readonly UnreadExpression[] => {
    const reading = readCelNames(text);
    return 'finding' in reading ? [{ path, text, finding: reading.finding }] : [];
  });
}

/** The character at which a range begins, or else the last one of the text. */
function toPart(text: string, range: OffsetRange): TextRange {
  const start = Math.max(0, Math.min(range.start, text.length - 1));
  return { of: text, start, end: start + 1 };
}

/**
 * Finds undeclared variables in expressions: neither the field nor `spec.lint.cel_variables` of the Stack declares
 * them.
 */
function checkCelVariables({ spots }: LintedResource, { settings }: LintContext): readonly UncodedFinding[] {
  return listExpressions(spots).flatMap(({ path, text, variables }) => {
    const reading = readCelNames(text);
    const known = [...variables, ...settings.celVariables];
    const unknown = 'names' in reading ? reading.names.filter((name) => !isKnownVariable(name, known)) : [];
    return unknown.map((name) => {
      const part = findNameInExpression(text, name);
      return {
        path,
        part,
        message: `${formatPath(path)} uses the unknown variable \`${name}\``,
        remedy: formatVariableRemedy(name, known),
      };
    });
  });
}

interface Expression {
  readonly path: FieldPath;
  readonly text: string;
  readonly variables: readonly string[];
}

function listExpressions(spots: LintedResource['spots']): readonly Expression[] {
  const expressions: Expression[] = [];
  for (const { path, type, value } of spots)
    if (type.type === 'text' && type.cel !== undefined && typeof value === 'string')
      expressions.push({ path, text: value, variables: type.cel });
  return expressions;
}

/**
 * Whether a name is a known variable or a member of one. Also accepts a prefix of a known variable, because an
 * expression may compute the names of members.
 */
function isKnownVariable(name: string, known: readonly string[]): boolean {
  return known.some((variable) => {
    const base = variable.replace(/\.\*$/, '');
    return name === base || name.startsWith(`${base}.`) || base.startsWith(`${name}.`);
  });
}

function formatVariableRemedy(name: string, known: readonly string[]): string {
  const nearest = suggest(name, known);
  const ending = 'or add the name to spec.lint.cel_variables of the Stack';
  return nearest === undefined
    ? `Known variables: ${known.join(', ')}. Use one of them, ${ending}.`
    : `Did you mean \`${nearest}\`?${formatSiblings(name, known)} If not, use another variable, ${ending}.`;
}

/** Names the known members of the object that has the variable, such as those of `conn.geo`. Empty if none is known. */
function formatSiblings(name: string, known: readonly string[]): string {
  const parent = name.slice(0, Math.max(name.lastIndexOf('.'), 0));
  const members = known.filter((one) => one.startsWith(`${parent}.`)).map((one) => one.slice(parent.length + 1));
  return parent === '' || members.length === 0 ? '' : ` Known in ${parent}: ${members.join(', ')}.`;
}

/** Finds restrictions that are on and admit everyone. An unset list for which its table has advice is left to that. */
function checkRestrictions({ kind, spots }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap(({ path, field, value }) => {
    const isOfKind = field !== undefined && kind.fields[String(path.at(-1))] === field;
    if (!isOfKind || value === undefined) return [];
    if (field.whenUnset !== undefined && isUnsetField(field, value)) return [];
    // `expression-syntax` is about invalid expressions.
    const open = listOpenParts(field, normalizeField(field, value)).filter(({ why }) => why !== INVALID_EXPRESSION);
    return open.map(({ path: inner, why }) => {
      const at = [...path, ...inner];
      return { path: at, message: `${formatPath(at)} restricts nothing: ${why}` };
    });
  });
}

/** Lists the unset fields for which the kind's table has a warning with the code `id`. */
function listUnset({ spots }: LintedResource, id: LintCode): readonly UncodedFinding[] {
  return spots.flatMap(({ path, field, value }) => {
    const advice = field?.whenUnset;
    if (field === undefined || advice?.code !== id || !isUnsetField(field, value)) return [];
    return [{ path, message: advice.message, remedy: advice.remedy }];
  });
}

/** Whether a value is empty, null, false or a disabled module. */
function isUnsetField(field: Field, value: Json | undefined): boolean {
  const normal = normalizeField(field, value);
  if (isJsonArray(normal)) return normal.length === 0;
  if (isJsonObject(normal)) return Object.keys(normal).length === 0 || normal['enabled'] === false;
  return normal === null || normal === '' || normal === false;
}

/** Lists the mistakes with the code `id` that the types of the kind's table find. Skips disabled modules. */
function listMistakes({ spots }: LintedResource, id: LintCode): readonly UncodedFinding[] {
  return spots.flatMap(({ path, type, value }) => {
    if (type.type !== 'object' && type.type !== 'map') return [];
    if (type.findMistakes === undefined || !isJsonObject(value) || value['enabled'] === false) return [];
    const mistakes = type.findMistakes(value).filter(({ code }) => code === id);
    return mistakes.map(({ path: inner, message, remedy, unknown }) => ({
      path: [...path, ...inner],
      message: `${formatPath(path)} ${message}`,
      remedy: (unknown && suggestRemedy(unknown.given, unknown.known)) ?? remedy,
    }));
  });
}

/**
 * Finds numbers that YAML reads as another text than was written, such as `1.10` and `0x1F` in free JSON, and `010` in
 * fields that are numbers, where quotes are no remedy.
 */
function checkRewrittenNumbers({ spots, resource }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap(({ path, type, value }) => {
    const isNumber = type.type === 'number' || (type.type === 'map' && type.of.type === 'number');
    if (!isNumber && type.type !== 'metadata' && type.type !== 'json') return [];
    return listLeaves(value ?? null, path).flatMap((leaf): readonly UncodedFinding[] => {
      if (typeof leaf.value !== 'number') return [];
      const written = resource.readSource(leaf.path);
      if (written === String(leaf.value) || !(isNumber ? LEADING_ZERO : NUMBER).test(written)) return [];
      const message = `${formatPath(leaf.path)} is written ${written}, and is sent as ${leaf.value}`;
      const remedy = isNumber ? `Write ${leaf.value}, if that is what you mean.` : `Put it in quotes: "${written}".`;
      return [{ path: leaf.path, message, remedy }];
    });
  });
}

const NUMBER = /^[-+.]?\d\S*$/;
const LEADING_ZERO = /^[-+]?0[\dxo]\S*$/;

/** Finds texts such as `${ENVIRONMENT}`, which edgewise sends as they are. */
function checkPlaceholders({ resource }: LintedResource): readonly UncodedFinding[] {
  return listLeaves(resource.spec, ['spec']).flatMap(({ path, value }): readonly UncodedFinding[] => {
    if (typeof value !== 'string' || !value.includes('${')) return [];
    const [, found, name] = UNKNOWN_PLACEHOLDER.exec(resource.readSource(path)) ?? [];
    if (found === undefined || !value.includes(`\${${found}}`)) return [];
    const message = `${formatPath(path)} contains \`\${${found}}\`, which edgewise does not fill in`;
    return [
      {
        path,
        message,
        remedy: `For the value of a variable, write \`\${env:${name}}\`. To send the text itself, write \`$\${${found}}\`.`,
      },
    ];
  });
}

/** A placeholder of a shell or of Terraform. Others with dots are of traffic policies, such as `${conn.client_ip}`. */
const UNKNOWN_PLACEHOLDER = /(?<!\$)\$\{((?:(?:var|local)\.)?([A-Za-z_][A-Za-z0-9_]*))\}/;

interface Leaf {
  readonly path: FieldPath;
  readonly value: Json;
}

function listLeaves(value: Json, path: FieldPath): readonly Leaf[] {
  if (isConcealed(value)) return [];
  if (isJsonArray(value)) return value.flatMap((member, index) => listLeaves(member, [...path, index]));
  if (!isJsonObject(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, member]) => listLeaves(member, [...path, key]));
}

/**
 * Finds modules that leave values to the service. If such a value is set once and then removed from the manifest, the
 * service keeps it, because a module has no mark that remembers it.
 */
function checkServiceChoices({ spots }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap(({ path, type, value }) => {
    if (type.type !== 'object' || !isJsonObject(value)) return [];
    const unset = Object.entries(type.fields).filter(
      ([name, { serviceDefault }]) => serviceDefault && (value[name] ?? undefined) === undefined,
    );
    const names = unset.map(([name]) => name);
    if (names.length === 0) return [];
    return [{ path, message: `${formatPath(path)} leaves ${names.join(', ')} to the service` }];
  });
}

/** Finds texts that are not among the known values of their field. */
function checkKnownValues({ spots }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap(({ path, type, value }) => {
    if (type.type !== 'text' || type.known === undefined || typeof value !== 'string') return [];
    if (type.known.includes(value)) return [];
    const nearest = suggest(value, type.known);
    return [
      {
        path,
        message: `${formatPath(path)} is \`${value}\`, which is not known here; known: ${type.known.join(', ')}. A service that does not know it may apply nothing`,
        remedy: `${nearest === undefined ? 'Use an action that is known for this traffic.' : `Did you mean \`${nearest}\`?`} A newer service may know others.`,
      },
    ];
  });
}

/** Finds maps of traffic shares that are empty or add up to zero. */
function checkShares({ spots }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap(({ path, type, value }) => {
    if (type.type !== 'map' || !type.isShares) return [];
    const shares = isJsonObject(value) ? Object.values(value) : [];
    if (shares.some((share) => Number(share) > 0)) return [];
    const what = shares.length === 0 ? 'is empty' : 'adds up to zero';
    const message = `${formatPath(path)} ${what}: no traffic is forwarded`;
    return [{ path, message, remedy: 'Give one of the backends a weight above zero.' }];
  });
}

/** Finds values that an unordered list contains twice, even if their spelling differs. */
function checkRepeated({ spots, resource }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap((spot) => listRepeatedMembers(spot, resource));
}

function listRepeatedMembers(
  { path, field, type, value }: SpecNode,
  { locate }: LintedResource['resource'],
): readonly UncodedFinding[] {
  if (type.type !== 'list' || !type.unordered || field === undefined || !isJsonArray(value)) return [];
  if (value.length < 2) return [];
  const first = new Map<string, number>();
  const ofMember = { ...field, default: undefined, type: type.of };
  return value.flatMap((member, index): readonly UncodedFinding[] => {
    const key = toCanonicalJson(normalizeField(ofMember, member));
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    if (before === undefined) return [];
    const related = [{ message: 'first set here', place: locate([...path, before]) }];
    return [{ path: [...path, index], message: `${formatPath([...path, index])} repeats ${String(member)}`, related }];
  });
}

/** Finds certificates that are valid for longer than the Stack allows. A missing start is assumed to be now. */
function checkValidity({ kind, resource }: LintedResource, { settings, now }: LintContext): readonly UncodedFinding[] {
  const { validity } = kind;
  if (validity === undefined) return [];
  const span = findValidity(resource.spec, { ...validity, settings: resource.lifecycle.settings, now });
  if (span === undefined || span.ms <= settings.maxValidityMs) return [];
  const limit = renderTimeSpan(settings.maxValidityMs);
  return [{ path: span.path, message: `it is valid for ${renderTimeSpan(span.ms)}; the limit is ${limit}` }];
}

interface ValidityContext {
  readonly after: string;
  readonly until: string;
  readonly settings: Spec;
  readonly now: Date;
}

/** Returns the length of the validity, and the path of the field that limits it. `undefined` if no field limits it. */
function findValidity(
  spec: Spec,
  { after, until, settings, now }: ValidityContext,
): { readonly ms: number; readonly path: FieldPath } | undefined {
  const validFor = parseDurationMs(String(settings['valid_for'] ?? ''));
  if (validFor !== undefined) return { ms: validFor, path: ['lifecycle', 'valid_for'] };
  const end = Date.parse(String(spec[until] ?? ''));
  const start = spec[after] === undefined ? now.getTime() : Date.parse(String(spec[after]));
  return Number.isNaN(end - start) ? undefined : { ms: end - start, path: ['spec', until] };
}

/** Finds certificates whose manifest fixes an end that is past by the clock of this machine. */
function checkEnd({ kind, resource: { spec } }: LintedResource, { now }: LintContext): readonly UncodedFinding[] {
  const fixed = findFixedEnd(kind, spec);
  if (fixed === undefined || fixed.end > now.getTime()) return [];
  const ago = renderTimeSpan(now.getTime() - fixed.end);
  const message = `it ended ${ago} ago by the clock of this machine, so a certificate that is issued now is never valid`;
  return [{ path: ['spec', fixed.field], message }];
}

/** Finds principals that look like patterns. OpenSSH supported some before 10.3, whose release notes say what changed. */
function checkPrincipals({ spots }: LintedResource): readonly UncodedFinding[] {
  return spots.flatMap(({ path, type, value }) => {
    if (type.type !== 'text' || type.format !== 'principal' || typeof value !== 'string') return [];
    if (!/[*?]|^!/.test(value)) return [];
    const message = `${formatPath(path)} is \`${value}\`: OpenSSH 10.3 and later has no patterns in user certificates, so it admits only a user or role of exactly this name`;
    return [{ path, message }];
  });
}

function checkLockout({ kind, resource }: LintedResource): readonly UncodedFinding[] {
  if (!kind.canLockOut(resource.spec)) return [];
  const message = 'it restricts the API, the dashboard or agents, and may lock out the user who applies it';
  return [{ path: ['spec'], message }];
}

/** Finds ids that the manifest could replace by the address of a document. */
function checkLiterals({ kind, resource }: LintedResource, { names }: LintContext): readonly UncodedFinding[] {
  if (names.size === 0) return [];
  return listReferences(kind, resource.written).flatMap(({ path, value }): UncodedFinding[] => {
    const name = isAddress(value) ? undefined : names.get(value);
    if (name === undefined || name.address === resource.address) return [];
    const { address, locate } = name;
    const at = path.at(-1) === value ? path.slice(0, -1) : path;
    return [
      {
        path: ['spec', ...path],
        message: `${formatPath(['spec', ...at])} is the literal id ${value} of ${address}`,
        remedy: `Write ${address}.`,
        related: locate === undefined ? undefined : [{ message: 'the document that names it', place: locate() }],
      },
    ];
  });
}

/** Programs that run one of their arguments as code. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|mk|a|c|tc|fi|)sh|busybox|toybox|pwsh|powershell|cmd|python[\d.]*|perl|ruby|node|deno|bun|php|lua|[gmn]?awk|ssh|su|eval|osascript)(?:[.]exe)?$/;
const PLACEHOLDER = /\{(?:name|address|id|stack)\}/;
/** An option whose next argument is code: `-c`, `-lc`, `-ne`, `--eval`. */
const TAKES_TEXT = /^-\w*[cCeEpr]$|^--?(?:eval|print|command|Command)$/;
const IS_TEXT = /[\s;|&$()<>"'`]/;

/**
 * Finds placeholders in code that a token sink's command passes to a shell or another interpreter. The interpreter
 * would also run the value that replaces the placeholder.
 */
export function lintPlaceholdersInSinkCommands(tokens: TokenSettings): readonly UncodedFinding[] {
  const sinks = [
    { path: ['default'], sink: tokens.default },
    ...Object.entries(tokens.credentials).map(([name, sink]) => ({ path: ['credentials', name], sink })),
  ];
  return sinks.flatMap(({ path, sink }) =>
    sink !== undefined && 'command' in sink ? checkCommand(sink, ['spec', 'tokens', ...path, 'command']) : [],
  );
}

function checkCommand({ command }: TokenCommand, path: FieldPath): readonly UncodedFinding[] {
  const start = command.findIndex((word) => INTERPRETERS.test(word.replace(/^.*[/\\]/, '')));
  if (start < 0) return [];
  const program = command[start] ?? '';
  return command.flatMap((word, index) => {
    const [placeholder] = PLACEHOLDER.exec(word) ?? [];
    const isText = TAKES_TEXT.test(command[index - 1] ?? '') || IS_TEXT.test(word);
    if (index <= start || placeholder === undefined || !isText) return [];
    const variable = `$EDGEWISE_${placeholder.slice(1, -1).toUpperCase()}`;
    return [
      {
        path: [...path, index],
        message: `${placeholder} is inside a text that ${program} runs, so ${program} runs the value, too`,
        remedy: `Write "${variable}" there, in double quotes: the variable has the same value. Or give ${placeholder} as an argument of its own.`,
      },
    ];
  });
}
