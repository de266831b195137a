import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift, UnownedResource } from '../model/drift.ts';
import type { Excerpts } from '../model/excerpts.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { CiJobLinks } from '../model/pipeline.ts';
import type { Locate } from '../model/place.ts';
import type { Plan, PlanComparison, SafetyViolation } from '../model/plan.ts';
import type { RuleSeverity } from '../model/stack.ts';
import type { Removals } from '../model/stack-tree.ts';
import type { Validation } from '../model/validation.ts';

/** The result of a command, independent of the format. */
export type Report = PlanReport | ComparisonReport | ApplyReport | DriftReport | ValidationReport | FailureReport;

/** A plan, and the violations that block it because no flag allows them. */
export interface PlanReport {
  readonly about: 'plan';
  readonly plan: Plan;
  readonly blocking: readonly SafetyViolation[];
}

export interface ComparisonReport {
  readonly about: 'comparison';
  /**
   * `apply`: the earlier plan was approved. `question`: the earlier plan was shown to the user, who then agreed. In both
   * cases the later plan is refused unless it is the same.
   */
  readonly command: 'diff' | 'apply' | 'question';
  readonly comparison: PlanComparison;
  /** The names of the two plan files. */
  readonly names: { readonly before: string; readonly after: string };
}

/** An applied plan and its result. */
export interface ApplyReport {
  readonly about: 'apply';
  readonly plan: Plan;
  readonly result: ApplyResult;
}

/** The live state, compared with the manifests or a plan. */
export interface DriftReport {
  readonly about: 'drift';
  readonly drift: Drift;
  /** The environment variable with the API key of the account. Absent if it is the default variable. */
  readonly keyEnv?: string | undefined;
}

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

/** The known facts about a command that did not complete. */
export interface Failure {
  readonly command?: string | undefined;
  /** The name of the stack. Absent if the command failed before it knew the stack. */
  readonly stack?: string | undefined;
  readonly diagnostics?: readonly Diagnostic[];
  readonly error?: Error | { readonly message: string; readonly remedy?: string | undefined } | undefined;
  /** Which host the requests went to, and what sets it and the API key. Absent: unknown. */
  readonly service?: string | undefined;
}

export interface LintRuleRow {
  readonly id: string;
  readonly severity: RuleSeverity;
  readonly sentence: string;
  readonly remedy: string;
}

export interface SettingRow {
  /** The path of the setting in the `spec` of the Stack, such as `api.rate_limit`. For the API key, `API key`. */
  readonly name: string;
  readonly value: string;
  /** Source of the value: `--rate-limit`, `EDGEWISE_RATE_LIMIT`, `Stack`, `Defaults` or `default`. */
  readonly from: string;
  /** The line that sets the value, such as `live/defaults.yaml:4`. Absent if no document sets it. */
  readonly place?: string | undefined;
}

/** The style of text for people, and what it quotes. The caller detects it, so that renderers depend only on their arguments. */
export interface TextStyleOptions {
  readonly color: boolean;
  /** The width of the terminal in columns. 0 disables wrapping. */
  readonly width: number;
  /** Whether to also show details for an investigation: API calls, and the fields of deleted resources. */
  readonly verbose: boolean;
  /** Whether to show each entry on one line. */
  readonly compact?: boolean;
  /** Quotes a manifest. Absent: only positions are shown. Formats for programs quote nothing. */
  readonly excerpts?: Excerpts | undefined;
  /** Returns how the user can call edgewise, such as `npx --no-install edgewise`. Absent: remedies say `edgewise`. */
  readonly findInvocation?: (() => string) | undefined;
}

export interface DiagnosticCodeDescription {
  readonly meaning: string;
  readonly remedy: string;
}

/** A command line that can be pasted into a shell. */
export interface CommandLine {
  readonly line: string;
  /**
   * The same for the readers of a comment or a page, on other machines. Differs from `line` if that names a plan file
   * outside of the working folder, such as a temporary one. Absent: only the plan file can be applied.
   */
  readonly lineElsewhere?: string | undefined;
  /** Whether the command reads manifests from standard input. If so, it needs the same manifests as this run. */
  readonly readsInput: boolean;
}

/** The options of report formats. A format ignores options that do not apply to it. */
export interface FormatOptions extends TextStyleOptions {
  /** The command that made the report. Absent: the one that usually does. */
  readonly command?: string | undefined;
  /** The summary of the document of the report. Absent: the report is shown without it. */
  readonly summary?: string | undefined;
  /** The path of the manifests of the only stack. Absent: they were not files. */
  readonly folder?: string | undefined;
  readonly exitCode?: number;
  readonly version?: string;
  /** Returns the path of a manifest from the root of its repository. If absent, paths stay as they were given. */
  readonly toRepositoryPath?: (file: string) => string;
  /**
   * Takes the path of a source file that a tool reported, such as a kustomize origin, and returns its path from the
   * root of the repository. `output`: the file with what the tool printed, or `<stdin>`.
   */
  readonly toOriginPath?: (path: string, output: string) => string;
  /** Returns the meaning and remedy of a diagnostic code, or undefined if the code has no description. */
  readonly describeRule?: (id: string) => DiagnosticCodeDescription | undefined;
  readonly locate?: Locate | undefined;
  /** The time at which the report is made. */
  readonly at?: Date;
  /** Facts about the CI pipeline, for links to its pages. */
  readonly pipeline?: CiJobLinks;
  /** Whether the report is part of a longer report, which shows shared facts once. */
  readonly isPart?: boolean;
  /** Only in a report on many stacks: the unmanaged resources that this part lists for all stacks of its account. */
  readonly unmanaged?: readonly UnownedResource[];
  /** The start of the anchors of a part, which are unique in the whole report. */
  readonly scope?: string;
  /** Whether the user has seen the plan of an apply already, so that the report is only about the result. */
  readonly isPlanShown?: boolean;
  /** The command line that applies the plan, for a terminal. Absent if it is unknown. */
  readonly applyCommand?: CommandLine | undefined;
}

/**
 * Renders a report as a complete document that ends with a line break. Text in the report is escaped and cannot break
 * out of the document. Has no side effects.
 */
export type ReportRenderer = (report: Report, options: FormatOptions) => string;

export interface StacksRunReport {
  readonly command: string;
  /** The folder that contains the stacks. */
  readonly root: string;
  /** The names that the user selected. Empty: none, so that every stack counts. */
  readonly names?: readonly string[] | undefined;
  /** A sentence that says how many of the stacks were selected, and how. */
  readonly selection: string;
  /** Absent: the stacks were not compared with a commit. */
  readonly removals?: Removals | undefined;
  /** The number of requests sent to read all accounts. Absent if it is unknown. */
  readonly requests?: number;
  /** Sorted by folder. */
  readonly parts: readonly StackReportPart[];
  /** The command line that applies all stacks. Present only for a plan. */
  readonly applyCommand?: CommandLine | undefined;
}

export interface StackReportPart {
  readonly name: string;
  readonly folder: string;
  /** The environment variable with the API key of the account. Absent if the Stack names no variable. */
  readonly keyEnv?: string | undefined;
  /** The exit code that the command would have for this stack alone. */
  readonly exitCode: number;
  readonly report: Report;
  /** Whether the user has seen the report already, so that only the result of the stack is shown. */
  readonly isShown?: boolean | undefined;
  /** Present only in a report for people: errors that an earlier stack of the run has too, and that are shown there. */
  readonly repeated?: RepeatedErrors;
  readonly options: Pick<FormatOptions, 'locate' | 'unmanaged'>;
}

export interface RepeatedErrors {
  readonly count: number;
  /** The index of the earlier stack in `parts` of the run. */
  readonly index: number;
}

/** Renders a run over many stacks as a whole document that ends with a line break. */
export type StacksReportRenderer = (run: StacksRunReport, options: FormatOptions) => string;
