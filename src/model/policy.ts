import type { Action } from './change.ts';
import type { DangerGroup, DangerName } from './danger.ts';
import type { Severity, SourcePlace, TextPart } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { FieldPath } from './state.ts';

/** Which changes a policy is about: those that everything here fits. */
interface PolicyMatch {
  readonly kinds?: readonly string[];
  readonly actions?: readonly Action[];
  readonly danger?: readonly (DangerGroup | DangerName)[];
  /** Each with its value, or with those of which it must have one. */
  readonly labels?: Readonly<Record<string, string | readonly string[]>>;
  /** Names of stacks; `*` matches any text. */
  readonly stacks?: readonly string[];
}

/** A rule of one's own, as its document says it. Its expressions are texts that nobody has read yet. */
export interface PolicyDocument {
  readonly name: string;
  readonly match: PolicyMatch;
  readonly require: string;
  readonly message: string;
  readonly severity: Severity;
  readonly locate: LocatePart;
}

/** The position of a path inside of a document, or of a part of the text there. Parses the document again. */
export type LocatePart = (path?: FieldPath, part?: TextPart) => SourcePlace;

/** The expected result of a policy in a case; `no-match`: the policy does not apply. */
export const EXPECTATIONS = ['allow', 'refuse', 'warn', 'no-match'] as const;

/** One of the expectations. */
export type Expectation = (typeof EXPECTATIONS)[number];

/** The input of a case: values of the names that an expression may use. Names that are left out are empty. */
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
  /** What the message must have in it. */
  readonly message?: string | undefined;
}

/** The cases of one policy, as their document says them. */
export interface PolicyTestDocument {
  readonly name: string;
  /** Name of the policy. */
  readonly policy: string;
  readonly cases: readonly PolicyCase[];
  readonly locate: LocatePart;
}

/** The policies of some manifests, and their cases. */
export interface PolicyDocuments {
  readonly policies: readonly PolicyDocument[];
  readonly tests: readonly PolicyTestDocument[];
}

/** What became of a case. */
export interface PolicyCaseResult {
  /** Name of the policy. */
  readonly policy: string;
  readonly name: string;
  readonly place: SourcePlace;
  /** Why it fails; absent: it passes. */
  readonly failure?: string;
}

/** What became of all cases. */
export interface PolicyTestResult {
  readonly cases: readonly PolicyCaseResult[];
  /** Names of the policies that no case is about. */
  readonly untested: readonly string[];
}

/** A rule of one's own that a change breaks. */
export interface PolicyFinding {
  readonly policy: string;
  readonly severity: Severity;
  /** What the policy says to it, or why it could not be evaluated. */
  readonly message: string;
  /** It could not be evaluated. */
  readonly isFailure: boolean;
  /** Of the resource, as people see it. */
  readonly address: string;
  /** Where its manifest says what the rule is about; nothing when it has none. Parses that again. */
  readonly locate: () => SourcePlace | undefined;
  /** The policy. */
  readonly policyPlace: SourcePlace;
}
