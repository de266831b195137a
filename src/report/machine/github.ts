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
import { formatActionCounts, listFileCount } from '../view/plan-wording.ts';
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
  const annotations = joinNotStartedAnnotations(listAnnotations(report, options));
  const notices = annotations.filter(({ level }) => level === 'notice');
  const shown = annotations.filter(
    (annotation) => annotation.level !== 'notice' || notices.indexOf(annotation) < MAX_NOTICES,
  );
  const left = notices.length - MAX_NOTICES;
  const more = left > 0 ? ` ${formatCount(left, 'notice')} left out.` : '';
  const summary = formatCommand('notice', { title: 'edgewise' }, `${summarizeReport(report)}${more}`);
  return [...shown.map((annotation) => formatAnnotation(annotation, options)), summary, ''].join('\n');
}

/** The errors and warnings of each stack as annotations, then one notice that summarizes the run. */
export function renderStacksGithub(given: StacksRunReport, options: FormatOptions): string {
  const run = withErrorsOnce(given);
  const shown = run.parts.flatMap(({ report, options: own }) => {
    const whole = { ...options, ...own };
    const annotations = joinNotStartedAnnotations(listAnnotations(report, whole)).filter(
      ({ level }) => level !== 'notice',
    );
    return annotations.map((annotation) => formatAnnotation(annotation, whole));
  });
  const { headline, summary: sentences } = createStacksView(run);
  const summary = formatCommand('notice', { title: 'edgewise' }, `${headline}\n${sentences}`);
  return [...shown, summary, ''].join('\n');
}

/** GitHub shows at most ten annotations of each level for a step. The tenth notice is the summary. */
const MAX_NOTICES = 9;

function formatAnnotation(annotation: Annotation, options: FormatOptions): string {
  const { rule, level, message, remedy, place } = annotation;
  const text = [message, ...listRelatedPlaceTexts(annotation), ...(remedy === undefined ? [] : [remedy])].join('\n');
  return formatCommand(level, { ...createPosition(place, options), title: `edgewise: ${rule}` }, text);
}

/** Empty if the place is in no file. GitHub then shows the annotation with the run. */
function createPosition(place: Annotation['place'], options: FormatOptions): Properties {
  const position = place === undefined ? undefined : findRepositoryPosition(place, options);
  return position === undefined
    ? {}
    : { file: position.file, line: String(position.line), col: String(position.column) };
}

type Properties = Readonly<Record<string, string>>;

function formatCommand(name: string, properties: Properties, text: string): string {
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

function summarizePlan({ changes, diagnostics, files }: Plan, blocking: readonly SafetyViolation[]): string {
  const found = [
    ...listFileCount(files),
    ...(diagnostics.length === 0 ? [] : [formatSeverityCounts(diagnostics)]),
    ...(blocking.length === 0 ? [] : [`refused by ${formatCount(blocking.length, 'safety rule')}`]),
  ];
  return `${[formatActionCounts(countActions(changes)), ...found].join('; ')}.`;
}

function summarizeApply(result: ApplyResult): string {
  const end = result.interrupted ? '; interrupted' : '';
  return `${formatOutcomeTotals(countWriteOutcomes(result))}${end}.`;
}
