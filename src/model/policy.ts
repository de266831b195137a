import type { Action } from './change.ts';
import type { DangerGroup, DangerName } from './danger.ts';
import type { Severity } from './diagnostic.ts';
import type { JsonObject } from './json.ts';
import type { LocateInDocument, Place } from './place.ts';

/** Selects the changes that a policy checks: those that meet every condition. */
interface PolicyMatch {
  readonly kinds?: readonly string[] | undefined;
  readonly actions?: readonly Action[] | undefined;
  readonly danger?: readonly (DangerGroup | DangerName)[] | undefined;
  /** Maps the name of a label to the required value, or to a list of accepted values. */
  readonly labels?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Names of stacks. `*` in a name matches any text. */
  readonly stacks?: readonly string[] | undefined;
}

/** A policy as written in its document, with expressions that are not parsed yet. */
export interface PolicyDocument {
  readonly name: string;
  readonly match: PolicyMatch;
  readonly require: string;
  readonly message: string;
  readonly severity: Severity;
  readonly locate: LocateInDocument;
}

/** The results that a test case can expect from its policy. `no-match`: the policy does not apply. */
export const EXPECTED_RESULTS = ['allow', 'refuse', 'warn', 'no-match'] as const;

export type ExpectedResult = (typeof EXPECTED_RESULTS)[number];

/** The input of a test case: values of the variables in the expression. A variable without a value is empty. */
export interface PolicyCaseInput {
  readonly change: JsonObject;
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly plan?: JsonObject | undefined;
  readonly stack?: JsonObject | undefined;
  /** The current time, RFC 3339. */
  readonly now?: string | undefined;
}

/** A unit test of a policy. */
export interface PolicyCase {
  readonly name: string;
  readonly given: PolicyCaseInput;
  readonly expect: ExpectedResult;
  /** A text that the policy's message must contain. */
  readonly message?: string | undefined;
}

export interface PolicyTestDocument {
  readonly name: string;
  /** The name of the policy that is tested. */
  readonly policy: string;
  readonly cases: readonly PolicyCase[];
  readonly locate: LocateInDocument;
}

export interface PolicyDocuments {
  readonly policies: readonly PolicyDocument[];
  readonly tests: readonly PolicyTestDocument[];
}

export interface PolicyCaseResult {
  /** The name of the policy that is tested. */
  readonly policy: string;
  readonly name: string;
  readonly place: Place;
  /** Why the case failed. Absent if it passed. */
  readonly failure?: string | undefined;
}

export interface PolicyTestResults {
  readonly cases: readonly PolicyCaseResult[];
  /** Names of the policies without a test case. */
  readonly untested: readonly string[];
}
