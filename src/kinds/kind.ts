import { InvariantError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { onceForEach } from '../model/once.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { type Field, listFields, type NamedField, objectOf, toTable } from './field.ts';
import { findSubmissionFault, type Submission } from './submission.ts';

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
  /** What a manifest may say under `lifecycle` of this kind alone. */
  readonly lifecycle: Readonly<Record<string, Field>>;
  /** The fields with the start and end of its validity; absent: valid as long as it exists. */
  readonly validity: Validity | undefined;
  /** The computed field that `lifecycle.write_to` has written to a file. */
  readonly fileField: string | undefined;
  /** Submitted kinds only: how one is submitted and decided. */
  readonly submission: Submission | undefined;
  /** Checks that concern several fields. Called on specs whose fields are valid. */
  readonly check: (spec: Spec) => readonly SpecProblem[];
  /** Checks that concern several settings of `lifecycle`; paths are inside of it. Called when fields and settings are valid. */
  readonly checkLifecycle: (settings: Spec, spec: Spec) => readonly SpecProblem[];
  /** What is wrong with a resource that exists, by its computed fields. */
  readonly findTroubles: (computed: JsonObject) => readonly Trouble[];
  /** It restricts access to other resources: deleting it opens them. */
  readonly isProtection: boolean;
  /** Whether a resource with this spec can lock its own caller out: its writes come last. */
  readonly canLockOut: (spec: Spec) => boolean;
}

/** The names of the fields of a time of validity, both immutable timestamps, and its usual length. */
export interface Validity {
  readonly after: string;
  readonly until: string;
  /** The validity when no end is stated. */
  readonly defaultMs: number;
}

/** Something that the service cannot do for a resource at present. */
export interface Trouble {
  /** What cannot be done: `its certificate cannot be provisioned`. */
  readonly message: string;
  readonly remedy: string;
  /** The field of the spec that asks for it. */
  readonly field: string;
}

/** Something wrong in a spec, at a path inside of it. */
export interface SpecProblem {
  readonly path: FieldPath;
  readonly message: string;
}

type Unsaid =
  | 'check'
  | 'checkLifecycle'
  | 'findTroubles'
  | 'canLockOut'
  | 'isProtection'
  | 'uri'
  | 'listKey'
  | 'lifecycle'
  | 'validity'
  | 'fileField'
  | 'submission';
type KindOptions = Omit<Kind, Unsaid> & Partial<Pick<Kind, Unsaid>>;

/** Checks a kind's table and fills in defaults. Throws `InvariantError` on a table that contradicts itself. */
export function defineKind(options: KindOptions): Kind {
  const kind: Kind = { ...NOTHING_SAID, ...options, fields: toTable(options.fields) };
  const fault = findFault(kind);
  if (fault !== undefined) throw new InvariantError(`Kind ${kind.name}: ${fault}`);
  return kind;
}

const NOTHING_SAID: Pick<Kind, Unsaid> = {
  check: () => [],
  checkLifecycle: () => [],
  findTroubles: () => [],
  canLockOut: () => false,
  isProtection: false,
  uri: 'absolute',
  listKey: undefined,
  lifecycle: {},
  validity: undefined,
  fileField: undefined,
  submission: undefined,
};

function findFault(kind: Kind): string | undefined {
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
  return kind.submission && findSubmissionFault(kind.fields, kind.submission);
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

/** The fields that a manifest may state. */
export const listSpecFields = onceForEachKind(({ fields }): readonly NamedField[] =>
  listFields(fields).filter(([, { lifecycle }]) => lifecycle === 'mutable' || lifecycle === 'immutable'),
);

/** The type of a whole spec. */
export const toSpecType = onceForEachKind(({ fields }) => objectOf(fields));

/** Whether a resource can be due for replacement though it equals its manifest, because it expires or is rotated. */
export function isRotatable(kind: Kind): boolean {
  return kind.validity !== undefined || listOneTimeFields(kind).length > 0;
}

/** The names of the fields that only the response to the creation shows. */
export const listOneTimeFields = onceForEachKind(({ fields }): readonly string[] =>
  listFields(fields).flatMap(([name, { lifecycle }]) => (lifecycle === 'one-time' ? [name] : [])),
);

/** The names of the fields that the service alone decides. */
export const listComputedNames = onceForEachKind(({ fields }): readonly string[] =>
  listFields(fields).flatMap(([name, { lifecycle }]) => (lifecycle === 'computed' ? [name] : [])),
);

/** A function of a kind's table, which never changes: computed at the first call for a kind. */
export function onceForEachKind<T>(compute: (kind: Kind) => T): (kind: Kind) => T {
  return onceForEach(compute);
}
