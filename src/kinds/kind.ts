import { InvariantError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { defineFields, type Field, type FieldType, type NamedField, type ObjectType, objectOf } from './field.ts';

/**
 * A kind: one table that says all there is to say about a type of resource.
 *
 * - `owned`: created, listed, changed and deleted here; carries our mark.
 * - `attached`: modules on something that exists already; no list, no mark, no life of its own.
 * - `submitted`: created once and read; not part of manifests.
 */
export interface Kind {
  readonly name: string;
  readonly role: 'owned' | 'attached' | 'submitted';
  /** For people: "TCP edge". */
  readonly title: string;
  readonly description: string;
  /** Without the underscore. */
  readonly idPrefix: string;
  /** Where it is listed and created, or for attached kinds the path of the thing attached to, with `{id}` and parents' ids in it. */
  readonly path: string;
  /** The key of the list in list responses. */
  readonly listKey: string | undefined;
  /** Whether `uri` is a full URL or only its path. */
  readonly uri: 'absolute' | 'path';
  readonly fields: Readonly<Record<string, Field>>;
  /** The fields that a manifest may state, in the order of the table. */
  readonly specFields: readonly NamedField[];
  /** The type of a spec in a manifest: an object with those fields. */
  readonly specType: ObjectType;
  /** The names of the fields that only the response to the creation shows. */
  readonly oneTimeFields: readonly string[];
  /** The names of the fields that the service alone decides. */
  readonly computedFields: readonly string[];
  /** What a manifest may say under `lifecycle` of this kind alone. */
  readonly lifecycle: Readonly<Record<string, Field>>;
  /** The fields with the start and end of its validity; absent: valid as long as it exists. */
  readonly validity: Validity | undefined;
  /** The computed field that `lifecycle.write_to` has written to a file. */
  readonly fileField: string | undefined;
  /** Why a text must not be written to the file of the field: `is for another public key`. `spec`: the requested values, as far as they are known. */
  readonly checkFile: (text: string, spec: Spec) => string | undefined;
  /** Submitted kinds only: how one is submitted and decided. */
  readonly submission: Submission | undefined;
  /** Checks that concern several fields. Called on specs whose fields are valid. */
  readonly check: (spec: Spec) => readonly SpecFinding[];
  /** Checks that concern several settings of `lifecycle`; paths are inside of it. Called when fields and settings are valid. */
  readonly checkLifecycle: (settings: Spec, spec: Spec) => readonly SpecFinding[];
  /** Health problems of an existing resource, from its computed fields. */
  readonly checkHealth: (computed: JsonObject) => readonly HealthFinding[];
  /** A summary of the resource's state, from its computed fields: `certificate renews in 60 days`. */
  readonly describeState: (computed: JsonObject, now: Date) => readonly string[];
  /** What the service still does for a resource after it has answered; absent: nothing, ever. `undefined`: it is done. */
  readonly findWork: ((resource: ProvisionedResource) => Work | undefined) | undefined;
  /** It restricts access to other resources: deleting it opens them. */
  readonly isProtection: boolean;
  /** Whether a resource with this spec can lock its own caller out: its writes come last. */
  readonly canLockOut: (spec: Spec) => boolean;
}

/** The names of the fields of a time of validity, both immutable timestamps, and its usual length. */
interface Validity {
  readonly after: string;
  readonly until: string;
  /** The validity when no end is stated. */
  readonly defaultMs: number;
}

/** A resource as it is read: what is asked for, and what the service computed. */
export interface ProvisionedResource {
  readonly spec: Spec;
  readonly computed: JsonObject;
}

/** What the service does for a resource, and how far it is. */
export interface Work {
  /** In its own words, as a clause: `its certificate is being provisioned`. */
  readonly message: string;
  /** It failed, and goes on only when somebody has mended something: see `checkHealth`. */
  readonly isFailed: boolean;
}

/** Something that the service cannot do for a resource at present. */
export interface HealthFinding {
  /** What cannot be done: `its certificate cannot be provisioned`. */
  readonly message: string;
  readonly remedy: string;
  /** The field of the spec that asks for it. */
  readonly field: string;
}

/** Something wrong in a spec, at a path inside of it. */
export interface SpecFinding {
  readonly path: FieldPath;
  readonly message: string;
}

type Unsaid =
  | 'check'
  | 'checkLifecycle'
  | 'checkHealth'
  | 'describeState'
  | 'findWork'
  | 'canLockOut'
  | 'isProtection'
  | 'uri'
  | 'listKey'
  | 'lifecycle'
  | 'validity'
  | 'fileField'
  | 'checkFile'
  | 'submission';
type Derived = 'specFields' | 'specType' | 'oneTimeFields' | 'computedFields';
type KindOptions = Omit<Kind, Unsaid | Derived> & Partial<Pick<Kind, Unsaid>>;

/** Checks a kind's table and fills in defaults. Throws `InvariantError` on a table that contradicts itself. */
export function defineKind(options: KindOptions): Kind {
  const fields = defineFields(options.fields);
  const ofLifecycle = (...lifecycles: readonly Field['lifecycle'][]): readonly NamedField[] =>
    Object.entries(fields).filter(([, { lifecycle }]) => lifecycles.includes(lifecycle));
  const specFields = ofLifecycle('mutable', 'immutable');
  const kind: Kind = {
    ...NOTHING_SAID,
    ...options,
    fields,
    specFields,
    specType: objectOf(Object.fromEntries(specFields)),
    oneTimeFields: ofLifecycle('one-time').map(([name]) => name),
    computedFields: ofLifecycle('computed').map(([name]) => name),
  };
  const finding = findFinding(kind);
  if (finding !== undefined) throw new InvariantError(`Kind ${kind.name}: ${finding}`);
  return kind;
}

const NOTHING_SAID: Pick<Kind, Unsaid> = {
  check: () => [],
  checkLifecycle: () => [],
  checkHealth: () => [],
  describeState: () => [],
  findWork: undefined,
  canLockOut: () => false,
  isProtection: false,
  uri: 'absolute',
  listKey: undefined,
  lifecycle: {},
  validity: undefined,
  fileField: undefined,
  checkFile: () => undefined,
  submission: undefined,
};

function findFinding(kind: Kind): string | undefined {
  if ((kind.role === 'owned') !== (kind.listKey !== undefined)) return 'owned kinds, and only those, have a listKey';
  if ((kind.role === 'submitted') !== (kind.submission !== undefined))
    return 'submitted kinds, and only those, have a submission';
  if (kind.role === 'attached' && !kind.path.includes('{id}')) return 'the path of an attached kind holds {id}';
  for (const [name, field] of Object.entries(kind.fields)) {
    if (kind.role === 'attached' && !isModule(field) && !kind.path.includes(`{${name}}`))
      return `${name} is no module, and no id in the path`;
    if (field.required && (field.default !== undefined || field.serviceDefault))
      return `${name} is required and has a default`;
    if (field.staysWhenLeftOut && !field.serviceDefault)
      return `${name} stays when left out, and has no service default`;
    if (field.hasPath && !isModule(field)) return `${name} has a path but is no module`;
    if (field.clear === 'delete' && !field.hasPath) return `${name} is cleared by a DELETE but has no path`;
  }
  return kind.submission && checkSubmission(kind.fields, kind.submission);
}

/** The name of a kind in names of files and commands: `TCPEdge` → `tcp-edge`. */
export function toHyphenated(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

/** A kind that is submitted. */
export type SubmittedKind = Kind & { readonly submission: Submission };

/** Whether a kind is created by a submission, and only read after that. */
export function isSubmitted(kind: Kind): kind is SubmittedKind {
  return kind.submission !== undefined;
}

/** Whether a field is a module, set and removed as a whole. */
export function isModule(field: Field): boolean {
  return field.type.type === 'object' && field.type.module;
}

/** The type of a whole spec. */
export function toSpecType({ fields }: Kind): ObjectType {
  return objectOf(fields);
}

/** Whether a resource can be due for replacement though it equals its manifest, because it expires or is rotated. */
export function isRotatable(kind: Kind): boolean {
  return kind.validity !== undefined || kind.oneTimeFields.length > 0;
}

/** A submitted kind, in addition to its fields: how the command line writes one, and how the service decides about each part. */
export interface Submission {
  /** What it is called in short: `report`. */
  readonly noun: string;
  /** What one does by submitting it: `report URLs with suspected abusive content`. */
  readonly purpose: string;
  /** The field that holds the words of the command line. Every other settable field is an option. */
  readonly words: string;
  /** Two words that may stand there. */
  readonly examples: readonly [string, string];
  /** The computed field that says how far it is, and its value once everything is decided. */
  readonly status: { readonly field: string; readonly decided: string };
  readonly parts: SubmissionParts;
}

/** The computed list of the parts under decision: each has a name and a status. */
export interface SubmissionParts {
  readonly field: string;
  /** For people: `host name`. */
  readonly title: string;
  readonly name: string;
  readonly status: string;
  /** The decision that each status means. */
  readonly decisions: Readonly<Record<string, PartDecision>>;
}

/** The decision about a part; `open`: none yet. */
export type PartDecision = 'open' | 'rejected' | 'accepted' | 'ignored';

type Fields = Readonly<Record<string, Field>>;

/** What contradicts the fields of the table; `undefined`: nothing. */
function checkSubmission(fields: Fields, submission: Submission): string | undefined {
  const { words, status, parts } = submission;
  const list = fields[words]?.type;
  if (list?.type !== 'list' || list.of.type !== 'text') return `${words} is no list of texts`;
  const odd = Object.entries(fields).find(([name, field]) => name !== words && isStated(field) && !isText(field));
  if (odd !== undefined) return `${odd[0]} is no text, so no option can state it`;
  if (!listValues(fields[status.field]?.type).includes(status.decided))
    return `${status.field} is never ${status.decided}`;
  const part = fields[parts.field]?.type;
  const members = part?.type === 'list' && part.of.type === 'object' ? part.of.fields : {};
  if (members[parts.name]?.type.type !== 'text') return `the members of ${parts.field} have no ${parts.name}`;
  const statuses = listValues(members[parts.status]?.type);
  if (statuses.join() !== Object.keys(parts.decisions).join())
    return `not every status of ${parts.field} is a decision`;
  return undefined;
}

/** `a report`, `an inquiry`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

function isStated({ lifecycle }: Field): boolean {
  return lifecycle === 'mutable' || lifecycle === 'immutable';
}

function isText({ type }: Field): boolean {
  return type.type === 'text' || type.type === 'metadata';
}

function listValues(type: FieldType | undefined): readonly string[] {
  return type?.type === 'enum' ? type.values : [];
}
