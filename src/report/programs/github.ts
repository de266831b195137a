import type { FormOptions, Report } from '../report.ts';
import type { StacksReport } from '../stacks-report.ts';
import { toFilePosition } from '../view/file-position.ts';
import { toStacksView } from '../view/stacks-view.ts';
import { toCount } from '../view/wording.ts';
import { joinNotStarted, listRelatedLines, listRemarks, type Remark } from './remarks.ts';
import { summarizeReport } from './summarize-report.ts';

/**
 * A report as workflow annotations: a command on each line and nothing else, so that no text of others is ever read as one.
 * Source: "Workflow commands for GitHub Actions".
 */
export function renderGithubForm(report: Report, options: FormOptions): string {
  const remarks = joinNotStarted(listRemarks(report, options));
  const notices = remarks.filter(({ level }) => level === 'notice');
  const shown = remarks.filter((remark) => remark.level !== 'notice' || notices.indexOf(remark) < MAX_NOTICES);
  const left = notices.length - MAX_NOTICES;
  const more = left > 0 ? ` ${toCount(left, 'notice')} left out.` : '';
  const summary = toCommand('notice', { title: 'edgewise' }, `${summarizeReport(report)}${more}`);
  return [...shown.map((remark) => toAnnotation(remark, options)), summary, ''].join('\n');
}

/** The annotations of a run over many stacks: those of each, and one summary. */
export function renderStacksGithub(run: StacksReport, options: FormOptions): string {
  const shown = run.parts.flatMap(({ report, options: own }) => {
    const whole = { ...options, ...own };
    const remarks = joinNotStarted(listRemarks(report, whole)).filter(({ level }) => level !== 'notice');
    return remarks.map((remark) => toAnnotation(remark, whole));
  });
  const summary = toCommand('notice', { title: 'edgewise' }, toStacksView(run).summary);
  return [...shown, summary, ''].join('\n');
}

/** GitHub shows ten annotations of each level for a step; one of the notices is the summary. */
const MAX_NOTICES = 9;

function toAnnotation(remark: Remark, options: FormOptions): string {
  const { rule, level, message, remedy, place } = remark;
  const text = [message, ...listRelatedLines(remark), ...(remedy === undefined ? [] : [remedy])].join('\n');
  return toCommand(level, { ...toPosition(place, options), title: `edgewise: ${rule}` }, text);
}

/** Nothing for what is in no file: the annotation is then shown at the run. */
function toPosition(place: Remark['place'], options: FormOptions): Properties {
  const position = place === undefined ? undefined : toFilePosition(place, options);
  return position === undefined
    ? {}
    : { file: position.file, line: String(position.line), col: String(position.column) };
}

type Properties = Readonly<Record<string, string>>;

function toCommand(name: string, properties: Properties, text: string): string {
  const listed = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(value)}`);
  return `::${name} ${listed.join(',')}::${escapeText(text)}`;
}

function escapeText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
