import { type FieldType, listInnerFields, objectOf, type ReferenceType } from '../kinds/field.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { listReferableKinds } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { findInnerType } from '../kinds/walk.ts';
import { type Address, isResourceName } from '../model/address.ts';
import type { Diagnostic, SourcePlace, TextPart } from '../model/diagnostic.ts';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { toPathText } from '../model/field-path.ts';
import type { JsonObject } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import type { Finding as SchemaFinding } from '../schemas/findings.ts';
import type { Locator, Position, Target } from './locate.ts';
import { toPartSpan } from './source-text.ts';
import { toRemedy } from './suggest.ts';

/** A document of a kind that is known. */
export interface ManifestDocument {
  readonly position: Position;
  readonly kind: string;
  /** Absent: it has none, or one that cannot be a name. */
  readonly address: Address | undefined;
  readonly name: string;
  /** All of it, with variables filled in. */
  readonly value: JsonObject;
  /** Whether its fields conform to its kind. */
  readonly isValid: boolean;
}

/** A place in a document. */
export interface Place {
  readonly position: Position;
  readonly path: FieldPath;
  readonly target: Target;
}

/** A mistake in a document, at a path inside of it. */
export interface Problem {
  readonly code: DiagnosticCode;
  /** What is wrong, without the address. */
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly path: FieldPath;
  readonly target: Target;
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
}

/** A problem and the document that has it. */
export interface DocumentProblem {
  readonly document: ManifestDocument;
  readonly problem: Problem;
}

/** The documents by address; of several with one address, the first. */
export type DocumentIndex = ReadonlyMap<Address, ManifestDocument>;

/** What a problem is in: a document, or something that should have been one. */
export type Subject = Pick<ManifestDocument, 'position'> & Partial<Pick<ManifestDocument, 'address' | 'kind'>>;

/** The diagnostic of a problem. */
export function toDiagnostic(subject: Subject, problem: Problem, locator: Locator): Diagnostic {
  const { path, target, related = [] } = problem;
  const { position, kind } = subject;
  return createDiagnostic(subject, {
    ...problem,
    remedy: problem.remedy ?? toExplainRemedy(kind, path),
    place: toPlace({ position, path, target }, locator),
    related: related.map((other) => ({ message: other.message, place: toPlace(other.place, locator) })),
  });
}

/** What a diagnostic of a manifest is made of. */
export type Finding = Required<Pick<Diagnostic, 'place' | 'related'>> &
  Pick<Diagnostic, 'code' | 'message'> & { readonly remedy: string | undefined };

/** A diagnostic about a document: an error, whose message starts with the address. */
export function createDiagnostic({ address, kind }: Omit<Subject, 'position'>, finding: Finding): Diagnostic {
  const { code, message, remedy, place, related } = finding;
  const whose = address ?? kind;
  return {
    code,
    severity: 'error',
    message: shorten(whose === undefined ? message : `${whose}: ${message}`),
    ...(remedy !== undefined && { remedy: shorten(remedy) }),
    ...(address !== undefined && { address }),
    place,
    ...(related.length > 0 && { related }),
  };
}

/** The remedy of problems without their own: how to look the field up. */
function toExplainRemedy(kind: string | undefined, path: FieldPath): string {
  const names = path.filter((step) => typeof step === 'string');
  const [part, ...inner] = names;
  const table = kind === undefined ? undefined : findKind(kind);
  const known = table === undefined || part !== 'spec' ? names : listKnownSteps(table, inner);
  const topic = [...(kind === undefined ? [] : [kind]), ...known].join('.');
  return `To see what is allowed, run \`edgewise explain${topic === '' ? '' : ` ${topic}`}\`.`;
}

/** The names that are fields of the table; keys of maps are not. */
function listKnownSteps(table: Kind, names: readonly string[]): readonly string[] {
  let fields = table.fields;
  const end = names.findIndex((name) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = listInnerFields(field?.type);
    return field === undefined;
  });
  return end < 0 ? names : names.slice(0, end);
}

/** Characters of a message that are kept at its start and at its end: what it quotes has no limit. */
const MAX_HALF = 400;

/** A message that fits, its middle left out where it does not. */
export function shorten(message: string): string {
  return message.length <= 2 * MAX_HALF ? message : `${message.slice(0, MAX_HALF)}…${message.slice(-MAX_HALF)}`;
}

/** Where a place stands, with its excerpt. */
export function toPlace({ position, path, target }: Place, locator: Locator, part?: TextPart): SourcePlace {
  const span = locator.locate(position, path, target);
  const { source, origin } = position;
  const found = source.toPlace(part === undefined ? span : toPartSpan(source.text, span, part));
  return origin === undefined ? found : { ...found, origin };
}

/** The problem that a schema's finding is. */
export function toProblem(finding: SchemaFinding, kind: string, position: Position): Problem {
  const { code, path, at, message, repeats } = finding;
  return {
    code,
    message: `${toPathText(path)} ${message}`,
    remedy: toFindingRemedy(finding, kind),
    path: at === 'parent' ? path.slice(0, -1) : path,
    target: at === 'value' ? 'value' : 'key',
    ...(repeats !== undefined && {
      related: [{ message: 'first here', place: { position, path: repeats, target: 'key' } }],
    }),
  };
}

function toFindingRemedy(finding: SchemaFinding, kind: string): string | undefined {
  const { code, path, remedy, unknown, given } = finding;
  if (given !== undefined) return toNameRemedy(given, finding, kind);
  if (unknown === undefined) return remedy;
  const special = code === 'unknown-field' ? toSpecialRemedy(path, unknown.given, kind) : undefined;
  if (special !== undefined) return special;
  // The message about a value that is not allowed lists the allowed ones.
  return toRemedy(unknown.given, unknown.known, code === 'unknown-field');
}

/** What was most likely meant by a text that is not a name, or not a reference. */
function toNameRemedy(
  given: string,
  finding: Pick<SchemaFinding, 'code' | 'path' | 'at'>,
  kind: string,
): string | undefined {
  const { code } = finding;
  if (code === 'bad-name') {
    const name = given
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .slice(0, 63)
      .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
    return isResourceName(name) ? `Did you mean \`${name}\`?` : undefined;
  }
  const type = code === 'wrong-reference' ? findReferenceType(kind, finding) : undefined;
  const [referable] = type === undefined ? [] : listReferableKinds(type);
  return referable !== undefined && isResourceName(given) && !given.includes('_')
    ? `Did you mean \`${referable.name}/${given}\`?`
    : undefined;
}

/** The type of a reference in a spec, or of a key of one of its maps. */
function findReferenceType(kind: string, { path, at }: Pick<SchemaFinding, 'path' | 'at'>): ReferenceType | undefined {
  const [spec, ...steps] = path.slice(0, -1);
  const { fields = {} } = (spec === 'spec' ? findKind(kind) : undefined) ?? {};
  const holder = steps.reduce<FieldType | undefined>(findInnerType, objectOf(fields));
  const type = holder?.type === 'map' && at === 'key' ? holder.keys : findInnerType(holder, path.at(-1) ?? '');
  return type?.type === 'reference' ? type : undefined;
}

/** What is known about some fields that do not exist where they stand. */
function toSpecialRemedy(path: FieldPath, given: string, kind: string): string | undefined {
  if (given === '<<') return 'YAML 1.2 has no merge keys. Write the fields out, or use an alias for a whole value.';
  const table = findKind(kind);
  if (table === undefined) return undefined;
  const isSettable = listSpecFields(table).some(([name]) => name === given);
  if (path.length === 1 && isSettable) return `Did you mean \`spec.${given}\`?`;
  const isInSpec = path.length === 2 && path[0] === 'spec';
  return isInSpec && !isSettable && Object.hasOwn(table.fields, given)
    ? 'Remove the line: only the service sets this field.'
    : undefined;
}
