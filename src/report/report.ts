import type { Diagnostic, Locate } from '../model/diagnostic.ts';
import type { Drift } from '../model/drift.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import type { PlanComparison } from '../model/plan-comparison.ts';
import type { RuleSeverity } from '../model/stack.ts';

/** What a command has to show, whatever its format. */
export type Report = PlanReport | ComparisonReport | ApplyReport | DriftReport | ValidationReport | FailureReport;

/** A plan, and the safety rules that stand against it: those that no flag allows. */
export interface PlanReport {
  readonly about: 'plan';
  readonly plan: Plan;
  readonly blocking: readonly GuardViolation[];
}

/** Two plans, and what each does that the other does not. */
export interface ComparisonReport {
  readonly about: 'comparison';
  /** `apply`: the earlier plan was approved, and the later one is refused when it does more. */
  readonly command: 'diff' | 'apply';
  readonly comparison: PlanComparison;
  /** What people call the plans: their files. */
  readonly names: { readonly before: string; readonly after: string };
}

/** A plan that was let through, and what became of it. */
export interface ApplyReport {
  readonly about: 'apply';
  readonly plan: Plan;
  readonly result: ApplyResult;
}

/** The live state, compared with the manifests or a plan. */
export interface DriftReport {
  readonly about: 'drift';
  readonly drift: Drift;
  /** The variable that holds the key of the account; absent: the usual one. */
  readonly keyEnv?: string | undefined;
}

/** What a check of manifests found. */
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
  /** The resources themselves, where they are known. */
  readonly addresses?: readonly string[];
  /** Name of the stack, where it can be read. */
  readonly stack?: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Everything that is known of a failure. */
export interface Failure {
  readonly command?: string;
  /** The stack that it was about, as far as that was known. */
  readonly stack?: string;
  readonly diagnostics?: readonly Diagnostic[];
  /** What was thrown, or the sentences that say what went wrong and what to do. */
  readonly error?: Error | { readonly message: string; readonly remedy?: string };
  readonly plan?: Plan;
}

/** A lint rule, as it is listed. */
export interface LintRuleRow {
  readonly id: string;
  readonly severity: RuleSeverity;
  readonly sentence: string;
  /** What to do about what it finds. */
  readonly remedy: string;
}

/** A setting of one run, as it is listed. */
export interface SettingRow {
  /** Its path in the `spec` of the Stack, such as `api.rate_limit`; of the API key, `API key`. */
  readonly name: string;
  readonly value: string;
  /** Where it comes from: `--rate-limit`, `EDGEWISE_RATE_LIMIT`, `Stack`, `Defaults` or `default`. */
  readonly from: string;
  /** Of a document: the line that states it, such as `live/defaults.yaml:4`. */
  readonly place?: string;
}

/** How human text is to look. Read from the terminal by the caller, so that renderers depend on nothing else. */
export interface TextOptions {
  readonly color: boolean;
  /** Columns of the terminal; 0: don't wrap. */
  readonly width: number;
  /** Also shows details for an investigation: the API calls, the fields of deleted resources. */
  readonly verbose: boolean;
  /** One line for each resource. */
  readonly compact?: boolean;
}

/** What a rule means, and what to do about what it finds. */
export interface RuleDescription {
  readonly meaning: string;
  readonly remedy: string;
}

/** A command line that can be pasted into a shell. */
export interface CommandLine {
  readonly line: string;
  /** It has to be given manifests on its standard input, as the run was that printed it. */
  readonly readsInput: boolean;
}

/** What a stream of events holds already. */
export interface SentEvents {
  readonly text: string;
  readonly count: number;
  /** Of a run over many stacks, the folders of those whose events are in it. */
  readonly parts?: ReadonlySet<string>;
}

/** Options of formats. Formats other than text use those that apply to them. */
export interface FormatOptions extends TextOptions {
  /** What the process ends with. */
  readonly exitCode?: number;
  readonly version?: string;
  /** The path of a manifest from the root of its repository; absent: as it was given. */
  readonly toRepositoryPath?: (file: string) => string;
  /** The same of a path that a tool says a manifest was made of, and of the file whose `spec.render` has the tool run, where one has. */
  readonly toOriginPath?: (path: string, stack?: string) => string;
  /** More on a diagnostic code than the one sentence of it. */
  readonly describeRule?: (id: string) => RuleDescription | undefined;
  readonly locate?: Locate;
  /** When the report is made. */
  readonly at?: Date;
  /** Of a stream of events, what was sent already. */
  readonly sent?: SentEvents;
  /** What the pipeline says of itself, whose pages can be linked to. */
  readonly pipeline?: Pipeline;
  /** The report is one of many in a longer one, which says once what all share. */
  readonly isPart?: boolean;
  /** Another part of the same report lists the unmanaged resources of its account. */
  readonly isAccountTold?: boolean;
  /** The command line that does what a plan says; absent: none that is known would. */
  readonly applyCommand?: CommandLine;
}

/** A format of reports: a whole document that ends with a line break, for every report. Pure; nothing in a report breaks out of it. */
export type ReportFormat = (report: Report, options: FormatOptions) => string;

/** What a run over many stacks has to show. */
export interface StacksReport {
  readonly command: string;
  /** The folder that the stacks are in. */
  readonly root: string;
  /** How many stacks there are, and which of them were meant, in a sentence. */
  readonly selection: string;
  /** What reading took, of all accounts; absent: it is not known. */
  readonly requests?: number;
  /** By folder. */
  readonly parts: readonly StackPart[];
  /** Of a plan: what applies all of it. */
  readonly applyCommand?: CommandLine;
}

/** What a run has to show of one stack. */
export interface StackPart {
  readonly name: string;
  readonly folder: string;
  /** The variable with the key of its account, where its Stack names one. */
  readonly keyEnv?: string;
  /** What the command would end with for this stack alone. */
  readonly exitCode: number;
  readonly report: Report;
  readonly options: Pick<FormatOptions, 'locate' | 'applyCommand' | 'isAccountTold'>;
}

/** A format of a run over many stacks: a whole document that ends with a line break. */
export type StacksReportFormat = (run: StacksReport, options: FormatOptions) => string;
