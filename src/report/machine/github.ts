import { countActions } from '../../model/change.ts';
import { hasDrift } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { escapeJobCommands } from '../../model/job-commands.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan, SafetyViolation } from '../../model/plan.ts';
import type { FormatOptions, Report, StacksRunReport } from '../report.ts';
import { formatOutcomeTotals } from '../view/apply-view.ts';
import { createComparisonView } from '../view/comparison-view.ts';
import { findRepositoryPosition } from '../view/diagnostic-view.ts';
import { formatDriftDangerCount, formatDriftSummary } from '../view/drift-view.ts';
import { formatActionCounts } from '../view/plan-wording.ts';
import { createStacksView, withErrorsOnce } from '../view/stacks-view.ts';
import {
  countWriteOutcomes,
  formatCommandNotCompleted,
  formatCount,
  formatResourceAndFileCounts,
  formatSeverityCounts,
} from '../view/wording.ts';
import { type Annotation, joinNotStartedAnnotations, listAnnotations, listRelatedPlaceTexts } from './annotations.ts';

/**
 * A report as GitHub workflow annotations. Every line starts with a command, so that the runner cannot interpret text
 * from outside as a command. Source: "Workflow commands for GitHub Actions".
 */
export function renderGithubReport(report: Report, options: FormatOptions): string {
  return formatAnnotations(listPlaced(report, options), summarizeReport(report));
}

/** The annotations of each stack, then one notice that summarizes the run. */
export function renderStacksGithub(given: StacksRunReport, options: FormatOptions): string {
  const run = withErrorsOnce(given);
  const { headline, summary } = createStacksView(run);
  const annotations = run.parts.flatMap(({ report, options: own }) => listPlaced(report, { ...options, ...own }));
  return formatAnnotations(annotations, `${headline}\n${summary}`);
}

/** An annotation, and the options that its place depends on. */
interface PlacedAnnotation {
  readonly annotation: Annotation;
  readonly options: FormatOptions;
}

function listPlaced(report: Report, options: FormatOptions): readonly PlacedAnnotation[] {
  const annotations = joinUnmanaged(joinNotStartedAnnotations(listAnnotations(report, options)));
  return annotations.map((annotation) => ({ annotation, options }));
}

/** Joins the annotations on unmanaged resources into one notice, so that all ids are shown. */
function joinUnmanaged(annotations: readonly Annotation[]): readonly Annotation[] {
  const [first, ...more] = annotations.filter(({ rule }) => rule === 'unmanaged');
  if (first === undefined || more.length === 0) return annotations;
  const messages = [first, ...more].map(({ message }) => message);
  const left = messages.length - MAX_UNMANAGED;
  const listed = left > 0 ? [...messages.slice(0, MAX_UNMANAGED), `… and ${left} more`] : messages;
  const joined = { ...first, message: listed.join('\n') };
  return [...annotations.filter(({ rule }) => rule !== 'unmanaged'), joined];
}

/** As many as fit into the 64 KB that GitHub stores of an annotation. */
const MAX_UNMANAGED = 300;

function formatAnnotations(placed: readonly PlacedAnnotation[], said: string): string {
  const notices = placed.filter(({ annotation }) => annotation.level === 'notice');
  const omitted = new Set(notices.slice(MAX_NOTICES));
  const more = omitted.size > 0 ? ` ${formatCount(omitted.size, 'notice')} left out.` : '';
  const shown = placed.filter((one) => !omitted.has(one));
  const summary = formatWorkflowCommand('notice', { title: 'edgewise' }, `${said}${more}`);
  return [...shown.map(({ annotation, options }) => formatAnnotation(annotation, options)), summary, ''].join('\n');
}

/** GitHub shows at most ten annotations of each level for a step. The tenth notice is the summary. */
const MAX_NOTICES = 9;

function formatAnnotation(annotation: Annotation, options: FormatOptions): string {
  const { rule, level, message, remedy, place } = annotation;
  const text = [message, ...listRelatedPlaceTexts(annotation), ...(remedy === undefined ? [] : [remedy])].join('\n');
  return formatWorkflowCommand(level, { ...createPosition(place, options), title: `edgewise: ${rule}` }, text);
}

/** Empty if the place is in no file. GitHub then shows the annotation with the run. */
function createPosition(place: Annotation['place'], options: FormatOptions): Properties {
  const position = place === undefined ? undefined : findRepositoryPosition(place, options);
  return position === undefined
    ? {}
    : { file: position.file, line: String(position.line), col: String(position.column) };
}

type Properties = Readonly<Record<string, string>>;

function formatWorkflowCommand(name: string, properties: Properties, text: string): string {
  const listed = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(value)}`);
  return `::${name} ${listed.join(',')}::${escapeText(text)}`;
}

/**
 * Escapes line breaks and `##[`. The runner executes a command at the start of a line, and older runners execute `##[`
 * anywhere in a line.
 */
function escapeText(text: string): string {
  return escapeJobCommands(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

function summarizeReport(report: Report): string {
  switch (report.about) {
    case 'plan':
      return summarizePlan(report.plan, report.blocking);
    case 'comparison':
      return createComparisonView(report).summary;
    case 'apply':
      return summarizeApply(report.result);
    case 'drift': {
      const { changes } = report.drift;
      const off = changes.filter(({ state }) => state !== 'in-sync').length;
      const dangers = formatDriftDangerCount(changes);
      const said = hasDrift(report.drift)
        ? `${off} of ${formatCount(changes.length, 'resource')} ${off === 1 ? 'differs' : 'differ'} from the manifests.`
        : formatDriftSummary(report.drift);
      return dangers === '' ? said : `${dangers}. ${said}`;
    }
    case 'validation': {
      const { diagnostics } = report.validation;
      const found = diagnostics.length === 0 ? 'no diagnostics' : formatSeverityCounts(diagnostics);
      return `${formatResourceAndFileCounts(report.validation)}: ${found}.`;
    }
    case 'failure': {
      const { diagnostics = [], command } = report.failure;
      return `${formatCommandNotCompleted(command)}${diagnostics.length === 0 ? '' : `: ${formatSeverityCounts(diagnostics)}`}.`;
    }
    default:
      return assertNever(report);
  }
}

function summarizePlan({ changes, diagnostics }: Plan, blocking: readonly SafetyViolation[]): string {
  const found = [
    ...(diagnostics.length === 0 ? [] : [formatSeverityCounts(diagnostics)]),
    ...(blocking.length === 0 ? [] : [`refused by ${formatCount(blocking.length, 'safety rule')}`]),
  ];
  return `${[formatActionCounts(countActions(changes)), ...found].join('; ')}.`;
}

function summarizeApply(result: ApplyResult): string {
  const end = result.interrupted ? '; interrupted' : '';
  return `${formatOutcomeTotals(countWriteOutcomes(result))}${end}.`;
}
