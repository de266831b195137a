import { isResourceName } from '../model/address.ts';
import { type Diagnostic, hasErrors, sortDiagnosticsInSourceOrder } from '../model/diagnostic.ts';
import type { QuotedTexts } from '../model/excerpts.ts';
import type { LocateInDocument } from '../model/place.ts';
import type { PolicyDocuments } from '../model/policy.ts';
import { NO_OP_SECRET_REDACTOR, type SecretRedactor } from '../model/secrets.ts';
import type { DesiredState } from '../model/state.ts';
import { readAllDocuments } from './all-documents.ts';
import {
  createDiagnosticLimiter,
  type DiagnosticLimiter,
  describeOmittedDiagnostics,
  limitDiagnosticsPerCode,
} from './bounded-yaml.ts';
import { checkDocuments, findStacksInSeveralFoldersError, NO_STACK_DIAGNOSTIC } from './check-documents.ts';
import { concealDocuments, listConcealedPaths } from './conceal.ts';
import { createDesiredState, parsePolicyDocuments } from './desired-state.ts';
import { listToolFieldWarnings } from './documents.ts';
import { listEmptyKeyWarnings } from './empty-keys.ts';
import { type ManifestEnvironment, REFUSE_FIELD_FILES, type ReadFieldFile } from './environment.ts';
import { createIndex, type DocumentFinding, findRange, locateDiagnostic, type ManifestDocument } from './finding.ts';
import type { QuotableText } from './quotable-text.ts';
import { resolveReferences } from './references.ts';
import type { ManifestContent } from './source.ts';
import { addDefaultsToStack, locateSetting } from './stack-settings.ts';
import { listUnusedAnchorWarnings } from './unused-anchors.ts';

/**
 * Turns the bytes of manifest files into the desired state. Pure and synchronous; never throws, for any bytes. Reports
 * every mistake at once. The rules for each field are in its kind's table, not here.
 */

/** Options of `validateManifests`. */
export interface ValidateOptions {
  /** The environment that fills in `${env:NAME}`. */
  readonly env: ManifestEnvironment;
  /** Secrets that no manifest may contain. Absent if no secret is known. */
  readonly secrets?: SecretRedactor | undefined;
  /** Gets the texts that reports may quote. Absent: no report quotes them. */
  readonly quoted?: QuotedTexts | undefined;
  /** Whether a missing `Stack` is an error (default: true). Pass false if nothing will be compared or written. */
  readonly requireStack?: boolean;
  /** Reads files that fields name. If absent, a field that names a file is an error. */
  readonly readFile?: ReadFieldFile;
}

/** The desired state, and all diagnostics. The state is `undefined` if a manifest has an error. */
export interface ValidatedManifests {
  readonly state: DesiredState | undefined;
  /** Sorted by file in the given order, then by line and column. Diagnostics without a position are last. */
  readonly diagnostics: readonly Diagnostic[];
  /** The first `Stack`, even if it is invalid. Absent if no `Stack` could be read. */
  readonly stack?: FoundStack | undefined;
  /** The policies and policy tests whose own fields are valid, even if other documents are invalid. */
  readonly rules: PolicyDocuments;
  /** The number of documents that belong to other tools, which are skipped. */
  readonly ofOthers: number;
}

/** The readable parts of a `Stack`, which may be invalid. */
interface FoundStack {
  /** Absent if the name is missing or invalid. */
  readonly name?: string;
  /** Returns the position of a path in the document, by default of the document's start. */
  readonly locate: LocateInDocument;
}

/**
 * Turns manifests into the desired state, and reports every mistake as a diagnostic. Never throws.
 * @example
 * const { state, diagnostics } = validateManifests([{ file: 'made.yaml', text }], {
 *   env: { variables: {}, offered: [] },
 * });
 */
export function validateManifests(contents: readonly ManifestContent[], options: ValidateOptions): ValidatedManifests {
  const { env, secrets = NO_OP_SECRET_REDACTOR, readFile = REFUSE_FIELD_FILES, quoted, requireStack = true } = options;
  const limiter = createDiagnosticLimiter();
  const read = readAllDocuments(contents, { env, secrets, readFile, limiter, quoted });
  const { sources, ofOthers } = read;
  const several = findStacksInSeveralFoldersError(read.documents);
  if (several !== undefined)
    return { state: undefined, diagnostics: [several], rules: parsePolicyDocuments([]), ofOthers };
  const concealed = concealDocuments(read.documents, { env, secrets });
  hideConcealed(concealed.documents, read.quotable);
  const documents = addDefaultsToStack(concealed.documents);
  const stack = documents.find(({ kind }) => kind === 'Stack');
  const index = createIndex(documents);
  const references = resolveReferences(documents, index);
  const findings = [...concealed.findings, ...checkDocuments({ documents, stack, index, references })];
  const diagnostics = [
    ...read.diagnostics,
    ...locateFindings(findings, limiter),
    ...listToolFieldWarnings(read.toolFields),
    ...listEmptyKeyWarnings(read.documents),
    ...listUnusedAnchorWarnings(read.documents),
    ...(stack === undefined && !read.mayHideStack && requireStack ? [NO_STACK_DIAGNOSTIC] : []),
    ...limiter.listRest(),
  ];
  return {
    state: hasErrors(diagnostics) ? undefined : createDesiredState(sources, documents, references),
    diagnostics: sortDiagnosticsInSourceOrder(diagnostics, sources),
    rules: parsePolicyDocuments(documents),
    ofOthers,
    stack: stack && toFoundStack(stack),
  };
}

/** Lets no report quote a concealed value. */
function hideConcealed(documents: readonly ManifestDocument[], quotable: ReadonlyMap<string, QuotableText>): void {
  for (const { source, value } of documents)
    for (const path of listConcealedPaths(value))
      quotable.get(source.text.file)?.hide(findRange(source, path, 'value'));
}

function toFoundStack(stack: ManifestDocument): FoundStack {
  return {
    ...(isResourceName(stack.name) && { name: stack.name }),
    locate: (path = []) => locateSetting(stack, path),
  };
}

/** Locates the first findings of each code in a document, and one with the number of the others. */
function locateFindings(findings: readonly DocumentFinding[], limiter: DiagnosticLimiter): readonly Diagnostic[] {
  return [...Map.groupBy(findings, ({ subject }) => subject)].flatMap(([subject, group]) => {
    const { shown, more } = limitDiagnosticsPerCode(group.map(({ finding }) => finding));
    const rest = more.map(({ first, count }) => ({
      ...first,
      ...describeOmittedDiagnostics(first.code, count),
      related: [],
    }));
    return [...shown, ...rest]
      .filter(({ code }) => limiter.shouldShow(code))
      .map((finding) => locateDiagnostic(subject, finding));
  });
}
