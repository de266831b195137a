import type { Action } from './change.ts';
import type { DangerGroup, DangerName } from './danger.ts';
import type { Severity, SourcePlace, TextPart } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { FieldPath } from './state.ts';

/** Selects the changes that a policy checks. A change must meet every condition given. */
interface PolicyMatch {
  readonly kinds?: readonly string[];
  readonly actions?: readonly Action[];
  readonly danger?: readonly (DangerGroup | DangerName)[];
  /** By label name: the required value, or a list of which one value is required. */
  readonly labels?: Readonly<Record<string, string | readonly string[]>>;
  /** Names of stacks, in which `*` matches any text. */
  readonly stacks?: readonly string[];
}

/** A policy as written in its document. Its expressions are not parsed yet. */
export interface PolicyDocument {
  readonly name: string;
  readonly match: PolicyMatch;
  readonly require: string;
  readonly message: string;
  readonly severity: Severity;
  readonly locate: LocatePart;
}

/** Returns the position of a path in a document, or of a part of the text at that path. Parses the document again. */
export type LocatePart = (path?: FieldPath, part?: TextPart) => SourcePlace;

/** The results that a case can expect of its policy. `no-match`: the policy does not apply. */
export const EXPECTATIONS = ['allow', 'refuse', 'warn', 'no-match'] as const;

export type Expectation = (typeof EXPECTATIONS)[number];

/** The input of a case: values of the names that an expression may use. A name without a value is empty. */
export interface PolicyGiven {
  readonly change: JsonObject;
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly plan?: JsonObject | undefined;
  readonly stack?: JsonObject | undefined;
  /** RFC 3339. */
  readonly now?: string | undefined;
}

/** A unit test of a policy. */
export interface PolicyCase {
  readonly name: string;
  readonly given: PolicyGiven;
  readonly expect: Expectation;
  /** A text that the policy's message must contain. */
  readonly message?: string | undefined;
}

/** A `PolicyTest` document: the cases of one policy. */
export interface PolicyTestDocument {
  readonly name: string;
  /** The name of the policy that is tested. */
  readonly policy: string;
  readonly cases: readonly PolicyCase[];
  readonly locate: LocatePart;
}

export interface PolicyDocuments {
  readonly policies: readonly PolicyDocument[];
  readonly tests: readonly PolicyTestDocument[];
}

export interface PolicyCaseResult {
  /** The name of the policy that is tested. */
  readonly policy: string;
  readonly name: string;
  readonly place: SourcePlace;
  /** Why the case failed. Absent if it passed. */
  readonly failure?: string;
}

export interface PolicyTestResult {
  readonly cases: readonly PolicyCaseResult[];
  /** Names of the policies that have no case. */
  readonly untested: readonly string[];
}

/** A policy that a change breaks. */
export interface PolicyFinding {
  readonly policy: string;
  readonly severity: Severity;
  /** The message of the policy, or why its expression could not be evaluated. */
  readonly message: string;
  /** The expression could not be evaluated. */
  readonly isFailure: boolean;
  /** The address as shown to the user: `Kind/name`, or `Kind/name@id` for a duplicate. */
  readonly address: string;
  /**
   * Returns the position in the manifest that the finding is about. `undefined` if the resource has no manifest. Parses
   * the manifest again.
   */
  readonly locate: () => SourcePlace | undefined;
  /** The position of the policy. */
  readonly policyPlace: SourcePlace;
}
