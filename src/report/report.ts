import type { Diagnostic, Locate } from '../model/diagnostic.ts';
import type { Drift } from '../model/drift.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import type { PlanComparison } from '../model/plan-comparison.ts';
import type { RuleSeverity } from '../model/stack.ts';

/** The result of a command, for any format. */
export type Report = PlanReport | ComparisonReport | ApplyReport | DriftReport | ValidationReport | FailureReport;

/** A plan, and the violations that block it: those that no flag allows. */
export interface PlanReport {
  readonly about: 'plan';
  readonly plan: Plan;
  readonly blocking: readonly GuardViolation[];
}

/** Two plans, and the differences between them. */
export interface ComparisonReport {
  readonly about: 'comparison';
  /** `apply`: the earlier plan was approved, and the later one is refused if it does more. */
  readonly command: 'diff' | 'apply';
  readonly comparison: PlanComparison;
  /** The names of the plan files. */
  readonly names: { readonly before: string; readonly after: string };
}

/** An applied plan, and the result of its apply. */
export interface ApplyReport {
  readonly about: 'apply';
  readonly plan: Plan;
  readonly result: ApplyResult;
}

/** The live state, compared with the manifests or a plan. */
export interface DriftReport {
  readonly about: 'drift';
  readonly drift: Drift;
  /** The environment variable with the API key of the account; absent: the default one. */
  readonly keyEnv?: string | undefined;
}

/** The result of a check of manifests. */
export interface ValidationReport {
  readonly about: 'validation';
  readonly command: string;
  readonly validation: Validation;
}

/** Why a command did not complete. */
export interface FailureReport {
  readonly about: 'failure';
  readonly failure: Failure;
}

/** Counts of manifest files and resources, and their diagnostics. */
export interface Validation {
  readonly files: number;
  readonly resources: number;
  /** Addresses of the resources; absent: unknown. */
  readonly addresses?: readonly string[];
  /** Name of the stack; absent: it cannot be read. */
  readonly stack?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** What is known about a failure. */
export interface Failure {
  readonly command?: string;
  /** The stack; absent: it was not known yet. */
  readonly stack?: string;
  readonly diagnostics?: readonly Diagnostic[];
  /** The error that was thrown, or a message and a remedy. */
  readonly error?: Error | { readonly message: string; readonly remedy?: string };
  readonly plan?: Plan;
}

/** One row of the list of lint rules. */
export interface LintRuleRow {
  readonly id: string;
  readonly severity: RuleSeverity;
  readonly sentence: string;
  /** What to do about its findings. */
  readonly remedy: string;
}

/** One row of the list of settings. */
export interface SettingRow {
  /** Its path in the `spec` of the Stack, such as `api.rate_limit`, or `API key`. */
  readonly name: string;
  readonly value: string;
  /** Source of the value: `--rate-limit`, `EDGEWISE_RATE_LIMIT`, `Stack`, `Defaults` or `default`. */
  readonly from: string;
  /** The line that sets it, such as `live/defaults.yaml:4`; absent: no document sets it. */
  readonly place?: string;
}

/** Style of text for people. The caller reads it from the terminal, so that renderers depend on nothing else. */
export interface TextOptions {
  readonly color: boolean;
  /** Columns of the terminal; 0: don't wrap. */
  readonly width: number;
  /** Also shows details for an investigation: the API calls, the fields of deleted resources. */
  readonly verbose: boolean;
  /** One line for each resource. */
  readonly compact?: boolean;
}

/** Meaning and remedy of a diagnostic code. */
export interface RuleDescription {
  readonly meaning: string;
  readonly remedy: string;
}

/** A command line that can be pasted into a shell. */
export interface CommandLine {
  readonly line: string;
  /** The command needs on standard input the same manifests as the run that printed it. */
  readonly readsInput: boolean;
}

/** Events that were already sent. */
export interface SentEvents {
  readonly text: string;
  readonly count: number;
  /** In a run over many stacks: the folders of the stacks whose events were sent. */
  readonly parts?: ReadonlySet<string>;
}

/** Options of formats. Formats other than text use those that apply to them. */
export interface FormatOptions extends TextOptions {
  /** Exit code of the process. */
  readonly exitCode?: number;
  readonly version?: string;
  /** Returns the path of a manifest from the root of its repository; absent: paths stay as they were given. */
  readonly toRepositoryPath?: (file: string) => string;
  /**
   * Returns the path from the root of the repository for a source file that a tool reported, such as a kustomize
   * origin. `stack`: the file whose `spec.render` ran the tool, if one did.
   */
  readonly toOriginPath?: (path: string, stack?: string) => string;
  /** Returns the meaning and remedy of a diagnostic code; undefined if it has none. */
  readonly describeRule?: (id: string) => RuleDescription | undefined;
  readonly locate?: Locate;
  /** When the report is made. */
  readonly at?: Date;
  /** For a stream of events: those that were already sent. */
  readonly sent?: SentEvents;
  /** Facts about the CI pipeline, for links to its pages. */
  readonly pipeline?: Pipeline;
  /** The report is part of a longer one, which shows shared facts once. */
  readonly isPart?: boolean;
  /** Another part of the same report lists the unmanaged resources of its account. */
  readonly isAccountTold?: boolean;
  /** The command line that applies the plan; absent: none is known. */
  readonly applyCommand?: CommandLine;
}

/**
 * Renders any report as a whole document that ends with a line break. Pure. No text in a report can break out of the
 * document.
 */
export type ReportFormat = (report: Report, options: FormatOptions) => string;

/** The result of a run over many stacks. */
export interface StacksReport {
  readonly command: string;
  /** The folder that the stacks are in. */
  readonly root: string;
  /** A sentence that says how many stacks there are, and which of them were selected. */
  readonly selection: string;
  /** Requests that reading took, in all accounts; absent: unknown. */
  readonly requests?: number;
  /** Sorted by folder. */
  readonly parts: readonly StackPart[];
  /** For a plan: the command line that applies all stacks. */
  readonly applyCommand?: CommandLine;
}

/** The result of a run for one stack. */
export interface StackPart {
  readonly name: string;
  readonly folder: string;
  /** The environment variable with the API key of the account; absent: the Stack names none. */
  readonly keyEnv?: string;
  /** Exit code of the command if it ran for this stack alone. */
  readonly exitCode: number;
  readonly report: Report;
  readonly options: Pick<FormatOptions, 'locate' | 'applyCommand' | 'isAccountTold'>;
}

/** Renders a run over many stacks as a whole document that ends with a line break. */
export type StacksReportFormat = (run: StacksReport, options: FormatOptions) => string;
