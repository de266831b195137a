import { InvariantError } from '../model/errors.ts';
import type { UncodedFinding } from '../model/finding.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import {
  defineFields,
  type Field,
  type Fields,
  type FieldType,
  type NamedField,
  type ObjectType,
  objectOf,
} from './field.ts';
import { listSelfAndNestedTypes } from './walk.ts';

/**
 * A kind: one table that completely describes a type of resource.
 *
 * - `owned`: edgewise creates, lists, changes and deletes the resource, and the resource has the mark.
 * - `attached`: modules of a resource that already exists. No list, no mark; not created or deleted.
 * - `submitted`: created once, then only read. Manifests cannot contain it.
 */
export interface Kind {
  readonly name: string;
  readonly role: 'owned' | 'attached' | 'submitted';
  /** The display name, such as `TCP edge`. */
  readonly title: string;
  readonly description: string;
  /**
   * Words of other products for the kind, each with the path of the field that it means. `''`: the kind itself. For
   * `edgewise explain`.
   */
  readonly words: Readonly<Record<string, string>>;
  /** What a whole manifest says: every field that it may set, unless two exclude each other. It validates without other documents. */
  readonly example: { readonly spec: JsonObject; readonly lifecycle?: JsonObject };
  /** The prefix of ids, without the underscore. */
  readonly idPrefix: string;
  /**
   * The path to list and create resources. For attached kinds, the path of one resource:
   * `/edges/https/{edge_id}/routes/{id}`.
   */
  readonly path: string;
  /** The key of the list in list responses. Only owned kinds have one. */
  readonly listKey: string | undefined;
  /** Whether the field `uri` in responses is a full URL or only its path. */
  readonly uri: 'absolute' | 'path';
  readonly fields: Readonly<Record<string, Field>>;
  /** The type of a whole resource: an object with all fields, including computed ones. */
  readonly type: ObjectType;
  /** The fields that a manifest may set, in the order of the table. */
  readonly specFields: readonly NamedField[];
  /** The type of a spec in a manifest: an object with `specFields`. */
  readonly specType: ObjectType;
  /** The fields whose values at most one resource can have. */
  readonly uniqueFields: readonly NamedField[];
  /** The fields of a spec that refer to other resources, or have members that do. */
  readonly referenceFields: readonly NamedField[];
  /** The fields that have a default, with it. */
  readonly defaults: Spec;
  /** Names of the fields that only the response to the creation contains. */
  readonly oneTimeFields: readonly string[];
  /** Names of the fields that only the service sets. */
  readonly computedFields: readonly string[];
  /** Settings under `lifecycle` that only manifests of this kind can have. */
  readonly lifecycle: Readonly<Record<string, Field>>;
  /** The fields with the start and end of the validity. `undefined` if a resource is valid as long as it exists. */
  readonly validity: Validity | undefined;
  /** The text that the service issues, which other programs use. `undefined` if there is none. */
  readonly issued: IssuedText | undefined;
  /** How a resource is submitted and decided. Set for submitted kinds only. */
  readonly submission: SubmissionDetails | undefined;
  /** Checks several fields together. Called only if each field is valid by itself. */
  readonly check: (spec: Spec) => readonly UncodedFinding[];
  /** Checks several settings of `lifecycle` together if each is valid. Paths in findings start below `lifecycle`. */
  readonly checkLifecycle: (settings: Spec, spec: Spec) => readonly UncodedFinding[];
  /** Lists the tasks that the service currently cannot complete for a resource, according to its computed fields. */
  readonly checkHealth: (computed: JsonObject) => readonly BlockedServiceTask[];
  /** Summarizes the state of the resource from its computed fields, such as `certificate renews in 60 days`. */
  readonly describeState: (computed: JsonObject, now: Date) => readonly string[];
  /** Whether resources of this kind restrict access to other resources. Deleting such a resource opens the others. */
  readonly restrictsAccess: boolean;
  /** Whether a resource with this spec can lock edgewise out of the API. Its writes are then sent last. */
  readonly canLockOut: (spec: Spec) => boolean;
}

/** Names of the two immutable timestamp fields with the start and end of the validity. */
interface Validity {
  readonly after: string;
  readonly until: string;
  /** The length of the validity if the manifest sets no end. */
  readonly defaultMs: number;
}

/** A computed field with a text for other programs, such as a certificate. */
interface IssuedText {
  readonly field: string;
  /**
   * Returns why no other program may get a text, such as `is for another public key`. `undefined` if it may. `spec` has
   * the values that the text must match.
   */
  readonly check: (text: string, spec: Spec) => string | undefined;
}

/** A task that the service currently cannot complete for a resource. */
export interface BlockedServiceTask {
  /** The problem as a clause, such as `its certificate cannot be provisioned`. */
  readonly message: string;
  readonly remedy: string;
  /** The field of the spec that requests the task. */
  readonly field: string;
}

type Defaulted =
  | 'words'
  | 'example'
  | 'check'
  | 'checkLifecycle'
  | 'checkHealth'
  | 'describeState'
  | 'canLockOut'
  | 'restrictsAccess'
  | 'uri'
  | 'listKey'
  | 'lifecycle'
  | 'validity'
  | 'issued'
  | 'submission';
type Derived =
  | 'type'
  | 'specFields'
  | 'specType'
  | 'uniqueFields'
  | 'referenceFields'
  | 'defaults'
  | 'oneTimeFields'
  | 'computedFields';
type KindOptions = Omit<Kind, Defaulted | Derived> & Partial<Pick<Kind, Defaulted>>;

/** Checks a kind's table and fills in defaults. Throws `InvariantError` if the table contradicts itself. */
export function defineKind(options: KindOptions): Kind {
  const fields = defineFields(options.fields);
  const ofLifecycle = (...lifecycles: readonly Field['lifecycle'][]): readonly NamedField[] =>
    Object.entries(fields).filter(([, { lifecycle }]) => lifecycles.includes(lifecycle));
  const specFields = ofLifecycle('mutable', 'immutable');
  const kind: Kind = {
    ...KIND_DEFAULTS,
    ...options,
    fields,
    type: objectOf(fields),
    specFields,
    specType: objectOf(Object.fromEntries(specFields)),
    referenceFields: specFields.filter(([, { type }]) =>
      listSelfAndNestedTypes(type).some((inner) => inner.type === 'reference'),
    ),
    uniqueFields: Object.entries(fields).filter(([, { unique }]) => unique),
    defaults: Object.fromEntries(
      Object.entries(fields).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
    ),
    oneTimeFields: ofLifecycle('one-time').map(([name]) => name),
    computedFields: ofLifecycle('computed').map(([name]) => name),
  };
  const finding = findContradiction(kind);
  if (finding !== undefined) throw new InvariantError(`Kind ${kind.name}: ${finding}`);
  return kind;
}

const KIND_DEFAULTS: Pick<Kind, Defaulted> = {
  words: {},
  example: { spec: {} },
  check: () => [],
  checkLifecycle: () => [],
  checkHealth: () => [],
  describeState: () => [],
  canLockOut: () => false,
  restrictsAccess: false,
  uri: 'absolute',
  listKey: undefined,
  lifecycle: {},
  validity: undefined,
  issued: undefined,
  submission: undefined,
};

function findContradiction(kind: Kind): string | undefined {
  if ((kind.role === 'owned') !== (kind.listKey !== undefined)) return 'owned kinds, and only those, have a listKey';
  if ((kind.role === 'submitted') !== (kind.submission !== undefined))
    return 'submitted kinds, and only those, have a submission';
  if (kind.role === 'attached' && !kind.path.includes('{id}')) return 'the path of an attached kind holds {id}';
  for (const [name, field] of Object.entries(kind.fields)) {
    if (kind.role === 'attached' && !isModule(field) && !kind.path.includes(`{${name}}`))
      return `${name} is neither a module nor an id in the path`;
    if (field.required && (field.default !== undefined || field.serviceDefault))
      return `${name} is required and has a default`;
    if (field.keepsLiveValue && !field.serviceDefault) return `${name} stays when left out, and has no service default`;
    if (kind.role === 'owned' && listNestedFields(field.type).some(({ serviceDefault }) => serviceDefault))
      return `the service chooses a part of ${name}, and its mark cannot tell whether a manifest set that part`;
    if (field.hasPath && !isModule(field)) return `${name} has a path but is not a module`;
    if (field.clear === 'delete' && !field.hasPath) return `${name} is cleared by a DELETE but has no path`;
  }
  return kind.submission && checkSubmission(kind.fields, kind.submission);
}

function listNestedFields(type: FieldType): readonly Field[] {
  return listSelfAndNestedTypes(type).flatMap((inner) => (inner.type === 'object' ? Object.values(inner.fields) : []));
}

/** Converts the name of a kind for file names and commands: `TCPEdge` → `tcp-edge`. */
export function toHyphenated(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

export type SubmittedKind = Kind & { readonly submission: SubmissionDetails };

/** Whether resources of a kind are created by a submission, and then only read. */
export function isSubmitted(kind: Kind): kind is SubmittedKind {
  return kind.submission !== undefined;
}

/** Whether a field is a module, set and removed as a whole. */
export function isModule(field: Field): boolean {
  return field.type.type === 'object' && field.type.module;
}

/** Whether the creation of a resource of this kind shows a token. */
export function hasToken(kind: Kind): boolean {
  return kind.oneTimeFields.length > 0;
}

/** Whether a resource may need replacement although it equals its manifest, because it expires or is rotated. */
export function isRotatable(kind: Kind): boolean {
  return kind.validity !== undefined || hasToken(kind);
}

/** How the command line submits a resource of a submitted kind, and how the service decides about each part. */
export interface SubmissionDetails {
  /** A short name of the submission, such as `report`. */
  readonly noun: string;
  /** The user's action, such as `report URLs with suspected abusive content`. */
  readonly purpose: string;
  /** The field that gets the arguments of the command line. Every other settable field is an option. */
  readonly argumentField: string;
  /** Two example arguments. */
  readonly examples: readonly [string, string];
  /** The computed field with the status, and its value when every part is decided. */
  readonly status: { readonly field: string; readonly decided: string };
  readonly parts: DecidedPartsField;
}

/** The computed list of the parts that the service decides about. Each part has a name and a status. */
export interface DecidedPartsField {
  readonly field: string;
  /** The display name of a part, such as `host name`. */
  readonly title: string;
  readonly name: string;
  readonly status: string;
  /** Maps each status of a part to the decision that the status means. */
  readonly decisions: Readonly<Record<string, SubmissionPartDecision>>;
}

/** The decision about a part. `open` means that the service has not decided yet. */
export type SubmissionPartDecision = 'open' | 'rejected' | 'accepted' | 'ignored';

/** Returns how the submission contradicts the fields of the table. `undefined` if it is consistent. */
function checkSubmission(fields: Fields, submission: SubmissionDetails): string | undefined {
  const { argumentField, status, parts } = submission;
  const list = fields[argumentField]?.type;
  if (list?.type !== 'list' || list.of.type !== 'text') return `${argumentField} is not a list of texts`;
  const odd = Object.entries(fields).find(
    ([name, field]) => name !== argumentField && isSettable(field) && !isText(field),
  );
  if (odd !== undefined) return `${odd[0]} is not a text, so no option can set it`;
  if (!listFieldValues(fields[status.field]?.type).includes(status.decided))
    return `${status.field} is never ${status.decided}`;
  const part = fields[parts.field]?.type;
  const members = part?.type === 'list' && part.of.type === 'object' ? part.of.fields : {};
  if (members[parts.name]?.type.type !== 'text') return `the members of ${parts.field} have no ${parts.name}`;
  const statuses = listFieldValues(members[parts.status]?.type);
  if (statuses.join() !== Object.keys(parts.decisions).join())
    return `not every status of ${parts.field} is a decision`;
  return undefined;
}

/** Adds the indefinite article: `a report`, `an inquiry`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

function isSettable({ lifecycle }: Field): boolean {
  return lifecycle === 'mutable' || lifecycle === 'immutable';
}

function isText({ type }: Field): boolean {
  return type.type === 'text' || type.type === 'metadata';
}

function listFieldValues(type: FieldType | undefined): readonly string[] {
  return type?.type === 'enum' ? type.values : [];
}
