import type { DangerGroup } from '../model/danger.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Locate, Place } from '../model/place.ts';
import type { CommandLine } from './report.ts';
import type { FieldView } from './view/field-view.ts';

/**
 * A report as a value between the views and the formats. `documents/` says what a report contains, once for all
 * formats. A writer says how each block looks in its format, once for all reports. All texts are printable, without
 * secrets, and not escaped: each writer escapes them for its format.
 */
export interface Document {
  /** With `subject`, identifies the report, so that a later run replaces it. */
  readonly command: string;
  readonly subject?: string | undefined;
  /** What the report is about. Absent if its heading says so. */
  readonly title?: string | undefined;
  /** The same for the summary of a report without a title. */
  readonly about?: string | undefined;
  /** The result on one line, dangers first, for formats that are read from the top. */
  readonly headline: string;
  /** What limits the report, such as the selected targets. */
  readonly notes: readonly string[];
  /** The result in sentences. */
  readonly conclusion: readonly Sentence[];
  /**
   * Whether a text begins with its conclusion and its dangers, because it is read before something is done. Of what was
   * done, a terminal shows the end, so there they are the last lines.
   */
  readonly isResultFirst?: boolean | undefined;
  /** What the user must do next. */
  readonly next: readonly string[];
  readonly blocks: readonly Block[];
  /** The command that applies what the report shows. */
  readonly applyCommand?: CommandLine | undefined;
  /** The commit, the pipeline run, the time and the version of Edgewise. */
  readonly origin?: Text | undefined;
  /** Refusals, errors and warnings. `findings` blocks, entries and lists show them where readers look for them. */
  readonly findings: readonly ShownFinding[];
  /** The resources that the report is about. */
  readonly addresses?: readonly string[] | undefined;
  /** Where the resources of the report are. Absent: unknown. */
  readonly locate?: Locate | undefined;
  /** The version of Edgewise that made the plan. */
  readonly version?: string | undefined;
}

/**
 * Something about one resource or position. Formats that show no whole report have only these: annotations, results, test
 * cases.
 * Texts are printable; each writer escapes them only for its own syntax.
 */
export interface ShownFinding {
  /** A diagnostic code, the name of a safety rule, or a key of `FINDING_RULES`. */
  readonly rule: string;
  readonly level: 'error' | 'warning' | 'notice';
  /**
   * `danger`: the manifests ask for it, but it deserves a second look. `refusal`: a safety rule refuses the plan.
   * `failure`: the run itself failed.
   */
  readonly nature?: 'danger' | 'refusal' | 'failure' | undefined;
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly address?: string | undefined;
  /** All resources that a refusal is about. */
  readonly addresses?: readonly string[] | undefined;
  /** The path of the manifest field that the finding is about. */
  readonly field?: string | undefined;
  readonly place?: Place | undefined;
  readonly related?: Diagnostic['related'];
  /** The group of a danger. */
  readonly group?: DangerGroup | undefined;
  /** One sentence on all findings that have it, for formats with room for few. */
  readonly together?: string | undefined;
  /** Whether a change of the plan causes the warning. */
  readonly isOfChange?: boolean | undefined;
  /** The number of its resource in the report, if blocks show resources in another order. */
  readonly order?: number | undefined;
  /** The stack, in a run over many. */
  readonly stack?: string | undefined;
  /** The position of the `Stack`, for formats in which each finding has a position. */
  readonly fallback?: Place | undefined;
}

/** The rules of findings that are no diagnostics. */
export const FINDING_RULES = {
  protect: 'The plan would delete or replace a protected resource.',
  'delete-share': 'The plan would delete more of what is owned than the guard allows.',
  'nothing-described': 'The plan would delete resources, and its manifests describe nothing that the stack owns.',
  'manifests-missing': 'The plan would delete resources, and git did not check out all manifests.',
  policy: 'The plan breaks a rule that a Policy document states.',
  'take-over': 'The plan takes over resources of another stack, which needs consent.',
  'renamed-back': 'The plan renames a credential or certificate back, which needs an answer.',
  'rejected-write': 'The service will reject a write of the plan.',
  'claimed-elsewhere': 'A resource outside of the stack has a unique value that the plan claims.',
  'value-exchange': 'Stacks exchange unique values, so each waits for another.',
  delete: 'A resource is deleted.',
  replace: 'A resource is replaced.',
  danger: 'A change concerns access, traffic, secrets, protection or ownership.',
  'not-approved': 'The plan is not as it was approved or shown.',
  'plan-differs': 'Two plans do different things.',
  drift: 'A live resource differs although its manifest did not change.',
  'drift-danger': 'What was changed at the service concerns access, traffic, secrets, protection or ownership.',
  'removed-stack': 'A file that probably had a Stack is gone. What the stack owns stays at the service.',
  unmanaged: 'A live resource is managed by no stack of this repository.',
  pending: 'A manifest was changed and not applied.',
  'write-failed': 'A write failed.',
  'write-skipped':
    'A write was skipped because one that it depends on failed, the run was interrupted, or the service cannot be reached.',
  'token-rescued': 'A token could not be delivered and is in a rescue file.',
  failure: 'The command did not complete.',
} as const;

export type FindingRule = keyof typeof FINDING_RULES;

/** A text on one line. A string is prose. */
export type Text = string | readonly Span[];

export type Span = string | StyledSpan;

export interface StyledSpan {
  readonly text: string;
  /** `quoted`: code that needs quotes where code has no style of its own. `command`: code to copy, which is not wrapped. */
  readonly style?: 'code' | 'quoted' | 'command' | 'strong' | undefined;
  /** The page that the text links to. */
  readonly page?: string | undefined;
}

type Tone = 'strong' | 'muted' | 'warning' | 'error';

/** `result`: what the headline or the origin says. `pointer`: counts what blocks above it show, `to` says which. */
export interface Sentence {
  readonly role: 'result' | 'fact' | 'pointer';
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly to?: 'violations' | 'diagnostics' | 'dangers' | undefined;
}

/** Whether a sentence is about the work of edgewise, such as the number of requests. Such sentences come last. */
export function isEffort({ role, tone }: Sentence): boolean {
  return role === 'fact' && tone === 'muted';
}

/** Except of `findings` blocks, `findings` is what formats show that have findings only. */
export type Block =
  | FindingsBlock
  | ErrorBlock
  | DangersBlock
  | MessagesBlock
  | CountsBlock
  | EntriesBlock
  | ListBlock
  | TableBlock
  | PartBlock;

/** Some of the findings of the document, in full: the rules that refuse the plan, or errors and warnings. Not empty. */
export interface FindingsBlock {
  readonly block: 'findings';
  readonly about: 'violations' | 'diagnostics';
  readonly findings: readonly ShownFinding[];
}

/** An error that is not a diagnostic: the message, then details. */
export interface ErrorBlock {
  readonly block: 'error';
  /** Text from a service is on a single line, so that it cannot forge other lines. */
  readonly lines: readonly string[];
  /** May have line breaks. */
  readonly remedy?: string | undefined;
  readonly findings: readonly ShownFinding[];
}

/** All dangers of a document, the most severe first. */
export interface DangersBlock {
  readonly block: 'dangers';
  /** Such as `3 dangers (2 access, 1 secret)`. */
  readonly count: string;
  readonly dangers: readonly DangerLine[];
  /** Absent if parts have them. */
  readonly findings?: readonly ShownFinding[] | undefined;
}

export interface DangerLine {
  /** The stack, in a report on many stacks. */
  readonly part?: { readonly title: string; readonly anchor: string } | undefined;
  readonly group: DangerGroup;
  readonly address: string;
  readonly team?: string | undefined;
  /** One clause whose subject is the resource. */
  readonly said: Text;
  readonly place?: PlaceLink | undefined;
  readonly anchor: string;
  /** The anchor of the entry that shows the danger too. Absent if no entry of the report does. */
  readonly entry?: string | undefined;
}

/** How a report shows a `Place`: in words and, if its page of the forge is known, as a link. No writer needs more of it. */
export interface PlaceLink extends Pick<Place, 'line'> {
  readonly label: string;
  readonly page?: string | undefined;
}

/** Messages of one kind, such as the writes that failed. */
export interface MessagesBlock {
  readonly block: 'messages';
  readonly heading: string;
  /** Such as `failed`. */
  readonly label: string;
  readonly tone: 'warning' | 'error';
  readonly messages: readonly Message[];
  /** A sentence on what has no message of its own. */
  readonly note?: string | undefined;
  readonly findings: readonly ShownFinding[];
}

export interface Message {
  readonly name: string;
  /** Method and path. Absent if the message begins with them. */
  readonly request?: string | undefined;
  /** The reason and, if the effect of a write is unknown, a sentence that says so. */
  readonly sentences: readonly string[];
  /** The position of the field that the service named or, if it named none, of the manifest. */
  readonly place?: Place | undefined;
  /** Whether the lines at the position are shown: it is that of a field. */
  readonly hasExcerpt?: boolean | undefined;
}

/** Numbers by group, which the conclusion has in words. `group`: the colour. */
export interface CountsBlock {
  readonly block: 'counts';
  readonly label: string;
  readonly counts: readonly { readonly group: string; readonly label: string; readonly number: number }[];
}

/** Resources, each with what differs. */
export interface EntriesBlock {
  readonly block: 'entries';
  readonly heading?: string | undefined;
  /** What `group` of the entries is, such as `Action`. */
  readonly by: string;
  /** Whether the entries have different labels. If not, the heading says what the label says. */
  readonly hasLabels: boolean;
  readonly hasTeams: boolean;
  /** Whether entries have `next`. */
  readonly hasNext: boolean;
  readonly entries: readonly Entry[];
}

/** One resource. What takes room is created when a writer needs it, so that it never exists for all entries at once. */
export interface Entry {
  /** Unique in the report. */
  readonly anchor: string;
  readonly glyph: string;
  readonly kind: string;
  readonly address: string;
  readonly id?: string | undefined;
  /** Whether another entry has the same address. */
  readonly isDuplicate: boolean;
  /** Whether an earlier entry shows what is said of the whole resource. */
  readonly isContinued: boolean;
  /** An action or a state. Decides about the colour and, in a format with a limit, about what is omitted first. */
  readonly group: string;
  readonly label: string;
  readonly reason?: string | undefined;
  readonly isProtected: boolean;
  readonly team?: string | undefined;
  readonly dangerGroups: readonly DangerGroup[];
  /** Whether the user should look at it before approving. */
  readonly isHeeded: boolean;
  readonly describe: () => EntryDetails;
  readonly listFindings: () => readonly ShownFinding[];
}

export interface EntryDetails {
  readonly place?: PlaceLink | undefined;
  /** Clauses that describe the resource, such as `listens on …`. */
  readonly traits: readonly Text[];
  readonly dangers: readonly { readonly group: DangerGroup; readonly said: Text }[];
  readonly notes: readonly string[];
  /** The subset of `notes` that are warnings. */
  readonly warnings: readonly string[];
  readonly fields: readonly Field[];
  /** The fields of a deleted resource. */
  readonly lost: readonly Field[];
  /** The number of fields that have a value and keep it. */
  readonly unchanged: number;
  /** What the next apply does, if that is not what the fields show. */
  readonly next?: NextApply | undefined;
}

/** What the next apply does, in one clause, and its details. */
export interface NextApply extends Pick<EntryDetails, 'dangers' | 'notes' | 'fields'> {
  readonly said: string;
}

export interface Field extends FieldView {
  /** Absent if it is on the line of the entry. */
  readonly place?: PlaceLink | undefined;
  /** The danger that has the values of the field. */
  readonly danger?: { readonly group: DangerGroup; readonly anchor: string } | undefined;
}

/** How much a block matters: of a report that is too long, the lowest are omitted first. */
export type Weight = 'rest' | 'warning' | 'always';

export interface ListBlock {
  readonly block: 'list';
  readonly heading?: string | undefined;
  readonly items: readonly Text[];
  readonly weight: Weight;
  /** A sentence below the items. */
  readonly note?: string | undefined;
  /** The number of items that a terminal shows. */
  readonly limit?: number | undefined;
  readonly findings?: readonly ShownFinding[] | undefined;
}

export interface TableBlock {
  readonly block: 'table';
  /** Says what the rows are. */
  readonly heading: string;
  readonly columns: readonly string[];
  /**
   * In a text: `grid` has the names of the columns instead of a heading. `rows` are aligned below the heading. `stack`
   * has each cell on a line of its own, because rows would be too wide.
   */
  readonly layout: 'grid' | 'rows' | 'stack';
  /** The number of rows, without those that are parts. */
  readonly size: number;
  readonly rows: Iterable<TableRow>;
  readonly weight: Weight;
  /** Where a format can fold: whether the table starts folded. */
  readonly isFolded: boolean;
  /** Whether only readers who ask for details see it. A page, where it is folded, has it in any case. */
  readonly isDetail: boolean;
}

interface TableRow {
  readonly cells: readonly Text[];
  readonly isBad?: boolean | undefined;
  /** Whether the heading of a part says the same. Only a format without such headings shows the row. */
  readonly isPart?: boolean | undefined;
}

/** A report within a report: a stack, or the plan of an apply. */
export interface PartBlock {
  readonly block: 'part';
  readonly title: string;
  /** The result on one line. */
  readonly said?: string | undefined;
  readonly anchor: string;
  readonly isStack: boolean;
  readonly isBad: boolean;
  /** Absent if another part shows everything. */
  readonly document?: Document | undefined;
}

/**
 * What a report is about, and its result, in one sentence that can be read alone. Each half has at most this number of
 * characters.
 */
export function formatSummary({ title, about = title, headline }: Document, most = 140): string {
  const parts = about === undefined ? [headline] : [about, headline];
  return `${parts.map((part) => shortenText(part, most)).join(': ')}.`;
}

/** Cuts a text without cutting a character in two. */
export function shortenText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Maps a list whenever it is iterated. The results are not kept. */
export function mapLazily<T, U>(list: readonly T[], map: (one: T, index: number) => U): Iterable<U> {
  return {
    *[Symbol.iterator]() {
      for (const [index, one] of list.entries()) yield map(one, index);
    },
  };
}

export function toCode(text: string): StyledSpan {
  return { text, style: 'code' };
}

export function toPlainText(text: Text): string {
  if (typeof text === 'string') return text;
  return text
    .map((span) => (typeof span === 'string' ? span : span.style === 'quoted' ? `\`${span.text}\`` : span.text))
    .join('');
}

/** The entries of a document, without those of its parts. */
export function listEntries({ blocks }: Document): readonly Entry[] {
  return blocks.flatMap((block) => (block.block === 'entries' ? block.entries : []));
}
