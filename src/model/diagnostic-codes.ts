/** The codes of lint rules, with the sentence of each. `src/lint` says how a rule is checked. */
export const LINT_CODES = {
  'cel-syntax': 'A CEL expression of a policy cannot be parsed.',
  'cel-variable': 'A CEL expression names a variable that the traffic of its kind is not known to have.',
  'unknown-action': 'A policy has an action that is not known for the traffic of its kind.',
  'no-weight': 'The weights of a backend add up to zero, so that it passes no traffic on.',
  'edge-without-backend': 'An edge has no backend that is enabled, so that its traffic goes nowhere.',
  'credential-unrestricted': 'A credential has no ACL, or one that permits everything.',
  'certificate-without-principals': 'An SSH user certificate names no principals.',
  'certificate-too-long': 'An SSH user certificate is valid for longer than the Stack allows.',
  'restriction-not-enforced': 'An IP restriction is not enforced, so that it only warns.',
  'restriction-locks-out':
    'An IP restriction is enforced on the API, the dashboard or agents, and may lock out who applies it.',
  'breaker-never-trips': 'A circuit breaker has settings with which it never trips.',
  'repeated-value': 'A set holds the same value twice, perhaps in two spellings.',
  'literal-id': 'An id is written out that a document has a name for.',
  'suppression-unused': 'A lint suppression suppresses nothing.',
} as const;

/** The id of a lint rule, which is the code of its findings. */
export type LintCode = keyof typeof LINT_CODES;

/** Every rule id, in the order of the table. */
export const LINT_RULE_IDS = Object.keys(LINT_CODES) as readonly LintCode[]; // the keys of a constant table

/** Every diagnostic code, with the sentence that explains it. A diagnostic of any other code does not compile. */
export const DIAGNOSTIC_CODES = {
  'file-unreadable': 'A file or folder that was named cannot be read.',
  'file-not-utf8': 'A manifest file is not UTF-8 text.',
  'no-manifests': 'A path that was named holds no manifest file.',
  'yaml-syntax': 'A YAML or JSON document cannot be parsed.',
  'yaml-aliases': 'A YAML document expands its aliases too often to be anything but a bomb.',
  'env-unset': 'A manifest names an environment variable that is not set and has no default.',
  'env-malformed': 'A manifest has `${env:` in it that is not the start of a variable, and is not escaped.',
  'unknown-kind': 'A document has an apiVersion or a kind that edgewise does not know.',
  'unknown-field': 'A manifest has a field that its kind does not have.',
  'missing-field': 'A manifest lacks a field that its kind requires.',
  'wrong-type': 'A field has a value of another type than its kind says.',
  'bad-value': 'A field has a value that its kind does not allow.',
  'out-of-range': 'A number, or the length of a list, is outside of the range that its kind allows.',
  'too-long': 'A text is longer, in UTF-8 bytes, than the service stores.',
  'bad-name': 'A metadata.name is not a valid name.',
  'duplicate-address': 'Two documents describe the same address.',
  'duplicate-attachment': 'Two documents attach modules to the same HTTPS edge or route.',
  'duplicate-claim': 'Two resources claim a value that the service gives to one resource only.',
  'renamed-from-standing':
    'A resource is said to have been renamed from an address that another document still describes.',
  'dangling-reference': 'A reference names a resource that no document describes.',
  'wrong-reference': 'A reference names a resource of a kind, or an id with a prefix, that does not belong there.',
  'circular-reference': 'References lead back to where they started.',
  'reserved-metadata': 'The metadata of a manifest uses the key that holds the mark.',
  'no-stack': 'No Stack document says what these manifests are called together.',
  'several-stacks': 'More than one Stack document was given.',
  'unknown-target': 'A target is neither in the manifests nor owned by the stack.',
  'token-sink-missing': 'A credential would be created, and nothing says where its token is to go.',
  'adopt-missing': 'A resource to adopt does not exist.',
  'adopt-refused': 'A resource to adopt belongs to another stack, or to another address of this one.',
  'adopt-replaces': 'Adopting a resource would replace it, because a field that cannot be changed differs.',
  'take-over-idle': 'A stack is to be taken over, and nothing of it is what a manifest describes.',
  'renamed-maybe': 'A resource is deleted, and one of another name is made with its unique values.',
  'claimed-elsewhere': 'A value that a manifest claims is held by a resource that is not ours.',
  'mark-invalid': 'The mark of a live resource cannot be read, so the resource counts as not ours.',
  'duplicate-mark': 'Two live resources bear the same mark.',
  'rotate-refused': 'A resource to rotate is not in the plan, or is of a kind that has nothing to rotate.',
  'service-trouble': 'The service cannot do for a resource what its manifest asks for, such as getting a certificate.',
  'validity-ends': 'A certificate has expired, or is about to, and only an apply after its end would replace it.',
  'validity-over': 'A certificate has expired, or is about to, at a time that its manifest states.',
  'made-twice': 'Two applies of one stack made the same resource at the same time.',
  'changed-meanwhile': 'Somebody changed a field between the plan and the write.',
  ...LINT_CODES,
  lockout: 'A write may lock its own caller out.',
} as const;

/** The code of a diagnostic. */
export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES;
