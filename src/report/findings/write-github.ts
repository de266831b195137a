import { escapeJobCommands } from '../../model/job-commands.ts';
import type { Document, ShownFinding } from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { findRepositoryPosition } from '../view/finding-wording.ts';
import { formatCount } from '../view/wording.ts';
import { joinFindings, listFindings, listRelatedPlaceTexts } from './list-findings.ts';

/**
 * A document as GitHub workflow annotations, and a notice with its headline. Every line starts with a command, so that
 * the runner cannot interpret text from outside as a command. Source: "Workflow commands for GitHub Actions".
 */
export function* writeGithub(document: Document, options: FormatOptions): Iterable<string> {
  const facts = document.conclusion.filter(({ role, tone }) => role === 'fact' && tone !== 'muted');
  const said = [document.headline, ...facts.map(({ text }) => text)].join('\n');
  const findings = joinUnmanaged(joinFindings(listFindings(document)));
  let notices = 0;
  for (const finding of findings) {
    if (said.includes(finding.message)) continue;
    notices += finding.level === 'notice' ? 1 : 0;
    if (finding.level !== 'notice' || notices <= MAX_NOTICES) yield formatAnnotation(finding, options);
  }
  const more = notices > MAX_NOTICES ? ` ${formatCount(notices - MAX_NOTICES, 'notice')} left out.` : '';
  yield formatWorkflowCommand('notice', { title: 'edgewise' }, `${said}${more}`);
}

/** GitHub shows at most ten annotations of each level for a step. The tenth notice is the summary. */
const MAX_NOTICES = 9;

/** Joins the findings on the unmanaged resources of a stack into one notice, so that all ids are shown. */
function joinUnmanaged(findings: readonly ShownFinding[]): readonly ShownFinding[] {
  const unmanaged = Map.groupBy(
    findings.filter(({ rule }) => rule === 'unmanaged'),
    ({ stack }) => stack,
  );
  return findings.flatMap((finding) => {
    const all = finding.rule === 'unmanaged' ? (unmanaged.get(finding.stack) ?? []) : [finding];
    if (all[0] !== finding) return [];
    const left = all.length - MAX_UNMANAGED;
    const listed = all.slice(0, MAX_UNMANAGED).map(({ message }) => message);
    return [{ ...finding, message: [...listed, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n') }];
  });
}

/** As many as fit into the 64 KB that GitHub stores of an annotation. */
const MAX_UNMANAGED = 300;

/** A finding whose place is in no file has no position. GitHub then shows it with the run. */
function formatAnnotation(finding: ShownFinding, options: FormatOptions): string {
  const { rule, level, message, remedy, place } = finding;
  const at = place === undefined ? undefined : findRepositoryPosition(place, options);
  const position = at === undefined ? {} : { file: at.file, line: String(at.line), col: String(at.column) };
  const text = [message, ...listRelatedPlaceTexts(finding), ...(remedy === undefined ? [] : [remedy])].join('\n');
  return formatWorkflowCommand(level, { ...position, title: `edgewise: ${rule}` }, text);
}

function formatWorkflowCommand(name: string, properties: Readonly<Record<string, string>>, text: string): string {
  const listed = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(value)}`);
  return `::${name} ${listed.join(',')}::${escapeText(text)}\n`;
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
