import type { Place } from './place.ts';

/**
 * The codes of lint rules, each with a sentence that describes it. The checks are in `src/lint`.
 *
 * @example
 * const isLint = Object.hasOwn(LINT_CODES, diagnostic.code);
 */
export const LINT_CODES = {
  'expression-syntax': 'An expression of a traffic policy has a syntax error, so its rule applies to no traffic.',
  'traffic-policy':
    'An expression or action of a traffic policy is not known here or for its traffic, or is never reached.',
  'no-backend': 'An edge has no enabled backend, or all weights of a backend are zero, so traffic goes nowhere.',
  'unrestricted-access':
    'A credential has no ACL, or one that permits everything, or a certificate names no principals.',
  'restricts-nothing': 'A restriction admits everyone: it is empty, covers every address, or never applies.',
  'certificate-too-long': 'An SSH user certificate is valid for longer than the Stack allows.',
  'certificate-extensions': 'An SSH user certificate has an extension that sshd does not know, or permits no terminal.',
  'certificate-ended': 'An SSH user certificate would have ended before it is issued.',
  'principal-pattern': 'A principal of an SSH user certificate is a pattern, which OpenSSH compares as text.',
  'restriction-not-enforced': 'An IP restriction is not enforced, so it only warns.',
  'restriction-locks-out':
    'A resource restricts the API, the dashboard or agents, and may lock out the user who applies it.',
  'module-without-effect':
    'A circuit breaker never trips, or a pattern of a user agent filter decides nothing, or everything.',
  'number-rewritten': 'YAML reads a number as another text than was written, such as 1.10 as 1.1.',
  'unknown-placeholder': 'A text contains a placeholder without `env:` or `secret:`, which edgewise does not fill in.',
  'unfilled-value': 'A text contains what another tool should have replaced, such as `{{ … }}` or `ENC[…]`.',
  'kept-by-annotation': 'An annotation of another tool keeps a resource, which edgewise does not read.',
  'left-to-service': 'A module leaves values to the service, such as the numbers of a circuit breaker.',
  'repeated-value': 'A set contains the same value twice, perhaps in two spellings.',
  'literal-id': 'An id is written out although a document gives it a name.',
  'placeholder-in-shell': 'The shell script of a token command contains a placeholder.',
  'secret-in-manifest': 'A manifest contains a secret in plain text, or has a secret in a field that is shown as text.',
  'suppression-unused': 'A lint suppression has no effect.',
} as const;

/** The id of a lint rule. It is also the code of its findings. */
export type LintCode = keyof typeof LINT_CODES;

export const LINT_RULE_IDS = Object.keys(LINT_CODES) as readonly LintCode[]; // `Object.keys` returns plain strings

/**
 * Every diagnostic code, each with a sentence that describes it. The type checker rejects other codes.
 *
 * @example
 * const meaning = DIAGNOSTIC_CODES[diagnostic.code];
 */
export const DIAGNOSTIC_CODES = {
  'file-unreadable': 'A given file or folder cannot be read, or contains no manifests.',
  'path-refused':
    'A manifest names a path outside the repository, inside .git, or behind a symbolic link that leads there.',
  'manifest-not-read':
    'What looks like a manifest is not read, because of its extension, its folder or `spec.skip_files`.',
  'pattern-unused': 'A pattern of a Stack or of a policy matches nothing.',
  'colliding-names': 'Two tracked manifests have names that differ only in case or in the form of Unicode.',
  'behind-target': 'The checkout of a pull request lacks commits of the branch into which it is to be merged.',
  'yaml-syntax': 'A file is not UTF-8 text, or a YAML or JSON document cannot be parsed.',
  'env-reference': 'A manifest uses an environment variable that is not set, not offered to manifests, or malformed.',
  'unknown-kind':
    'A document has an apiVersion or a kind that edgewise does not know, or that the Stack does not list.',
  'bad-field': 'A manifest has a field that its kind does not have, or lacks one that the kind requires.',
  'empty-key': 'A key below spec or lifecycle has no value, so what it would set is left out.',
  'unused-anchor': 'A value begins with an anchor of YAML that no alias names, so its first word is no part of it.',
  'bad-value':
    'A field has a value that it does not allow: of another type or form, out of range, too long, or reserved.',
  'duplicate-claim': 'Two documents describe the same resource, or claim a value that only one may have.',
  'bad-reference': 'A reference leads to no resource, or to a kind that the field does not accept.',
  'untrusted-setting': 'An untrusted Stack sets how the service is reached.',
  'no-stack': 'No Stack document names the stack of these manifests.',
  'duplicate-settings':
    'The manifests have more than one Stack document, or a folder has more than one Defaults document.',
  'duplicate-stack': 'Two stacks have the same name at the same base URL, or may have it, because one cannot be read.',
  'policy-invalid': 'A policy has an invalid expression, or a PolicyTest names a policy that does not exist.',
  'policy-violated': 'A policy refuses a resource, or warns about it.',
  'unknown-target': 'An option names a resource that the stack does not have, or that cannot be rotated.',
  'token-sink-missing': 'A credential would be created, but no token sink is set.',
  'token-in-git': 'A new token would be written to a file that git tracks, or to a folder that it does not ignore.',
  'dependency-blocked': 'A stack of the run is not applied, because one that it depends on is not.',
  'secret-missing': 'An apply of the plan needs a secret that is not set, or not offered, where the plan was made.',
  'kept-for-hand-over': 'A resource in no manifest is kept, because another stack takes it over.',
  'kept-prune': 'A resource in no manifest is kept: another stack of the run is unknown, or it is as it was adopted.',
  'used-elsewhere': 'A resource would be deleted or replaced, and another stack refers to it.',
  'claimed-elsewhere':
    'A unique value that a manifest claims is claimed by a live resource that the plan does not change.',
  'predecessor-unclear': 'A resource would be created, and its predecessor does not exist or is not named.',
  'accept-refused': 'What was changed at the service cannot be written to the manifest.',
  'adopt-refused': 'A resource to adopt belongs to another stack or address, or would be replaced.',
  'unset-field-kept': 'A field was removed from its manifest, but keeps its value.',
  'mark-invalid': 'The mark of a live resource cannot be read, so the resource counts as unmanaged.',
  'mark-lost': 'A resource would be created again, because the mark of a live one was cut or lost.',
  'duplicate-mark': 'Two live resources have the same mark.',
  'resource-unhealthy': 'The service fails to do what a manifest asks for, such as obtaining a certificate.',
  'shown-otherwise':
    'The service does not show a field as it was sent: it leaves the field out, or spells a text differently.',
  'creation-withheld': 'A mark says that the service did not store a creation as asked.',
  'certificate-validity': 'A certificate is not valid, or will not be, and no apply replaces it in time.',
  'clock-skew': 'The clock of this machine and the clock of the service differ by more than a minute.',
  'rehearsal-failed': 'In the rehearsal of the plan, a write failed, or a second plan was not empty.',
  'left-out': 'A change is left out, because of --exclude or because of a resource that the run keeps.',
  'concurrent-change': 'After the plan was made, a concurrent apply or another user changed or created something.',
  ...LINT_CODES,
  lockout: 'A write may lock out the user who applies it.',
} as const;

/** The code of a `Diagnostic`. */
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;

/** `error`: nothing is written. `warning`: shown, and the run continues. */
export type Severity = 'error' | 'warning';

/** A message to the user, with a code and a position. Diagnostics are collected and returned, never thrown. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** One sentence that says what is wrong. */
  readonly message: string;
  readonly remedy?: string | undefined;
  /** The address of the resource that has the problem. */
  readonly address?: string | undefined;
  /** The field of the resource's spec that has the problem. */
  readonly field?: string | undefined;
  /**
   * True: the planned change of the resource causes the problem, so reports show the diagnostic with the change.
   * Absent: the problem exists without the change, or concerns no resource.
   */
  readonly isOfChange?: true;
  readonly place?: Place | undefined;
  /** Related positions, such as the first of two duplicate definitions. */
  readonly related?: readonly { readonly message: string; readonly place: Place }[] | undefined;
}

export function isLintWarning({ code, severity }: Pick<Diagnostic, 'code' | 'severity'>): boolean {
  return severity === 'warning' && isLintCode(code);
}

export function isLintCode(code: string): boolean {
  return Object.hasOwn(LINT_CODES, code);
}

/** Whether any diagnostic is an error. If so, nothing may be written. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** Sorts by file in the order of the sources, then by line and column. Diagnostics without a position are last. */
export function sortDiagnosticsInSourceOrder(
  diagnostics: readonly Diagnostic[],
  sources: readonly { readonly file: string }[],
): readonly Diagnostic[] {
  if (diagnostics.length < 2) return diagnostics;
  const files = new Map(sources.map(({ file }, index) => [file, index]));
  const toRank = ({ place }: Diagnostic) =>
    place === undefined ? [sources.length, 0, 0] : [files.get(place.file) ?? 0, place.line, place.column];
  const ranked = diagnostics.map((diagnostic) => ({ diagnostic, rank: toRank(diagnostic) }));
  return ranked.sort((left, right) => compareRanks(left.rank, right.rank)).map(({ diagnostic }) => diagnostic);
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((number, index) => number !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

/**
 * For each rule, the maximum number of shown warnings that no change causes. It is low, because changes matter more.
 */
const MAX_WARNINGS = 10;

/**
 * For each rule, the maximum number of warnings caused by changes that are shown with a position: hardly any reader
 * follows more than a hundred, and a plan file of ten thousand changes must stay below the limit for files.
 */
const MAX_PLACED = 100;

/**
 * Limits the lint warnings of each rule. Keeps all warnings caused by changes, and sets their `isOfChange`. Sorts the
 * others by address, keeps the first MAX_WARNINGS, and replaces the rest by one warning with their number. Keeps all
 * diagnostics that are not lint warnings.
 */
export function limitWarningsPerLintRule(
  diagnostics: readonly Diagnostic[],
  sources: Parameters<typeof sortDiagnosticsInSourceOrder>[1],
  isCaused: (diagnostic: Diagnostic) => boolean = () => false,
): readonly Diagnostic[] {
  const warnings = Map.groupBy(diagnostics.filter(isLintWarning), ({ code }) => code);
  const rules = [...warnings].map(([code, found]) => ({ code, ...divideWarnings(found, isCaused) }));
  const placed = rules.flatMap(({ caused, few }) => [...caused.slice(0, MAX_PLACED).map(markCaused), ...few]);
  const shown = [
    ...sortDiagnosticsInSourceOrder(placed, sources),
    ...rules.flatMap(({ caused }) => caused.slice(MAX_PLACED).map(markCausedWithoutPlace)),
    ...rules.flatMap(({ code, more }) => (more === 0 ? [] : [createRestWarning(code, more)])),
  ];
  const first = diagnostics.find(isLintWarning);
  return diagnostics.flatMap((one) => {
    if (isLintWarning(one)) return one === first ? shown : [];
    return isCaused(one) ? [markCaused(one)] : [one];
  });
}

function divideWarnings(found: readonly Diagnostic[], isCaused: (diagnostic: Diagnostic) => boolean) {
  const sorted = found.toSorted(compareDiagnosticAddresses);
  const spare = sorted.filter((one) => !isCaused(one));
  const more = Math.max(0, spare.length - MAX_WARNINGS);
  return { caused: sorted.filter(isCaused), few: spare.slice(0, MAX_WARNINGS), more };
}

function markCaused(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, isOfChange: true };
}

/** Omits the position, and the remedy, which the other warnings of the same rule show. */
function markCausedWithoutPlace({ code, severity, message, address, field }: Diagnostic): Diagnostic {
  return {
    code,
    severity,
    message,
    address,
    field,
    isOfChange: true,
  };
}

function compareDiagnosticAddresses({ address: left = '' }: Diagnostic, { address: right = '' }: Diagnostic): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function createRestWarning(code: Diagnostic['code'], count: number): Diagnostic {
  return {
    code,
    severity: 'warning',
    message: `${count} more ${count === 1 ? 'finding' : 'findings'} of this rule`,
    remedy: 'Run edgewise validate to see all of them.',
  };
}
